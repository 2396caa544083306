r"""Numbers, exactly: every writing of one rational number, read as a `Fraction`.

`read_quantity` reads a number written out (digits, decimals, fractions, mixed numbers, repeating decimals, percent,
currency, a name before it and a unit after it). `read_exact` reads besides what is one number in another writing:
small powers and roots that come out exactly, fractions of those, powers of ten. Neither adds nor multiplies: `3+4` is
a sum that is left to do and no number. Nothing here can grow: a value of more than `MAX_BITS` bits is not read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from cloze.verifiers.math_text import bare, is_unit, split_unit, text_key

MAX_BITS = 4_096
MAX_FORMULA = 300
MAX_NUMBER = 1_000  # a longer text is not read as a number: int() on it is quadratic, and refused by Python at 4,300
NUMBER = r"(?:(?:[0-9]{1,3}(?:(?:,[0-9]{3})+|(?: [0-9]{3})+)(?![0-9])|[0-9]+)(?:\.[0-9]*)?|\.[0-9]+)"
DECIMAL = re.compile(NUMBER)
REPEATING = re.compile(r"([0-9]*)\.([0-9]*)(?:\\(?:overline|bar|dot) ?(?:\{([0-9]+)\}|([0-9]))|\(([0-9]+)\))")
SLASH = re.compile(rf"(?:([0-9]+) )?({NUMBER}) ?/ ?({NUMBER})")
FRAC = re.compile(
    rf"(?:([0-9]+) ?)?\\frac ?(?:\{{ ?([+-]? ?{NUMBER}) ?\}}|([0-9])) ?(?:\{{ ?([+-]? ?{NUMBER}) ?\}}|([0-9]))"
)
NAME = re.compile(r"(\\?[A-Za-z][A-Za-z0-9_{}]{0,40}(?:\([A-Za-z0-9]{0,20}\))?) ?= ?")
BODY = re.compile(r"(?:[^A-Za-z\\°]|\\(?:frac|overline|bar|dot)(?![A-Za-z]))*+")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A text read as one number: its exact value, the name before it (`x = `) and the unit after it, or empty."""

    value: Fraction
    name: str = ""
    unit: str = ""


def read_value(text: str) -> Fraction | None:
    """The exact value of a text that is one number (a unit and `x =` aside), or None."""
    quantity = read_quantity(text)
    return quantity.value if quantity is not None else None


@lru_cache(maxsize=4096)
def read_quantity(text: str) -> Quantity | None:
    """Read a text as one number, or None when it is anything else or longer than `MAX_NUMBER` characters."""
    if len(text) > MAX_NUMBER:
        return None
    rest, name = re.sub("[€£¥₹]", "", bare(text)).strip(), ""
    if named := NAME.match(rest):
        name, rest = text_key(named[1]), rest[named.end() :]
    sign, rest = _sign(rest)
    if rest[:1] + rest[-1:] in ("()", "{}") and "," not in rest:  # (1,250) is a pair
        inner, rest = _sign(rest[1:-1].strip())
        sign *= inner
    cut = BODY.match(rest)
    body, unit = (rest[: cut.end()], rest[cut.end() :].strip()) if cut else (rest, "")
    if re.match(r"percent(?![A-Za-z])", unit):
        body, unit = body.strip() + "%", unit[len("percent") :].strip()
    glued, body = not body.endswith((" ", "%")), body.rstrip()
    per = 100 if body.endswith("%") else 1
    value = _magnitude(body.removesuffix("%").rstrip())
    if value is None or (unit and not is_unit(unit, glued)):
        return None
    return Quantity(sign * value / per, name, "degrees" if unit in ("°", "degree") else text_key(unit))


def _sign(text: str) -> tuple[int, str]:
    return (-1 if text.startswith("-") else 1), (text[1:].lstrip() if text[:1] in ("-", "+") else text)


def _magnitude(body: str) -> Fraction | None:
    if DECIMAL.fullmatch(body):
        return _decimal(body)
    if match := REPEATING.fullmatch(body):
        whole, fixed, repeats = match[1], match[2], match[3] or match[4] or match[5]
        scale = 10 ** len(fixed)
        tail = Fraction(int(repeats), scale * (10 ** len(repeats) - 1))
        return Fraction(int((whole + fixed) or "0"), scale) + tail
    if match := SLASH.fullmatch(body):
        mixed, top, bottom = match[1], _decimal(match[2]), _decimal(match[3])
    elif match := FRAC.fullmatch(body):
        mixed, top, bottom = match[1], _decimal(match[2] or match[3]), _decimal(match[4] or match[5])
    else:
        return None
    if bottom == 0 or (mixed and not 0 <= top < bottom):
        return None
    return Fraction(int(mixed or "0")) + top / bottom


def _decimal(text: str) -> Fraction:
    return Fraction(re.sub("[, ]", "", text).rstrip("."))


BASE = re.compile(r"([+-]?) ?\(?([0-9A-Za-z]{1,64})\)? ?_ ?(?:\{ ?([0-9]{1,2}|[a-z]+) ?\}|([0-9]))")
BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
BASES |= {"twelve": 12, "sixteen": 16}
PIECE = re.compile(rf" *(?:(\\frac|\\sqrt|\\times|\\cdot|×|[-+*/^(){{}}\[\]])|({NUMBER}))")


