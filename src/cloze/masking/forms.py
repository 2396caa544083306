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
from itertools import permutations

from cloze.masking.latex import Latex
from cloze.masking.spans import THE_TARGET, Span
from cloze.masking.values import fraction_key
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
SAME_WRITINGS = {
    plain: (plain, *(one for one, other in SAME.items() if other == plain)) for plain in ("\\pi", "\\theta")
}
OPTION = re.compile(r"[A-Za-z]")
WORDS = re.compile(r"[^\W\d_]+(?:[\s'’-]+[^\W\d_]+)*")
SET = re.compile(r"(?:\\left\s*)?\\(?:\{|lbrace)[^{}\\]{0,200}(?:\\right\s*)?\\(?:\}|rbrace)")
INTERVAL = re.compile(r"([\[(])([^,()\[\]]+),([^,()\[\]]+)([\])])")
INEQUALITY = re.compile(r"([A-Za-z])\s*(<=?|>=?|\\leq?|\\geq?|≤|≥)\s*([^<>≤≥A-Za-z=]+)")
BETWEEN = re.compile(r"([^<>≤≥A-Za-z=]+?)\s*(<=?|\\leq?|≤)\s*([A-Za-z])\s*(<=?|\\leq?|≤)\s*([^<>≤≥A-Za-z=]+)")
OPENER = re.compile(r"\\left\s*\Z")


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


def value_key(text: str) -> str | None:
    """The key of a text that is one value and nothing else (unit, name and typesetting aside), or None."""
    value = read_value(text)
    if value is not None:
        return fraction_key(value)
    plain = bare(text)
    sign = plain.startswith("-")
    read = Latex(plain).constant(int(sign)) if plain else None
    if read is None or read[0] != len(plain):
        return None
    return "-" + read[1] if sign else read[1]


def find_forms(text: str, goals: Goals) -> list[Span]:
    """Every place where one of the goals' texts stands, in order and without overlaps; all share one value."""
    places: list[tuple[int, int]] = []
    tokens: Tokens | None = None
    for goal in goals.texts:
        plain = bare(goal)
        letter = plain.strip("().")
        if OPTION.fullmatch(letter):
            places += _options(text, letter)
        elif WORDS.fullmatch(plain):
            places += _words(text, plain)
        else:
            if len(goal) > MAX_TARGET or not writings(goal):
                places += [(match.start(), match.end()) for match in re.finditer(re.escape(goal), text)]
                continue
            if not _may_hold(text, goal):
                continue
            tokens = tokens or Tokens(text)
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
    pattern = r"(?:[\s~]|\\ )+".join(re.escape(word) for word in words.split())
    for match in re.finditer(rf"(?<![^\W\d_]){pattern}(?![^\W\d_])", text, re.IGNORECASE):
        yield match.start(), match.end()


def _options(text: str, letter: str) -> Iterator[tuple[int, int]]:
    """An option letter in its own case wherever it is a word, in the other case only where it is marked as one."""
    low, own = letter.swapcase(), re.escape(letter)
    marked = (
        rf"(?<=\()[{letter}{low}](?=\))|(?i:(?<=option )|(?<=choice )|(?<=answer is )|(?<=answer: )){low}(?![\w'’])"
    )
    for match in re.finditer(rf"(?<![\w\\'’]){own}(?![\w'’])|{marked}", text):
        yield match.start(), match.end()


def _may_hold(text: str, goal: str) -> bool:
    """A quick look whether the text has some writing of each command and number of the goal, which all forms need."""
    for token in TOKEN.findall(bare(goal)):
        if DROPPED.fullmatch(token) or not (token[0] == "\\" or token.isdecimal() or token in SAME):
            continue
        token = SAME.get(token, token)
        if token in SAME_WRITINGS and not any(one in text for one in SAME_WRITINGS[token]):
            return False
        if token.isdecimal() and token not in text:
            return False
    return True


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

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = []
        self.ends: list[int] = []
        kept: list[str] = []
        for match in TOKEN.finditer(text):
            token = match[0]
            if DROPPED.fullmatch(token):
                continue
            kept.append(SAME.get(token, token))
            self.starts.append(match.start())
            self.ends.append(match.end())
        self.offsets = [0]
        for token in kept:
            self.offsets.append(self.offsets[-1] + len(token) + 1)
        self.joined = "\0" + "".join(token + "\0" for token in kept)

    def find(self, writing: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """The places, in characters, where the pattern of a writing matches whole tokens."""
        for match in writing.finditer(self.joined):
            first = bisect_right(self.offsets, match.start()) - 1
            last = bisect_left(self.offsets, match.end() - 1) - 1
            start, end = self.starts[first], self.ends[last]
            if not self._cuts_a_word(start, end):
                opener = OPENER.search(self.text, max(0, start - 12), start)
                yield (
                    opener.start() if opener and "\\right" in self.text[start:end] else start,
                    self._closed(start, end),
                )

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
def writings(goal: str) -> tuple[re.Pattern[str], ...]:
    """Patterns over joined tokens, one for each writing of a symbolic target; `?` in a writing is any one letter."""
    plain = bare(goal)
    made = dict.fromkeys([goal, plain, *_fractions(plain), *_sums(plain), *_ranges(plain)])
    for one in list(made):
        made.update(dict.fromkeys(_fractions(one)))
    patterns: dict[str, None] = {}
    for one in list(made)[:MAX_WRITINGS]:
        tokens = [SAME.get(token, token) for token in TOKEN.findall(one) if not DROPPED.fullmatch(token)]
        while tokens and tokens[-1] in (".", ","):
            tokens.pop()
        if tokens and any(re.search(r"\w", token) for token in tokens):
            parts = ("[A-Za-z]" if token == "?" else re.escape(token) for token in tokens)
            patterns["\0" + "".join(part + "\0" for part in parts)] = None
    return tuple(re.compile("(?<=\0)" + pattern[1:]) for pattern in patterns)


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
