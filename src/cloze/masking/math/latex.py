r"""Reads one constant out of LaTeX or plain text: where it ends, and what it is worth.

A constant is a number, a fraction, a root or a power of constants, or a product of a number and roots: `\frac12`,
`\dfrac{\sqrt{3}}{2}`, `2\sqrt[3]{5}`, `10^{-3}`, `3\frac{1}{2}`, `√3`, `2⁵`. Anything with a letter, an operator or an
open brace in it is none, and whoever asked goes on inside of it. Braces are paired once for the whole text and nesting
is bounded, so that the time is linear whatever a trace holds.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cached_property, lru_cache

from cloze.masking.math.values import (
    MAX_DIGITS,
    SUPERSCRIPTS,
    VULGAR,
    Root,
    number_key,
    power,
    product,
    quotient,
    root_key,
    square_root,
)

GROUP = r"(?:,|\{,\}|\\[,!]|,\\!)"
DIGITS = re.compile(rf"\d{{1,3}}(?:{GROUP}\d{{3}})++(?!\d)(?:\.\d++)?+|\d++(?:\.\d++)?+|\.\d++")
REPEATING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar|dot) ?(?:\{(\d+)\}|(\d))")
COMMAND = re.compile(r"\\(?:(?P<frac>[dtc]?frac|nicefrac|sfrac)|(?P<sqrt>sqrt))(?![A-Za-z])[ \t]*")
THIN = re.compile(r"(?:[ \t~]|\\[,!;: ])*")
RAISED = re.compile("[⁺⁻]?[⁰¹²³⁴-⁹]+")
CIRCLE = re.compile(r"[ \t]*(?:\\circ|\\degree|\{ ?\\circ ?\}|°)")
INDEX = re.compile(r"\[\s*(\d+)\s*\][ \t]*")
SIGN = re.compile(r"\s*([-+\u2212])?\s*")
MIXED = re.compile(r"\\[dtc]?frac(?![A-Za-z])")
COMMON = re.compile(  # what most constants are, and nothing after it that would make them longer
    r"(?:\d{1,9}\^(?:\{-?\d{1,4}\}|\d{1,4}(?!\d))|(?:\d{1,9} ?)?\\(?:[dtc]?frac ?(?:\{\d{1,9}\}|\d) ?(?:\{\d{1,9}\}|\d)"
    r"|sqrt ?(?:\{\d{1,9}\}|\d)))(?![ ~]*(?:\^|√|[¼-¾⅐-⅞⁰¹²³⁴-⁹⁻]|\\(?:[,!;: ]|sqrt|[dtc]?frac)))"
)
PLAIN_MINUS = re.compile(r"[-\u2212](\d{1,3})(?![\d.])")
MAX_DEPTH = 8
MAX_LENGTH = 400

Read = tuple[int, Root | None]  # where it ends, and its value if that is exact


class Latex:
    """A text with its braces paired."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Where each opening brace is closed."""
        pairs: dict[int, int] = {}
        opened: list[int] = []
        for match in re.finditer(r"\\.|[{}]", self.text, re.DOTALL):
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                pairs[opened.pop()] = match.start()
        return pairs

    def constant(self, start: int) -> tuple[int, str] | None:
        """The constant that begins at `start`: its end and its key, or None if there is none."""
        if common := COMMON.match(self.text, start):
            return common.end(), _common_key(common[0])
        return self._constant(start)

    def _constant(self, start: int) -> tuple[int, str] | None:
        read = self._product(start, min(len(self.text), start + MAX_LENGTH), 0)
        if read is None:
            return None
        end, root = read
        return end, root_key(root) if root is not None else self.writing(start, end)

    def writing(self, start: int, end: int) -> str:
        """The key of a value that has no exact form: its text without spaces and size commands."""
        return re.sub(r"\s+|\\[,!;: ]", "", re.sub(r"\\[dtc]frac", r"\\frac", self.text[start:end]))

    def _product(self, start: int, stop: int, depth: int) -> Read | None:
        read = self._power(start, stop, depth)
        while read is not None:
            end, left = read
            thin = THIN.match(self.text, end, stop)
            at = thin.end() if thin else end
            following = self.text[at : at + 1]
            is_root = following == "√" or self.text.startswith("\\sqrt", at)
            is_mixed = following in VULGAR or MIXED.match(self.text, at) is not None
            if at >= stop or not (is_root or is_mixed):
                break
            factor = self._power(at, stop, depth)
            if factor is None:
                break
            end, right = factor
            if left is None or right is None:
                read = end, None
            elif is_mixed and left[1] == right[1] == 1 and left[0].denominator == 1 and 0 < right[0] < 1:
                read = end, (left[0] + right[0], 1)
            else:
                read = end, product(left, right)
        return read

    def _power(self, start: int, stop: int, depth: int) -> Read | None:
        base = self._atom(start, stop, depth)
        if base is None:
            return None
        end, value = base
        raised = RAISED.match(self.text, end, stop)
        if raised:
            exponent: Root | None = (Fraction(int(raised[0].translate(SUPERSCRIPTS))), 1)
            after = raised.end()
        elif self.text[end : end + 1] == "^" and not CIRCLE.match(self.text, end + 1):
            read = self._minus(end + 1, stop) or self._argument(end + 1, stop, depth)
            if read is None:
                return base
            after, exponent = read
        else:
            return base
        known = value is not None and exponent is not None and exponent[1] == 1
        return after, power(value, exponent[0]) if known and value and exponent else None

    def _minus(self, start: int, stop: int) -> Read | None:
        """A negative exponent without braces, as in `10^-3`."""
        read = PLAIN_MINUS.match(self.text, start, stop)
        return (read.end(), (Fraction(-int(read[1])), 1)) if read else None

    def _atom(self, start: int, stop: int, depth: int) -> Read | None:
        text = self.text
        if depth > MAX_DEPTH or start >= stop:
            return None
        if text[start] in VULGAR:
            return start + 1, (VULGAR[text[start]], 1)
        if text[start] == "√":
            return self._root(self._argument(start + 1, stop, depth))
        if text[start] == "\\":
            return self._command(start, stop, depth)
        if repeating := REPEATING.match(text, start, stop):
            whole, fixed, repeats = repeating[1], repeating[2], repeating[3] or repeating[4]
            scale = 10 ** len(fixed)
            tail = Fraction(int(repeats), scale * (10 ** len(repeats) - 1))
            return repeating.end(), (Fraction(int((whole + fixed) or "0"), scale) + tail, 1)
        if digits := DIGITS.match(text, start, stop):
            short = digits.end() - start <= MAX_DIGITS
            return digits.end(), (Fraction(number_key(digits[0])), 1) if short else None
        return None

    def _command(self, start: int, stop: int, depth: int) -> Read | None:
        command = COMMAND.match(self.text, start, stop)
        if command is None:
            return None
        at = command.end()
        if command["frac"]:
            top = self._argument(at, stop, depth)
            bottom = self._argument(top[0], stop, depth) if top else None
            if top is None or bottom is None:
                return None
            known = top[1] is not None and bottom[1] is not None
            return bottom[0], quotient(top[1], bottom[1]) if known and top[1] and bottom[1] else None
        if self.text[at : at + 1] != "[":
            return self._root(self._argument(at, stop, depth))
        index = INDEX.match(self.text, at, stop)
        inner = self._argument(index.end(), stop, depth) if index else None
        if index is None or inner is None:
            return None
        return self._root(inner) if index[1] == "2" else (inner[0], None)

    def _root(self, inner: Read | None) -> Read | None:
        if inner is None:
            return None
        end, value = inner
        return end, square_root(value[0]) if value is not None and value[1] == 1 else None

    def _argument(self, start: int, stop: int, depth: int) -> Read | None:
        """One argument: a group that is a constant and nothing else, one digit, or another command."""
        text = self.text
        while start < stop and text[start] in " \t":
            start += 1
        if start >= stop:
            return None
        if text[start] in "{(":
            close = self.pairs.get(start) if text[start] == "{" else text.find(")", start, stop)
            if close is None or not start < close < stop:
                return None
            signed = SIGN.match(text, start + 1, close)
            at = signed.end() if signed else start + 1
            read = self._product(at, close, depth + 1)
            if read is None or text[read[0] : close].strip():
                return None
            value = read[1]
            if value is not None and signed and signed[1] in ("-", "\u2212"):
                value = (-value[0], value[1])
            return close + 1, value
        if text[start].isdecimal():
            bare = text[start - 1] in "√^"  # `√12` is the root of 12 and `2^10` is 1024, but `\sqrt12` the root of 1
            digits = DIGITS.match(text, start, stop) if bare else None
            end = digits.end() if digits else start + 1
            return end, (Fraction(number_key(text[start:end])), 1)
        return self._command(start, stop, depth + 1) if text[start] == "\\" and depth < MAX_DEPTH else None


@lru_cache(maxsize=1 << 14)
def _common_key(written: str) -> str:
    read = Latex(written)._constant(0)
    return read[1] if read is not None and read[0] == len(written) else written
