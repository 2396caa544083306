r"""Answers with parts: sets, lists, tuples, matrices, intervals and inequalities, and what makes two of them equal.

A text is read into every shape that it can mean (`math_reading`). Two texts are equal when two of their readings are of
one kind and equal part by part. How two parts compare is given by the caller and has three outcomes (True, False, None
for "not decided by this means"), so that the same code serves the exact stage here and the symbolic one in the workers.

Rules: a set in braces and a list (`1, 2`, `1 and 2`, `x = 1 or x = 2`) have no order; a list counts its repetitions,
two sets do not. A tuple has an order and its kind of brackets. A set of one is its element. The variable of an
inequality counts only when both sides name one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from cloze.verifiers.math_numbers import read_exact
from cloze.verifiers.math_reading import MAX_PARTS, SENSES, Interval, Shape, plus_minus, readings
from cloze.verifiers.math_text import text_key

Same = Callable[[str, str], bool | None]


def equal(answer: str, target: str, same: Same) -> bool | None:
    """Whether an answer equals a target as a shape: True, False, or None if `same` could not decide."""
    left, right = readings(answer), readings(target)
    results = [_alike(one, other, same) for other in right for one in left]
    if len(left) > 1 or len(right) > 1:  # what has parts is equal by its parts or as text, not as one formula
        results[-1] = results[-1] is True
    return _any(results)


def _alike(answer: Shape, target: Shape, same: Same) -> bool | None:
    if answer.name and target.name and answer.name != target.name:
        return False
    kinds = {answer.kind, target.kind}
    if kinds == {"named"}:
        return _elements(answer.parts, target.parts, same)
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
        doubled = plus_minus(part)
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
        if low > high or (low == high and not (piece.low_in and piece.high_in)):
            return list(pieces)  # (3,1) is no interval, though it can be a pair
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
