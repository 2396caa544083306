r"""Targets that are no plain number: where do they stand, in whatever typesetting?

A target such as `\frac{\pi}{2}`, `(0,\infty)`, `x<3`, `\{1,2,3\}`, `Tuesday` or the option `C` is looked for by its
*tokens*: size and spacing commands, dollars, braces and font wrappers fall away, `\dfrac` is `\frac`, `≤` is `\le`. So
`\dfrac \pi 2` and `$\frac{\pi}{2}$` are found as one. Other writings are made from the target itself, see `writings`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from cloze.masking.math.choices import choices
from cloze.masking.math.values import key_value, negative
from cloze.masking.math.words import RANKS
from cloze.masking.math.writings import SAME, TOKEN, normal, plain_text, value_key, writings
from cloze.masking.spans import THE_TARGET, Span

MAX_TARGET = 400
NATURAL = re.compile(r"-?\d+")

SPELLINGS = {
    plain: (plain, *(one for one, other in SAME.items() if other == plain)) for plain in ("\\pi", "\\theta")
} | {
    "2": ("2", "²"),
    "3": ("3", "³"),
    "4": ("4", "⁴"),
}
OPTION = re.compile(r"[A-Za-z]")
WORDS = re.compile(r"[^\W\d_]+(?:[\s'’-]+[^\W\d_]+)*")
SET = re.compile(r"(?:\\left\s*)?\\(?:\{|lbrace)[^{}\\]{0,200}(?:\\right\s*)?\\(?:\}|rbrace)")
OPENER = re.compile(r"\\left\s*\Z")


@dataclass(frozen=True, slots=True)
class Goals:
    """What counts as the target: keys of its value, the texts among target and aliases that have no such key, and the
    fractions among the values, as text and key.
    """

    keys: frozenset[str]
    texts: tuple[str, ...]
    fractions: tuple[tuple[str, str], ...] = ()


@lru_cache(maxsize=4096)
def read_goals(target: str, aliases: tuple[str, ...] = ()) -> Goals:
    """Sort a target and its aliases into values and texts."""
    keys: set[str] = set()
    texts: list[str] = []
    fractions: list[tuple[str, str]] = []
    for one in (target.strip(), *(alias.strip() for alias in aliases)):
        if not one:
            continue
        key = value_key(one)
        if key is not None:
            keys.add(key)
            if "√" in key:
                fractions.append((one, key))
            elif not NATURAL.fullmatch(key) and re.fullmatch(r"-?\d+/\d+", str(key_value(key))):
                fractions.append((str(key_value(key)), key))
        else:
            texts.append(one)
            texts += _rank(one)
            texts += [part.strip() for part in re.split(r"\\cup|∪", one) if part.strip() not in ("", one)]
            keys.update(_each(one))
    return Goals(frozenset(keys), tuple(dict.fromkeys(texts)), tuple(fractions))


def _rank(text: str) -> list[str]:
    """`fifth` for `5th` and the other way round."""
    plain = plain_text(text).lower()
    if plain in RANKS:
        at = RANKS.index(plain) + 1
        return [f"{at}{'th' if 4 <= at <= 20 else ('st', 'nd', 'rd')[at - 1]}"]
    digits = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", plain)
    return [RANKS[int(digits[1]) - 1]] if digits and 1 <= int(digits[1]) <= len(RANKS) else []


def _each(text: str) -> set[str]:
    r"""The values of a bare list (`2, -2`) or of `\pm 6`, each of which is an answer by itself."""
    plain = plain_text(text)
    if signed := re.fullmatch(r"(?:\\pm|±)\s*(.+)", plain):
        key = value_key(signed[1])
        return {key, negative(key)} if key else set()
    parts = [value_key(part) for part in re.split(r",|\b(?:and|or)\b", plain)]
    return {part for part in parts if part} if 1 < len(parts) <= 4 and all(parts) else set()


def find_forms(text: str, goals: Goals) -> list[Span]:
    """Every place where one of the goals' texts stands, in order and without overlaps; all share one value."""
    places: list[tuple[int, int]] = []
    for goal in goals.texts:
        plain = plain_text(goal)
        letter = plain.strip("().")
        if OPTION.fullmatch(letter):
            places += choices(text, letter)
        elif WORDS.fullmatch(plain):
            places += _words(text, plain)
        elif len(goal) > MAX_TARGET or not writings(goal):
            places += (match.span() for match in re.finditer(re.escape(goal), text))
        else:
            places += _typeset(text, goal)
            places += _sets(text, goal)
    value = " | ".join(goals.texts).lower()
    spans: list[Span] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not spans or start >= spans[-1].end:
            spans.append(Span(start, end, "target", value, THE_TARGET))
    return spans


def find_fractions(text: str, goals: Goals) -> list[Span]:
    r"""A target that is a fraction where only its writing says so: `{14 \over 3}`, `{14}/{3}`, `14 \div 3`."""
    if not goals.fractions or not any(mark in text for mark in ("\\over", "\\div", "÷", "}/", "/{", "sqrt")):
        return []
    return [
        Span(start, end, "number", key, THE_TARGET)
        for written, key in goals.fractions
        for start, end in sorted(set(_typeset(text, written)))
    ]


