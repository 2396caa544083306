"""What a masker returns: the trace with the spans that would earn the reward, and how to write it with blanks.

Blanks are indexed: two spans of the same value share an index (`[N1]` twice is the same hidden number), two different
values never do, so a reader can still follow how a result is used later. Nothing is lost: the original text stays in
the record, and `unmask` gives it back exactly.

How a blank is written is a *style*, a text with `{letter}` (the category) and `{index}`. The index has to be fenced on
both sides, so that a blank and the digit beside it never read as one number.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from cloze.errors import InputError

CATEGORY_LETTERS = {"number": "N", "target": "A", "code": "C", "entity": "E", "random": "R"}
DEFAULT_STYLE = "[{letter}{index}]"
THE_TARGET = "the target"  # why a span of the target, or of its equal, is hidden


class Span(NamedTuple):
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
        text, pieces, at = self.text, [], 0
        for span, blank in zip(self.spans, self.blanks, strict=True):
            pieces.append(text[at : span[0]])
            pieces.append(blank)
            at = span[1]
        pieces.append(text[at:])
        return "".join(pieces)

    def in_original(self, found: Iterable[Span]) -> list[Span]:
        """Spans found in `rendered`, moved to where they stand in `text`.

        One that lies within a blank falls away; one that touches a blank grows over all that the blank hides.
        """
        shifts = [0]  # where each blank begins in `rendered`, less where its span begins in `text`
        for span, blank in zip(self.spans, self.blanks, strict=True):
            shifts.append(shifts[-1] + len(blank) - (span.end - span.start))
        begins = [span.start + shift for span, shift in zip(self.spans, shifts, strict=False)]
        ends = [begin + len(blank) for begin, blank in zip(begins, self.blanks, strict=True)]
        moved: list[Span] = []
        for span in found:
            first, last = bisect_right(ends, span.start), bisect_left(begins, span.end) - 1
            start, end = span.start - shifts[first], span.end - shifts[last + 1]
            if first <= last:
                if begins[first] <= span.start and span.end <= ends[first]:
                    continue
                start = min(start, self.spans[first].start) if begins[first] < span.start else start
                end = self.spans[last].end if span.end < ends[last] else end
            if moved and start < moved[-1].end:
                moved[-1] = moved[-1]._replace(end=max(end, moved[-1].end))
            else:
                moved.append(span._replace(start=start, end=end))
        return moved

    def unmask(self, rendered: str) -> str:
        """Put the hidden text back into `rendered`.

        Raises:
            ValueError: `rendered` is not what this trace renders to.
        """
        if rendered != self.rendered:
            raise ValueError("this is not the rendering of this trace")
        return self.text


def with_blanks(text: str, spans: Iterable[Span], *, style: str = DEFAULT_STYLE, avoid: str = "") -> MaskedTrace:
    """Number the spans in order of first appearance of their value and choose marks that the text does not hold.

    Args:
        text: the original trace.
        spans: what to hide, in any order.
        style: how a blank is written, see `check_style`.
        avoid: other texts whose words no blank may equal (the target: a blank must not spell it).

    Raises:
        ValueError: spans overlap or leave the text.
        InputError: the style does not do.
    """
    ordered = tuple(sorted(spans))
    check_style(style)
    at = 0
    for start, end, *_ in ordered:
        if start < at or end <= start:
            raise ValueError(f"span {start}:{end} is empty or overlaps its neighbour")
        at = end
    if at > len(text):
        raise ValueError(f"span {ordered[-1].start}:{at} leaves the text")
    letters: dict[str, str] = {}
    known: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    blanks = []
    for _, _, category, value, _ in ordered:
        blank = known.get((category, value))
        if blank is None:
            if category not in letters:
                letters[category] = _free_letters(CATEGORY_LETTERS[category], text, style, avoid)
            counts[category] = index = counts.get(category, 0) + 1
            blank = known[category, value] = style.format(letter=letters[category], index=index)
        blanks.append(blank)
    return MaskedTrace(text, ordered, tuple(blanks))


@cache
def check_style(style: str) -> None:
    """Refuse a style whose blanks could not be told apart or could be read together with what stands beside them.

    Raises:
        InputError: no `{index}`, another field, a digit, or an index that is not fenced by a mark on both sides.
    """
    mend = "write it as [{letter}{index}], <blank_{index}> or the like"
    try:
        shown = style.format(letter="N", index="\0")
    except (KeyError, IndexError, ValueError, AttributeError):
        raise InputError(f"the blank style {style!r} is not understood", field="style", mend=mend) from None
    before, _, after = shown.partition("\0")
    if shown.count("\0") != 1 or any(character.isdigit() for character in shown):
        raise InputError(f"the blank style {style!r} needs one {{index}} and no digit", field="style", mend=mend)
    if not before or not after or before[0].isalnum() or after[-1].isalnum() or after[0].isalnum():
        raise InputError(f"the index in {style!r} is not fenced on both sides", field="style", mend=mend)
    if refused := set(shown) & set("\\$.,;!?#%^+*/=~\n"):
        raise InputError(
            f"the blank style {style!r} holds {min(refused)!r}, which means something in a trace", mend=mend
        )
    if not any(character.isalpha() for character in shown):
        raise InputError(f"the blank style {style!r} would look like a reference: it needs a letter", mend=mend)


@cache
def blank_pattern(style: str = DEFAULT_STYLE) -> re.Pattern[str]:
    """What any blank of a style looks like, to leave alone what is masked already."""
    fenced = re.escape(style.format(letter="\0", index="\1"))
    letters = "|".join(f"{letter}+" for letter in CATEGORY_LETTERS.values())
    return re.compile(fenced.replace("\0", f"(?:{letters})").replace("\1", r"\d+"))


def _free_letters(letter: str, text: str, style: str, avoid: str) -> str:
    """The letter of a category, repeated until no blank made with it stands in the text or spells the target."""
    letters = letter
    while True:
        before, _, after = style.format(letter=letters, index="\0").partition("\0")
        in_text = before in text and re.search(re.escape(before) + r"\d+" + re.escape(after), text)
        in_target = letters in avoid and re.search(rf"(?<![^\W\d_]){letters}\d", avoid)
        if not in_text and not in_target:
            return letters
        if "{letter}" not in style and in_text:
            raise InputError(
                f"the trace holds blanks of the style {style!r} already", field="style", mend="put {letter} into it"
            )
        if "{letter}" not in style:
            return letters
        letters += letter
