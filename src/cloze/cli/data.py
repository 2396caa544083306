"""What the verbs on data files share: looking at the file, rewriting it under a progress bar, naming rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from cloze.cli.terminal import note, progress
from cloze.problems.chunks import Source
from cloze.problems.parts import NAMED, Tally, Work
from cloze.problems.rewrite import rewrite


def rewritten(
    title: str,
    source: Source,
    out: Path,
    work: Work,
    settings: Mapping[str, object],
    *,
    adds: tuple[str, ...] = (),
    types: Callable[[], Mapping[str, Any]] | None = None,
    workers: int,
    skip_bad: bool,
    accept: Callable[[Tally], None] | None = None,
) -> Tally:
    """`rewrite` with a progress bar; Ctrl-C ends with exit code 130."""
    try:
        with progress(title, source.total, source.unit) as advance:
            return rewrite(
                source,
                out,
                work,
                settings={"verb": title, **settings},
                adds=adds,
                types=types,
                workers=workers,
                skip_bad=skip_bad,
                accept=accept,
                report=note,
                advance=advance,
            )
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def some_rows(tally: Tally, kind: str, count: int) -> str:
    """Which rows: "row 3", or the first of many."""
    named: Sequence[str] = tally.named.get(kind, [])
    more = ", ..." if count > min(len(named), NAMED) else ""
    return f"row{'' if count == 1 else 's'} {', '.join(named)}{more}"


def counted(count: int, one: str, many: str = "") -> str:
    """A count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
