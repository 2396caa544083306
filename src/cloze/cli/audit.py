"""`cloze audit`."""

from __future__ import annotations

import json
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloze.cli.terminal import note, progress, table
from cloze.errors import CheckFailed, InputError

if TYPE_CHECKING:
    from cloze.masking.rows import Example
    from cloze.problems.parts import Tally


def audit(
    data: Annotated[Path, typer.Argument(metavar="IN", help="Data file, masked or not.")],
    column: Annotated[str, typer.Option(help="What is shown (default: masked_trace, else the trace).")] = "",
    max_characters: Annotated[int, typer.Option(min=0, help="The policy sees no more of it; 0 for all.")] = 0,
    ratio: Annotated[float, typer.Option(min=0.0, max=1.0, help="The policy sees this share of it.")] = 1.0,
    max_leaks: Annotated[int, typer.Option(min=0, help="Fail if there are more.")] = 0,
    examples: Annotated[int, typer.Option(min=0, help="Leaks to show, of each kind.")] = 3,
    style: Annotated[str | None, typer.Option(help="How blanks are written (default: [{letter}{index}]).")] = None,
    schema: Annotated[str, typer.Option(help="Schema of IN (default: detected).")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on past rows that cannot be read.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many rows.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Where the target, or anything that the verifier takes for it, can still be read. Exit code 1 if it can.

    Not counted: a label that happens to bear the target's number (Step 5),
    and a target that the question itself gives.
    """
    from cloze.masking.rows import audit_rows
    from cloze.masking.spans import DEFAULT_STYLE, check_style
    from cloze.problems.chunks import on_rows, open_source
    from cloze.problems.parts import Tally
    from cloze.problems.pool import in_order
    from cloze.problems.readers import look_at

    style = DEFAULT_STYLE if style is None else style
    check_style(style)
    source = open_source(data, limit=limit)
    name, columns = look_at(data, schema or None)
    if column and column not in columns:
        raise InputError("there is no such column", file=data, field=column, mend=f"there are {', '.join(columns)}")
    column = column or ("masked_trace" if "masked_trace" in columns else "")
    work = partial(
        audit_rows,
        path=data,
        schema=name,
        column=column,
        style=style,
        max_characters=max_characters,
        ratio=ratio,
        examples=examples,
    )
    tally, reached = Tally(), 0
    shown: dict[str, list[Example]] = {}
    results = in_order(partial(on_rows, work), source.chunks(), workers)
    with progress("auditing", source.total, source.unit) as advance, closing(results):
        for chunk, found in results:
            tally.add(found.tally)
            for one in found.examples:
                if len(held := shown.setdefault(one.how, [])) < examples:
                    held.append(one)
            advance(chunk.end - reached)
            reached = chunk.end
            if tally.counts["bad"] and not skip_bad:
                raise InputError(f"{tally.named['bad'][0]}; or --skip-bad goes on past bad rows")
    counts = tally.counts
    if not counts["traced"]:
        raise InputError("nothing to audit", file=data, field=column or "trace", mend="every row is empty there")
    some = sorted((one for held in shown.values() for one in held), key=lambda one: (one.row, one.line))
    leaks = sum(count for key, count in counts.items() if key.startswith("leak/"))
    if as_json:
        print(
            json.dumps(
                {**_figures(tally, leaks), "column": column or "trace", "examples": [one._asdict() for one in some]}
            )
        )
    else:
        _print(data, column, tally, some)
    if leaks > max_leaks:
        what = f"{leaks:,} leak{'' if leaks == 1 else 's'} in {counts['leaky']:,} of {counts['traced']:,} rows"
        raise CheckFailed(f"{data}: {what}, --max-leaks is {max_leaks}")


def _figures(tally: Tally, leaks: int) -> dict[str, Any]:
    counts = tally.counts
    by_how = {key.removeprefix("leak/"): count for key, count in sorted(counts.items()) if key.startswith("leak/")}
    given = {key.removeprefix("given/"): count for key, count in sorted(counts.items()) if key.startswith("given/")}
    return {
        "rows": counts["rows"],
        "audited": counts["traced"],
        "bad": counts["bad"],
        "untargeted": counts["untargeted"],
        "leaks": leaks,
        "leaky_rows": counts["leaky"],
        "by_how": by_how,
        "given_rows": counts["given"],
        "given_by_how": given,
        "labels": counts["label"],
    }


def _print(data: Path, column: str, tally: Tally, shown: list[Example]) -> None:
    from rich.console import Console
    from rich.text import Text

    from cloze.cli.data import counted, some_rows

    counts = tally.counts
    hows = sorted({key.partition("/")[2] for key in counts if key.startswith(("leak/", "given/"))})
    rows = [[how, f"{counts[f'leak/{how}']:,}", f"{counts[f'given/{how}']:,}", ""] for how in hows]
    rows += [["label", "", "", f"{counts['label']:,}"]] if counts["label"] else []
    total = [sum(count for key, count in counts.items() if key.startswith(kind)) for kind in ("leak/", "given/")]
    rows += [["all", f"{total[0]:,}", f"{total[1]:,}", f"{counts['label']:,}"]]
    rows += [["rows", f"{counts['leaky']:,}", f"{counts['given']:,}", ""]]
    console = Console(highlight=False)
    title = f"{data}, {column or 'trace'}: {counted(counts['traced'], 'row')} audited"
    console.print(title, markup=False, soft_wrap=True)
    console.print(table("", ["read as", "leaks", "given by the question", "labels"], rows))
    for one in shown:
        line = Text.assemble(
            (f"row {one.row}, id {one.id}, line {one.line}, {one.how}: ", "dim"),
            _flat(one.before),
            (f">>{_flat(one.text)}<<", "bold red"),
            _flat(one.after),
        )
        console.print(line, soft_wrap=True)
    if untargeted := counts["untargeted"]:
        note(f"{counted(untargeted, 'row has', 'rows have')} no target, so there is nothing to look for in them")
    if given := counts["given"]:
        note(f"the question gives the target in {some_rows(tally, 'given', given)}: not counted")
    if bad := counts["bad"]:
        note(f"{counted(bad, 'row')} cannot be read: {tally.named['bad'][0]}")


def _flat(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
