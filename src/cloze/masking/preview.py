"""Previews: masked traces laid out for a person, who has to see at a glance what is hidden, why, and what leaks.

One page for many traces (`html_preview`), one trace for the terminal (`terminal_preview`). Both show the trace as the
policy would see it, with its blanks set off by category and every leak marked where it stands. The page is a single
file that loads nothing, written piece by piece, so that its length is not bounded by memory; what it looks like is in
`preview.html`. Control characters and marks that turn the direction of writing are shown by name, as they would
otherwise change what is seen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from cloze.masking.leaks import Leak
from cloze.masking.spans import CATEGORY_LETTERS, MaskedTrace, Span

if TYPE_CHECKING:
    from jinja2 import Template
    from rich.text import Text

UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufffe\uffff]"
    r"|[\ud800-\udfff\U000e0000-\U000e007f]|\r(?!\n)"
)
VALUE_LENGTH = 120
CONTEXT = 20
COLOURS = {"number": "cyan", "target": "magenta", "code": "green", "entity": "yellow", "random": "blue"}
LEAK_STYLE = "bold reverse red"


@dataclass(frozen=True, slots=True)
class Shown:
    """One trace to preview.

    Attributes:
        id, question, target, domain: of the problem.
        masked: the masked trace.
        leaks: what the audit found, in characters of `masked.rendered`.
    """

    id: str
    question: str
    target: str
    masked: MaskedTrace
    leaks: tuple[Leak, ...]
    domain: str = "math"


def html_preview(items: Iterable[Shown], *, title: str) -> Iterator[str]:
    """Write a page of masked traces, piece by piece.

    Args:
        items: the traces; taken one at a time while the page is written.
        title: heading of the page.

    Returns:
        The pieces of one HTML document, to be written in order as UTF-8.
    """
    counts = Counts()
    page = _template().stream(title=title, rows=_rows(items, counts), counts=counts, categories=(*CATEGORY_LETTERS,))
    page.enable_buffering(64)
    return page


def terminal_preview(item: Shown, *, width: int | None = None) -> Text:
    """Lay out one trace for the terminal: who it is, the trace, what each blank hides, and the leaks.

    Args:
        item: the trace.
        width: columns to break lines at; None leaves that to the console.

    Returns:
        Text with styles; nothing is told by colour alone.
    """
    from rich.text import Text

    rendered = item.masked.rendered
    pieces, marks = _pieces(item, rendered)
    text = Text(overflow="fold")
    text.append(_one_line(item.id), "bold").append(f"  {_one_line(item.domain)}  ", "dim")
    text.append("target ").append(_one_line(item.target), "bold").append(f"  {_tally(item)}\n", "dim")
    text.append(_shown(item.question).strip() + "\n\n", "italic")
    for piece in pieces:
        style = LEAK_STYLE if piece.mark else _style(piece.blank.category) if piece.blank else ""
        text.append(_shown(piece.text), style)
    text.append("\n")
    for entry in _legend(item.masked):
        values = ", ".join(_one_line(value) for value in entry.values)
        times = f" ({entry.times} times)" if entry.times > 1 else ""
        text.append("\n").append(_one_line(entry.blank), _style(entry.category))
        text.append(f" = {values}{times}")
        if entry.whys:
            text.append(f"  {'; '.join(map(_one_line, entry.whys))}", "dim")
    for mark in marks:
        for leak in mark.leaks:
            text.append("\n").append("LEAK", LEAK_STYLE)
            around = _one_line(rendered[max(leak.start - CONTEXT, 0) : max(leak.end + CONTEXT, 0)])
            text.append(f" line {leak.line}: {_one_line(leak.text)}")
            text.append(f"  read as {_one_line(leak.how)} in: {around}", "dim")
    if width is not None:
        from rich.console import Console

        columns = max(width, 1)
        text = Text("\n", overflow="fold").join(text.wrap(Console(width=columns), columns))
    return text


class Blank(NamedTuple):
    """A blank, `rendered[start:end]`, and what it hides."""

    start: int
    end: int
    category: str
    hidden: str
    why: str


class Mark(NamedTuple):
    """A stretch of the rendered trace with the leaks that stand there; leaks that overlap share one."""

    start: int
    end: int
    leaks: tuple[Leak, ...]

    @property
    def how(self) -> str:
        """Each way in which the target can be read here, once."""
        return ", ".join(dict.fromkeys(leak.how for leak in self.leaks))


class Piece(NamedTuple):
    """A stretch of the rendered trace that is wholly inside or outside of one blank and of one mark."""

    text: str
    blank: Blank | None
    mark: Mark | None
    ends_blank: bool


class Entry(NamedTuple):
    """One blank in the list of what is hidden."""

    blank: str
    category: str
    values: tuple[str, ...]
    whys: tuple[str, ...]
    times: int


class Row(NamedTuple):
    """One trace as the page takes it: runs of pieces, each with its mark or none."""

    number: int
    item: Shown
    runs: list[tuple[Mark | None, list[Piece]]]
    marks: list[Mark]
    legend: list[Entry]
    tally: str


@dataclass(slots=True)
class Counts:
    """What the page has seen so far."""

    traces: int = 0
    leaky: int = 0
    bare: int = 0
    spans: Counter[str] = field(default_factory=Counter)
    leaks: Counter[str] = field(default_factory=Counter)

    def add(self, item: Shown) -> None:
        self.traces += 1
        self.leaky += bool(item.leaks)
        self.bare += not item.masked.spans
        self.spans.update(span.category for span in item.masked.spans)
        self.leaks.update(leak.how for leak in item.leaks)


@cache
def _template() -> Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, finalize=_visible, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(files("cloze.masking").joinpath("preview.html").read_text(encoding="utf-8"))


def _rows(items: Iterable[Shown], counts: Counts) -> Iterator[Row]:
    for item in items:
        counts.add(item)
        pieces, marks = _pieces(item, item.masked.rendered)
        runs = [(mark, list(run)) for mark, run in groupby(pieces, key=lambda piece: piece.mark)]
        yield Row(counts.traces, item, runs, marks, _legend(item.masked), _tally(item))


def _pieces(item: Shown, rendered: str) -> tuple[list[Piece], list[Mark]]:
    """Cut the rendered trace at every border of a blank or of a mark."""
    masked = item.masked
    blanks, moved = [], 0
    for span, written in zip(masked.spans, masked.blanks, strict=True):
        start = span.start + moved
        hidden = masked.text[span.start : span.end]
        blanks.append(Blank(start, start + len(written), span.category, hidden, span.why))
        moved += len(written) - len(hidden)
    marks = _merged(item.leaks, len(rendered))
    borders = [one[:2] for one in blanks] + [one[:2] for one in marks]
    cuts = sorted({0, len(rendered), *(place for border in borders for place in border)})
    pieces, b, m = [], 0, 0
    for start, end in pairwise(cuts):
        while b < len(blanks) and blanks[b].end <= start:
            b += 1
        while m < len(marks) and marks[m].end <= start:
            m += 1
        blank = blanks[b] if b < len(blanks) and blanks[b].start <= start else None
        mark = marks[m] if m < len(marks) and marks[m].start <= start else None
        pieces.append(Piece(rendered[start:end], blank, mark, blank is not None and blank.end == end))
    return pieces, marks


def _merged(leaks: Iterable[Leak], length: int) -> list[Mark]:
    """Marks that do not overlap; a leak beyond the text is marked as far as the text goes."""
    groups: list[tuple[int, int, list[Leak]]] = []
    for leak in sorted(leaks, key=lambda leak: (leak.start, leak.end)):
        start, end = min(max(leak.start, 0), length), min(max(leak.end, 0), length)
        if groups and start < groups[-1][1]:
            first, last, together = groups[-1]
            together.append(leak)
            groups[-1] = (first, max(end, last), together)
        else:
            groups.append((start, end, [leak]))
    return [Mark(start, end, tuple(together)) for start, end, together in groups]


def _legend(masked: MaskedTrace) -> list[Entry]:
    """What each blank hides, in order of first appearance."""
    hidden: dict[tuple[str, str], list[Span]] = {}
    for span, blank in zip(masked.spans, masked.blanks, strict=True):
        hidden.setdefault((blank, span.category), []).append(span)
    return [
        Entry(
            blank,
            category,
            tuple(dict.fromkeys(masked.text[span.start : span.end] for span in spans)),
            tuple(dict.fromkeys(span.why for span in spans if span.why)),
            len(spans),
        )
        for (blank, category), spans in hidden.items()
    ]


def _style(category: str) -> str:
    return f"bold {COLOURS.get(category, 'white')}"


def _tally(item: Shown) -> str:
    spans, leaks = item.masked.spans, len(item.leaks)
    if not spans:
        hidden = "nothing hidden"
    else:
        by_category = Counter(span.category for span in spans)
        share = sum(span.end - span.start for span in spans) / len(item.masked.text)
        kinds = ", ".join(f"{count} {_one_line(category)}" for category, count in by_category.items())
        hidden = f"{kinds} hidden ({share:.0%} of the text)"
    return f"{hidden}, {leaks or 'no'} leak{'' if leaks == 1 else 's'}"


def _visible(value: object) -> object:
    return _shown(value) if isinstance(value, str) else value


def _shown(text: str) -> str:
    return UNSEEN.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else f"<U+{code:04X}>"


def _one_line(text: str) -> str:
    line = " ".join(text[: VALUE_LENGTH * 4].split())
    more = len(text) > VALUE_LENGTH * 4 or len(line) > VALUE_LENGTH
    return _shown(line[:VALUE_LENGTH] + "\u2026" if more else line)
