r"""Answers with parts: sets, lists, tuples, matrices, intervals and inequalities, and what makes two of them equal.

A text is read into every shape that it can mean: `(1,2)` is a pair and an open interval, `x<3` and `(-\infty,3)` are
one region of the line, `\pm 6` is a list of two. Two texts are equal when two of their readings are of one kind and
equal part by part. How two parts compare is given by the caller and has three outcomes (True, False, None for "not
decided by this means"), so that the same code serves the exact stage here and the symbolic one in the workers.

Rules: a set in braces and a list (`1, 2`, `1 and 2`, `x = 1 or x = 2`) have no order; a list counts its repetitions,
two sets do not. A tuple has an order and its kind of brackets. A set of one is its element. The variable of an
inequality counts only when both sides name one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from cloze.verifiers.math_numbers import MAX_NUMBER, read_exact, read_quantity
from cloze.verifiers.math_text import bare, text_key

Same = Callable[[str, str], bool | None]
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
        kind: "one", "set", "list", "tuple", "matrix" or "region".
        parts: texts; of a matrix all entries, row by row.
        pieces: of a region, its intervals.
        form: of a tuple its brackets, of a matrix its bars and its rows and columns.
        name: of a region, the variable, or empty.
    """

    kind: str
    parts: tuple[str, ...] = ()
    pieces: tuple[Interval, ...] = ()
    form: str = ""
    name: str = ""


def equal(answer: str, target: str, same: Same) -> bool | None:
    """Whether an answer equals a target as a shape: True, False, or None if `same` could not decide."""
    left, right = readings(answer), readings(target)
    results = [_alike(one, other, same) for other in right for one in left]
    if len(left) > 1 or len(right) > 1:  # what has parts is equal by its parts or as text, not as one formula
        results[-1] = results[-1] is True
    return _any(results)


@lru_cache(maxsize=4096)
def readings(text: str) -> tuple[Shape, ...]:
    """Every shape that a text can mean; the last of them is the text itself."""
    plain = bare(text)
    found: list[Shape] = []
    if len(plain) <= MAX_NUMBER and read_quantity(text) is None and _depth(plain) <= MAX_DEPTH:
        for read in (_matrix, _region, _brackets, _listed, _plus_minus):
            if (shape := read(plain)) is not None:
                found.append(shape)
    return (*found, Shape("one", (plain,)))


def _alike(answer: Shape, target: Shape, same: Same) -> bool | None:
    kinds = {answer.kind, target.kind}
    if kinds <= {"set", "list"} or (kinds <= {"set", "list", "one"} and len(answer.parts) == len(target.parts) == 1):
        if kinds == {"one"}:
            return same(answer.parts[0], target.parts[0])
        left, right = _expanded(answer), _expanded(target)
        if kinds == {"set"}:
            left, right = _distinct(left), _distinct(right)
        return _elements(left, right, same)
    if len(kinds) > 1 or answer.form != target.form:
        return False
    if answer.kind == "region":
        if answer.name and target.name and answer.name != target.name:
            return False
        return _unordered(_merged(answer.pieces), _merged(target.pieces), lambda a, t: _same_interval(a, t, same))
    if answer.kind == "one" or len(answer.parts) != len(target.parts):
        return same(answer.parts[0], target.parts[0]) if answer.kind == "one" else False
    return _all(equal(one, other, same) for one, other in zip(answer.parts, target.parts, strict=True))


def _all(results: Iterable[bool | None]) -> bool | None:
    undecided = False
    for result in results:
        if result is False:
            return False
        undecided |= result is None
    return None if undecided else True


def _any(results: Sequence[bool | None]) -> bool | None:
    return True if True in results else None if None in results else False


def _unordered(left: Sequence[object], right: Sequence[object], same: Callable[..., bool | None]) -> bool | None:
    """Whether each of the left can be paired with one of the right; equality is transitive, so greed suffices."""
    if len(left) != len(right) or len(left) > MAX_PARTS:
        return False
    rest = list(right)
    undecided: list[object] = []
    for one in left:
        match = next((index for index, other in enumerate(rest) if same(one, other) is True), None)
        if match is None:
            undecided.append(one)
        else:
            rest.pop(match)
    if not undecided:
        return True
    possible = all(any(same(one, other) is None for other in rest) for one in undecided)
    return None if possible else False


def _elements(left: Sequence[str], right: Sequence[str], same: Same) -> bool | None:
    """The same elements in any order; plain numbers are counted, only the rest is paired one by one."""
    if len(left) != len(right):
        return False
    counted, wanted = (Counter(map(_element_key, parts)) for parts in (left, right))
    if counted == wanted or all(isinstance(key, Fraction) for key in (counted - wanted) + (wanted - counted)):
        return counted == wanted
    return _unordered(left, right, lambda answer, target: equal(answer, target, same))


