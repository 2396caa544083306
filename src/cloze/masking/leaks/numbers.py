r"""Numbers in digits for the leak audit: `1,250`, `24.0`, `1.2e3`, `48/2`, `3 1/2`, `40%`, `0.\overline{3}`.

One scan over the runs of digits; a run's value is remembered, so that a number that is not wanted costs next to
nothing. Only where a wanted value stands is its neighbourhood looked at: its sign, whether it is part of something
else (a time of day, a mixed number), and whether it is a label, which tells a policy nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from cloze.masking.leaks.signs import signed
from cloze.masking.leaks.values import Number, Place, whole
from cloze.verifiers.math import read_value

RUN = re.compile(
    r"[0-9.][0-9]*+(?:(?:,|\{,\}|\\[,;: ]|,\\!|\\!,)[0-9]{3}(?![0-9]))*+(?:\.[0-9]++)*+"
    r"(?:[eE][-+]?[0-9]{1,3}(?![0-9A-Za-z.]))?"
)
SPACED = re.compile(r"(?<![\d.,])[0-9]{1,3}(?:[ \u00a0\u2009\u202f][0-9]{3}(?!\d)){1,9}+(?:\.[0-9]++)?")
REPEATING = re.compile(r"(?<![\d.])[0-9]*+\.[0-9]*+\\(?:overline|bar) ?(?:\{[0-9]++\}|[0-9])")
PERCENT = re.compile(r"(?:[ ~]|\\[,;: ])?\$?\\?%|[ -]per ?cent(?![A-Za-z])", re.IGNORECASE)
PART_OF_MORE = re.compile(r"[¼-¾⅐-⅞]|\.?[0-9]*\\(?:overline|bar)(?![A-Za-z])| ?\\[dtc]?frac ?(?:\{ ?)?[0-9]")
CLOCK = re.compile(r"(?<![0-9:.])[0-9]{1,2}:[0-5][0-9](?::[0-5][0-9])?(?![0-9:])")
RATIO = re.compile(r"ratio|proportion|odds|scale", re.IGNORECASE)
PERCENT_STARTS = frozenset(" ~-$\\%")
MORE_STARTS = frozenset(" \\.¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞")
ORDINAL_STARTS = frozenset("\\^-snrtSNRTD")
SLASHES = ("/", "\u2044", "÷", "\\div")
LONGEST = 1000
WINDOW = 64

LABELS = frozenset(
    re.findall(
        "[a-z]+",
        "step case part lemma theorem claim fig figure example eq eqn equation section problem question option method"
        " solution table chapter proposition corollary definition stage phase page exercise rule property remark"
        " statement approach scenario item version subcase appendix thm sec substep subproblem subtask subgoal axiom"
        " conjecture algorithm observation identity formula inequality assumption iteration attempt",
    )
)
NUMBERED = re.compile(r"(?:^|[\n*#.] ?|(?<![A-Za-z])(?:in|of|the|after|before|each|for) )$", re.IGNORECASE)
LISTING = re.compile(
    rf"(?<![A-Za-z])(?:{'|'.join(sorted(LABELS))})s[ \t~]+\(?[0-9]+\)?(?:,[ \t]*\(?[0-9]+\)?)*"
    r",?[ \t]*(?:(?:and|or|to|through|&|-|\u2013)[ \t]*)?\(?$",
    re.IGNORECASE,
)
JOINTS = frozenset(("and", "or", "to", "through", ",", "&", "-", "\u2013"))
NAME = re.compile(r"(?:_\{[^{}]*|\\(?:tag|label|ref|eqref|hspace|vspace|cite)\*?\{[^{}]*)$")
GLUED = re.compile(
    r"(?:\\[A-Za-z]+|(?:[1-9)\]}\0]|[0-9.]0)\s?[xX]|(?<![A-Za-z])(?:Rs|USD?|EUR|GBP|INR|CAD|AUD|is|of|to|and))$"
)
CLOSED = frozenset(")]}")
ORDINAL = re.compile(
    r"(?:\\text\{|\^\{?(?:\\text\{)?)?-?(?:st|nd|rd|th)(?![A-Za-z])|(?-i:D)(?![A-Za-z0-9])", re.IGNORECASE
)
LIST_NUMBER = re.compile(r"[.):]{1,2}[*]{0,2}[ \t]")
LISTED = re.compile(r"^[ \t]*(?:[-*>#]+[ \t]*)?[*]{0,2}\(?([0-9]{1,3})[.):]{1,2}", re.MULTILINE)
EXPONENT = re.compile(r"[A-Za-z)\]}]\^\{?$")


@lru_cache(maxsize=65536)
def readings(run: str) -> dict[Number, tuple[int, int]]:
    """What a run of digits may be read as, and which stretch of it that is.

    `1,250` is one number, but in `(1,250)` it may be two; `.5` after a letter may end a sentence.
    """
    if run == ".":
        return {}
    pieces = [match.span() for match in re.finditer(r"[0-9.]+", run)] if not run.isdigit() else []
    if len(pieces) < 2:
        value = _value(run)
        if value is None:
            return {}
        after_stop = {int(run[1:]): (1, len(run))} if run[0] == "." and run[1:].isdigit() else {}
        return {value: (0, len(run))} | after_stop
    if "e" in run.lower():
        value = _value(re.sub(r"[^0-9.eE+-]", "", run))
        return {value: (0, len(run))} if value is not None else {}
    found: dict[Number, tuple[int, int]] = {}
    for start, end in pieces if "," in run else []:
        value = _value(run[start:end])
        if value is not None:
            found.setdefault(value, (start, end))
    if grouped(run):
        value = _value(re.sub(r"[^0-9.]", "", run))
        if value is not None:
            found[value] = (0, len(run))
    return found


def grouped(run: str) -> bool:
    """Whether the first of several groups can begin a number: `1,250` but not `0,100` or `2024,100`."""
    digits = len(run) - len(run.lstrip("0123456789"))
    return 1 <= digits <= 3 and run[0] != "0"


def _value(text: str) -> Number | None:
    if text.isdigit():
        return int(text)
    try:
        return whole(Fraction(text))
    except ValueError:  # 1.2.3
        return None


@lru_cache(maxsize=65536)
def ratio(top: str, bottom: str) -> Number | None:
    """`48/2`, or None if it is no number."""
    values = []
    for run in (top, bottom):
        spans = readings(run)
        value = next((value for value, span in spans.items() if span == (0, len(run))), None)
        if value is None:
            return None
        values.append(Fraction(value))
    return whole(values[0] / values[1]) if values[1] else None


@lru_cache(maxsize=4096)
def _watched(wanted: frozenset[Number]) -> frozenset[Number]:
    """The sizes that a number may have: a wanted one, or a hundred times that before a percent sign."""
    sizes: set[Number] = {value if value >= 0 else -value for value in wanted}
    return frozenset(sizes | {whole(Fraction(size) * 100) for size in sizes})


def find_numbers(shown: str, wanted: frozenset[Number]) -> Iterator[Place]:
    """Every number in digits that is one of the wanted ones: "number", "fraction", "percent" or "label"."""
    watched = _watched(wanted)
    slashes = any(sign in shown for sign in SLASHES)
    earlier = previous = (-9, -9, "")
    for match in RUN.finditer(shown):
        run = match.group()
        if len(run) > LONGEST:
            continue
        found = readings(run)
        if slashes and run != ".":
            start, end = match.span()
            if start - previous[1] <= 6 and shown[previous[1] : start].strip(" ") in SLASHES:
                yield from _slash(shown, earlier, previous, match, wanted)
            earlier, previous = previous, (start, end, run)
        if watched.isdisjoint(found):
            continue
        for value in watched.intersection(found):
            one = _place(shown, match.start(), run, value, found[value], wanted)
            if one:
                yield one
    if max(watched) >= 100_000:
        for match in SPACED.finditer(shown):  # `1 250` is 1250, and above it is 1 and 250 as well
            size = _value(re.sub(r"[^0-9.]", "", match.group()))
            place = signed(shown, *match.span(), size, wanted) if size is not None else None
            if place:
                yield *place, "number"
    if "\\overline" in shown or "\\bar" in shown:
        for match in REPEATING.finditer(shown):
            exact = read_value(match.group())
            place = signed(shown, *match.span(), exact, wanted) if exact is not None else None
            if place:
                yield *place, "number"


Past: TypeAlias = tuple[int, int, str]


def _slash(
    shown: str, earlier: Past, previous: Past, match: re.Match[str], wanted: frozenset[Number]
) -> Iterator[Place]:
    (before, before_end, units), (at, _, top) = earlier, previous
    value = ratio(top, match.group())
    if value is None:
        return
    if shown[at : match.start()].strip(" ")[-1] in "÷v" and (isinstance(value, int) or str(value.numerator) != top):
        return  # `48 \\div 2` has to be computed, `14 \\div 3` is 14/3
    if isinstance(value, Fraction) and value < 1 and units.isdigit() and shown[before_end:at] in (" ", "\u00a0"):
        place = signed(shown, before, match.end(), int(units) + value, wanted)
        if place:
            yield *place, "fraction"
            return
    place = signed(shown, at, match.end(), value, wanted)
    if place:
        yield *place, "fraction"


def _place(
    shown: str,
    at: int,
    run: str,
    value: Number,
    span: tuple[int, int],
    wanted: frozenset[Number],
) -> Place | None:
    first, last = at + span[0], at + span[1]
    end = at + len(run)
    left, right = shown[max(0, at - 2) : at], shown[end : end + 1]
    if span != (0, len(run)):  # a piece of it: `.5` after a letter, or one of the pair `(1,250)`
        if run[0] == ".":
            if not left[-1:].isalpha() and not left.endswith("."):
                return None
        elif grouped(run) and not (left.endswith(("(", "[", r"\{")) and right in (")", "]", "\\")):
            return None
    elif run[0] == "." and left[-1:] in tuple(".0123456789"):
        return None
    percent = PERCENT.match(shown, last) if right in PERCENT_STARTS else None
    place = signed(shown, first, percent.end(), whole(Fraction(value) / 100), wanted) if percent else None
    if place:
        return *place, "percent"
    place = signed(shown, first, last, value, wanted)
    if place is None or (right in MORE_STARTS and PART_OF_MORE.match(shown, last)):
        return None
    if (right == ":" or left[-1:] == ":") and _is_clock(shown, first, last):
        return None
    return *place, "label" if _is_label(shown, first, last, value) else "number"


def _is_clock(shown: str, start: int, end: int) -> bool:
    window = max(0, start - 6)
    times = (match.span() for match in CLOCK.finditer(shown, window, end + 7))
    inside = any(first <= start and end <= last for first, last in times)
    return inside and RATIO.search(shown, max(0, start - WINDOW), start) is None


@lru_cache(maxsize=1)
def _list_numbers(shown: str) -> frozenset[int]:
    return frozenset(int(item[1]) for item in LISTED.finditer(shown))


def _is_label(shown: str, start: int, end: int, value: Number) -> bool:
    before = shown[max(0, start - WINDOW) : start]
    line = before[before.rfind("\n") + 1 :]
    last = line[-1:]
    if len(line) < WINDOW and not line.strip(" \t(*>#-") and LIST_NUMBER.match(shown, end):
        first = len(line) == start
        return first or value == 1 or not _list_numbers(shown).isdisjoint((value - 1, value + 1))
    if shown[end : end + 1] in ORDINAL_STARTS and ORDINAL.match(shown, end):
        return True
    if last.isalpha() or (last == "_" and (line[-2:-1].isalnum() or line[-2:-1] in CLOSED)):
        return not GLUED.search(line)
    if "{" in line and NAME.search(line):
        return True
    if value in (2, 3) and last in ("^", "{") and EXPONENT.search(line):
        return True
    noun = line.rstrip(" \t\u00a0~*(#{$[\\:_-")
    if noun.endswith("number"):
        noun = noun[:-6].rstrip()
    dotted = noun.endswith(".")
    noun = noun[:-1] if dotted else noun
    at = len(noun)
    while at and noun[at - 1].isalpha():
        at -= 1
    word = noun[at:].lower()
    if not LABELS.isdisjoint((word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y")):
        return True
    if dotted and word in ("no", "nos", "p", "pp", "ch", "ex", "prop", "def", "cor", "lem", "alg", "tab"):
        return True
    if word == "note":
        return NUMBERED.search(noun[:at]) is not None
    joint = word or line.rstrip(" \t~*(#{")[-1:]
    return joint in JOINTS and "s" in line and LISTING.search(line) is not None
