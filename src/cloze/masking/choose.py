"""Which of the found spans are hidden after all: a share of the values, or only those on the way to the target.

A finder marks everything that a trace computes. For an ablation only a part of that is hidden (`share`); and a value
that the target does not depend on may as well stay readable (`critical`). Both choose *values*, never single places:
what is hidden in one line must not stand open in the next. The target is hidden whatever is chosen.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence

from cloze.masking.spans import THE_TARGET, Span

STATEMENT_END = re.compile(
    r"[\n;]+|[.!?](?<!\b[A-Z]\.)(?<!\b[DM]r\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bvs\.)(?<!\bcf\.)(?<!\be\.g\.)(?<!\bi\.e\.)"
    r"(?<!\bEq\.)(?<!\bNo\.)(?<!\bFig\.)[\"'”’)\]*_$]{0,4}[ \t]+"
)

ASSIGNED = re.compile(r"(?<![A-Za-z\\])([A-Za-z](?:_\w|_\{\w+\})?)\s*=(?!=)")
WORD = re.compile(r"(?<![A-Za-z\\])[A-Za-z](?:_\w|_\{\w+\})|(?<![A-Za-z\\])[A-Za-z]+")

Value = tuple[str, str]


def share(spans: Sequence[Span], ratio: float, seed: int) -> list[Span]:
    """Hide a share of the values and let the others stay readable.

    Args:
        spans: what the finder found.
        ratio: share of the distinct values that are hidden, from 0 to 1; the target does not count and stays hidden.
        seed: which values stay readable.

    Returns:
        The spans of the values that are hidden, in the order given.
    """
    targets = _targets(spans)
    values = sorted({_value(span) for span in spans} - targets)
    keep_visible = set(random.Random(seed).sample(values, round((1.0 - ratio) * len(values))))
    return [span for span in spans if _value(span) not in keep_visible]


def critical(text: str, spans: Sequence[Span]) -> list[Span]:
    """Hide only what the target depends on.

    A statement (a line, a sentence, or what a semicolon ends) connects the values that are hidden in it and the names
    that it assigns or uses (`x` after `Let x = 5`). Starting from the target, or from the last statement that hides
    anything if the target is not among the spans, every value that shares a statement with a critical value or name is
    critical too. So the order in which a solution is told does not matter, and a value is left readable only if no
    chain of statements leads from it to the target. Where nothing is connected to the target, all stay hidden.

    Args:
        text: the trace.
        spans: what the finder found in it.

    Returns:
        The spans of the critical values, in the order given.
    """
    ends = [match.end() for match in STATEMENT_END.finditer(text)]
    values_in: dict[int, set[Value]] = defaultdict(set)
    statements_of: dict[Value, set[int]] = defaultdict(set)
    for span in spans:
        statement = bisect_right(ends, span.start)
        values_in[statement].add(_value(span))
        statements_of[_value(span)].add(statement)
    for name, statement in _names(text, ends):
        values_in[statement].add(name)
        statements_of[name].add(statement)
    hiding = [bisect_right(ends, span.start) for span in spans]
    targets = _targets(spans)
    reached = set(targets or (values_in[max(hiding)] if hiding else ()))
    todo = list(reached)
    while todo:
        for statement in statements_of[todo.pop()]:
            new = values_in.pop(statement, set()) - reached
            reached |= new
            todo.extend(new)
    if targets and reached == targets:
        return list(spans)
    return [span for span in spans if _value(span) in reached]


def _names(text: str, ends: Sequence[int]) -> Iterator[tuple[Value, int]]:
    """The names that are assigned somewhere, wherever they are used: with the number of the statement."""
    names = {match[1] for match in ASSIGNED.finditer(text)}
    if not names:
        return
    for match in WORD.finditer(text):
        word = match[0]
        if word in names:
            yield ("name", word), bisect_right(ends, match.start())
        elif len(word) <= 3 and names.issuperset(word):  # `ab` after `a = 17` and `b = 23`
            for letter in word:
                yield ("name", letter), bisect_right(ends, match.start())


def _value(span: Span) -> Value:
    return span.category, span.value


def _targets(spans: Sequence[Span]) -> set[Value]:
    return {_value(span) for span in spans if span.why.startswith(THE_TARGET)}