def _element_key(part: str) -> Fraction | str:
    exact = read_exact(part)
    return text_key(part) if exact is None or exact.unit or exact.name else exact.value


def _distinct(parts: Sequence[str]) -> list[str]:
    kept: dict[object, str] = {}
    for part in parts:
        exact = read_exact(part)
        kept.setdefault(text_key(part) if exact is None else (exact.value, exact.unit), part)
    return list(kept.values())


def _expanded(shape: Shape) -> list[str]:
    r"""The elements of a set or list, `\pm` written out."""
    parts: list[str] = []
    for part in shape.parts:
        doubled = _plus_minus(part)
        parts += doubled.parts if doubled else [part]
    return parts


def _same_interval(answer: Interval, target: Interval, same: Same) -> bool | None:
    if (answer.low_in, answer.high_in) != (target.low_in, target.high_in):
        return False
    return _all(_same_end(one, other, same) for one, other in ((answer.low, target.low), (answer.high, target.high)))


def _same_end(answer: str, target: str, same: Same) -> bool | None:
    return answer == target if answer in SENSES or target in SENSES else same(answer, target)


def _merged(pieces: Sequence[Interval]) -> list[Interval]:
    """The same region in disjoint pieces where all ends are numbers; else as written."""
    ends: list[tuple[Fraction | float, Fraction | float, Interval]] = []
    for piece in pieces:
        low, high = _end_value(piece.low), _end_value(piece.high)
        if low is None or high is None:
            return list(pieces)
        if low < high or (low == high and piece.low_in and piece.high_in):
            ends.append((low, high, piece))
    ends.sort(key=lambda end: (end[0], not end[2].low_in))
    merged: list[tuple[Fraction | float, Fraction | float, Interval]] = []
    for low, high, piece in ends:
        if merged:
            first, last, before = merged[-1]
            if low < last or (low == last and (piece.low_in or before.high_in)):
                if (high, piece.high_in) > (last, before.high_in):
                    merged[-1] = (first, high, Interval(before.low, before.low_in, piece.high, piece.high_in))
                continue
        merged.append((low, high, piece))
    return [piece for _, _, piece in merged]


def _end_value(text: str) -> Fraction | float | None:
    if text in SENSES:
        return float("-inf") if text == "-oo" else float("inf")
    exact = read_exact(text)
    return exact.value if exact is not None else None


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
    text, _ = _unnamed(text)
    if text in EMPTY:
        return Shape("set")
    held = _within(text)
    if held is None or held[0] == "{":
        return None
    opening, inside, closing = held
    parts, _marked = _split(inside, _marks(re.compile("[,;]")))
    if opening == r"\{" and closing == r"\}":
        return Shape("set", tuple(parts)) if inside else Shape("set")
    if len(parts) < 2 or opening + closing not in ("()", "[]", r"\langle\rangle", "⟨⟩"):
        return None
    return Shape("tuple", tuple(parts), form={"⟨⟩": r"\langle\rangle"}.get(opening + closing, opening + closing))


def _listed(text: str) -> Shape | None:
    """`1, 2`, `1 and 2`, `x = 1 or x = 2`."""
    text, name = _unnamed(text)
    parts, marked = _split(text, _marks(COMMA))
    if not marked or len(parts) > MAX_PARTS:
        return None
    if name:
        parts = [inner[0] if (inner := _unnamed(part))[1] == name else part for part in parts]
    parts = [part for part in parts if part]
    return Shape("list", tuple(parts)) if len(parts) > 1 else None


def _plus_minus(text: str) -> Shape | None:
    r"""`\pm 6`, `1 \pm \sqrt2`: the two numbers that it stands for."""
    if "\\pm" not in text and "±" not in text:
        return None
    text, _ = _unnamed(text.replace("±", r"\pm "))
    if re.search(r"\\pm(?=[A-Za-z])", text) or COMMA.search(text):
        return None
    above = re.sub(r"\\pm ?", "+", re.sub(r"\\mp ?", "-", text)).lstrip("+")
    below = re.sub(r"\\pm ?", "-", re.sub(r"\\mp ?", "+", text)).lstrip("+")
    return Shape("list", (above, below))


def _matrix(text: str) -> Shape | None:
    text, _ = _unnamed(text)
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
    return Shape("matrix", tuple(entry for row in entries for entry in row), form=form)


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
