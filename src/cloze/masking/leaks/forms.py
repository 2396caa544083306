r"""Finding expressions and forms for the leak audit: where does a wanted value, interval, set or tuple stand?

A form is a pair, tuple or interval in brackets, a set, a union of intervals, an inequality or an equation. Forms that
say the same are one: `x<3`, `3 > x` and `(-\infty,3)`; `\{1,2\}` and `2, 1`; `\{0.5\}` and `\{\frac12\}`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from cloze.masking.leaks.expressions import BEGINS, Reader
from cloze.masking.leaks.values import Number, Place, Value, negative, number, rational, symbol
from cloze.verifiers.math import bare

Form: TypeAlias = tuple[Hashable, ...]

RELATIONS = {
    "<": "<", r"\lt": "<", ">": ">", r"\gt": ">", "=": "=",
    "<=": "≤", "≤": "≤", "⩽": "≤", r"\le": "≤", r"\leq": "≤", r"\leqslant": "≤",
    ">=": "≥", "≥": "≥", "⩾": "≥", r"\ge": "≥", r"\geq": "≥", r"\geqslant": "≥",
}  # fmt: skip
TURNED = {"<": ">", ">": "<", "≤": "≥", "≥": "≤"}
INFINITE = symbol("infinity")
NAMED = re.compile(r"\\?[A-Za-z][A-Za-z0-9_{}]{0,20}(?:\([A-Za-z0-9]{0,20}\))? ?(?:=|\\in\b|∈) ?(?=[^=]*$)")
UNIT = re.compile(r"\\(?:text[a-z]*|mathrm|mbox)\s*\{[^{}]*\}(?:\^\{?[23]\}?)?[\s$.]*$")
MATHEMATICAL = re.compile(r"[0-9\\+*/^=<>$(]")
LONGEST_TARGET = 300
LONGEST_LIST = 12

LOOSE = {"split", "frac", "root", "vulgar"}
OPERANDS = {"number", "close", "symbol", "raised", "vulgar", "infinity"}
WITHIN = OPERANDS | {"slash", "power", "under", "function", "root", "frac", "split"}
JOINED = BEGINS - {"number"} | {"times", "slash"}
BOUNDS = {"relation", "comma", "open", "other", "union", "letters", "word"}
HOWS = {"split": "fraction", "frac": "fraction", "slash": "fraction", "vulgar": "fraction", "over": "fraction"}
HOWS |= {"root": "power", "power": "power", "raised": "power"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for.

    Attributes:
        values: numbers and expressions.
        forms: intervals, sets and the like, each with the name that it is about (`x<3`) or empty.
        symbols: letters that may stand side by side as a product.
    """

    values: frozenset[Value] = frozenset()
    forms: frozenset[tuple[Form, str]] = frozenset()
    symbols: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def read_wanted(target: str) -> Wanted:
    """Read a target as an expression or a form; nothing is wanted if it is neither."""
    if len(target) > LONGEST_TARGET or not MATHEMATICAL.search(target):
        return Wanted()
    plain = bare(UNIT.sub("", target)) or bare(target)
    symbols = frozenset(letter.lower() for letter in re.findall(r"(?<![A-Za-z\\])[A-Za-z]{1,3}(?![A-Za-z])", plain))
    symbols = frozenset(letter for run in symbols for letter in run)
    values: set[Value] = set()
    forms: set[tuple[Form, str]] = set()
    for text in dict.fromkeys((plain, NAMED.sub("", plain, count=1))):
        reader = Reader(text, symbols)
        last = len(reader.kinds) - 3
        value, end = reader.sum(0)
        if value is not None and end == last:
            if len(_name(value)) != 1:  # one letter is looked for by `texts`
                values.add(value)
            continue
        form = _union(reader, 0)
        if form is not None and form[1] == last:
            forms.add((form[0], form[2]))
        else:
            forms.update((form, "") for form, end in _listed(reader, 0) if end == last)
    return Wanted(frozenset(values), frozenset(forms), symbols)


def exact_value(target: str) -> Number | None:
    r"""The rational number that a target is (`2^{10}`, `\sqrt{16}`, `1.2 \times 10^3`), or None."""
    numbers = [exact for value in read_wanted(target).values if (exact := rational(value)) is not None]
    return numbers[0] if numbers else None


def find_powers(shown: str, wanted: frozenset[Number]) -> Iterator[Place]:
    """Fractions, powers, roots and numbers times a power of ten that are one of the wanted numbers."""
    reader = Reader(shown)
    values = frozenset(number(one) for one in wanted)
    for start, end in _products(reader, values, 4):
        hows = {HOWS[kind] for kind in reader.kinds[start:end] if kind in HOWS}
        if hows:
            yield reader.starts[start], reader.ends[end - 1], max(hows)


def find_forms(shown: str, wanted: Wanted) -> Iterator[Place]:
    """Expressions and forms that equal one of the wanted ones."""
    reader = Reader(shown, wanted.symbols)
    if wanted.values:
        factors = 3 + max(len(value[0][1]) for value in wanted.values)
        for start, end in _products(reader, wanted.values, factors):
            yield reader.starts[start], reader.ends[end - 1], "expression"
    names: dict[Form, set[str]] = {}
    for form, name in wanted.forms:
        names.setdefault(form, set()).add(name)
    longest = max((len(form[1]) for form in names if isinstance(form[1], frozenset)), default=0)
    before = "other"
    for at, kind in enumerate(reader.kinds):
        bound, before = before in BOUNDS, kind
        if not bound or (kind not in BEGINS and kind != "sign"):
            if kind != "open" or not names:
                continue
        elif wanted.values:
            value, end = reader.sum(at)
            if value in wanted.values:
                yield reader.starts[at], reader.ends[end - 1], "expression"
        if names:
            one = _union(reader, at)
            for form, end, name in ([one] if one else []) + [(*listed, "") for listed in _listed(reader, at, longest)]:
                if form in names and (not name or names[form] & {name, ""}):
                    yield reader.starts[at], reader.ends[end - 1], "form"


