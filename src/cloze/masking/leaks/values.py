r"""Exact values for the leak audit: when are two writings the same number, or the same expression?

A value is a sum of terms, a term an exact coefficient times powers of atoms. An atom is a prime under a root
(`\sqrt{12}` is 2 times 3 to the 1/2), a symbol, or a whole sum or function that is not looked into. So
`\frac{\sqrt{3}}{2}`, `\frac12\sqrt3` and `√3/2` are one value. Sums are never added up: `20+4` stays two terms,
because whoever reads it still has to compute it; only an exact factor is multiplied into them.

Everything is bounded: a coefficient, exponent or sum that grows too large has no value (None).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import floor, isqrt
from typing import TypeAlias

Number: TypeAlias = int | Fraction  # an int where it is whole: faster to compute with and to compare
Atom: TypeAlias = int | str | tuple[object, ...]
Term: TypeAlias = tuple[Number, tuple[tuple[Atom, Number], ...]]
Value: TypeAlias = tuple[Term, ...]
Place: TypeAlias = tuple[int, int, str]  # where something was found, and how: one of `leaks.HOWS`

MAX_BITS = 512
MAX_EXPONENT = 200
MAX_TERMS = 24
MAX_ROOT = 6


def whole(exact: Number) -> Number:
    """The same number, as an int where it is one."""
    return exact if isinstance(exact, int) or exact.denominator != 1 else exact.numerator


def number(exact: Number) -> Value:
    """A rational number."""
    return ((whole(exact), ()),)


def symbol(atom: Atom) -> Value:
    """One atom that stands for itself."""
    return ((1, ((atom, 1),)),)


def rational(value: Value) -> Number | None:
    """The number that a value is, or None if it is no rational number or a sum."""
    return value[0][0] if len(value) == 1 and not value[0][1] else None


def add(terms: list[Value]) -> Value | None:
    """A sum, in whatever order, not added up."""
    flat = [term for value in terms for term in value]
    return tuple(sorted(flat, key=hash)) if len(flat) <= MAX_TERMS else None


def negative(value: Value) -> Value:
    """The value times -1."""
    return _scaled(value, -1)


@lru_cache(maxsize=4096)
def times(left: Value, right: Value) -> Value | None:
    """The product; an exact number is multiplied into a sum, any other factor leaves the sum as it is."""
    for one, other in ((left, right), (right, left)):
        scale = rational(one)
        if scale is not None and len(other) > 1:
            return _scaled(other, scale) if scale else number(0)
    (first, atoms), (second, more) = _single(left), _single(right)
    if not atoms or not more:
        return _bounded(first * second, atoms or more)
    powers = dict(atoms)
    for atom, exponent in more:
        powers[atom] = powers.get(atom, 0) + exponent
    return _term(first * second, powers)


def over(top: Value, bottom: Value) -> Value | None:
    """The quotient, or None."""
    inverse = power(bottom, -1)
    return times(top, inverse) if inverse is not None else None


@lru_cache(maxsize=4096)
def power(base: Value, exponent: Number) -> Value | None:
    """A rational power, or None if it is too large or has no exact form."""
    if exponent == 1:
        return base
    coefficient, atoms = _single(base)
    if coefficient == 0:
        return number(0) if exponent > 0 else None
    if exponent.denominator > MAX_ROOT or abs(exponent.numerator) > MAX_EXPONENT * exponent.denominator:
        return None
    powers: dict[Atom, Number] = {atom: old * exponent for atom, old in atoms}
    if isinstance(exponent, int):
        if _bits(coefficient) * abs(exponent) > MAX_BITS:
            return None
        raised = coefficient**exponent if exponent >= 0 else 1 / Fraction(coefficient) ** -exponent
        return _term(raised, powers)
    sign = 1
    if coefficient < 0:
        if exponent == Fraction(1, 2):
            powers["i"] = powers.get("i", 0) + 1
        elif exponent.denominator % 2:
            sign = -1 if exponent.numerator % 2 else 1
        else:
            return None
    for part, direction in ((abs(coefficient.numerator), 1), (coefficient.denominator, -1)):
        for prime, count in _primes(part):
            powers[prime] = powers.get(prime, 0) + direction * count * exponent
    return _term(sign, powers)


def _scaled(value: Value, scale: Number) -> Value:
    terms = [(whole(scale * coefficient), atoms) for coefficient, atoms in value]
    return tuple(terms) if len(terms) == 1 else tuple(sorted(terms, key=hash))


def _single(value: Value) -> Term:
    return value[0] if len(value) == 1 else (1, ((("sum", value), 1),))


def _term(coefficient: Number, powers: dict[Atom, Number]) -> Value | None:
    kept: list[tuple[Atom, Number]] = []
    for atom, exponent in powers.items():
        if isinstance(atom, int):  # the whole part of a prime's exponent belongs to the coefficient
            taken = floor(exponent)
            if abs(taken) > MAX_EXPONENT:
                return None
            if taken:
                coefficient *= Fraction(atom) ** taken
                exponent = exponent - taken
        if exponent:
            kept.append((atom, whole(exponent)))
    return _bounded(coefficient, tuple(sorted(kept, key=hash)) if len(kept) > 1 else tuple(kept))


def _bounded(coefficient: Number, atoms: tuple[tuple[Atom, Number], ...]) -> Value | None:
    if coefficient == 0:
        return number(0)
    if _bits(coefficient) > MAX_BITS or len(atoms) > MAX_TERMS:
        return None
    return ((whole(coefficient), atoms),)


def _bits(coefficient: Number) -> int:
    return max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length())


@lru_cache(maxsize=4096)
def _primes(left: int) -> tuple[tuple[int, int], ...]:
    """Primes and how often they divide; a large rest counts as prime, or as a square of one."""
    found, divisor = [], 2
    while divisor < 1000 and divisor * divisor <= left:
        count = 0
        while left % divisor == 0:
            left //= divisor
            count += 1
        if count:
            found.append((divisor, count))
        divisor += 1
    root = isqrt(left)
    if root * root == left and left > 1:
        found.append((root, 2))
    elif left > 1:
        found.append((left, 1))
    return tuple(found)
