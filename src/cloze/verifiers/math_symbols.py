r"""Algebra: are two formulas equal? This runs in the worker processes only, because it can take long or break.

The reader is math-verify's (its LaTeX grammar, which builds a sympy tree and evaluates nothing). Two expressions are
equal when they agree at several fixed points to so many digits that only equal ones can: that refutes in microseconds
what simplification would chew on, never takes 1/2^98 for 1/2^99, and is the same every time. Functions that the tree
does not define (`f(x)`) are taken as unknown values. Two equations or inequalities are equal when one is a multiple of
the other (by a positive number, or turned round): nothing is solved. What is neither an expression nor one relation is
left to math-verify's own comparison. A tree with anything else in it (sums, integrals) equals only its own spelling.
Roots are real where there is a real one, else the principal one.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy
from latex2sympy2_extended import latex2sympy
from math_verify import verify as math_verify_says
from mpmath import MPContext
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from cloze.verifiers.math import last_side, same_exactly
from cloze.verifiers.math_formula import formula
from cloze.verifiers.math_shapes import equal
from cloze.verifiers.math_text import bare, split_unit

POINTS = 6  # as many are tried; three that both sides have a value at are enough
DIGITS, MAX_DIGITS = 60, 1_000  # compared first, and when powers could hide a difference beyond
HUGE = 1e6  # an exponent above it is not worked out

numbers: Any = MPContext()
TURNED = {sympy.StrictLessThan: sympy.StrictGreaterThan, sympy.LessThan: sympy.GreaterThan}
FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.sin: numbers.sin, sympy.cos: numbers.cos, sympy.tan: numbers.tan, sympy.cot: numbers.cot,
    sympy.sec: numbers.sec, sympy.csc: numbers.csc, sympy.asin: numbers.asin, sympy.acos: numbers.acos,
    sympy.atan: numbers.atan, sympy.sinh: numbers.sinh, sympy.cosh: numbers.cosh, sympy.tanh: numbers.tanh,
    sympy.exp: numbers.exp, sympy.Abs: numbers.fabs, sympy.re: numbers.re, sympy.im: numbers.im,
    sympy.conjugate: numbers.conj, sympy.floor: numbers.floor, sympy.ceiling: numbers.ceil,
}  # fmt: skip
CONSTANTS = {sympy.pi: "pi", sympy.E: "e", sympy.EulerGamma: "euler"}
WARM = (
    r"\frac{\sqrt{3}}{2}", r"2\pi+3", "x^{2}+2x+1", r"(x+1)(x-1)", r"\sqrt[3]{2}", r"e^{-x^{2}}", r"\log_{2}3",
    r"\ln 2", r"\sin x\cos x", r"\sin^{2}(x)", "n!", r"\binom{n}{2}", "a_{1}+x_{2}", r"\frac{1}{2}(n+1)", "2^{n+1}",
    "|x|", "y=2x+3", r"x\le 3", r"x^{2}+y^{2}=4", r"3\sqrt{2}i", r"\pi r^{2}", r"n(n+1)/2", r"-\frac{1}{2}x",
    r"\tan^{-1}(2)", "f(x)=x+1",
)  # fmt: skip


class UnknownNodeError(Exception):
    """The tree holds something that has no value here."""


def outcome(answer: str, target: str) -> str:
    """Compare two texts part by part: "equal", "different", or "unreadable" when a formula in them cannot be read."""
    unread: list[str] = []

    def same(one: str, other: str) -> bool | None:
        result = _same(one, other)
        if result is None:
            unread.append(one)
        return bool(result)

    if equal(answer, target, same):
        return "equal"
    return "unreadable" if unread else "different"


def warm_up() -> None:
    """Read some formulas, so that the reader's tables are built before the workers are forked."""
    for text in WARM:
        outcome(text + "+z", text)


def _same(answer: str, target: str) -> bool | None:
    """Whether two parts are equal; None when one cannot be read."""
    if (exact := same_exactly(answer, target)) is not None:
        return exact
    answer = last_side(answer, target)
    if "=" not in bare(answer):
        target = last_side(target, answer)
    left, right = (_read(split_unit(bare(text))[0]) for text in (answer, target))
    if left is None or right is None:
        return None
    digits = _digits(answer + target)
    if isinstance(left, Relational) and isinstance(right, Relational):
        return _same_relation(left, right, digits)
    if not isinstance(left, sympy.Expr) or not isinstance(right, sympy.Expr):
        return bool(left == right or math_verify_says(right, left, timeout_seconds=None))
    return _same_value(left, right, DIGITS) and (digits == DIGITS or _same_value(left, right, digits))


@lru_cache(maxsize=512)
def _read(text: str) -> Any:
    written = formula(text)
    if written is None:
        return None
    try:
        return latex2sympy(written, is_real=True, convert_degrees=False, normalization_config=None)
    except Exception:  # the grammar's own class, and whatever sympy makes of odd trees
        return None


def _digits(text: str) -> int:
    """Digits that are compared: enough to tell apart what the powers in the text can make differ."""
    longest = max(map(len, re.findall("[0-9]+", text)), default=1)
    powers = sum(int(found) for found in re.findall(r"\^ ?\{? ?-? ?([0-9]{1,6})", text))
    return min(MAX_DIGITS, DIGITS + longest * (powers if powers > 12 else 0))


