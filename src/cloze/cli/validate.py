"""`cloze validate`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloze.cli.terminal import UnsafeSandbox, note, progress, table
from cloze.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from cloze.verifiers.gold import Failure


def validate(
    data: Annotated[
        Path | None, typer.Argument(metavar="[IN]", help="Data file in any schema that Cloze reads.")
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Failures to show, of targets and of traces.")] = 3,
    max_failures: Annotated[int, typer.Option(min=0, help="Fail if more rows do.")] = 0,
    schema: Annotated[str, typer.Option(help="Schema of IN (default: detected).")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many rows.")] = 0,
    workers: Annotated[int, typer.Option(min=0, help="Rows scored at once (0: one for each core, 4 at most).")] = 0,
    conformance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Instead: cases with the right verdict, ours beside plain math-verify."),
    ] = None,
    unsafe_sandbox: UnsafeSandbox = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """A data set against its own verifier, without a model: every target, and every expert trace as a completion.

    Exit code 1 if a target is not right by its own measure, if a trace is scored
    as anything but correct, or if a row cannot be read.

    With --conformance FILE (jsonl rows with target, answer and right): the verdict of each case, right / given, for our
    verifier and for plain math-verify; exit code 1 if any of ours differs.
    """
    if (data is None) == (conformance is None):
        raise InputError("give a data file, or --conformance with a file of cases", mend="one of the two")
    if conformance is not None:
        _conformance(conformance, workers, as_json)
    if data is not None:
        _validate(data, examples, max_failures, schema, limit, workers, as_json)


def _conformance(path: Path, workers: int, as_json: bool) -> None:
    from rich.console import Console

    from cloze.verifiers.conformance import check_cases

    cases = list(check_cases(path, workers))
    good = sum(case.agrees for case in cases)
    plain = sum(case.plain in case.right.split("_or_") for case in cases)
    if as_json:
        print(
            json.dumps({"cases": [case._asdict() for case in cases], "right": good, "all": len(cases), "plain": plain})
        )
    else:
        made = table("", ["target", "answer", "right", "given", "", "plain math-verify"], [])
        for column in made.columns:
            column.justify, column.no_wrap, column.overflow = "left", False, "fold"
        for case in cases:
            mark = "ok" if case.agrees else "DIFFERS"
            cells = (case.target, case.answer, case.right, case.ours, mark, case.plain)
            made.add_row(*map(_cell, cells))
        Console(highlight=False).print(made)
        print(f"{good} of {len(cases)} right (plain math-verify: {plain})")
    if good < len(cases):
        raise CheckFailed(f"{path}: {len(cases) - good:,} of {len(cases):,} cases differ")


def _cell(text: str) -> str:
    from rich.markup import escape

    return escape(text if len(text) <= 60 else text[:57] + "...")


def _validate(
    data: Path, examples: int, max_failures: int, schema: str, limit: int, workers: int, as_json: bool
) -> None:
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
            found = validate_rows(
                chunk.rows(), path=data, schema=name, first_row=first_row, examples=examples, workers=workers
            )
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