def _typeset(text: str, goal: str) -> Iterator[tuple[int, int]]:
    for start, end in _windows(text, goal):
        tokens = Tokens(text, start, end)
        for writing in writings(goal):
            yield from tokens.find(writing)


def _words(text: str, words: str) -> Iterator[tuple[int, int]]:
    """A target of words, in any case, as whole words."""
    low, first = text.lower(), words.lower().split()
    if first[0] not in low and len(low) == len(text):
        return
    if len(first) > 1 or len(low) != len(text):
        pattern = r"(?:[\s~]|\\ )+".join(map(re.escape, words.split()))
        for match in re.finditer(rf"(?<![^\W\d_]){pattern}(?![^\W\d_])", text, re.IGNORECASE):
            yield match.span()
        return
    start = low.find(first[0])
    while start >= 0:
        end = start + len(first[0])
        if not low[start - 1 : start].isalpha() and not low[end : end + 1].isalpha():
            yield start, end
        start = low.find(first[0], end)


def _windows(text: str, goal: str) -> list[tuple[int, int]]:
    """Where in the text a goal may stand: around each place of a token that all of its writings share."""
    shared = _shared(goal)
    if not shared:
        return [(0, len(text))]
    around = 3 * len(goal) + 32
    windows: list[tuple[int, int]] = []
    for at in sorted(match for one in shared for match in _places(text, one)):
        start, end = max(0, at - around), min(len(text), at + around)
        if windows and start <= windows[-1][1]:
            windows[-1] = windows[-1][0], end
        else:
            windows.append((start, end))
    return windows


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part))


@lru_cache(maxsize=4096)
def _shared(goal: str) -> tuple[str, ...]:
    """All spellings of the rarest token that stands in each writing; none if there is no telling one."""
    sets = [frozenset(writing.split("\0")[:-1]) for writing in writings(goal)]
    tokens = [one for one in frozenset.intersection(*sets) if one in SPELLINGS or one[0].isdecimal()]
    if not tokens:
        return ()
    best = max(tokens, key=lambda token: (token[0] == "\\", len(token), token))
    return SPELLINGS.get(best, (best,))


def _sets(text: str, goal: str) -> Iterator[tuple[int, int]]:
    whole = SET.fullmatch(goal.strip().strip("$").strip())
    if whole is None:
        return
    wanted = _elements(whole[0])
    for match in SET.finditer(text):
        if _elements(match[0]) == wanted:
            yield match.start(), match.end()


def _elements(written: str) -> frozenset[str]:
    inner = re.sub(r"\\left|\\right|\\[{}]|\\[lr]brace|\s", "", written)
    return frozenset(value_key(one) or one for one in inner.split(","))


class Tokens:
    """A text as its tokens in normal form, searchable, with the way back to characters."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        matches = [match for match in TOKEN.finditer(text, start, end) if normal(match[0])]
        self.starts = [match.start() for match in matches]
        self.ends = [match.end() for match in matches]
        kept = [normal(match[0]) for match in matches]
        self.offsets = [0, *accumulate(len(token) + 1 for token in kept)]
        self.joined = "\0" + "".join([token + "\0" for token in kept])

    def find(self, writing: str) -> Iterator[tuple[int, int]]:
        """The places, in characters, where the tokens of a writing stand; `?` is any one letter."""
        for at, stop in self._places(writing):
            first = bisect_right(self.offsets, at) - 1
            last = bisect_left(self.offsets, stop - 1) - 1
            start, end = self.starts[first], self.ends[last]
            if not self._cuts_a_word(start, end):
                opener = OPENER.search(self.text, max(0, start - 12), start)
                yield (
                    opener.start() if opener and "\\right" in self.text[start:end] else start,
                    self._closed(start, end),
                )

    def _places(self, writing: str) -> Iterator[tuple[int, int]]:
        if "?" in writing:
            pattern = re.escape("\0" + writing).replace(re.escape("?"), "[A-Za-z]")
            for match in re.finditer(pattern, self.joined):
                yield match.start() + 1, match.end()
            return
        at = self.joined.find("\0" + writing)
        while at >= 0:
            yield at + 1, at + 1 + len(writing)
            at = self.joined.find("\0" + writing, at + len(writing))

    def _cuts_a_word(self, start: int, end: int) -> bool:
        text = self.text
        left = text[start].isalpha() and start > 0 and text[start - 1].isalpha() and not self._in_command(start - 1)
        right = text[end - 1].isalpha() and text[end : end + 1].isalpha() and not self._in_command(end - 1)
        return left or right

    def _in_command(self, at: int) -> bool:
        return re.search(r"\\[A-Za-z]+$", self.text[max(0, at - 24) : at + 1]) is not None

    def _closed(self, start: int, end: int) -> int:
        """`end`, moved past the braces that were opened inside of the place."""
        part = self.text[start:end]
        missing = len(re.findall(r"(?<!\\)\{", part)) - len(re.findall(r"(?<!\\)\}", part))
        while missing > 0 and self.text[end : end + 1] == "}":
            end, missing = end + 1, missing - 1
        return end
