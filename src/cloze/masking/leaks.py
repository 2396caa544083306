r"""The leak audit: does the target, or something the verifier takes for it, still stand in what the policy sees?

A mask is a promise, and a promise is checked by somebody else. This audit knows nothing of the maskers: it reads the
shown text on its own, takes every number and fraction that stands there, and asks the verifier whether that would
be accepted as the target. Targets that are not numbers are looked for as text.

How a leak was found (`HOWS`): "text", the target or an alias as whole words in any case; "number", digits of equal
value (`1,250`, `24.0`, `0.\overline{3}`, a number before a unit); "fraction", `1/2`, `\frac{1}{2}`, `3 1/2` or `½`;
"percent", `40%` for 0.4; "label", digits of equal value that are a label, a list number, a subscript, part of a name
or an ordinal. A label tells the policy nothing by itself (a trace of five steps has a `Step 5`), so that a gate may
leave labels out, but the audit always names them.

Not covered: number words, equal expressions (`20+4`), powers, intervals in another writing, a letter of choice
spelled out. A target of one letter is looked for in its own case only, since `a` is also an article.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from cloze.verifiers.math import bare, read_value

HOWS = ("text", "number", "fraction", "percent", "label")

DIGITS = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,|,\\!)\d{3}(?!\d)){1,9}+|\d++)"
NUMBER = rf"(?:{DIGITS}(?:\.\d++)?|\.\d++)"
TERM = rf"(?:\{{ ?[-+\u2212]? ?{NUMBER} ?\}}|\d)"
FRACTION = re.compile(
    rf"(?<![\d.])(?:(?P<whole>\d++)[ \u00a0]?)?(?:\\[dtc]?frac ?{TERM} ?{TERM}|[¼-¾⅐-⅞])"
    rf"|(?<![\d.])(?:(?P<mixed>\d++)[ \u00a0])?{NUMBER} ?/ ?{NUMBER}"
)
PLAIN = re.compile(
    rf"(?<![\d.])(?P<repeating>\d*+\.\d*+\\(?:overline|bar) ?(?:\{{\d++\}}|\d))"
    rf"|(?<!\d)(?P<number>{NUMBER})(?P<percent> ?\\?%)?"
)
SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3}(?!\d)){1,9}+(?:\.\d++)?")
BLANK = re.compile(r"\[(?:N+|A+|C+|E+)$")
LABEL = re.compile(
    r"(?<![A-Za-z])(?:step|case|part|lemma|theorem|claim|fig|figure|example|eq|equation|section|problem|question|option"
    r"|method|solution|table|chapter|proposition|corollary|definition|note|stage|phase|round)s?\.?[ \t]*\(?#?$",
    re.IGNORECASE,
)
NAME = re.compile(r"(?:[^\W_]_\{?|[^\W\d_])$")
VERB = re.compile(r"(?<![A-Za-z\\])(?:is|are|be|get|gives|equals|answer|value|of|to|by|and|or)$", re.IGNORECASE)
LIST_NUMBER = re.compile(r"[.):][ \t]")
ORDINAL = re.compile(r"(?:st|nd|rd|th)(?![A-Za-z])", re.IGNORECASE)
WINDOW = 32


@dataclass(frozen=True, slots=True)
class Leak:
    """One place where the target can be read: `shown[start:end]`.

    Attributes:
        start, end: characters of the shown text.
        line: counted from 1.
        text: what stands there.
        how: one of `HOWS`.
    """

    start: int
    end: int
    line: int
    text: str
    how: str


def find_leaks(shown: str, target: str, aliases: Iterable[str] = ()) -> list[Leak]:
    """Find every place where the target, an alias, or a number of equal value can be read.

    Args:
        shown: the part of the trace that the policy sees, after masking and cutting.
        target: what the verifier compares with; nothing is found for an empty one.
        aliases: other texts that count as the target.

    Returns:
        The leaks in order of place; one that lies within another is left out.
    """
    wanted = [one.strip() for one in (target, *aliases) if one.strip()]
    values = {value for one in wanted if (value := read_value(one)) is not None}
    words = {word for one in wanted if read_value(one) is None for word in (one, bare(one)) if word}
    places = [place for word in sorted(words) for place in _texts(shown, word)]
    if values:
        known: dict[str, bool] = {}

        def equal(text: str) -> bool:
            if text not in known:
                known[text] = read_value(text) in values
            return known[text]

        places += _fractions(shown, equal)
        places += _numbers(shown, equal)
    newlines = [match.start() for match in re.finditer("\n", shown)] if places else []
    leaks: list[Leak] = []
    for start, end, how in sorted(places, key=lambda place: (place[0], -place[1])):
        if not leaks or end > leaks[-1].end:
            leaks.append(Leak(start, end, bisect_right(newlines, start) + 1, shown[start:end], how))
    return leaks


Place = tuple[int, int, str]


def _texts(shown: str, word: str) -> Iterator[Place]:
    left = r"(?<!\w)" if word[0].isalnum() else ""
    right = r"(?!\w)" if word[-1].isalnum() else ""
    pattern = left + r"\s+".join(re.escape(part) for part in word.split()) + right
    for match in re.finditer(pattern, shown, re.IGNORECASE if len(word) > 1 else 0):
        yield match.start(), match.end(), "text"


def _fractions(shown: str, equal: Callable[[str], bool]) -> Iterator[Place]:
    for match in FRACTION.finditer(shown):
        start, end = match.span()
        whole = match["whole"] or match["mixed"] or ""
        inner = end - len(shown[start + len(whole) : end].lstrip())
        for at in dict.fromkeys((start, inner)):  # `3 1/2` is read as 3.5 and as 1/2
            signed = _sign_at(shown, at)
            if equal(shown[signed:end]):
                yield signed, end, "fraction"
                break


def _numbers(shown: str, equal: Callable[[str], bool]) -> Iterator[Place]:
    for match in SPACED.finditer(shown):  # `1 250` is 1250, and below it is 1 and 250 as well
        start = _sign_at(shown, match.start())
        if equal(shown[start : match.end()]):
            yield start, match.end(), "number"
    for match in PLAIN.finditer(shown):
        start = _sign_at(shown, match.start())
        bare_end = match.end() if match["repeating"] else match.end("number")
        if match["percent"] and equal(shown[start : match.end()]):
            yield start, match.end(), "percent"
        elif equal(shown[start:bare_end]) and not _is_blank(shown, match.start(), bare_end):
            yield start, bare_end, "label" if _is_label(shown, match.start(), bare_end) else "number"


def _sign_at(shown: str, at: int) -> int:
    """Where a number begins: at its minus, if nothing that could be subtracted from stands before the minus."""
    if shown[at - 1 : at] not in ("-", "\u2212") or not at:
        return at
    left = shown[max(0, at - 1 - WINDOW) : at - 1].rstrip(" \t")
    operand = left[-1:].isalnum() or left[-1:] in (")", "]", "}", "%", "!", "_")
    return at if operand and not (left[-1:].isalpha() and VERB.search(left)) else at - 1


def _is_blank(shown: str, start: int, end: int) -> bool:
    return shown[end : end + 1] == "]" and BLANK.search(shown[max(0, start - WINDOW) : start]) is not None


def _is_label(shown: str, start: int, end: int) -> bool:
    before = shown[max(0, start - WINDOW) : start]
    line = before[before.rfind("\n") + 1 :]
    listed = len(line) < WINDOW and line.strip() in ("", "(") and LIST_NUMBER.match(shown, end) is not None
    named = NAME.search(line) is not None and re.search(r"\\[A-Za-z]+$", line) is None
    return listed or named or LABEL.search(line) is not None or ORDINAL.match(shown, end) is not None
