"""`cloze validate`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloze.cli.terminal import note, progress, table
from cloze.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from cloze.verifiers.gold import Failure


def validate(
    data: Annotated[Path, typer.Argument(metavar="IN", help="Data file in any schema that Cloze reads.")],
    examples: Annotated[int, typer.Option(min=0, help="Failures to show, of targets and of traces.")] = 3,
    max_failures: Annotated[int, typer.Option(min=0, help="Fail if more rows do.")] = 0,
    schema: Annotated[str, typer.Option(help="Schema of IN (default: detected).")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many rows.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """A data set against its own verifier, without a model: every target, and every expert trace as a completion.

    Exit code 1 if a target is not right by its own measure, if a trace is scored
    as anything but correct, or if a row cannot be read.
    """
    from cloze.problems.chunks import open_source
    from cloze.problems.readers import look_at
    from cloze.verifiers.gold import validate_rows

    source = open_source(data, limit=limit)
    name, _ = look_at(data, schema or None)
    counts: Counter[str] = Counter()
    shown: dict[str, list[Failure]] = {"gold": [], "trace": []}
    bad: list[InputError] = []
    first_row: dict[str, int] = {}
    reached = 0
    with progress("validating", source.total, source.unit) as advance:
        for chunk in source.chunks():
            found = validate_rows(chunk.rows(), path=data, schema=name, first_row=first_row, examples=examples)
            counts.update(found.counts)
            counts["bad"] += len(found.bad)
            bad += found.bad[: max(0, examples - len(bad))]
            for failure in found.failures:
                shown[failure.what] += [failure] if len(shown[failure.what]) < examples else []
            advance(chunk.end - reached)
            reached = chunk.end
    if as_json:
        _print_json(counts, shown, bad)
    else:
        _print(data, counts, shown, bad)
    failed = counts["failed"] + counts["bad"]
    if failed > max_failures:
        what = f"{failed:,} of {counts['rows']:,} rows fail"
        raise CheckFailed(f"{data}: {what}, --max-failures is {max_failures}")


def _by_status(counts: Counter[str], what: str) -> dict[str, int]:
    from cloze.verifiers.verdict import STATUSES

    return {status: counts[f"{what}/{status}"] for status in STATUSES if counts[f"{what}/{status}"]}


def _print_json(counts: Counter[str], shown: dict[str, list[Failure]], bad: list[InputError]) -> None:
    result = {
        "rows": counts["rows"],
        "failed": counts["failed"],
        "bad": counts["bad"],
        "targets": _by_status(counts, "gold"),
        "traces": _by_status(counts, "trace"),
        "examples": [failure._asdict() for kind in shown.values() for failure in kind],
        "bad_rows": [str(error) for error in bad],
    }
    print(json.dumps(result))


def _print(data: Path, counts: Counter[str], shown: dict[str, list[Failure]], bad: list[InputError]) -> None:
    from rich.console import Console

    from cloze.cli.data import counted

    targets, traces = _by_status(counts, "gold"), _by_status(counts, "trace")
    rows = [[status, f"{targets.get(status, 0):,}", f"{traces.get(status, 0):,}"] for status in {**targets, **traces}]
    rows += [["all", f"{sum(targets.values()):,}", f"{sum(traces.values()):,}"]]
    title = f"{data}: {counted(counts['rows'], 'row')} against their verifier"
    console = Console(highlight=False)
    console.print(title, markup=False, soft_wrap=True)
    console.print(table("", ["verdict", "targets", "traces"], rows))
    for failure in (*shown["gold"], *shown["trace"]):
        what = "target" if failure.what == "gold" else "trace"
        got = "nothing" if failure.extracted is None else repr(failure.extracted[:80])
        line = f"row {failure.row}, id {failure.id}, {what}: {failure.status}, read {got} for {failure.target[:80]!r}"
        console.print(f"{line} ({failure.reason})", markup=False, soft_wrap=True)
    for error in bad:
        note(str(error))
    if counts["bad"]:
        note(f"{counted(counts['bad'], 'row')} cannot be read")
