r"""Reading an answer into the shapes that it can mean: sets, lists, tuples, matrices, intervals, inequalities.

`(1,2)` is a pair and an open interval, `x<3` and `(-\infty,3)` are one region of the line, `\pm 6` is a list of two.
The parts stay texts here: what makes two of them equal is the matter of `math_shapes`. All patterns are linear, and
texts that are long or nested deep have no parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from cloze.verifiers.math_numbers import MAX_NUMBER, read_quantity
from cloze.verifiers.math_text import bare, text_key

MAX_PARTS = 32
MAX_DEPTH = 8  # of brackets

RELATION = re.compile(r"<=|>=|[<>≤≥≠⩽⩾]|\\(?:leqslant|geqslant|leq?|geq?|lt|gt|neq?)(?![A-Za-z])")
SPELLED = {"≤": "<=", "⩽": "<=", r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\lt": "<", r"\gt": ">"}
SPELLED |= {"≥": ">=", "⩾": ">=", r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\ne": "≠", r"\neq": "≠"}
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
VARIABLE = re.compile(r"(?!\\(?:pi|infty)(?![A-Za-z]))\\?[A-Za-z]{1,8}(?:_\{?[A-Za-z0-9]{1,4}\}?)?(?:\([A-Za-z]\))?")
NAMED = re.compile(r"(\\?[A-Za-z][A-Za-z0-9_{}]{0,20}(?:\([A-Za-z0-9]{0,9}\))?) ?(?:=|\\in(?![A-Za-z])|∈) ?")
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
OPENING, CLOSING = {"(", "[", "{", r"\{", r"\langle", "⟨"}, {")", "]", "}", r"\}", r"\rangle", "⟩"}
BEGIN = re.compile(
    r"\\begin ?\{([bBpvV]?)(?:small)?(?:matrix|array)\} ?(?:\{[lcr| ]*\})?(.*?)\\end ?\{[A-Za-z]+\}", re.DOTALL
)
INFINITE = re.compile(r"([+-]?) ?(?:\\infty|∞|\\?infinity|\\?inf)", re.IGNORECASE)
EMPTY = {r"\emptyset", r"\varnothing", "∅", r"\{\}", r"\{ \}"}
LINE = {r"\mathbb{R}", r"\mathbb R", "ℝ", r"\R", r"\Reals", "all real numbers", "all reals", "R"}
SENSES = ("-oo", "oo")
COMMA = re.compile(r"[,;]|(?<= )(?:and|or)(?= )")
UNION = re.compile(r"\\cup(?![A-Za-z])|∪|(?<= )or(?= )")
EITHER = re.compile(r"(?<= )or(?= )|\\lor(?![A-Za-z])|∨|\\cup(?![A-Za-z])|∪")
BOTH = re.compile(r"(?<= )and(?= )|\\land(?![A-Za-z])|∧|,")


@dataclass(frozen=True, slots=True)
class Interval:
    """A piece of the line: its ends as texts, and whether they belong to it."""

    low: str
    low_in: bool
    high: str
    high_in: bool


@dataclass(frozen=True, slots=True)
class Shape:
    """One reading of an answer.

    Attributes:
        kind: "one", "set", "list", "named" (a list like `x = 1, y = 2`), "tuple", "matrix" or "region".
        parts: texts; of a matrix all entries, row by row.
        pieces: of a region, its intervals.
        form: of a tuple its brackets, of a matrix its bars and its rows and columns.
        name: what it is said to be (`x = 1, 2`), of a region its variable, or empty.
    """

    kind: str
    parts: tuple[str, ...] = ()
    pieces: tuple[Interval, ...] = ()
    form: str = ""
    name: str = ""


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[Shape, ...]:
    """Every shape that a text can mean; the last of them is the text itself."""
    plain = bare(text)
    found: list[Shape] = []
    if len(plain) <= MAX_NUMBER and read_quantity(text) is None and _depth(plain) <= MAX_DEPTH:
        for read in (_matrix, _region, _brackets, _listed, plus_minus):
            if (shape := read(plain)) is not None:
                found.append(shape)
    return (*found, Shape("one", (plain,)))


def _split(text: str, marks: Callable[[str, int], int]) -> tuple[list[str], list[str]]:
    """Cut a text at the marks outside all brackets: (parts, marks). `marks` gives the length of a mark, or 0."""
    parts, found = [""], []
    depth = at = 0
    while at < len(text):
        length = marks(text, at) if depth == 0 else 0
        if length:
            found.append(text[at : at + length])
            parts.append("")
        else:
            token = TOKEN.match(text, at)
            piece = token[0] if token else text[at]
            depth += (piece in OPENING) - (piece in CLOSING)
            parts[-1] += piece
            length = len(piece)
        at += length
    return [part.strip() for part in parts], found


def _marks(pattern: re.Pattern[str]) -> Callable[[str, int], int]:
    def length(text: str, at: int) -> int:
        found = pattern.match(text, at)
        return len(found[0]) if found else 0

    return length


def _unnamed(text: str) -> tuple[str, str]:
    named = NAMED.match(text)
    return (text[named.end() :], text_key(named[1])) if named else (text, "")


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in TOKEN.findall(text):
        depth += (token in OPENING) - (token in CLOSING)
        deepest = max(depth, deepest)
    return deepest


def _within(text: str) -> tuple[str, str, str] | None:
    """A text that is one pair of brackets: (opening, what it holds, closing)."""
    tokens = TOKEN.findall(text)
    if len(tokens) < 2 or tokens[0] not in OPENING or tokens[-1] not in CLOSING:
        return None
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and index < len(tokens) - 1:
            return None
    return tokens[0], "".join(tokens[1:-1]).strip(), tokens[-1]


def _brackets(text: str) -> Shape | None:
    """A set in braces, or a tuple."""
    text, name = _unnamed(text)
    if text in EMPTY:
        return Shape("set", name=name)
    held = _within(text)
    if held is None or held[0] == "{":
        return None
    opening, inside, closing = held
    parts, _marked = _split(inside, _marks(re.compile("[,;]")))
    if opening == r"\{" and closing == r"\}":
        return Shape("set", tuple(parts) if inside else (), name=name)
    form = {"⟨⟩": r"\langle\rangle"}.get(opening + closing, opening + closing)
    if len(parts) < 2 or form not in ("()", "[]", r"\langle\rangle"):
        return None
    return Shape("tuple", tuple(parts), form=form, name=name)


def _listed(text: str) -> Shape | None:
    """`1, 2`, `1 and 2`, `x = 1 or x = 2`, `x = 1, y = 2`."""
    parts = [part for part in _split(text, _marks(COMMA))[0] if part]
    if not 1 < len(parts) <= MAX_PARTS:
        return None
    named = [_unnamed(part) for part in parts]
    names = {name for _, name in named if name}
    if len(names) > 1:
        return Shape("named", tuple(parts))
    return Shape("list", tuple(part for part, _ in named), name=names.pop() if named[0][1] else "")


def plus_minus(text: str) -> Shape | None:
    r"""`\pm 6`, `1 \pm \sqrt2`: the two numbers that it stands for."""
    if "\\pm" not in text and "±" not in text:
        return None
    text, name = _unnamed(text.replace("±", r"\pm "))
    if re.search(r"\\pm(?=[A-Za-z])", text) or COMMA.search(text):
        return None
    above = re.sub(r"\\pm ?", "+", re.sub(r"\\mp ?", "-", text)).lstrip("+")
    below = re.sub(r"\\pm ?", "-", re.sub(r"\\mp ?", "+", text)).lstrip("+")
    return Shape("list", (above, below), name=name)


def _matrix(text: str) -> Shape | None:
    text, name = _unnamed(text)
    held = _within(text)
    found = BEGIN.fullmatch(text) or (BEGIN.fullmatch(held[1]) if held else None)
    if found is None or r"\begin" in found[2]:
        return None
    rows = [row for row in re.split(r"\\\\(?: ?\[[^\]]*\])?", found[2]) if row.strip()]
    entries = [[entry.strip() for entry in row.split("&")] for row in rows]
    if not entries or any(len(row) != len(entries[0]) for row in entries):
        return None
    bars = found[1] if found[1] in ("v", "V") else ""
    form = f"{bars}{len(entries)}x{len(entries[0])}"
    return Shape("matrix", tuple(entry for row in entries for entry in row), form=form, name=name)


def _region(text: str) -> Shape | None:
    """Intervals, unions of them, inequalities, sets by a condition, the whole line."""
    builder = re.fullmatch(
        r"\\\{ ?(\\?[A-Za-z]+)(?: ?(?:\\in(?![A-Za-z])|∈) ?[^|:]*?)? ?(?:\\mid|\||:) ?(.*)\\\}", text
    )
    if builder:
        return _conditions(builder[2].strip())
    if (shape := _conditions(text)) is not None:
        return shape
    text, name = _unnamed(text)
    if text in LINE and (name or text != "R"):
        return Shape("region", pieces=(Interval("-oo", False, "oo", False),), name=name)
    parts, _marked = _split(text, _marks(UNION))
    pieces = [_interval(part) for part in parts]
    if any(piece is None for piece in pieces):
        return None
    return Shape("region", pieces=tuple(piece for piece in pieces if piece), name=name)


def _interval(text: str) -> Interval | None:
    held = _within(text)
    if held is None or held[0] not in ("(", "[") or held[2] not in (")", "]"):
        return None
    ends, _marked = _split(held[1], _marks(re.compile("[,;]")))
    if len(ends) != 2 or not all(ends):
        return None
    low, high = _end(ends[0]), _end(ends[1])
    return Interval(low, held[0] == "[" and low not in SENSES, high, held[2] == "]" and high not in SENSES)


def _end(text: str) -> str:
    infinite = INFINITE.fullmatch(text.strip())
    return text.strip() if infinite is None else "-oo" if infinite[1] == "-" else "oo"


def _conditions(text: str) -> Shape | None:
    """Inequalities in one variable, joined by "or", or two by "and"."""
    if RELATION.search(text) is None:
        return None
    pieces: list[Interval] = []
    names = set()
    for either in _split(text, _marks(EITHER))[0]:
        found = [_condition(part) for part in _split(either, _marks(BOTH))[0]]
        if len(found) > 2 or any(one is None for one in found):
            return None
        known = [one for one in found if one is not None]
        names |= {name for name, _ in known}
        if len(known) == 1:
            pieces += known[0][1]
            continue
        (_, first), (_, second) = known
        if len(first) > 1 or len(second) > 1:
            return None
        lower, upper = sorted((first[0], second[0]), key=lambda piece: piece.low == "-oo")
        if lower.high != "oo" or upper.low != "-oo":
            return None
        pieces.append(Interval(lower.low, lower.low_in, upper.high, upper.high_in))
    return Shape("region", pieces=tuple(pieces), name=names.pop()) if len(names) == 1 else None


def _condition(text: str) -> tuple[str, list[Interval]] | None:
    """`x < 3`, `3 > x`, `1 < x <= 2`, `x \\ne 3`: the variable and where it may lie."""
    sides, marks = _split(text, _marks(RELATION))
    signs = [SPELLED.get(mark, mark) for mark in marks]
    if not 1 <= len(signs) <= 2 or not all(sides):
        return None
    if len(signs) == 1:
        if not VARIABLE.fullmatch(sides[0]):
            sides, signs = sides[::-1], [TURNED.get(signs[0], signs[0])]
        (name, end), sign = sides, signs[0]
        if not VARIABLE.fullmatch(name) or (VARIABLE.fullmatch(end) and not end.startswith("\\")):
            return None
        if sign == "≠":
            return text_key(name), [Interval("-oo", False, end, False), Interval(end, False, "oo", False)]
        if sign in ("<", "<="):
            return text_key(name), [Interval("-oo", False, _end(end), sign == "<=")]
        return text_key(name), [Interval(_end(end), sign == ">=", "oo", False)]
    if "≠" in signs or signs[0][0] != signs[1][0] or not VARIABLE.fullmatch(sides[1]):
        return None
    if signs[0][0] == ">":
        sides, signs = sides[::-1], [TURNED[sign] for sign in signs[::-1]]
    return text_key(sides[1]), [Interval(_end(sides[0]), signs[0] == "<=", _end(sides[2]), signs[1] == "<=")]
