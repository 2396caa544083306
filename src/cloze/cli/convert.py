"""`cloze convert`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cloze.cli.terminal import note
from cloze.errors import InputError


def convert(
    data: Annotated[Path, typer.Argument(metavar="IN", help="Data file in any schema that Cloze reads.")],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="OUT", help="File to write: jsonl or parquet.")],
    to: Annotated[str, typer.Option(help="verl, trl or cloze.")],
    data_source: Annotated[str, typer.Option(help="Of verl, chooses its scorer (default: the row's own).")] = "",
    schema: Annotated[str, typer.Option(help="Schema of IN (default: detected).")] = "",
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that cannot be read.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="Only the first so many rows.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
) -> None:
    """Write a data set as verl, TRL or Cloze itself reads it; reading it back gives the same problems."""
    from cloze.cli.data import counted, rewritten
    from cloze.problems.chunks import open_source
    from cloze.problems.convert import FORMATS, convert_rows
    from cloze.problems.readers import look_at
    from cloze.problems.rewrite import check_out

    if to not in FORMATS:
        raise InputError(f"cannot convert to {to!r}", field="to", mend=f"use one of {', '.join(FORMATS)}")
    source = open_source(data, limit=limit)
    check_out(out, data)
    name, _ = look_at(data, schema or None)
    tally = rewritten(
        "converting",
        source,
        out,
        partial(convert_rows, path=data, schema=name, to=to, data_source=data_source),
        {"schema": name, "to": to, "data_source": data_source},
        workers=workers,
        skip_bad=skip_bad,
    )
    counts = tally.counts
    note(f"{out}: {counted(counts['kept'], 'row')} for {to}, {counts['traced']:,} with an expert trace")
    if dropped := sorted(key.removeprefix("dropped/") for key in counts if key.startswith("dropped/")):
        note(f"not taken over: {', '.join(dropped)}")
    if to == "trl" and 0 < counts["traced"] < counts["kept"]:
        note("rows without a trace have no completion: leave them out for SFTTrainer (GRPOTrainer does not mind)")
    if to == "verl" and out.suffix.lower() == ".ndjson":
        note("verl reads .parquet, .json and .jsonl: rename the file")
