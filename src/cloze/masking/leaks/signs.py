r"""Signs for the leak audit: does the minus before a number belong to it, or is something subtracted?

A minus is a sign where nothing stands before it that could be subtracted from: `x=-7`, "so -7", `$- 7$`, `-(7)`,
"negative 7". After a number, a single letter, a closing bracket or a quantity ("10 cm -7 cm") it subtracts. After
some other word "minus 7" may be either ("the total minus 7"), and an audit takes it for both.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from cloze.masking.leaks.values import Number

DASHES = "-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
BEFORE_SIGN = frozenset(DASHES + "$€£¥₹\\{( ~\u00a0sSeE")  # the last letters of "minus" and "negative", too
VERB = re.compile(
    r"(?:(?<![A-Za-z\\])(?:is|are|be|get|gives?|equals?|answer|value|of|to|by|and|or|than|with|at)"
    r"|\\(?:cdot|times|div|leq?|geq?|lt|gt|neq?|approx|to|in|left|mid|implies|iff|text|q?quad|[A-Za-z]*arrow))$",
    re.IGNORECASE,
)
BEFORE_MINUS = re.compile(
    r"(?<![A-Za-z\\])(?:so|then|hence|thus|therefore|yields?|have|has|had|that|as|namely|exactly|root|solution|result"
    r"|likely|obtains?|finds?|becomes?|was|were|was|it|we|called|i\.e)$",
    re.IGNORECASE,
)
WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z]{2,}$")
NUMBER_WORD = re.compile(
    r"(?<![A-Za-z])(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]+)?|hundred|thousand|million|dozen|half)$",
    re.IGNORECASE,
)
QUANTITY = re.compile(r"[0-9\0)}\]]\s?[A-Za-z]+$")
SPELLED = re.compile(r"(?<![A-Za-z\\])(minus|negative)[ \t\n~\u00a0]{1,2}(?:\$|\\\()?$", re.IGNORECASE)
OPENED = re.compile(r"(?:(?:\\left\s?)?\(|\{)\s?$")
CLOSED = re.compile(r"\s?(?:(?:\\right\s?)?\)|\})")
CLOSED_BY = {"(": ")", "{": "}"}
WINDOW = 64


def signed(shown: str, at: int, end: int, size: Number, wanted: Container[Number]) -> tuple[int, int] | None:
    """Where the number `shown[at:end]`, of this size without its sign, stands with a sign that makes it a wanted one.

    Returns:
        The place with the minus and the brackets that belong to it, or None.
    """
    for first, last, sign in _readings(shown, at, end):
        if sign * size in wanted:
            return first, last
    return None


def _readings(shown: str, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    if shown[at - 1 : at] not in BEFORE_SIGN:
        yield at, end, 1
        return
    first, last = _bracketed(shown, at, end)
    minus, may_be_sign, may_subtract = _minus(shown, first)
    if may_subtract and not may_be_sign and first < at:
        first, last = at, end
        minus, may_be_sign, may_subtract = _minus(shown, first)
    if may_subtract:
        yield at, end, 1
    if may_be_sign:
        yield minus, last, -1


def _bracketed(shown: str, at: int, end: int) -> tuple[int, int]:
    """The number with the brackets that hold nothing else."""
    opened = OPENED.search(shown, max(0, at - 8), at) if shown[at - 1] in "( {" else None
    closed = CLOSED.match(shown, end) if opened else None
    if opened and closed and closed.group()[-1] == CLOSED_BY[opened.group().strip()[-1]]:
        return opened.start(), closed.end()
    return at, end


def _minus(shown: str, at: int) -> tuple[int, bool, bool]:
    """Where the minus before a number begins, whether it may be a sign, and whether it (or nothing) may be none."""
    dash = at
    while dash > 0 and at - dash < 3 and shown[dash - 1] in "$€£¥₹\\{":
        dash -= 1
    spaced = shown[dash - 1 : dash] == " "
    dash -= 1 + spaced
    if dash < 0 or shown[dash] not in DASHES:
        dash, spaced = at - 1, False
    if dash < 0 or shown[dash] not in DASHES:
        spelled = SPELLED.search(shown, max(0, at - 12), at)
        if spelled is None:
            return at, False, True
        return (spelled.start(), *((True, False) if spelled[1][0] in "nN" else minus_is(shown, spelled.start())))
    before = shown[max(0, dash - WINDOW) : dash]
    left = before.rstrip(" \t")
    last = left[-1:]
    if last in ("|", "$"):
        operand = not _opens(shown, dash - len(before) + len(left))
    else:
        operand = last.isalnum() or last in (")", "]", "}", "%", "!", "_", "\0", "'")
    if last.isalpha() and VERB.search(left):
        return dash, True, False
    if spaced and (operand or last not in tuple("=([{<>:&$|")):
        return at, False, True  # `- 5 apples` is an item of a list
    if not operand or (left != before and BEFORE_MINUS.search(left)):
        return dash, True, False
    if left == before or not WORD.search(left) or NUMBER_WORD.search(left):
        return at, False, True
    return dash, True, QUANTITY.search(left) is not None


def minus_is(shown: str, at: int) -> tuple[bool, bool]:
    """Whether the word "minus" at a place may be a sign, and whether it may subtract."""
    before = shown[max(0, at - WINDOW) : at]
    left = before.rstrip(" \t\n~")
    last = left[-1:]
    if not left or last in ".,:;=([{<>&?!" or VERB.search(left) or BEFORE_MINUS.search(left):
        return True, False
    if not last.isalpha() or not WORD.search(left) or NUMBER_WORD.search(left):
        opens = last == "$" and _opens(shown, at - len(before) + len(left))
        return opens, not opens
    return True, True


def _opens(shown: str, end: int) -> bool:
    """Whether the dollar or bar before a place opens what it encloses: it is the first, third, ... of its line."""
    line = shown[max(0, end - 400) : end]
    return line[line.rfind("\n") + 1 :].count(line[-1]) % 2 == 1
