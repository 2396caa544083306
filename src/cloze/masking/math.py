r"""Math traces: hide the numbers that the solution computes, keep everything that carries the plan.

Hidden: integers, decimals and thousands (one number, one blank), signed where the sign is not an operator, and the
target wherever it stands as text. Kept: operators, labels (`Step 1`, `Lemma 3`), list numbers, subscripts and digits
inside names (`x_1`, `x1`), ordinals (`1st`), and every number that the question gives.

Not covered yet: fractions, roots and powers as one span, number words, unicode fractions, symbolic values other than
the target.
"""

from __future__ import annotations

import random
import re
import string
from bisect import bisect_right
from fractions import Fraction

from cloze.errors import InputError
from cloze.masking.spans import MaskedTrace, Span, with_blanks
from cloze.verifiers.math import MAX_NUMBER, read_value

GROUP = r"(?:,|\{,\}|\\[,!]|,\\!)"
NUMBER = re.compile(
    rf"\d{{1,3}}(?:{GROUP}\d{{3}})+(?!\d)(?:\.\d+)?|\d{{1,3}}(?:[ \u00a0\u202f]\d{{3}})+(?!\d)(?:\.\d+)?"
    r"|\d+(?:\.\d+)?|\.\d+"
)
LABEL = re.compile(
    r"(?:(?i:step|case|part|lemma|theorem|claim|figure|fig|example|equation|eq|section|problem|question|method|solution"
    r"|option|table|chapter|proposition|corollary|definition|note|stage|phase)|Round)s?"  # "round 3.7 to 4" is a verb
)
SIGN_AFTER = re.compile(r"is|are|was|be|to|by|of|and|or|than|from|gets?|gives?|equals?|value|answer|result")
CURRENCY = re.compile(r"Rs|RM|USD|EUR|GBP|INR|CAD|AUD|US")
ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
LIST_AFTER = re.compile(r"[.):][ \t]+\S")
LETTERS = string.ascii_letters
WINDOW = 64  # how far back a number's surroundings are looked at, so that a long line costs no more than a short one


ANSWER_PLACE = re.compile(r"(?:####|\\boxed\s*\{|answer(?:\s+is)?\s*:?)\s*\$?\s*$", re.IGNORECASE)


def mask_math(text: str, target: str, question: str = "", *, ratio: float = 1.0, seed: int = 0) -> MaskedTrace:
    """Mask a math trace.

    Args:
        text: the trace.
        target: hidden wherever it stands; where the question gives it, only as the answer (after `####`, in a box,
            after "answer is"); may be empty.
        question: its numbers stay readable.
        ratio: share of the hidden values to hide, for ablations; the target is always hidden.
        seed: which values stay when `ratio` is below 1.

    Returns:
        The masked trace; spans of equal value share a blank.

    Raises:
        InputError: the ratio is not in 0..1.
    """
    if not 0.0 <= ratio <= 1.0:
        raise InputError(f"the mask ratio must be between 0 and 1, got {ratio}", field="ratio")
    given = {value for value, _, _ in numbers(question)}
    found = numbers(text)
    listed = _list_numbers(text, found)
    goal = parse_number(target)
    spans = [
        Span(start, end, "number", value, "computed in the trace")
        for value, start, end in found
        if (value not in given or (value == goal and ANSWER_PLACE.search(text[max(0, start - 40) : start])))
        and start not in listed
        and not _is_structure(text, start, end)
    ]
    if ratio < 1.0:
        reading = read_value(target)
        values = sorted(value for value in {span.value for span in spans} if not _is_goal(value, goal, reading))
        keep = set(random.Random(seed).sample(values, round((1.0 - ratio) * len(values))))
        spans = [span for span in spans if span.value not in keep]
    if goal is None and target.strip() and not _stands_in(target, question):
        spans = _with_target(text, target, spans, found)
    return with_blanks(text, spans)


def numbers(text: str) -> list[tuple[str, int, int]]:
    """Every number written in digits: value, start, end; a minus that is a sign belongs to the number.

    The value is the shortest writing of the number (`-1,000.50` is "-1000.5"), so equal values are equal texts
    however many digits they have.
    """
    found = []
    for match in NUMBER.finditer(text):
        start, end = match.span()
        value = _canonical(match[0])
        if start and text[start - 1] in "-\u2212" and _is_sign(text, start - 1):
            start, value = start - 1, value if value == "0" else "-" + value
        found.append((value, start, end))
    return found


