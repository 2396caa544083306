"""What makes an answer to a procedural task right: one small function for each form that answers take.

Each check takes the answer and the target as text and says yes or no. They stand in for the scorers of reasoning-gym,
which pay in part for text around the answer, pay within tolerances that let wrong answers pass, and in places hand the
answer to `eval` or to sympy's parser, which is `eval`. Nothing here evaluates an answer: a number is read by a pattern,
an expression by a parser of its own with bounds on its size, and what cannot be read is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from cloze.verifiers.gym_expressions import derivative, polynomial

Check = Callable[[str, str], bool]

DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,100})(?:\.[0-9]{0,100})?|\.[0-9]{1,100}"
NUMBER = re.compile(rf"\$?([+-]?)\$?({DIGITS})(?:[eE]([+-]?[0-9]{{1,3}}))?\$?")
HEX = re.compile(r"([+-]?)0x([0-9a-f]{1,100})", re.IGNORECASE)
DURATION = re.compile(r"(?:([0-9]{1,9}) days?)?(?:, *)?(?:([0-9]{1,6}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]{1,6})?))?)?")
FRACTION = re.compile(r"\$?(?:\\d?frac ?\{ ?([0-9]+) ?\} ?\{ ?([0-9]+) ?\}|([0-9]+) ?/ ?([0-9]+))\$?")
ROLE = re.compile(r"\(?([\w'-]+)(?: is| =|:)? (?:an? )?([\w'-]+)\)?")
COMPLEX = re.compile(rf"(?:([+-]?(?:{DIGITS}))(?=[+-]))?([+-]?(?:{DIGITS})?)\*?[ij]")


def rows(text: str) -> list[list[str]]:
    """The words of each line that is not blank: two texts with equal rows differ in spacing alone."""
    return [line.split() for line in text.splitlines() if line.strip()]


def same_text(answer: str, target: str) -> bool:
    """The same but for spacing."""
    return rows(answer) == rows(target)


def same_folded(answer: str, target: str) -> bool:
    """The same but for spacing and case."""
    return rows(answer.casefold()) == rows(target.casefold())


def value(text: str) -> Fraction | None:
    """The value of a text that is one number, or None."""
    found = NUMBER.fullmatch(text.strip().replace("\u2212", "-"))
    if found is None:
        return None
    sign, digits, power = found.groups()
    size = Fraction(digits.replace(",", "").rstrip(".")) * Fraction(10) ** int(power or 0)
    return -size if sign == "-" else size


def same_number(answer: str, target: str) -> bool:
    """The same number; a target that is no number is compared as text."""
    right = value(target)
    return same_folded(answer, target) if right is None else value(answer) == right


def numbers_within(tolerance: str, *, ordered: bool = True) -> Check:
    """As many numbers as the target in rows or between commas, each as close; order counts unless said otherwise."""
    limit = Fraction(tolerance)

    def check(answer: str, target: str) -> bool:
        said, right = _numbers(answer), _numbers(target)
        if not said or not right or [len(row) for row in said] != [len(row) for row in right]:
            return False
        pairs = [pair for left, other in zip(said, right, strict=True) for pair in _paired(left, other, ordered)]
        return all(abs(left - other) <= limit for left, other in pairs)

    return check


def _paired(left: list[Fraction], right: list[Fraction], ordered: bool) -> zip[tuple[Fraction, Fraction]]:
    return zip(left if ordered else sorted(left), right if ordered else sorted(right), strict=True)


def _numbers(text: str) -> list[list[Fraction]] | None:
    table = []
    for line in text.replace("°", "").strip().splitlines():
        line = line.strip()
        if line[:1] + line[-1:] in ("()", "[]"):
            line = line[1:-1]
        parts = re.split(r"\s*,\s+|\s+|(?<=[.\d]),(?=[-+]?\d)", line.strip()) if line else []
        read = [value(part) for part in parts]
        if None in read:
            return None
        table.append([one for one in read if one is not None])
    return [row for row in table if row]


def geometry(answer: str, target: str) -> bool:
    """Angles to a hundredth of a degree, coordinates and lengths to a thousandth."""
    return numbers_within("0.00501" if "°" in target else "0.000501")(answer, target)


def probability(answer: str, target: str) -> bool:
    """A fraction or a decimal with at least four right digits."""
    top, slash, bottom = answer.partition("/")
    said, under, right = value(top), value(bottom) if slash else Fraction(1), value(target)
    if said is None or not under or right is None:
        return False
    return abs(said / under - right) <= Fraction("0.0005") * abs(right)


def significant(digits: int, units: int) -> Check:
    """Equal to so many significant digits; the last may be off by so many units."""

    def check(answer: str, target: str) -> bool:
        if value(answer) is None or value(target) is None:
            return False
        context = Context(prec=digits)
        said, right = (context.plus(Decimal(text.strip().strip("$").replace(",", ""))) for text in (answer, target))
        return abs(said - right) <= units * Decimal(10) ** (right.adjusted() - digits + 1)

    return check


def hexadecimal(answer: str, target: str) -> bool:
    """The same whole number, in hexadecimal or decimal."""
    return _integer(answer) is not None and _integer(answer) == _integer(target)


def _integer(text: str) -> Fraction | None:
    found = HEX.fullmatch(text.strip())
    return Fraction(int(found[1] + found[2], 16)) if found else value(text)


def complex_number(answer: str, target: str) -> bool:
    """The same real and imaginary part, to a hundredth if the target has decimals."""
    said, right = _complex(answer), _complex(target)
    if said is None or right is None:
        return False
    limit = 0 if all(part.denominator == 1 for part in right) else Fraction("0.00501")
    return all(abs(left - other) <= limit for left, other in zip(said, right, strict=True))


def _complex(text: str) -> tuple[Fraction, Fraction] | None:
    text = re.sub(r"\s", "", text).replace("\u2212", "-").lower()
    text = text[1:-1] if text[:1] + text[-1:] == "()" else text
    if found := COMPLEX.fullmatch(text):
        real = value(found[1] or "0")
        imaginary = value(found[2] + "1" if found[2] in ("", "+", "-") else found[2])
    else:
        real, imaginary = value(text), Fraction(0)
    return None if real is None or imaginary is None else (real, imaginary)


def duration(answer: str, target: str) -> bool:
    """The same length of time, in the form `D days, HH:MM:SS` or a part of it."""
    said = _seconds(answer)
    return said is not None and said == _seconds(target)


def _seconds(text: str) -> Fraction | None:
    text = text.strip()
    if not text or (found := DURATION.fullmatch(text)) is None:
        return None
    days, hours, minutes, seconds = (Fraction(part or 0) for part in found.groups())
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds


def simplest_fraction(answer: str, target: str) -> bool:
    """The same top and the same bottom."""
    said, right = (FRACTION.fullmatch(text.strip()) for text in (answer, target))
    if said is None or right is None or len(answer) > 200:
        return False
    return [int(part) for part in said.groups() if part] == [int(part) for part in right.groups() if part]


def factors(answer: str, target: str) -> bool:
    """The same factors in any order."""
    said, right = ([value(part) for part in re.split("[×*]", text)] for text in (answer, target))
    return None not in said and _in_order(said) == _in_order(right)


def _in_order(values: list[Fraction | None]) -> list[Fraction]:
    """Values in order, so that two lists can be compared as collections."""
    return sorted(one for one in values if one is not None)


def number_list(answer: str, target: str) -> bool:
    """A list in brackets with the same numbers in the same order, in quotes or not."""
    said = _listed(answer)
    return said is not None and None not in said and said == _listed(target)


def _listed(text: str) -> list[Fraction | None] | None:
    text = text.strip()
    if text[:1] + text[-1:] != "[]":
        return None
    return [value(part.strip().strip("'\"")) for part in text[1:-1].split(",")]


def roles(answer: str, target: str) -> bool:
    """Everybody named once, each with the right role."""
    said, right = _roles(answer), _roles(target)
    return said is not None and right is not None and sorted(said) == sorted(right)


def _roles(text: str) -> list[tuple[str, ...]] | None:
    parts = [part.strip() for part in re.split(r"[,;.\n]|\band\b", text.casefold())]
    found = [ROLE.fullmatch(part) for part in parts if part]
    return None if None in found else [one.groups() for one in found if one is not None]


def palindrome(answer: str, target: str) -> bool:
    """A palindrome of the same letters."""
    said, right = answer.strip().casefold(), target.strip().casefold()
    return said == said[::-1] and sorted(said) == sorted(right)


def same_json(answer: str, target: str) -> bool:
    """The same JSON value, in whatever spacing."""
    said, right = _json(answer), _json(target)
    return (
        said is not ... and right is not ... and json.dumps(said, sort_keys=True) == json.dumps(right, sort_keys=True)
    )


def groups(answer: str, target: str) -> bool:
    """A list of groups of words, in any order."""
    return _grouped(answer, target, sorted)


def partitions(answer: str, target: str) -> bool:
    """A list of partitions in any order, the parts of each in theirs."""
    return _grouped(answer, target, list)


def _grouped(answer: str, target: str, order: Callable[[list[str]], list[str]]) -> bool:
    said, right = _json(answer), _json(target)
    for read in (said, right):
        if not isinstance(read, list) or not all(isinstance(group, list) for group in read):
            return False
        if not all(isinstance(word, str) for group in read for word in group):
            return False
    return sorted(order(group) for group in said) == sorted(order(group) for group in right)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return ...


def numbers_game(answer: str, target: str) -> bool:
    """An expression of + - * / and brackets with just the target's numbers, each as often, and of its value."""
    if "**" in answer or re.search("[A-Za-z]", answer):
        return False
    used, given = (sorted(map(int, re.findall("[0-9]{1,100}", text))) for text in (answer, target))
    said = polynomial(answer.replace("×", "*").replace("÷", "/").replace("\u2212", "-"))
    return used == given and said is not None and said == polynomial(target)


def expanded(answer: str, target: str) -> bool:
    """The same polynomial, multiplied out: brackets would let the question pass as its own answer."""
    said = None if "(" in answer else polynomial(answer)
    return said is not None and said == polynomial(target)


def antiderivative(answer: str, target: str) -> bool:
    """A polynomial with the derivative of the target, by the one variable that it has beside C, if any."""
    said, right = polynomial(answer), polynomial(target)
    if said is None or right is None:
        return False
    used, names = ({name for powers in terms for name, _ in powers} - {"C"} for terms in (said, right))
    same = all(derivative(said, name) == derivative(right, name) for name in names)
    return len(names) <= 1 and used <= names and same
