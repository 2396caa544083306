r"""Targets that are no plain number: where do they stand, in whatever typesetting?

A target such as `\frac{\pi}{2}`, `(0,\infty)`, `x<3`, `\{1,2,3\}`, `Tuesday` or the option `C` is looked for by its
*tokens*: size and spacing commands, dollars, braces and font wrappers fall away, `\dfrac` is `\frac`, `≤` is `\le`. So
`\dfrac \pi 2` and `$\frac{\pi}{2}$` are found as one. A few other writings are made from the target itself: a fraction
with a slash, the terms of a sum in another order, a set in another order, an interval as an inequality and back.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, permutations

from cloze.masking.math.latex import Latex
from cloze.masking.math.values import fraction_key, number_key
from cloze.masking.spans import THE_TARGET, Span
from cloze.verifiers.math import bare, read_value

MAX_TARGET = 400
MAX_WRITINGS = 64

TOKEN = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|bb)|mbox|operatorname)\s*(?=\{)|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?"
    r"|(?:infinity|infty|sqrt|theta|pi|or|and)(?![A-Za-z])|[<>]=|\S"
)
DROPPED = re.compile(
    r"\\(?:left|right|[bB]ig+[lr]?|displaystyle|textstyle|limits|q?quad|,|!|;|:| |\(|\)|\[|\]|cdot|boxed|fbox|"
    r"text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf|bb)|mbox|operatorname)\s*|[{}$*~]"
)
SAME = {
    "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\cfrac": "\\frac", "\\leq": "\\le", "\\leqslant": "\\le", "≤": "\\le",
    "<=": "\\le", "\\geq": "\\ge", "\\geqslant": "\\ge", "≥": "\\ge", ">=": "\\ge", "\\lt": "<", "\\gt": ">",
    "∞": "\\infty", "infinity": "\\infty", "infty": "\\infty", "π": "\\pi", "pi": "\\pi", "−": "-", "–": "-",
    "√": "\\sqrt", "sqrt": "\\sqrt", "∪": "\\cup", "θ": "\\theta", "theta": "\\theta", "×": "\\times", "±": "\\pm",
    "\\lbrace": "\\{", "\\rbrace": "\\}", "∅": "\\emptyset", "\\varnothing": "\\emptyset",
}  # fmt: skip
SPELLINGS = {plain: (plain, *(one for one, other in SAME.items() if other == plain)) for plain in ("\\pi", "\\theta")}
OPTION = re.compile(r"[A-Za-z]")
WORDS = re.compile(r"[^\W\d_]+(?:[\s'’-]+[^\W\d_]+)*")
SET = re.compile(r"(?:\\left\s*)?\\(?:\{|lbrace)[^{}\\]{0,200}(?:\\right\s*)?\\(?:\}|rbrace)")
INTERVAL = re.compile(r"([\[(])([^,()\[\]]+),([^,()\[\]]+)([\])])")
INEQUALITY = re.compile(r"([A-Za-z])\s*(<=?|>=?|\\leq?|\\geq?|≤|≥)\s*([^<>≤≥A-Za-z=]+)")
BETWEEN = re.compile(r"([^<>≤≥A-Za-z=]+?)\s*(<=?|\\leq?|≤)\s*([A-Za-z])\s*(<=?|\\leq?|≤)\s*([^<>≤≥A-Za-z=]+)")
OPENER = re.compile(r"\\left\s*\Z")


plain_text = lru_cache(maxsize=4096)(bare)


@lru_cache(maxsize=1 << 14)
def normal(token: str) -> str:
    """A token in normal form, empty if it falls away."""
    if token[0].isdecimal():
        return number_key(token)
    return "" if token == "\0" or DROPPED.fullmatch(token) else SAME.get(token, token)


@dataclass(frozen=True, slots=True)
class Goals:
    """What counts as the target: keys of its value, and the texts among target and aliases that have no such key."""

    keys: frozenset[str]
    texts: tuple[str, ...]


@lru_cache(maxsize=4096)
def read_goals(target: str, aliases: tuple[str, ...] = ()) -> Goals:
    """Sort a target and its aliases into values and texts."""
    keys, texts = set(), []
    for one in (target.strip(), *(alias.strip() for alias in aliases)):
        if not one:
            continue
        key = value_key(one)
        if key is not None:
            keys.add(key)
        else:
            texts.append(one)
    return Goals(frozenset(keys), tuple(dict.fromkeys(texts)))


@lru_cache(maxsize=1 << 14)
def value_key(text: str) -> str | None:
    """The key of a text that is one value and nothing else (unit, name and typesetting aside), or None."""
    value = read_value(text)
    if value is not None:
        return fraction_key(value)
    plain = plain_text(text)
    sign = plain.startswith("-")
    read = Latex(plain).constant(int(sign)) if plain else None
    if read is None or read[0] != len(plain):
        return None
    return "-" + read[1] if sign else read[1]


def find_forms(text: str, goals: Goals) -> list[Span]:
    """Every place where one of the goals' texts stands, in order and without overlaps; all share one value."""
    places: list[tuple[int, int]] = []
    for goal in goals.texts:
        plain = plain_text(goal)
        letter = plain.strip("().")
        if OPTION.fullmatch(letter):
            found = (match.span() for match in _option(letter).finditer(text))
            places += ((start, end) for start, end in found if not text[start - 1 : start].isalpha())
        elif WORDS.fullmatch(plain):
            places += _words(text, plain)
        elif len(goal) > MAX_TARGET or not writings(goal):
            places += (match.span() for match in re.finditer(re.escape(goal), text))
        else:
            for start, end in _windows(text, goal):
                tokens = Tokens(text, start, end)
                for writing in writings(goal):
                    places += tokens.find(writing)
            places += _sets(text, goal)
    value = " | ".join(goals.texts).lower()
    spans: list[Span] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not spans or start >= spans[-1].end:
            spans.append(Span(start, end, "target", value, THE_TARGET))
    return spans


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