@lru_cache(maxsize=4096)
def read_based(text: str) -> tuple[int, int] | None:
    """A number with its base (`101_2`) as value and base, or None; what no such base could write is None too."""
    found = BASE.fullmatch(bare(text)) if "_" in text and len(text) <= MAX_FORMULA else None
    if found is None:
        return None
    name = found[3] or found[4]
    base = int(name) if name.isdigit() else BASES.get(name, 0)
    try:
        value = int(found[2], base) if 2 <= base <= 36 else None
    except ValueError:
        value = None
    return None if value is None else (-value if found[1] == "-" else value, base)


@lru_cache(maxsize=4096)
def read_exact(text: str) -> Quantity | None:
    r"""Read one number in any writing, also `2^{10}`, `\sqrt{16}`, `\frac{1}{2^{99}}`, `1.2\times10^3`, or None."""
    quantity = read_quantity(text)
    if quantity is not None or len(text) > MAX_FORMULA:
        return quantity
    if (based := read_based(text)) is not None:
        return Quantity(Fraction(based[0])) if based[1] == 10 else None
    rest, name = re.sub("[€£¥₹]", "", bare(text)).strip(), ""
    if named := NAME.match(rest):
        name, rest = text_key(named[1]), rest[named.end() :]
    rest, unit = split_unit(rest)
    if not re.search(r"[\^e]|\\sqrt|\\frac|\\times|\\cdot|×", rest):
        return None
    try:
        value, at = _value(rest, 0, 0)
    except ValueError:
        return None
    return Quantity(value, name, unit) if not rest[at:].strip() else None


def _value(text: str, at: int, depth: int) -> tuple[Fraction, int]:
    """A number from `at` on and where it ends; ValueError if there is none."""
    sign, piece, after = 1, *_piece(text, at)
    if piece in ("-", "+"):
        sign, at = -1 if piece == "-" else 1, after
    value, at = _power(text, at, depth)
    piece, after = _piece(text, at)
    if piece == "/":
        below, at = _power(text, after, depth)
        if below == 0:
            raise ValueError("division by zero")
        value /= below
    elif piece in (r"\times", r"\cdot", "×", "*"):
        ten = re.compile(r" *10 *(?=\^)").match(text, after)
        if ten is None:
            raise ValueError("a product that is left to do")
        tens, at = _power(text, after, depth)
        value *= tens
    elif found := re.compile(r"[eE]([+-]?[0-9]{1,3})(?![0-9A-Za-z])").match(text, at):
        value, at = value * _raised(Fraction(10), Fraction(int(found[1]))), found.end()
    return sign * value, at


def _power(text: str, at: int, depth: int) -> tuple[Fraction, int]:
    value, at = _atom(text, at, depth)
    piece, after = _piece(text, at)
    if piece != "^":
        return value, at
    found = re.compile(r" *[+-]?[0-9]+").match(text, after)
    exponent, at = (Fraction(int(found[0])), found.end()) if found else _atom(text, after, depth)
    return _raised(value, exponent), at


def _atom(text: str, at: int, depth: int) -> tuple[Fraction, int]:
    if depth > 8:
        raise ValueError("nested too deep")
    piece, at = _piece(text, at)
    if piece in ("(", "{"):
        value, at = _value(text, at, depth + 1)
        closing, at = _piece(text, at)
        if closing != {"(": ")", "{": "}"}[piece]:
            raise ValueError("an unclosed bracket")
        return value, at
    if piece == r"\frac":
        above, at = _argument(text, at, depth)
        below, at = _argument(text, at, depth)
        if below == 0:
            raise ValueError("division by zero")
        return above / below, at
    if piece == r"\sqrt":
        index = re.compile(r" *\[ *([2-9]|[1-5][0-9]) *\]").match(text, at)
        value, at = _argument(text, index.end() if index else at, depth)
        return _root(value, int(index[1]) if index else 2), at
    if piece[:1].isdigit() or piece[:1] == ".":
        return _decimal(piece), at
    raise ValueError("no number")


def _argument(text: str, at: int, depth: int) -> tuple[Fraction, int]:
    digit = re.compile(r" *([0-9])").match(text, at)
    return (Fraction(int(digit[1])), digit.end()) if digit else _atom(text, at, depth)


def _piece(text: str, at: int) -> tuple[str, int]:
    found = PIECE.match(text, at)
    return (found[1] or found[2], found.end()) if found else ("", at)


def _raised(value: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or (value == 0 and exponent <= 0):
        raise ValueError("no exact power")
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits * abs(exponent.numerator) > MAX_BITS and abs(value) != 1:
        raise ValueError("too large")
    if abs(value) == 1:
        return value if exponent.numerator % 2 else Fraction(1)
    return value**exponent.numerator


def _root(value: Fraction, index: int) -> Fraction:
    if value < 0 and index % 2 == 0:
        raise ValueError("no real root")
    above, below = _whole_root(abs(value.numerator), index), _whole_root(value.denominator, index)
    return Fraction(above, below) * (-1 if value < 0 else 1)


def _whole_root(number: int, index: int) -> int:
    if index == 2:
        root = isqrt(number)
    else:
        low, high = 0, 1 << (number.bit_length() // index + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle**index <= number else (low, middle - 1)
        root = low
    if root**index != number:
        raise ValueError("no exact root")
    return root
