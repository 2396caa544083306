"""Number words for the leak audit: "twenty-four", "two dozen", "three quarters", "1.5 million".

A run of number words is found by a pattern, cut into the longest pieces that can be read, and each piece is read:
cardinals by the library text2num, fractions, dozens and decimals from their parts here. Words that count nothing
("no one", "one of", "two cases", "the first") are found too, as labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from cloze.masking.leaks.signs import minus_is
from cloze.masking.leaks.values import Place

CARDINALS = re.findall(
    "[a-z]+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty thirty forty fourty fifty sixty seventy eighty ninety hundred thousand million billion",
)
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "dozen": 12}
ORDINALS = {
    "first": "one", "second": "two", "third": "three", "fifth": "five", "eighth": "eight", "ninth": "nine",
    "twelfth": "twelve",
}  # fmt: skip
ORDINALS |= {
    (word[:-1] + "ie" if word.endswith("y") else word) + "th": word
    for word in CARDINALS[4:]
    if word not in ("five", "eight", "nine", "twelve", "fourty")
}
YEARS = ("sixteen", "seventeen", "eighteen", "nineteen", "twenty")
PARTS = {"half": 2, "halve": 2, "quarter": 4} | {
    word: CARDINALS.index(cardinal)
    for word, cardinal in ORDINALS.items()
    if cardinal in CARDINALS[3:21]
}  # fmt: skip
PARTS |= {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
WORDS = frozenset((*CARDINALS, *SCALES, *ORDINALS, *PARTS, *(word + "s" for word in (*PARTS, *SCALES))))
ANY = "(?:" + "|".join(sorted(WORDS, key=len, reverse=True)) + ")(?![A-Za-z])"
GAP = r"(?:[ \t~\u00a0\u2009\u202f]{1,3}|\\[,;: ]|[ \t]?\n[ \t]{0,3}|[-\u2010-\u2013]\n?)"
RUN = re.compile(
    rf"(?<![A-Za-z\\]){ANY}"
    rf"(?:(?:(?<=thousand|.million|.billion),(?=\s+[a-z]+\s+hundred))?{GAP}(?:{ANY}|(?:and|an?|point)(?![A-Za-z])))*+",
    re.IGNORECASE,
)
WORD = re.compile("[a-z]{3,}")
FIRST_WORDS = {"a", "an", "and", "minus", "negative", "point"}
DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.[0-9]{1,12})?"
PREFIX = re.compile(
    rf"(?:(?<![\w.,]){DIGITS}(?:[ \t~-]|\\[,;: ]|\\text\w{{0,4}}\{{ ?){{1,4}}(?:and[ ])?)?"
    r"(?:(?<![A-Za-z\\])(?:minus|negative)[ \t]{1,3})?(?:(?<![A-Za-z\\])(?:point|an?)[ \t]{1,3})?$",
    re.IGNORECASE,
)
PIECE = re.compile(rf"{DIGITS}|(?<![A-Za-z\\])[A-Za-z]+")
RANK = re.compile(
    r"(?<![\w.,])([0-9]{1,9})(?:\\text\{|\^\{?(?:\\text\{)?)?-?(?:st|nd|rd|th)(?![A-Za-z])\}{0,2}", re.IGNORECASE
)
PERCENT = re.compile(r"[ \t-]{1,2}per ?cent(?![A-Za-z])", re.IGNORECASE)
LONGEST = 14
LONGEST_KEPT = 200
PREFIX_WINDOW = 40


class Piece(NamedTuple):
    """A number in words: its place within the run, its value, and whether it only ranks (`twenty-fourth`)."""

    start: int
    end: int
    value: Fraction
    ranks: bool


def find_words(shown: str, wanted: frozenset[Fraction], ranks: frozenset[int] = frozenset()) -> Iterator[Place]:
    """Every number in words that is one of the wanted ones: "word", "percent", or "label" where it counts nothing.

    Args:
        shown: where to look.
        wanted: the numbers.
        ranks: numbers that are wanted as a rank: "fifth".
    """
    lower = shown.lower()
    standing = WORDS.intersection(WORD.findall(lower))
    if not standing:
        return
    if len(lower) != len(shown):
        lower = "".join(one.lower() if len(one.lower()) == 1 else one for one in shown)
    done = 0
    for at in sorted(match.start() for word in standing for match in re.finditer(word, lower)):
        match = RUN.match(lower, at) if at >= done else None
        if match is None:
            continue
        done = match.end()
        start = _prefixed(lower, at)
        run = lower[start:done]
        for piece in read_run(run) if len(run) < LONGEST_KEPT else read_run.__wrapped__(run):
            first, last = start + piece.start, start + piece.end
            percent = PERCENT.match(lower, last)
            if lower.startswith("minus", first):
                yield from _minus(lower, first, last, piece, wanted)
            elif percent and piece.value / 100 in wanted:
                yield first, percent.end(), "percent"
            elif piece.ranks and piece.value in ranks:
                yield first, last, "word"
            elif piece.value in wanted:
                yield first, last, "label" if piece.ranks or _counts_nothing(shown, first, last) else "word"


def _minus(lower: str, first: int, last: int, piece: Piece, wanted: frozenset[Fraction]) -> Iterator[Place]:
    """A number after the word "minus", which may subtract it ("ten minus five")."""
    may_be_sign, may_subtract = minus_is(lower, first)
    if may_be_sign and piece.value in wanted:
        yield first, last, "word"
    elif may_subtract and -piece.value in wanted:
        yield last - len(lower[first + len("minus") : last].lstrip()), last, "word"


def _prefixed(lower: str, at: int) -> int:
    """Where a run of words begins if digits, an article or a minus belong to it."""
    before = lower[max(0, at - PREFIX_WINDOW) : at]
    last = before.rsplit(None, 1)[-1:]
    if not last or not (last[0] in FIRST_WORDS or last[0].endswith("{") or re.search("[0-9]", last[0])):
        return at
    prefix = PREFIX.search(before)
    return at - (len(before) - prefix.start() if prefix else 0)


def read_rank(text: str) -> int | None:
    """The rank that a whole text is, in words or in digits (`5th`, "fifth"), or None."""
    digits = RANK.fullmatch(text)
    if digits:
        return int(digits[1])
    pieces = read_run(text.lower()) if len(text) < 100 else ()
    ranks = len(pieces) == 1 and pieces[0][:2] == (0, len(text)) and pieces[0].ranks
    return int(pieces[0].value) if ranks else None


def find_ranks(shown: str, ranks: frozenset[int]) -> Iterator[Place]:
    """Every rank in digits that is one of the wanted ones."""
    for match in RANK.finditer(shown):
        if int(match[1]) in ranks:
            yield *match.span(), "number"


def read_spelled(text: str) -> Fraction | None:
    """The number that a whole text spells out in words, or None."""
    pieces = read_run(text.lower()) if len(text) < 100 else ()
    spelled = len(pieces) == 1 and pieces[0][:2] == (0, len(text)) and not pieces[0].ranks
    return pieces[0].value if spelled else None


@lru_cache(maxsize=4096)
def read_run(run: str) -> tuple[Piece, ...]:
    """Cut a run of number words, in lower case, into the longest pieces that can be read."""
    found = list(PIECE.finditer(run))
    words = [match.group() for match in found]
    pieces: list[Piece] = []
    at = 0
    while at < len(words):
        for end in range(min(len(words), at + LONGEST), at, -1):
            if end == at + 1 and words[at][0].isdigit():
                continue  # digits alone are no word
            read = _read(tuple(words[at:end]))
            if read is not None:
                pieces.append(Piece(found[at].start(), found[end - 1].end(), *read))
                at = end
                break
        else:
            at += 1
    return tuple(pieces)


def _read(words: tuple[str, ...]) -> tuple[Fraction, bool] | None:
    value = read_words(words)
    if value is not None:
        return value, False
    last = ORDINALS.get(words[-1])
    ranked = read_words((*words[:-1], last)) if last else None
    return (ranked, True) if ranked is not None else None


@lru_cache(maxsize=65536)
def read_words(words: tuple[str, ...]) -> Fraction | None:
    """The number that the words are, all of them taken together, or None."""
    if not words:
        return None
    if words[-1].removesuffix("s") in SCALES:  # two dozens; dozens alone are no number
        if words[-1].endswith("s") and len(words) == 1:
            return None
        words = (*words[:-1], words[-1].removesuffix("s"))
    first, last, rest = words[0], words[-1], words[:-1]
    if first in ("minus", "negative"):
        value = read_words(words[1:])
        return -value if value is not None and value >= 0 else None
    if first == "half" and len(words) > 1 and (words[1] == "a" or last == "dozen"):  # half a dozen, half a million
        value = read_words(words[1:])
        return value / 2 if value is not None and value > 1 else None
    if last.removesuffix("s") in PARTS:
        return _fraction(rest, last)
    if last in SCALES and (last in ("dozen", "trillion") or (rest and rest[0][0].isdigit()) or "point" in rest):
        value = Fraction(1) if rest in ((), ("a",)) else read_words(rest)
        return value * SCALES[last] if value is not None else None
    if "point" in words:
        return _decimal(words)
    if first[0].isdigit():
        return Fraction(first.replace(",", "")) if len(words) == 1 else None
    return _cardinal(words)


def _fraction(rest: tuple[str, ...], last: str) -> Fraction | None:
    part = Fraction(1, PARTS[last.removesuffix("s")])
    if "and" in rest:  # two and three quarters, one hundred and one and a half
        cut = len(rest) - 1 - rest[::-1].index("and")
        whole, broken = read_words(rest[:cut]), _fraction(rest[cut + 1 :], last)
        if whole is None or broken is None or whole.denominator != 1 or not 0 < broken < 1:
            return None
        return whole + broken
    if not rest:
        return part if last == "half" else None
    if rest in (("a",), ("an",), ("one",), ("1",)):
        return part
    if not last.endswith("s"):  # "twenty third" ranks
        return None
    top = read_words(rest)
    return top * part if top is not None and top.denominator == 1 else None


def _decimal(words: tuple[str, ...]) -> Fraction | None:
    cut = words.index("point")
    whole = read_words(words[:cut]) if cut else Fraction(0)
    tail = words[cut + 1 :]
    digits = [CARDINALS.index(word) for word in tail if word in CARDINALS[:10]]
    if whole is None or whole.denominator != 1 or not tail:
        return None
    if len(digits) == len(tail):
        decimals = "".join(map(str, digits))
    else:  # "point twenty-five"
        value = _cardinal(tail)
        if value is None or value > 99:
            return None
        decimals = str(value)
    return whole + Fraction(int(decimals), 10 ** len(decimals))


def _cardinal(words: tuple[str, ...]) -> Fraction | None:
    if not words:
        return None
    if words[0] in ("a", "an"):
        if len(words) == 1 or words[1] not in SCALES:
            return None
        words = ("one", *words[1:])
    if "a" in words or "an" in words or words[0] == "and" or words[-1] == "and" or (words[0] == "zero" and words[1:]):
        return None
    from text_to_num import text2num  # type: ignore[import-untyped]

    try:
        return Fraction(text2num(" ".join(words), "en"))
    except ValueError:
        year = words[0] in YEARS and len(words) < 4 and _cardinal(words[1:])  # nineteen eighty-four
        return CARDINALS.index(words[0]) * 100 + year if year and 10 <= year < 100 else None


# Words that count nothing: a pronoun, a rank, a part of the argument.
NAMED = re.compile(
    r"(?<![A-Za-z])(?:steps?|cases?|parts?|lemmas?|theorems?|claims?|examples?|equations?|sections?|options?|chapters?"
    r"|methods?|stages?|phases?|rounds?|rules?|questions?|problems?|figures?|non)[- \t]*$",
    re.IGNORECASE,
)
STRUCTURE = re.compile(
    r"[ \t\n]+(?:(?:more|other|different|main|possible|separate|distinct|simple|key|basic)[ \t]+)?(?:sub)?"
    r"(?:cases?|steps?|parts?|methods?|approach(?:es)?|stages?|phases?|scenarios?|equations?|conditions?|expressions?"
    r"|formulas?|observations?|reasons?|facts?|things?|sides|situations?|statements?)(?![A-Za-z])(?! of [a-z]+s\b)",
    re.IGNORECASE,
)
COMPOUND = re.compile(
    r"-(?:digits?|step|dimensional|sided|way|part|variable|column|to|by|point|tailed|life|open|plane|circle|line)\b"
)
POINTED = re.compile(
    r"(?<![A-Za-z])(?:the|these|those|this|that|its|their|our|his|her|my|your|other|first|last|next|previous|second"
    r"|latter|former|remaining|upper|lower|left|right|each|every|no|any|some|which|another|only|wrong|new|correct)"
    r"[ \t\n]+$",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"'s\b|[ \t\n]+(?:of|another|by one|at a time|can|could|may|might|must|should|would|will|needs?|has to|gets?|finds?"
    r"|sees?|obtains?|who|that|which|way|idea|hand|side)(?![A-Za-z])",
    re.IGNORECASE,
)
BY_ONE = re.compile(r"(?<![A-Za-z])one[ \t-](?:by|to|at)[ \t-]$", re.IGNORECASE)


def _counts_nothing(shown: str, start: int, end: int) -> bool:
    word = shown[start:end].lower()
    before = shown[max(0, start - PREFIX_WINDOW) : start]
    if NAMED.search(before):
        return True
    if word not in ("one", "two", "three", "half", "a half", "one half"):
        return False
    if COMPOUND.match(shown, end) or STRUCTURE.match(shown, end) or POINTED.search(before):
        return not (word != "one" and re.search(r"\bonly[ \t\n]+$", before))
    return word == "one" and (PRONOUN.match(shown, end) or BY_ONE.search(before)) is not None