def _same_value(left: Any, right: Any, digits: int) -> bool:
    names = left.free_symbols | right.free_symbols
    agreed = 0
    numbers.dps = digits
    for point in range(POINTS if names else 1):
        try:
            one, other = _value(left, point), _value(right, point)
        except (UnknownNodeError, RecursionError):
            return bool(left == right)
        except (ArithmeticError, ValueError):
            continue
        if not numbers.isfinite(one) or not numbers.isfinite(other):
            continue
        if not _near(one, other, digits):
            return False
        agreed += 1
        if agreed == 4:
            break
    return agreed >= (2 if names else 1) or bool(left == right)


def _near(one: Any, other: Any, digits: int) -> bool:
    size = max(abs(one), abs(other))
    return bool(abs(one - other) <= size * numbers.mpf(10) ** (25 - digits) or size < numbers.mpf(10) ** (10 - digits))


def _same_relation(left: Any, right: Any, digits: int) -> bool:
    if left == right:
        return True
    numbers.dps = digits
    ratios = []
    for point in range(POINTS):
        try:
            one, other = (_value(side.lhs, point) - _value(side.rhs, point) for side in (left, right))
            if abs(other) > 0:
                ratios.append(one / other)
        except (UnknownNodeError, RecursionError, ArithmeticError, ValueError):
            continue
    if len(ratios) > 2 and all(_near(ratio, ratios[0], digits) for ratio in ratios) and abs(ratios[0]) > 0:
        if type(left) is type(right):
            return isinstance(left, (sympy.Eq, sympy.Ne)) or bool(numbers.re(ratios[0]) > 0)
        turned = TURNED.get(type(left)) is type(right) or TURNED.get(type(right)) is type(left)
        return turned and bool(numbers.re(ratios[0]) < 0)
    return False


def _value(node: Any, point: int) -> Any:
    """The value of a tree, with every symbol at the given point, in floating numbers of the set precision."""
    if isinstance(node, sympy.Rational):
        return numbers.mpf(node.p) / node.q
    if node in CONSTANTS:
        return +getattr(numbers, CONSTANTS[node])
    if isinstance(node, sympy.Symbol):  # the reader has no imaginary unit of its own
        return numbers.mpc(0, 1) if node.name == "i" else _unknown(node.name, point)
    if node.func in (sympy.Add, sympy.Mul):
        total = numbers.mpf(0 if node.func is sympy.Add else 1)
        for part in node.args:
            value = _value(part, point)
            total = total + value if node.func is sympy.Add else total * value
        return total
    if isinstance(node, sympy.Pow):
        below, exponent = _value(node.args[0], point), node.args[1]
        if isinstance(exponent, sympy.Rational) and exponent.q % 2 and below < 0 if numbers.im(below) == 0 else False:
            return _power(-below, _value(exponent, point)) * (-1 if exponent.p % 2 else 1)  # the real root
        return _power(below, _value(exponent, point))
    if node.func not in FUNCTIONS and not isinstance(node, (AppliedUndef, *SPECIAL)):
        raise UnknownNodeError(str(node.func))
    values = [_value(part, point) for part in node.args]
    if any(abs(value) > HUGE and not isinstance(node, (sympy.log, sympy.Abs)) for value in values):
        raise UnknownNodeError("too large")
    if node.func in FUNCTIONS:
        return FUNCTIONS[node.func](*values)
    if isinstance(node, AppliedUndef):
        rounded = ",".join(numbers.nstr(value, 30) for value in values)
        return _unknown(f"{node.func.__name__}({rounded})", point)
    return SPECIAL[node.func](*values)


def _power(below: Any, exponent: Any) -> Any:
    if below == 0:
        if numbers.re(exponent) <= 0:
            raise ZeroDivisionError
        return numbers.mpf(0)
    if abs(exponent) > HUGE or abs(exponent) * abs(numbers.log(abs(below))) > HUGE:
        raise UnknownNodeError("too large")
    return below**exponent


def _unknown(name: str, point: int) -> Any:
    """A fixed value for a name: between 0.2 and 3.2, at every other point negative."""
    seed = zlib.crc32(f"{name}/{point}".encode())
    return (numbers.mpf(seed) / 0xFFFFFFFF * 3 + numbers.mpf(1) / 5) * (-1 if point % 2 else 1)


def _log(value: Any, below: Any = None) -> Any:
    return numbers.log(value) if below is None else numbers.log(value) / numbers.log(below)


def _bounded_factorial(value: Any) -> Any:
    if abs(value) > 10_000 or (numbers.dps > 2 * DIGITS and value != numbers.floor(numbers.re(value))):
        raise UnknownNodeError("too large")
    return numbers.factorial(value)


SPECIAL: dict[Any, Callable[..., Any]] = {
    sympy.log: _log,
    sympy.factorial: _bounded_factorial,
    sympy.binomial: numbers.binomial,
    sympy.UnevaluatedExpr: lambda value: value,
}
