"""The one way in: a trace, what is to be hidden in it, and how; the masked trace comes back.

`mask` asks the finder of the domain for spans, lets `choose` thin them out (a ratio, the critical path) or `control`
replace them by random ones, and writes the blanks. A finder is a function from text to spans; its domain stands in
`FINDERS`. Spans inside of blanks that the text already holds are dropped, so masking twice changes nothing (unless only
a part is hidden: a ratio, a critical path or a control chooses anew from what is left).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from cloze.errors import InputError
from cloze.masking.choose import critical, share
from cloze.masking.control import random_spans
from cloze.masking.spans import DEFAULT_STYLE, MaskedTrace, Span, blank_pattern, check_style, with_blanks

Level = Literal["block", "body", "statement"]
Control = Literal["", "spans", "tokens"]


@dataclass(frozen=True, slots=True)
class MaskSettings:
    """How to mask.

    Attributes:
        ratio: share of the hidden values that are hidden, for ablations; the target always is.
        seed: which values stay when `ratio` is below 1, and where random spans fall.
        control: "" for what the domain's finder finds; "spans" or "tokens" for as many random spans or words.
        critical_path: hide only values on which the target depends.
        hide_given: hide also what the question gives.
        level: of code: the whole "block", its "body" (signatures, docstrings and comments stay) or each "statement".
        style: how a blank is written, see `spans.check_style`.

    Raises:
        InputError: a value is out of range.
    """

    ratio: float = 1.0
    seed: int = 0
    control: Control = ""
    critical_path: bool = False
    hide_given: bool = False
    level: Level = "block"
    style: str = DEFAULT_STYLE

    def __post_init__(self) -> None:
        if not 0.0 <= self.ratio <= 1.0:
            raise InputError(f"the mask ratio must be between 0 and 1, got {self.ratio}", field="ratio")
        for field, choices in (("control", get_args(Control)), ("level", get_args(Level))):
            if getattr(self, field) not in choices:
                known = ", ".join(map(repr, choices))
                raise InputError(f"{field} cannot be {getattr(self, field)!r}", field=field, mend=f"use one of {known}")
        check_style(self.style)


DEFAULT = MaskSettings()


def mask(
    text: str,
    domain: str = "math",
    *,
    target: str = "",
    question: str = "",
    aliases: Sequence[str] = (),
    settings: MaskSettings = DEFAULT,
) -> MaskedTrace:
    """Mask an expert trace.

    Args:
        text: the trace.
        domain: one of `FINDERS`.
        target: hidden wherever it stands, in every writing that the verifier would accept; may be empty.
        question: what it gives stays readable.
        aliases: other texts that count as the target.
        settings: see `MaskSettings`.

    Returns:
        The masked trace; spans of equal value share a blank.

    Raises:
        InputError: unknown domain, or the package that its finder needs is not installed.
    """
    if domain not in FINDERS:
        raise InputError(f"no masker for domain {domain!r}", field="domain", mend=f"use one of {', '.join(FINDERS)}")
    spans = FINDERS[domain](text, target, question, tuple(aliases), settings)
    if settings.critical_path:
        spans = critical(text, spans)
    if settings.ratio < 1.0:
        spans = share(spans, settings.ratio, settings.seed)
    if settings.control:
        spans = random_spans(text, spans, unit=settings.control, seed=settings.seed, style=settings.style)
    if spans and settings.style.partition("{")[0] in text:
        spans = _not_masked_yet(text, spans, settings.style)
    return with_blanks(text, spans, style=settings.style, avoid=" ".join((target, *aliases)))


def _not_masked_yet(text: str, spans: list[Span], style: str) -> list[Span]:
    """Without the spans in which nothing but blanks can be read."""
    pattern = blank_pattern(style)
    marks = [match.span() for match in pattern.finditer(text)]
    if not marks:
        return spans
    starts, ends = [start for start, _ in marks], [end for _, end in marks]
    left = []
    for span in spans:
        first, last = bisect_right(ends, span.start), bisect_left(starts, span.end)
        if first < last:  # some blank overlaps the span
            within = starts[first] <= span.start and span.end <= ends[first]
            if within or not any(map(str.isalnum, pattern.sub("", text[span.start : span.end]))):
                continue
        left.append(span)
    return left


Finder = Callable[[str, str, str, tuple[str, ...], MaskSettings], list[Span]]


def _math(text: str, target: str, question: str, aliases: tuple[str, ...], settings: MaskSettings) -> list[Span]:
    from cloze.masking.math.finder import find_math

    return find_math(text, target, question, aliases, hide_given=settings.hide_given)


def _code(text: str, target: str, question: str, aliases: tuple[str, ...], settings: MaskSettings) -> list[Span]:
    from cloze.masking.code.finder import find_code

    return find_code(text, level=settings.level)


def _entities(text: str, target: str, question: str, aliases: tuple[str, ...], settings: MaskSettings) -> list[Span]:
    from cloze.masking.names.entities import find_entities

    return find_entities(text, target, question, aliases, hide_given=settings.hide_given, style=settings.style)


def _text(text: str, target: str, question: str, aliases: tuple[str, ...], settings: MaskSettings) -> list[Span]:
    from cloze.masking.names.mentions import find_mentions

    return find_mentions(text, (target, *aliases))


FINDERS: dict[str, Finder] = {"math": _math, "code": _code, "entities": _entities, "text": _text}
