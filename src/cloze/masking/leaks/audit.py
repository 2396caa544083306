r"""The leak audit: does the target, or something the verifier takes for it, still stand in what the policy sees?

A mask is a promise, and a promise is checked by somebody else. This audit knows nothing of the maskers: it reads the
shown text on its own and asks whether what stands there would be accepted as the target. What it looks for lies in
the rooms beside this one: `numbers` (digits), `words` (number words), `forms` (fractions, powers,
roots, symbols, intervals, sets), `texts` (names) and `options`. Where an answer is expected (a box, a `####`
line, "the answer is", a formula of its own) the verifier itself is asked, so that whatever it accepts is found.

How a leak was found (`HOWS`):

- "text", the target or an alias as whole words, in any case and typesetting;
- "number", digits of equal value (`1,250`, `24.0`, `1.2e3`, `0.\overline{3}`, a number before a unit);
- "word", number words ("twenty-four", "two dozen", "three quarters", "1.5 million");
- "fraction", `1/2`, `48/2`, `\frac{1}{2}`, `3 1/2` or `½`;
- "percent", `40%` or "forty percent" for 0.4;
- "power", a power, a root or a number times a power of ten: `2^{10}`, `\sqrt{16}`, `1.2 \times 10^3`;
- "expression", the same exact value in symbols or roots: `√3/2` for `\frac{\sqrt{3}}{2}`;
- "form", an interval, inequality, set or tuple that says the same, or an answer that the verifier accepts;
- "mention", a name without its article or accents, its initials, a surname;
- "label", what has the target's value but tells nothing by itself: `Step 5`, a list number, a subscript, an ordinal,
  the square in `x^2`, "one of", "two cases", the point C, a list of options. A gate may leave labels out, but the
  audit always names them.

Arithmetic is no leak: `20+4` has to be computed, and the verifier does not accept it; a quotient such as `48/2` it
does accept. A minus may be a word ("negative 7"), and full-width characters count as plain ones. Not covered: numerals
of other scripts, Roman numerals, vague words ("a couple", "twice"), `1'250`, a raised digit by itself (`x⁵` for 5),
factorials, rounded values, and algebra that has to be rearranged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from cloze.masking.leaks.forms import Wanted, exact_value, find_forms, find_powers, read_wanted
from cloze.masking.leaks.numbers import find_numbers
from cloze.masking.leaks.texts import find_texts
from cloze.masking.leaks.values import Number, Place, whole
from cloze.masking.leaks.words import find_ranks, find_words, read_rank, read_spelled
from cloze.verifiers.math import bare, compare, read_value

HOWS = ("text", "number", "word", "fraction", "percent", "power", "expression", "form", "mention", "label")
RANKS = {how: rank for rank, how in enumerate(HOWS)}
STYLE = "[{letter}{index}]"
LETTERS = "(?:N+|A+|C+|E+|R+)"

WIDE = {0xFF00 + code: 0x20 + code for code in range(1, 95)}  # full-width forms: `２４`
RAISED = re.compile("[¼-¾⅐-⅞⁰¹²³⁴-⁹√-∜]")
POWERS = re.compile(r"frac|\^|sqrt|\*\*|\\over|[)}] ?/|/ ?[({]")
HASH = re.compile(r"####([^\n]{0,300})")
ANSWER_IS = re.compile(
    r"(?<![A-Za-z])answer[*_ ]{0,4}(?:is\b|:)((?:[^\n.]|\.(?!\s|$)){0,300})",
    re.IGNORECASE,
)
BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
FORMULA = re.compile(r"\$\$?([^$\n]{1,160})\$|\\\(([^\n]{1,160}?)\\\)|\\\[([^\n]{1,160}?)\\\]|=([^=,;.$\n]{1,80})")
BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
LONGEST_ANSWER = 300
LONGEST_DIGITS = 1000
MOST_ANSWERS = 200


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


@dataclass(frozen=True, slots=True)
class Goal:
    """What the target and its aliases are: numbers (once as fractions), texts, expressions and ranks (`5th`).

    `formulas` says that a formula may be an answer: there is a text, and it is more than a letter.
    """

    numbers: frozenset[Number]
    exact: frozenset[Fraction]
    formulas: bool
    texts: tuple[str, ...]
    expressions: tuple[Wanted, ...]
    ranks: frozenset[int]


def find_leaks(shown: str, target: str, aliases: Iterable[str] = (), *, style: str = STYLE) -> list[Leak]:
    """Find every place where the target, an alias, or anything equal to one of them can be read.

    Args:
        shown: the part of the trace that the policy sees, after masking and cutting.
        target: what the verifier compares with; nothing is found for an empty one.
        aliases: other texts that count as the target.
        style: how blanks are written; what stands inside of a blank, even a cut one, is no leak.

    Returns:
        The leaks in order of place; one that lies within another is left out, a label before anything else.
    """
    wanted = tuple(dict.fromkeys(one.translate(WIDE) for one in (target, *aliases) if one.strip()))
    if not wanted:
        return []
    goal = _goal(wanted)
    readable = _without_blanks(shown, style)
    readable = readable if readable.isascii() else readable.translate(WIDE)
    places = list(_places(readable, goal))
    places += _answers(readable, wanted, goal.formulas, places)
    if not places:
        return []
    leaks: list[Leak] = []
    line, at = 1, 0
    for start, end, how in _outermost(places):
        line += shown.count("\n", at, start)
        at = start
        leaks.append(Leak(start, end, line, shown[start:end], how))
    return leaks


@lru_cache(maxsize=4096)
def _goal(wanted: tuple[str, ...]) -> Goal:
    numbers: set[Number] = set()
    ranks: set[int] = set()
    texts: list[str] = []
    expressions: list[Wanted] = []
    for one in map(str.strip, wanted):
        value: Number | None = (
            int(one) if len(one) < LONGEST_DIGITS and one.isascii() and one.isdigit() else read_value(one)
        )
        if value is None:
            texts.append(one)
            value = exact_value(one)
            if value is None:
                value = read_spelled(bare(one))
            rank = read_rank(bare(one))
            if rank is not None:
                ranks.add(rank)
            expression = read_wanted(one)
            if value is None and (expression.values or expression.forms):
                expressions.append(expression)
        if value is not None:
            numbers.add(whole(value))
    formulas = any(len(re.findall(r"\w", bare(text))) != 1 for text in texts)
    return Goal(
        frozenset(numbers),
        frozenset(map(Fraction, numbers)),
        formulas,
        tuple(texts),
        tuple(expressions),
        frozenset(ranks),
    )


def _places(shown: str, goal: Goal) -> Iterator[Place]:
    if goal.numbers:
        yield from find_numbers(shown, goal.numbers)
        if POWERS.search(shown) or _raised(shown):
            yield from find_powers(shown, goal.exact)
    if goal.numbers or goal.ranks:
        yield from find_words(shown, goal.exact, goal.ranks)
    if goal.ranks:
        yield from find_ranks(shown, goal.ranks)
    for text in goal.texts:
        yield from find_texts(shown, text)
    for expression in goal.expressions:
        yield from find_forms(shown, expression)


def _raised(shown: str) -> bool:
    return not shown.isascii() and RAISED.search(shown) is not None


def _answers(shown: str, wanted: tuple[str, ...], formulas: bool, places: list[Place]) -> Iterator[Place]:
    """What stands where an answer is expected, is not found yet, and is accepted by the verifier."""
    spans = [match.span(match.lastindex or 0) for match in FORMULA.finditer(shown)] if formulas else []
    if "####" in shown:
        spans += [match.span(1) for match in HASH.finditer(shown)]
    if "nswer" in shown or "NSWER" in shown:
        spans += [match.span(1) for match in ANSWER_IS.finditer(shown)]
    if "box" in shown:
        spans += [span for match in list(BOX.finditer(shown))[-MOST_ANSWERS:] if (span := _closed(shown, match.end()))]
    found: list[Place] | None = None
    accepted: dict[str, bool] = {}
    for start, end in spans[-MOST_ANSWERS:]:
        text = shown[start:end].strip()
        if not text or "\0" in text or text.isdigit():
            continue
        if found is None:
            found = sorted(place for place in places if place[2] != "label")
        at = bisect_right(found, (start, -1, ""))
        if at < len(found) and found[at][1] <= end:
            continue
        if text not in accepted:
            readings = {text, text.strip(" \t\r:*")}
            accepted[text] = any(compare(reading, one) for one in wanted for reading in readings)
        if accepted[text]:
            first = shown.find(text, start)
            yield first, first + len(text), "form"


def _closed(shown: str, start: int) -> tuple[int, int] | None:
    depth = 1
    for mark in BRACE.finditer(shown, start, start + LONGEST_ANSWER):
        depth += {"{": 1, "}": -1}.get(mark.group(), 0)
        if depth == 0:
            return start, mark.start()
    return None


def _outermost(places: list[Place]) -> list[Place]:
    """The places in order, without those that lie within another one; a label gives way to what is no label."""
    kept: list[Place] = []
    for place in sorted(places, key=_order):
        if kept and kept[-1][2] == "label" != place[2] and place[0] < kept[-1][1]:
            kept.pop()
        if not kept or place[1] > kept[-1][1]:
            kept.append(place)
    return kept


def _order(place: Place) -> tuple[int, bool, int, int]:
    start, end, how = place
    return start, how == "label", -end, RANKS[how]


def _without_blanks(shown: str, style: str) -> str:
    """The same text with every blank, even one that is cut off at the end, made unreadable."""
    pattern, first = _blank_pattern(style)
    return pattern.sub(lambda blank: "\0" * len(blank.group()), shown) if first in shown else shown


@lru_cache(maxsize=64)
def _blank_pattern(style: str) -> tuple[re.Pattern[str], str]:
    before, _, after = style.format(letter="\1", index="\2").partition("\2")
    opening = re.escape(before).replace("\1", LETTERS)
    closing = re.escape(after).replace("\1", LETTERS)
    cut = "".join(f"|{re.escape(after[:length])}\\Z" for length in range(len(after) - 1, -1, -1))
    return re.compile(rf"{opening}\d+(?:{closing}{cut})"), before[:1] if before[:1] != "\1" else ""