@lru_cache(maxsize=64)
def _option(letter: str) -> re.Pattern[str]:
    """An option letter in its own case wherever it is a word, in the other case only where it is marked as one."""
    low = letter.swapcase()
    marks = "(?i:(?<=option )|(?<=choice )|(?<=answer is )|(?<=answer: ))"
    return re.compile(rf"(?<![\\'’_]){letter}(?![\w'’])|(?<=\(){low}(?=\))|{marks}{low}(?![\w'’])")


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
    best = max(tokens, key=lambda token: (token in SPELLINGS, len(token), token))
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


@lru_cache(maxsize=4096)
def writings(goal: str) -> tuple[str, ...]:
    """A symbolic target in its writings, each as its tokens, ended by NUL; `?` in a writing is any one letter."""
    plain = plain_text(goal)
    made = dict.fromkeys([goal, plain, *_fractions(plain), *_sums(plain), *_ranges(plain)])
    for one in list(made):
        made.update(dict.fromkeys(_fractions(one)))
    joined: dict[str, None] = {}
    for one in list(made)[:MAX_WRITINGS]:
        tokens = [token for token in map(normal, TOKEN.findall(one)) if token]
        while tokens and tokens[-1] in (".", ","):
            tokens.pop()
        if tokens and any(re.search(r"\w", token) for token in tokens):
            joined["".join(token + "\0" for token in tokens)] = None
    return tuple(joined)


def _fractions(text: str) -> Iterator[str]:
    r"""`\frac{A}{B}` as `A/B` with brackets or without, and back, and `\frac{kA}{B}` as `\frac{k}{B}A`."""
    latex = Latex(text)
    for match in re.finditer(r"\\[dtc]?frac\s*(\{|\d|\\[A-Za-z]+)", text):
        parts, at = [], match.start(1)
        for _ in range(2):
            close = latex.pairs.get(at)
            if close is not None:
                parts.append(text[at + 1 : close])
                at = close + 1
            elif single := re.compile(r"\s*(\d|\\[A-Za-z]+|[A-Za-z])").match(text, at):
                parts.append(single[1])
                at = single.end()
        if len(parts) < 2:
            continue
        top, bottom, before, after = *parts, text[: match.start()], text[at:]
        for written in (f"{top}/{bottom}", f"({top})/{bottom}", f"{top}/({bottom})", f"({top})/({bottom})"):
            yield before + written + after
        if factor := re.match(r"(\d+)(?=\D)", top):
            yield f"{before}\\frac{{{factor[1]}}}{{{bottom}}}{top[factor.end() :]}{after}"
        elif not top[:1].isdigit() and not re.search(r"[-+]", top):
            yield f"{before}\\frac{{1}}{{{bottom}}}{top}{after}"
    if slash := re.fullmatch(r"\(?([^/()]+)\)?\s*/\s*\(?([^/()]+)\)?", text):
        yield f"\\frac{{{slash[1]}}}{{{slash[2]}}}"


def _sums(text: str) -> Iterator[str]:
    terms = re.split(r"\s*\+\s*", text)
    if 1 < len(terms) <= 4 and not re.search(r"[-=,<>(\[{]", re.sub(r"(?<=[A-Za-z\]^_])\{|\}\{", "", text)):
        yield from ("+".join(order) for order in permutations(terms))


def _ranges(text: str) -> Iterator[str]:
    """An interval as inequalities (`?` for the variable), an inequality the other way round and as an interval."""
    interval = INTERVAL.fullmatch(re.sub(r"\\left|\\right|\s", "", text))
    between, single = BETWEEN.fullmatch(text), INEQUALITY.fullmatch(text)
    if interval:
        opens, low, high, closes = interval.groups()
        yield from _inequalities("?", low if "infty" not in low and "∞" not in low else "", opens, high, closes)
    elif between:
        low, first, name, second, high = between.groups()
        opens, closes = ("(" if first == "<" else "["), (")" if second == "<" else "]")
        yield f"{opens}{low},{high}{closes}"
        yield from _inequalities(name, low, opens, high, closes)
    elif single:
        name, sign, edge = single.groups()
        below, strict = sign[0] in "<≤" or sign.startswith("\\l"), sign in ("<", ">")
        opens, closes = ("(" if not below and strict else "["), (")" if below and strict else "]")
        yield f"(-\\infty,{edge}{closes}" if below else f"{opens}{edge},\\infty)"
        low, high = ("", edge) if below else (edge, "\\infty")
        yield from _inequalities(name, low, opens, high, closes)
        yield f"{name}\\in(-\\infty,{edge}{closes}" if below else f"{name}\\in{opens}{edge},\\infty)"


def _inequalities(name: str, low: str, opens: str, high: str, closes: str) -> Iterator[str]:
    under, over = ("<" if opens == "(" else "\\le"), ("<" if closes == ")" else "\\le")
    turned = {"<": ">", "\\le": "\\ge"}
    if "infty" in high or "∞" in high:
        if low:
            yield f"{name}{turned[under]}{low}"
            yield f"{low}{under}{name}"
    elif not low:
        yield f"{name}{over}{high}"
        yield f"{high}{turned[over]}{name}"
    else:
        yield f"{low}{under}{name}{over}{high}"
        yield f"{high}{turned[over]}{name}{turned[under]}{low}"
