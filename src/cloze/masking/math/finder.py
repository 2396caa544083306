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

from cloze.masking.math.forms import Goals, find_forms, find_fractions, read_goals
from cloze.masking.math.options import split_options
from cloze.masking.math.scan import BOX, MINUS, scan
from cloze.masking.math.structure import (
    INVERSE,
    LINK,
    ORDINAL,
    WEAK,
    in_name,
    is_referred,
    label_before,
    list_numbers,
)
from cloze.masking.math.values import negative
from cloze.masking.math.words import number_words
from cloze.masking.spans import THE_TARGET, Span, with_blanks

COMPUTED = "computed in the trace"
BOXED = f"{THE_TARGET}, in the answer box"
PART = f"{THE_TARGET}, with a fraction bar"
WRAPPER = re.compile(r"\\(?:left|right|text(?:bf|it|rm)?|math(?:rm|bf)|displaystyle|,|!|;|:| )")
SUBSTANCE = re.compile(r"[^\s{}().,;:$\\]")
ANSWER = r"(?:####|\\f?box(?:ed)?\s*\{?|answer(?:\s+is)?\s*:?)\s*(?:\\text\{|[$(\\*])*\s*"
ANSWER_PLACE = re.compile(ANSWER + r"\Z", re.IGNORECASE)
ANSWER_LABEL = re.compile(ANSWER + r"(?:the\s+)?[A-Za-z]+[ ~]\Z", re.IGNORECASE)
NEGATED = re.compile(
    r"(?:[-\u2212\u2013]|(?<![A-Za-z])(?:minus|negative))\s*(?:\\?[(${]\s*)*(?:[\d.,]+ ?/ ?)?\Z", re.IGNORECASE
)
NUMERIC = re.compile(r"-?(?:\d|√)")
NATURAL = re.compile(r"-?\d+")
SEPARATORS = frozenset("=+*/×÷<>≈,;&|\n")  # before a number, these say that it is no label and no name
BEFORE_LABELLED = frozenset(" (#*.$[-:_~\u00a0")
IN_NAME = frozenset("_{^[:,+")
OPERATORS = frozenset("=+*/×÷<>-,")
STRUCTURED = frozenset("snrtSNRT^\\-")  # after a number, these may begin an ordinal
LIST_MARKS = frozenset(".):*")
NO_MARKS = str.maketrans("", "", ",.")
MAX_ROUNDS = 8
DECIMAL_MARKS = frozenset(".,")
JOINS = frozenset("√_")
TIMES = frozenset("xX")


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
    if fractions := find_fractions(text, goals):
        spans = _joined(
            [one for one in fractions if not any(one.start < s.end and s.start < one.end for s in spans)], spans
        )
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
        if after in TIMES and text[end + 1 : end + 2].isdecimal():
            return True
        if start and text[start - 1].isalnum():
            return True
    return False


def _find_values(text: str, goals: Goals, given: frozenset[str]) -> list[Span]:
    wanted = goals.keys
    negated = frozenset(negative(key) for key in wanted if key.startswith("-"))
    subscripts = "_{" in text
    listed: set[int] | None = None
    labels_to, plural = -1, False  # where the last label ends, and whether others may follow it
    spans: list[Span] = []
    for start, end, key, parts, whole in scan(text):
        is_goal = key in wanted
        if parts and not whole and not is_goal and key in given:  # `1/2` is given, but the target is 2
            is_goal = not given.issuperset(wanted.intersection(parts))
            key += f", {THE_TARGET}" if is_goal else ""
        if (key in negated or whole in negated) and NEGATED.search(text[max(0, start - 24) : start]):
            is_goal, key, whole = True, f"{key}, negated", ""
        if whole:
            category, key, why = _part(key, whole, wanted)
            if why is COMPUTED and whole in given and not NATURAL.fullmatch(whole) and wanted.isdisjoint(parts):
                continue  # a fraction that the question gives, before an operator
        else:
            category, why = "number", THE_TARGET if is_goal else COMPUTED
        if key in given and why is not PART and why is not BOXED and not (is_goal and _is_answer_place(text, start)):
            continue
        at = start + 1 if text[start] in MINUS else start
        before = text[at - 1] if at else "\n"
        after = text[end : end + 1]
        if text[at].isdecimal() and text[at:end].translate(NO_MARKS).isdecimal():
            if before not in SEPARATORS or (subscripts and before in ",+"):
                if (before.isalpha() or before in IN_NAME) and (in_name(text, at) or is_referred(text, at)):
                    continue
                if before in BEFORE_LABELLED and (before != " " or text[at - 2] not in OPERATORS):
                    label, many = label_before(text, at)
                    if label and not (is_goal and (label in WEAK or ANSWER_LABEL.search(text[max(0, at - 48) : at]))):
                        labels_to, plural = end, many
                        continue
            if labels_to >= 0 and at - labels_to < 12 and (plural or text[labels_to] == "."):
                if LINK.fullmatch(text, labels_to, at):
                    labels_to = end
                    continue
                labels_to = -1
            if after in STRUCTURED and ORDINAL.match(text, end) and not (is_goal and _is_result(text, at)):
                continue
            if key == "-1" and INVERSE.search(text[max(0, at - 8) : at]):
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


def _is_result(text: str, at: int) -> bool:
    return text[max(0, at - 3) : at].rstrip()[-1:] in ("=", ">") or _is_answer_place(text, at)


def _with_words(text: str, spans: list[Span], goals: Goals, given: frozenset[str]) -> list[Span]:
    found = []
    for word in number_words(text):
        is_goal = word.key in goals.keys
        if (
            not is_goal
            and negative(word.key) in goals.keys
            and NEGATED.search(text[max(0, word.start - 12) : word.start])
        ):
            found.append(Span(word.start, word.end, "number", f"{word.key}, negated", THE_TARGET))
            continue
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


def given_values(question: str, but: frozenset[str] = frozenset()) -> frozenset[str]:
    """The keys of all values that a question gives, in digits or in words; in words only if not among `but`."""
    given: set[str] = set()
    for _, end, key, parts, _ in scan(question):
        given.add(key)
        if parts and (question[end - 1] == "%" or question[end - 4 : end] == "cent"):
            given.update(parts)  # `40%` gives 40 as well as 0.4, but `7:15` does not give 7
    given.update(word.key for word in number_words(question) if not word.loose and word.key not in but)
    return frozenset(given)
