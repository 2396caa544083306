"""What the verbs share of the terminal: notes on stderr, tables, and a progress bar that says what training does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

stderr = Console(stderr=True, highlight=False)


def _allow_unsafe(given: bool) -> bool:
    if given:
        os.environ["CLOZE_SANDBOX"] = "unsafe"
    return given


UnsafeSandbox = Annotated[
    bool,
    typer.Option(
        "--unsafe-sandbox",
        callback=_allow_unsafe,
        help="Run programs that a policy wrote without isolation, where no sandbox can be had.",
    ),
]


def note(line: str) -> None:
    """One line for the user that is not data."""
    stderr.print(line, markup=False, soft_wrap=True)


@contextmanager
def progress(title: str, total: int, unit: str = "") -> Iterator[Callable[..., None]]:
    """A progress bar on stderr, plain lines if that is no terminal; the yielded `advance(count, text)` moves it."""
    if not stderr.is_terminal:
        yield _plain(title, total, unit)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[text]}"),
    )
    with Progress(*columns, console=stderr) as bar:
        task = bar.add_task(title, total=total, text="")

        def advance(count: int = 1, text: str = "") -> None:
            bar.advance(task, count)
            if text:
                bar.update(task, text=text)

        yield advance


def _plain(title: str, total: int, unit: str) -> Callable[..., None]:
    done, shown = 0, -1

    def advance(count: int = 1, text: str = "") -> None:
        nonlocal done, shown
        done += count
        if (tenth := 10 * done // max(total, 1)) != shown:
            shown = tenth
            print(f"{title}: {done:,} of {total:,} {unit} {text}".rstrip(), file=sys.stderr, flush=True)

    return advance


def table(title: str, headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table whose first column is text and whose others are figures."""
    made = Table(title=title, title_justify="left")
    for index, header in enumerate(headers):
        made.add_column(header, justify="left" if index == 0 else "right", no_wrap=index == 0)
    for row in rows:
        made.add_row(*map(str, row))
    return made


def percent(value: Any) -> str:
    """A share as a percentage; an absent or undefined one as a dash."""
    return "-" if value is None or value != value else f"{100 * value:.1f}%"
