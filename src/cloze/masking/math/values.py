r"""When are two written numbers the same? A key for every value, equal exactly when the values are.

Numbers in digits keep exact decimals (`1,250.50` is "1250.5"), other rationals are reduced ("1/3"), square roots are a
rational times the root of a square-free number ("1/2√3"). What has no such form keeps its writing. Keys are what spans
share a blank by, so equal values share one however they are typeset.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache

MAX_DIGITS = 400  # longer numbers are compared by their digits, never calculated with
MAX_RADICAND = 10**6

Root = tuple[Fraction, int]  # the rational and the square-free number under the root

VULGAR = {
    character: Fraction(unicodedata.numeric(character)).limit_denominator(10) for character in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")


@lru_cache(maxsize=1 << 16)
def number_key(digits: str) -> str:
    """The key of an unsigned number in digits, with or without thousands separators."""
    if not digits.isascii():
        digits = "".join(str(int(one)) if one.isdecimal() else one for one in digits)
    whole, _, decimals = digits.partition(".")
    if not whole.isdecimal():
        whole = re.sub(r"\D", "", whole)
    whole, decimals = whole.lstrip("0") or "0", decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def fraction_key(value: Fraction) -> str:
    """The key of a rational: its decimal writing if that ends, else the reduced fraction."""
    bottom, places = value.denominator, 0
    if bottom == 1:
        return str(value.numerator)
    for prime in (2, 5):
        count = 0
        while bottom % prime == 0:
            bottom //= prime
            count += 1
        places = max(places, count)
    if bottom != 1 or places > MAX_DIGITS:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def root_key(root: Root) -> str:
    """The key of a rational times a square root."""
    rational, radicand = root
    if radicand == 1 or not rational:
        return fraction_key(rational)
    return ("" if rational == 1 else fraction_key(rational)) + f"√{radicand}"


def negative(key: str) -> str:
    """The key of the value with the other sign."""
    if key == "0":
        return key
    return key[1:] if key.startswith("-") else "-" + key


@lru_cache(maxsize=1 << 14)
def key_value(key: str) -> Fraction | None:
    """The rational that a key stands for, or None if it stands for anything else or is too long to calculate with."""
    if len(key) > MAX_DIGITS or not re.fullmatch(r"-?\d+(?:\.\d+|/\d+)?", key):
        return None
    return Fraction(key)


def square_root(value: Fraction) -> Root | None:
    """The square root of a rational that is not negative, or None if its numbers are too large to factor."""
    radicand = value.numerator * value.denominator
    if not 0 <= radicand <= MAX_RADICAND:
        return None
    if not radicand:
        return Fraction(0), 1
    outside, prime = 1, 2
    while prime * prime <= radicand:
        while radicand % (prime * prime) == 0:
            radicand //= prime * prime
            outside *= prime
        prime += 1
    return Fraction(outside, value.denominator), radicand


def product(left: Root, right: Root) -> Root | None:
    """The product of two roots, or None if it is too large to factor."""
    both = square_root(Fraction(left[1] * right[1]))
    return None if both is None else (left[0] * right[0] * both[0], both[1])


def quotient(top: Root, bottom: Root) -> Root | None:
    """One root divided by another, or None if it is undefined or too large."""
    if not bottom[0]:
        return None
    return product(top, (1 / (bottom[0] * bottom[1]), bottom[1]))


def power(base: Root, exponent: Fraction) -> Root | None:
    """A rational to an integer power of moderate size, or None."""
    if base[1] != 1 or exponent.denominator != 1 or abs(exponent) > MAX_DIGITS:
        return None
    size = max(abs(base[0].numerator), base[0].denominator).bit_length() * abs(int(exponent))
    if size > 3 * MAX_DIGITS or (not base[0] and exponent < 0):
        return None
    return base[0] ** int(exponent), 1
