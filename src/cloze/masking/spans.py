"""What a masker returns: the trace with the spans that would earn the reward, and how to write it with blanks.

Blanks are indexed: two spans of the same value share an index (`[N1]` twice is the same hidden number), two different
values never do, so a reader can still follow how a result is used later. Nothing is lost: the original text stays in
the record, and `unmask` gives it back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

CATEGORY_LETTERS = {"number": "N", "target": "A", "code": "C", "entity": "E"}


@dataclass(frozen=True, slots=True)
class Span:
    """A hidden stretch `text[start:end]`, in characters; `value` decides which spans share a blank."""

    start: int
    end: int
    category: str
    value: str
    why: str


@dataclass(frozen=True, slots=True)
class MaskedTrace:
    """A trace and its hidden spans (sorted, not overlapping).

    Attributes:
        text: the original.
        spans: what is hidden.
        blanks: what stands in the place of each span, one for each.
    """

    text: str
    spans: tuple[Span, ...]
    blanks: tuple[str, ...]

    @property
    def rendered(self) -> str:
        """The trace with its blanks: what a policy may see."""
        pieces, at = [], 0
        for span, blank in zip(self.spans, self.blanks, strict=True):
            pieces += [self.text[at : span.start], blank]
            at = span.end
        return "".join([*pieces, self.text[at:]])

    def unmask(self, rendered: str) -> str:
        """Put the hidden text back into `rendered`.

        Raises:
            ValueError: `rendered` is not what this trace renders to.
        """
        if rendered != self.rendered:
            raise ValueError("this is not the rendering of this trace")
        return self.text


def with_blanks(text: str, spans: Iterable[Span]) -> MaskedTrace:
    """Number the spans in order of first appearance of their value and choose marks that the text does not hold.

    Raises:
        ValueError: spans overlap or leave the text.
    """
    ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
    at = 0
    for span in ordered:
        if span.start < at or span.end <= span.start or span.end > len(text):
            raise ValueError(f"span {span.start}:{span.end} overlaps its neighbour or leaves the text")
        at = span.end
    letters = {}
    for category, letter in CATEGORY_LETTERS.items():
        mark = letter
        while re.search(rf"\[{mark}\d+\]", text):
            mark += letter
        letters[category] = mark
    index: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}
    blanks = []
    for span in ordered:
        key = (span.category, span.value)
        if key not in index:
            index[key] = counts[span.category] = counts.get(span.category, 0) + 1
        blanks.append(f"[{letters[span.category]}{index[key]}]")
    return MaskedTrace(text, ordered, tuple(blanks))
