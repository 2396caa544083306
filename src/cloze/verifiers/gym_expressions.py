"""Expressions of answers to procedural tasks, read as polynomials with exact coefficients; nothing is evaluated.

An answer such as `3*x**2/2 - x + C` or `(85 - 1)*49/14` becomes a table from powers to fractions, so that two answers
are equal when their tables are. The reader bounds the depth of brackets, the size of powers and numbers and the work in
all, so that no text of any length or malice takes more than milliseconds; what goes beyond is no answer.
"""

from __future__ import annotations

import re
from fractions import Fraction

Polynomial = dict[tuple[tuple[str, int], ...], Fraction]

TOKEN = re.compile(r"\s*([0-9]+|[A-Za-z][A-Za-z0-9_]*|\*\*|[-+*/()])")
MAX_DEPTH, MAX_POWER, MAX_BITS, MAX_WORK = 40, 100, 2_000, 20_000


class _TooMuch(Exception):
    """An expression that is no polynomial, or a larger one than any answer is."""


def polynomial(text: str) -> Polynomial | None:
    """Read an expression as a polynomial with exact coefficients, multiplied out, or None.

    Args:
        text: whole numbers, names, + - * / ** and brackets; division by numbers alone, powers from 0 to `MAX_POWER`.
    """
    tokens, end = [], 0
    text = text.strip()
    while found := TOKEN.match(text, end):
        tokens.append(found[1])
        end = found.end()
    if end != len(text) or not tokens:
        return None
    reader = _Reader(tokens)
    try:
        terms = reader.sum(0)
    except (_TooMuch, ZeroDivisionError, ValueError):
        return None
    return terms if reader.at == len(tokens) else None


class _Reader:
    """A descent through the tokens of an expression, with a bound on its depth, its numbers and its work."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens, self.at, self.work = tokens, 0, 0

    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next()
        self.at += 1
        return token

    def sum(self, depth: int) -> Polynomial:
        terms = self.product(depth)
        while self.next() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            terms = self.bounded([*terms.items(), *((key, sign * one) for key, one in self.product(depth).items())])
        return terms

    def product(self, depth: int) -> Polynomial:
        terms = self.signed(depth)
        while self.next() in ("*", "/"):
            times, other = self.take() == "*", self.signed(depth)
            if not times:
                if set(other) - {()}:
                    raise _TooMuch
                other = {(): 1 / other.get((), Fraction(0))}
            terms = self.times(terms, other)
        return terms

    def signed(self, depth: int) -> Polynomial:
        if depth > MAX_DEPTH:
            raise _TooMuch
        if self.next() in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            return {key: sign * one for key, one in self.signed(depth + 1).items()}
        base = self.single(depth)
        if self.next() != "**":
            return base
        self.take()
        exponent = self.signed(depth + 1)
        power = exponent.get((), Fraction(0))
        if set(exponent) - {()} or power.denominator != 1 or not 0 <= power <= MAX_POWER:
            raise _TooMuch
        result: Polynomial = {(): Fraction(1)}
        for _ in range(int(power)):
            result = self.times(result, base)
        return result

    def single(self, depth: int) -> Polynomial:
        token = self.take()
        if token == "(":
            inside = self.sum(depth + 1)
            if self.take() != ")":
                raise _TooMuch
            return inside
        if token.isdigit() and len(token) <= 100:
            return {(): Fraction(int(token))} if int(token) else {}
        if not token[:1].isalpha():
            raise _TooMuch
        return {((token, 1),): Fraction(1)}

    def times(self, left: Polynomial, right: Polynomial) -> Polynomial:
        products = []
        self.work += len(left) * len(right)
        if self.work > MAX_WORK:
            raise _TooMuch
        for one, factor in left.items():
            for other, second in right.items():
                powers = dict(one)
                for name, power in other:
                    powers[name] = powers.get(name, 0) + power
                products.append((tuple(sorted(powers.items())), factor * second))
        return self.bounded(products)

    def bounded(self, terms: list[tuple[tuple[tuple[str, int], ...], Fraction]]) -> Polynomial:
        self.work += len(terms)
        total: Polynomial = {}
        for key, one in terms:
            total[key] = total.get(key, Fraction(0)) + one
        bits = max((max(one.numerator.bit_length(), one.denominator.bit_length()) for one in total.values()), default=0)
        if self.work > MAX_WORK or bits > MAX_BITS:
            raise _TooMuch
        return {key: one for key, one in total.items() if one}


def derivative(terms: Polynomial, by: str) -> Polynomial:
    """The derivative of a polynomial by one of its names."""
    derived: Polynomial = {}
    for powers, factor in terms.items():
        power = dict(powers).get(by, 0)
        if power:
            lower = dict(powers) | {by: power - 1}
            derived[tuple(sorted((name, one) for name, one in lower.items() if one))] = factor * power
    return derived
