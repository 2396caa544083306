r"""Math traces: hide every value that the solution computes, keep everything that carries the plan.

One compiled scan finds where values may begin; the plain ones (digits) are decided on the spot, the others (fractions,
roots, powers, dates, percentages) are read by `compounds` and `latex`, words by `words`, and a target that is no number
by `forms`. Hidden: integers, decimals, thousands, fractions, roots, powers, scientific notation, percentages, money,
times, dates, number words, whatever stands in a box, and the target in every writing. Kept: operators and relation
signs, labels, list numbers, subscripts, ordinals, units, and every value that the question gives.

A slash between two numbers is an operator and stays (`[N1]/[N2]`), unless the two are a fraction by themselves (`3/4
of it`). Where a slash fraction is worth the target, both of its numbers are hidden even if the question gives them.

The LaTeX reader is our own and not pylatexenc: that one reads 0.3 MB/s, and deep nesting ends it. The tests hold the
two against each other.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from cloze.masking.math.compounds import EXTENDS, EXTENDS_AFTER_SPACE, Value, dates, extend, root_over, with_parts
from cloze.masking.math.forms import Goals, find_forms, read_goals, value_key
from cloze.masking.math.latex import GROUP, Latex
from cloze.masking.math.options import split_options
from cloze.masking.math.structure import (
    ABBREVIATED,
    LABELS,
    ORDINAL,
    UNIT_RAISED,
    is_structure,
    last_word,
    list_numbers,
)
from cloze.masking.math.values import SUPERSCRIPTS, negative, number_key
from cloze.masking.math.words import number_words
from cloze.masking.spans import THE_TARGET, Span, with_blanks
from cloze.verifiers.math import text_key

COMPUTED = "computed in the trace"

SCAN = re.compile(
    rf"[\d.\\¼-¾⅐-⅞√⁰¹²³⁴-⁹](?:(?<=\d)(?:\d{{0,2}}(?:{GROUP}\d{{3}})++(?!\d)(?:\.\d+)?"
    r"|\d{0,2}(?:[ \u00a0\u202f]\d{3})++(?!\d)(?:\.\d+)?|\d*+(?:\.\d+)?)"
    r"|(?<=\.)(?<!\w.)\d+|(?P<special>(?<=\\)(?:[dtc]?frac|nicefrac|sfrac|sqrt|boxed|fbox)(?![A-Za-z])"
    r"|(?<=[¼-¾⅐-⅞√])|(?<=[⁰¹²³⁴-⁹])[⁰¹²³⁴-⁹]*))"
)
BOX = "box"
BOX_OPEN = re.compile(r"\\f?box(?:ed)?\s*\{")
MAX_BOX = 1000
WRAPPER = re.compile(r"\\(?:left|right|text(?:bf|it|rm)?|math(?:rm|bf)|displaystyle|,|!|;|:| )")
SUBSTANCE = re.compile(r"[^\s{}().,;:$\\]")
BOXED = f"{THE_TARGET}, in the answer box"
PART = f"{THE_TARGET}, with a fraction bar"
RAISED_DIGITS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹")
LIST_MARKS = frozenset(".):*")
LABEL_WORDS = LABELS | ABBREVIATED | {"round", "day", "line", "row"}
WINDOW = 48
ANSWER_PLACE = re.compile(r"(?:####|\\f?box(?:ed)?\s*\{?|answer(?:\s+is)?\s*:?)\s*[$(\\]*\s*$", re.IGNORECASE)
NUMERIC = re.compile(r"-?(?:\d|√)")
SIGN_AFTER = frozenset(
    ["is", "are", "was", "be", "to", "by", "of", "and", "or", "than", "from", "get", "gets", "give", "gives", "equal",
     "equals", "value", "answer", "result"]
)  # fmt: skip
SEPARATORS = frozenset("=+*/×÷<>≈,;&~$|\n")  # before a number, these say that it is no label and no name
MINUS = frozenset("-\u2212")
BEFORE_LABELLED = frozenset(" (#*.~")
IN_NAME = frozenset("_{^[:")
MAX_ROUNDS = 8
NO_MARKS = str.maketrans("", "", ",.")
DECIMAL_MARKS = frozenset(".,")
JOINS = frozenset("√_")
MAY_EXTEND = frozenset(" .")
STRUCTURED = frozenset("snrtSNRT^\\")  # after a number, these may begin an ordinal


Read = tuple[int, int, str, tuple[str, ...], str]  # a Value, or as plain a tuple where speed counts


def find_math(
    text: str, target: str = "", question: str = "", aliases: tuple[str, ...] = (), *, hide_given: bool = False
) -> list[Span]:
    """Find what to hide in a math trace.

    Args:
        text: the trace.
        target, aliases: hidden wherever they stand, in every writing; where the question gives the target, only as the
            answer (after `####`, in a box, after "answer is").
        question: its values stay readable, those in a list of options aside.
        hide_given: hide them all the same.

    Returns:
        Spans that do not overlap, in order.
    """
    stem, options = split_options(question)
    chosen = options.get(target.strip().strip("().").upper(), "")
    goals = read_goals(target, (*aliases, chosen))
    given: frozenset[str] = frozenset() if hide_given else given_values(stem, goals.keys)
    known = "" if hide_given else stem
    spans = _find(text, goals, given, known)
    for _ in range(MAX_ROUNDS):
        if not _is_glued(text, spans):
            break
        masked = with_blanks(text, spans)
        more = masked.in_original(_find(masked.rendered, goals, given, known))
        if not more:
            break
        spans = _joined(spans, more)
    return spans


def _find(text: str, goals: Goals, given: frozenset[str], question: str) -> list[Span]:
    spans = _find_values(text, goals, given)
    forms = find_forms(text, goals) if goals.texts else []
    if forms and question and find_forms(question, goals):
        forms = [form for form in forms if _is_answer_place(text, form.start)]
    return _with_forms(text, spans, forms) if forms else spans


def _is_glued(text: str, spans: list[Span]) -> bool:
    """Whether a span had something beside it that is read differently once the blank is there.

    A coefficient (`2x`) alone changes nothing.
    """
    for start, end, *_ in spans:
        after = text[end : end + 1]
        if after in JOINS or (after.isalnum() and not (after.isalpha() and after.isascii())):
            return True
        if after in DECIMAL_MARKS and text[end + 1 : end + 2].isdecimal():
            return True
        if start and text[start - 1].isalnum():
            return True
    return False


def _find_values(text: str, goals: Goals, given: frozenset[str]) -> list[Span]:
    wanted = goals.keys
    listed: set[int] | None = None
    spans: list[Span] = []
    for start, end, key, parts, whole in scan(text):
        is_goal = key in wanted
        if parts and not is_goal and key in given:  # `1/2` is given, but the target is 2
            is_goal = not given.issuperset(wanted.intersection(parts))
            key += f", {THE_TARGET}" if is_goal else ""
        if whole:
            category, key, why = _part(key, whole, wanted)
        else:
            category, why = "number", THE_TARGET if is_goal else COMPUTED
        if key in given and why is not PART and why is not BOXED and not (is_goal and _is_answer_place(text, start)):
            continue
        at = start + 1 if text[start] in MINUS else start
        before = text[at - 1] if at else "\n"
        after = text[end : end + 1]
        if text[at].isdecimal() and text[at:end].translate(NO_MARKS).isdecimal():
            if before not in SEPARATORS:
                named = before.isalpha() or before in IN_NAME
                if (named or (before in BEFORE_LABELLED and _follows_label(text, at))) and is_structure(text, at, end):
                    continue
            if after in STRUCTURED and ORDINAL.match(text, end):
                continue
        if after in LIST_MARKS and end - start < 4:
            if listed is None:
                listed = list_numbers(text)
            if start in listed:
                continue
        spans.append(Span(start, end, category, key, why))
    return _with_words(text, spans, goals, given)


def _part(key: str, whole: str, wanted: frozenset[str]) -> tuple[str, str, str]:
    """Category, key and reason of what is the content of a box or part of a fraction."""
    if whole == BOX:
        if key in wanted or NUMERIC.match(key):
            return "number", key, THE_TARGET if key in wanted else BOXED
        return "target", key, BOXED
    if key in wanted:
        return "number", key, THE_TARGET
    return "number", key, PART if whole in wanted else COMPUTED


def _is_answer_place(text: str, at: int) -> bool:
    return ANSWER_PLACE.search(text[max(0, at - 40) : at]) is not None


def scan(text: str) -> list[Read]:
    """Every value that is not written in words, from left to right, labels and other structure among them."""
    found: list[Read] = []
    latex: Latex | None = None
    skip = 0
    written = dates(text)
    matches = SCAN.finditer(text)
    while (match := next(matches, None)) is not None:
        start, end = match.span()
        if start < skip:
            if end > skip:  # its beginning belongs to another value, its end may be one
                matches = SCAN.finditer(text, skip)
            continue
        if written and end > written[0].start:
            found.append(written[0])
            skip = written.pop(0).end
            matches = SCAN.finditer(text, skip)
            continue
        values: list[Value] | None = None
        if match.lastindex is None:
            after = text[end : end + 1]
            if after in EXTENDS or (after in MAY_EXTEND and text[end + 1 : end + 2] in EXTENDS_AFTER_SPACE):
                latex = latex or Latex(text)
                values = extend(text, start, end, latex)
        else:
            latex = latex or Latex(text)
            values = _special(text, start, end, latex)
            if not values:
                continue
        sign = start and text[start - 1] in MINUS and _is_sign(text, start - 1)
        if values is None or (written and values[-1].end > written[0].start):
            key = number_key(match[0])
            found.append((start - 1, end, negative(key), (), "") if sign else (start, end, key, (), ""))
            continue
        skip = values[-1].end
        if sign:
            start, end, key, parts, whole = values[0]
            whole = negative(whole) if whole and whole != BOX else whole
            values[0] = Value(start - 1, end, negative(key), parts, whole)
        found += values
    return found


def _special(text: str, start: int, end: int, latex: Latex) -> list[Value]:
    """The value that begins with a command, a root, a unicode fraction or a raised digit; empty if there is none."""
    first = text[start]
    if first in RAISED_DIGITS:
        unit = UNIT_RAISED.search(text[max(0, start - 24) : start])
        return [] if unit else [Value(start, end, number_key(text[start:end].translate(SUPERSCRIPTS)))]
    if first == "\\" and text[start + 1] in "bf" and (box := BOX_OPEN.match(text, start)):
        close = latex.pairs.get(box.end() - 1)
        if close is None or not text[box.end() : close].strip():
            return []
        inner = text[box.end() : close]
        left = box.end() + len(inner) - len(inner.lstrip())
        key = value_key(inner) if len(inner) < MAX_BOX else None
        return [Value(left, left + len(inner.strip()), key or text_key(inner[:MAX_BOX]), (), BOX)]
    read = latex.constant(start)
    if read is None:
        return []
    over = root_over(text, *read)
    return [with_parts(text, Value(start, *(over or read)))]


def _with_words(text: str, spans: list[Span], goals: Goals, given: frozenset[str]) -> list[Span]:
    found = []
    for word in number_words(text):
        is_goal = word.key in goals.keys
        is_part = word.whole in goals.keys
        plain = word.key in ("1", "0.5") and word.end - word.start < 5  # `one` and `half` are words of their own
        if is_part:
            why = PART
        elif word.key in given:
            if not is_goal or not _is_answer_place(text, word.start):
                continue
            why = THE_TARGET
        elif (plain or word.loose) and (not is_goal or (word.loose and word.key == "1")):
            continue
        else:
            why = THE_TARGET if is_goal else COMPUTED
        found.append(Span(word.start, word.end, "number", word.key, why))
    return _joined(found, spans) if found else spans


def _with_forms(text: str, spans: list[Span], forms: list[Span]) -> list[Span]:
    """Both; a box that holds more than the form is hidden whole, a number inside of a form goes with it."""
    boxes = [span for span in spans if span.category == "target"]
    kept = []
    for form in forms:
        at = bisect_right([box.end for box in boxes], form.start)
        box = boxes[at] if at < len(boxes) and boxes[at].start < form.end else None
        if box is None or not SUBSTANCE.search(
            WRAPPER.sub("", text[box.start : form.start] + text[form.end : box.end])
        ):
            kept.append(form)
    return _joined([span for span in spans if span.category != "target"], _joined(boxes, kept))


def _joined(fewer: list[Span], more: list[Span]) -> list[Span]:
    """Both, in order; spans that overlap become one, which counts as that of the second list."""
    joined: list[tuple[Span, bool]] = []
    for span, first in sorted([*((span, True) for span in more), *((span, False) for span in fewer)]):
        if not joined or joined[-1][0].end <= span.start:
            joined.append((span, first))
            continue
        last, leads = joined[-1]
        kept = last if leads or not first else span
        joined[-1] = (kept._replace(start=last.start, end=max(last.end, span.end)), leads or first)
    return [span for span, _ in joined]


def _is_sign(text: str, at: int) -> bool:
    """Whether the minus at `at` is a sign: nothing that could be the left side of a subtraction goes before it."""
    before = text[max(0, at - WINDOW) : at]
    line = before[before.rfind("\n") + 1 :]
    left = line.rstrip()
    last = left[-1:]
    if last in ("|", "'", "$"):  # the end of |x|, of f', of $x$; or the beginning of something
        last = left[-2:-1]
    if not last or not (last.isalnum() or last in "_)]}%!\u00b0"):
        return True
    return left != line and last_word(left).lower() in SIGN_AFTER


def _follows_label(text: str, at: int) -> bool:
    """Whether the word before the number at `at` is a label, by a quick look; `is_structure` says it for sure."""
    words = text[max(0, at - 16) : at].rstrip(" (#*~").split()
    return bool(words) and words[-1].strip("(*#[.").lower() in LABEL_WORDS


def given_values(question: str, but: frozenset[str] = frozenset()) -> frozenset[str]:
    """The keys of all values that a question gives, in digits or in words; in words only if not among `but`."""
    given: set[str] = set()
    for _, end, key, parts, _ in scan(question):
        given.add(key)
        if parts and (question[end - 1] == "%" or question[end - 4 : end] == "cent"):
            given.update(parts)  # `40%` gives 40 as well as 0.4, but `7:15` does not give 7
    given.update(word.key for word in number_words(question) if not word.loose and word.key not in but)
    return frozenset(given)


def numbers(text: str) -> list[tuple[str, int, int]]:
    """Every value that is written in digits: key, start, end; a minus that is a sign belongs to it."""
    return [(key, start, end) for start, end, key, _, _ in scan(text)]


def parse_number(text: str) -> str | None:
    """The key of a text that is one number and nothing else (currency and percent signs aside), or None."""
    bare = text.strip().strip("$\\% ").rstrip(".")
    found = numbers(bare)
    return found[0][0] if len(found) == 1 and found[0][1:] == (0, len(bare)) else None