def _products(reader: Reader, values: frozenset[Value], factors: int) -> Iterator[tuple[int, int]]:
    """Where a product (with its sign) is one of the values: its first token, and the one after its last."""
    kinds, texts = reader.kinds, reader.texts
    before = "other"
    for at, kind in enumerate(kinds):
        previous, before = before, kind
        whole = reader.wholes[at]
        within = previous in WITHIN and not (kind == "number" and previous in OPERANDS)
        if whole is None or kind not in (LOOSE if within else BEGINS):
            continue
        if kind == "number" and whole.end == at + 1 and kinds[at + 1] not in JOINED:
            continue
        first = at
        if previous == "sign" and texts[at - 1] not in ("+", "±", r"\pm"):
            operand = at > 1 and (kinds[at - 2] in OPERANDS or texts[at - 2] == "\0")
            first = at if operand else at - 1
        elif previous == "word" and texts[at - 1].lower() in ("minus", "negative"):
            first = at if at > 1 and kinds[at - 2] in OPERANDS else at - 1
        for value, end in reader.products(at, 1 if within else factors):
            if (negative(value) if first < at else value) in values:
                yield first, end


def _bracket(reader: Reader, at: int) -> tuple[Form, int] | None:
    """A pair, tuple, interval or set in brackets, and the token after it."""
    opening, end = reader.texts[at], at
    items: list[Value] = []
    while True:
        value, end = reader.sum(end + 1)
        if value is None or len(items) == LONGEST_LIST:
            return None
        items.append(value)
        if reader.texts[end] not in (",", ";"):
            break
    closing = reader.texts[end]
    if opening == r"\{":
        return (("set", frozenset(items)), end + 1) if closing == r"\}" else None
    if len(items) < 2 or closing not in (")", "]") or opening == "{":
        return None
    return ("list", opening, *items, closing), end + 1


def _chain(reader: Reader, at: int) -> tuple[Form, int, str] | None:
    r"""An equation or inequality (`a<x`, `1 \le x < 2`), the token after it, and the name that it is about."""
    first, end = reader.sum(at)
    if first is None or reader.kinds[end] != "relation":
        return None
    sides, signs = [first], []
    while reader.kinds[end] == "relation" and len(sides) < 3:
        signs.append(RELATIONS[reader.texts[end]])
        value, end = reader.sum(end + 1)
        if value is None:
            return None
        sides.append(value)
    if "=" in signs:
        return (("=", frozenset(sides)), end, "") if len(sides) == 2 else None
    if signs[0] in (">", "≥"):
        sides, signs = sides[::-1], [TURNED[sign] for sign in signs[::-1]]
    if any(sign in (">", "≥") for sign in signs):
        return None
    left, right = ("[" if signs[0] == "≤" else "("), ("]" if signs[-1] == "≤" else ")")
    names = [_name(side) for side in sides]
    if len(sides) == 3:
        return (("list", left, sides[0], sides[2], right), end, names[1]) if names[1] else None
    if names[0] and not names[1]:
        return ("list", "(", negative(INFINITE), sides[1], right), end, names[0]
    if names[1] and not names[0]:
        return ("list", left, sides[0], INFINITE, ")"), end, names[1]
    return (signs[0], *sides), end, ""


def _union(reader: Reader, at: int) -> tuple[Form, int, str] | None:
    """Intervals or inequalities joined by a union sign or by "or"; a single one as it is."""
    parts: list[Form] = []
    name = ""
    while len(parts) < LONGEST_LIST:
        bracket = _bracket(reader, at) if reader.kinds[at] == "open" else None
        one = (*bracket, "") if bracket else _chain(reader, at)
        if one is None:
            break
        parts.append(one[0])
        end, name = one[1], name or one[2]
        if reader.kinds[end] != "union" and reader.texts[end] != "or":
            break
        at = end + 1
    if not parts:
        return None
    return (parts[0] if len(parts) == 1 else ("union", frozenset(parts))), end, name


def _listed(reader: Reader, at: int, longest: int = LONGEST_LIST) -> Iterator[tuple[Form, int]]:
    """Two values or more after one another (`2, 3`, `x=2 or x=3`), as a set: the first two, the first three, ..."""
    items: list[Value] = []
    while len(items) < longest:
        value, end = reader.sum(at)
        if value is not None and reader.texts[end] == "=" and _name(value):
            value, end = reader.sum(end + 1)
        if value is None:
            return
        items.append(value)
        if len(items) > 1:
            yield ("set", frozenset(items)), end
        if reader.kinds[end] != "comma" or reader.texts[end] == ";":
            return
        at = end + 1 + (reader.kinds[end + 1] == "comma")  # `1, 2, and 3`


def _name(value: Value) -> str:
    """The symbol that a value is, or empty."""
    if len(value) != 1 or value[0][0] != 1 or len(value[0][1]) != 1:
        return ""
    atom, exponent = value[0][1][0]
    return atom if isinstance(atom, str) and exponent == 1 and atom != "infinity" else ""
