"""Number words in running text: `twenty-four`, `a hundred and five`, `a dozen`, `three and a half`, `two-thirds`.

Only the places are found here and what they are worth. Whether a word stands for a value (`the answer is two`) or
belongs to the sentence (`there are two cases`, `one of them`) is told with it as `loose`, and the masker decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from cloze.masking.math.values import fraction_key

SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
RANKS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
]  # fmt: skip
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7}
PARTS |= {"eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "twentieth": 20, "hundredth": 100, "thousandth": 1000}
UNITS = {word: index for index, word in enumerate(SMALL)} | {word: 20 + 10 * i for i, word in enumerate(TENS)}
UNITS |= {"fourty": 40}


def _one_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, branching on two letters so that most places fail at once."""
    by_start: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        by_start.setdefault(word[:2], []).append(word[2:])
    return "(?:" + "|".join(f"{start}(?:{'|'.join(rest)})" for start, rest in by_start.items()) + ")(?![a-z])"


_ANY = _one_of({*UNITS, *SCALES})
_PART = _one_of({*PARTS, *(f"{part}s" for part in PARTS)})
_JOIN = r"[-\s\u00a0\u2010\u2011]{1,3}"
_TAIL = rf"(?:(?:{_JOIN}|\s+and\s+)(?:an?\s+)?{_PART})?"
RUN = re.compile(  # over text in small letters
    rf"(?<![a-z\\])(?:{_one_of({*UNITS, *SCALES, 'half'})}(?:{_JOIN}(?:and\s+(?={_ANY}))?{_ANY})*{_TAIL}"
    rf"|an?\s(?:dozen(?![a-z])|{_one_of(SCALES)}(?:{_JOIN}(?:and\s+)?{_ANY})*|{_PART}))"
)
MOST_WORDS = 24  # of one number
SMALL_LETTERS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
TOKEN = re.compile(r"[a-z]+")
ORDINAL = re.compile(
    r"[-\s](?:first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|[a-z]{3,5}teen|[a-z]{3,5}tie)th)(?![A-Za-z])",
    re.IGNORECASE,
)
KEYS = (
    {word: str(value) for word, value in UNITS.items()} | {"half": "0.5", "a dozen": "12"} | dict.fromkeys(SCALES, "")
)
DOZEN = re.compile(r"[-\s]dozen(?![A-Za-z])", re.IGNORECASE)
NOUN = re.compile(
    r"\s+(?:(?:possible|different|separate|main|more|other|such|distinct|similar|sub|of\s+(?:the|these|them))\s+)?"
    r"(?:cases?|steps?|ways?|parts?|equations?|possibilit(?:y|ies)|options?|types?|kinds?|conditions?|methods?|approach(?:es)?"
    r"|observations?|facts?|things?|scenarios?|subcases?|stages?|phases?|situations?|expressions?|unknowns?|variables?)"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
AFTER_ONE = re.compile(
    r"-|\s+(?:of|another|can|must|may|might|should|could|would|way|needs?|gets?|has|sees|finds|obtains|by|to|thing|who|that"
    r"|which)(?![A-Za-z])",
    re.IGNORECASE,
)
PRONOUN = re.compile(
    r"(?:no|any|some|every|each|this|that|which|the|another|other|last|next|first|by|to|these|those)[-\s]$",
    re.IGNORECASE,
)
LABEL = re.compile(
    r"(?<![a-z])(?:step|case|part|lemma|theorem|claim|figure|example|equation|section|problem|question|method|option|stage|phase|round)"
    r"\s$",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """A run of number words: its key and place, whether it may belong to the sentence rather than count, and the key of
    what it is part of (24 for the `two` of `two dozen`).
    """

    key: str
    start: int
    end: int
    loose: bool
    whole: str = ""


def number_words(text: str) -> Iterator[Word]:
    """Every number in words, from left to right; ordinals (`third`) and labels (`Step two`) are none."""
    low = text.lower()
    if len(low) != len(text):  # a letter became two
        low = text.translate(SMALL_LETTERS)
    for match in RUN.finditer(low):
        at, stop = match.span()
        if low[at - 4 : at] in ("non-", "non\u2010"):
            continue
        single = KEYS.get(match[0])
        for key, start, end in ((single, at, stop),) if single is not None else _read(match[0], at):
            before = text[max(0, at - 12) : at]
            if not key or LABEL.search(before) or ORDINAL.match(text, end):
                continue  # a scale by itself (`3 hundred`, `hundred`) is no number
            loose = NOUN.match(text, end) is not None
            if key == "1" and not loose:
                loose = AFTER_ONE.match(text, end) is not None or PRONOUN.search(before) is not None
            dozens = fraction_key(12 * Fraction(key)) if DOZEN.match(text, end) else ""
            yield Word(key, start, end, loose and not dozens, dozens)


def _read(run: str, offset: int) -> Iterator[tuple[str, int, int]]:
    """The numbers of one run: one, or several where the words do not make one (`five six`)."""
    words = [(match[0], match.start(), match.end()) for match in TOKEN.finditer(run)]
    index = 0
    while index < len(words):
        value, used = _longest([word for word, _, _ in words[index : index + MOST_WORDS]])
        if value is None:
            index += 1
            continue
        yield fraction_key(value), offset + words[index][1], offset + words[index + used - 1][2]
        index += used


def _longest(words: list[str]) -> tuple[Fraction | None, int]:
    """The value of the longest beginning of the words that is one number, and how many words that takes."""
    total, current, last, best = 0, 0, 10**18, 0
    article = words[0] in ("a", "an")
    if article:
        current = 1
    index = int(article)
    room = 10**18  # the next word must be worth less than this
    while index < len(words):
        word = words[index]
        if word == "and" and index and words[index - 1] in SCALES:
            index += 1
            continue
        if word in UNITS and UNITS[word] < room and not (article and index == 1):
            current += UNITS[word]
            room = 10 if UNITS[word] >= 20 else 0
        elif word == "hundred" and current < 100:
            current = max(current, 1) * 100
            room = 100
        elif word in SCALES and word != "hundred" and SCALES[word] < last:
            total += max(current, 1) * SCALES[word]
            current, last, room = 0, SCALES[word], 1000
        else:
            break
        index += 1
        best = index
    value = Fraction(total + current) if best or article else None
    part = _part(words[best or int(article) :], value)
    if part is not None:
        return part[0], part[1] + (best or int(article))
    if words[0] == "half":
        return Fraction(1, 2), 1
    return (value, best) if best else (None, 1)


def _part(rest: list[str], value: Fraction | None) -> tuple[Fraction, int] | None:
    """`two thirds`, `a half`, `three and a half`: a number with a part after it, and how many words the part takes."""
    if value is None:
        return None
    joined = rest[:1] == ["and"]
    skipped = int(joined) + (rest[int(joined) : int(joined) + 1] in (["a"], ["an"]))
    word = rest[skipped] if skipped < len(rest) else ""
    bottom = PARTS.get(word) or PARTS.get(word.removesuffix("s"))
    if bottom is None:
        return None
    if joined:
        return value + Fraction(1, bottom), skipped + 1
    plural = word not in PARTS or word == "halves"
    if (value == 1) == plural or value >= 20 or value == 0:
        return None
    return value / bottom, skipped + 1