def parse_number(text: str) -> str | None:
    """The value of a text that is one number and nothing else (currency and percent signs aside), or None."""
    bare = text.strip().strip("$\\% ").rstrip(".")
    found = numbers(bare)
    return found[0][0] if len(found) == 1 and found[0][1:] == (0, len(bare)) else None


def _canonical(digits: str) -> str:
    if not digits.isascii():
        digits = "".join(str(int(one)) if one.isdecimal() else one for one in digits)
    whole, _, decimals = digits.partition(".")
    if not whole.isdecimal():
        whole = re.sub(r"\D", "", whole)
    whole, decimals = whole.lstrip("0") or "0", decimals.rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def _line_before(text: str, at: int) -> str:
    before = text[max(0, at - WINDOW) : at]
    return before[before.rfind("\n") + 1 :]


def _is_sign(text: str, at: int) -> bool:
    """Whether the minus at `at` is a sign: nothing that could be the left side of a subtraction goes before it."""
    line = _line_before(text, at)
    left = line.rstrip()
    last = left[-1:]
    if last in ("|", "'", "$"):  # the end of |x|, of f', of $x$; or the beginning of something
        last = left[-2:-1]
    if not last or not (last.isalnum() or last in "_)]}%!\u00b0"):
        return True
    return left != line and SIGN_AFTER.fullmatch(_last_word(left).lower()) is not None


def _last_word(line: str) -> str:
    """The letters that a line ends with; empty for a command such as `\\pi`."""
    rest = line.rstrip(LETTERS)
    return "" if rest.endswith("\\") else line[len(rest) :]


def _is_goal(value: str, goal: str | None, reading: Fraction | None) -> bool:
    return value == goal or (reading is not None and len(value) <= MAX_NUMBER and Fraction(value) == reading)


def _list_numbers(text: str, found: list[tuple[str, int, int]]) -> set[int]:
    """Where the list numbers stand: first on their line, text after them, and counting up from 0 or 1."""
    places, seen = set(), {-1, 0}
    for value, start, end in found:
        if end - start > 3 or not text[start:end].isdecimal() or int(value) - 1 not in seen:
            continue
        line = _line_before(text, start)
        if len(line) < WINDOW and line.lstrip(" \t") in ("", "(") and LIST_AFTER.match(text, end):
            places.add(start)
            seen.add(int(value))
    return places


def _is_structure(text: str, start: int, end: int) -> bool:
    line = _line_before(text, start)
    return _is_in_a_name(line) or _is_labelled(line) or ORDINAL.match(text, end) is not None


def _is_in_a_name(line: str) -> bool:
    subscript = line.removesuffix("{")
    if subscript.endswith("_"):
        last = subscript[-2:-1]
        return last.isalnum() or last in (")", "}", "]")
    if not line[-1:].isalpha():
        return False
    word = _last_word(line)
    return not CURRENCY.fullmatch(word) and (bool(word) or not line[-1].isascii())


def _is_labelled(line: str) -> bool:
    left = line.removesuffix("#").removesuffix("(").rstrip(" \t").removesuffix(".")
    return LABEL.fullmatch(_last_word(left)) is not None


def _stands_in(target: str, question: str) -> bool:
    return _whole(target).search(question) is not None


def _whole(target: str) -> re.Pattern[str]:
    """The target as a whole word in any case; one letter only as it is written, or every article would be an `A`."""
    word = target.strip()
    left = r"(?<!\w)" if word[0].isalnum() else ""
    right = r"(?!\w)" if word[-1].isalnum() else ""
    return re.compile(left + re.escape(word) + right, re.IGNORECASE if len(word) > 1 else 0)


def _with_target(text: str, target: str, spans: list[Span], found: list[tuple[str, int, int]]) -> list[Span]:
    starts, ends = [start for _, start, _ in found], [end for _, _, end in found]

    def cuts_a_number(at: int) -> bool:
        before = bisect_right(starts, at) - 1
        return before >= 0 and starts[before] < at < ends[before]

    hits = [
        Span(match.start(), match.end(), "target", target.strip().lower(), "the target")
        for match in _whole(target).finditer(text)
        if not cuts_a_number(match.start()) and not cuts_a_number(match.end())
    ]
    begins = [hit.start for hit in hits]
    clear = []
    for span in spans:
        before = bisect_right(begins, span.start) - 1
        if before < 0 or hits[before].end <= span.start:
            clear.append(span)
    return clear + hits
