r"""A data set against its own verifier, without a model: is the target right by its own measure, and is the trace?

A target that the verifier does not accept in its own writing can never be earned, and an expert trace that it rejects
teaches the wrong thing. The target is written as a completion in the form that the problem's settings look for
(`\boxed{}`, `####`, `<answer>`, "the answer is"); the trace is scored as it stands. The target of a code problem is
its tests, which no completion repeats: there only the trace is scored.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from cloze.errors import InputError
from cloze.problems.chunks import Numbered
from cloze.problems.record import Problem
from cloze.problems.schemas import SCHEMAS, Fields
from cloze.verifiers.pool import score

TAG = "<answer>{}</answer>"
WRITTEN = {"hash": "#### {}", "answer_is": "The answer is {}", "bold": "**Answer:** {}"}
WRITTEN |= {"last_line": "{}", "whole": "{}"}


class Failure(NamedTuple):
    """A target or trace ("gold", "trace") that its verifier does not accept."""

    row: int
    id: str
    what: str
    status: str
    extracted: str | None
    target: str
    reason: str


class Validated(NamedTuple):
    """Figures about some rows: `counts` by "gold/STATUS" and "trace/STATUS", and rows, failed and bad."""

    counts: Counter[str]
    failures: list[Failure]
    bad: list[InputError]


def gold_completion(problem: Problem) -> str | None:
    """The target as a completion that the problem's verifier has to accept; None for tests, which are no answer."""
    if problem.verifier == "code":
        return None
    default = {"math": "\\boxed{{{}}}", "answer": TAG, "gym": TAG}.get(problem.verifier, "{}")
    return WRITTEN.get(str(problem.verifier_settings.get("extract")), default).format(problem.target)


def validate_rows(
    rows: Numbered, *, path: Path, schema: str, first_row: dict[str, int], examples: int = 0, workers: int = 0
) -> Validated:
    """Score target and trace of each row.

    Args:
        rows: as read, with their numbers.
        path: their file.
        schema: how they are read.
        first_row: the row of each id so far, which is filled in; a second row with an id is bad.
        examples: failures to show, of targets and of traces.
        workers: rows that are scored at once, as of `score`.

    Returns:
        Figures and failures.

    Raises:
        InputError: a row names a verifier or setting that there is not.
    """
    done = Validated(Counter(rows=len(rows)), [], [])
    tried: list[tuple[int, str, Problem, str]] = []
    for number, row in rows:
        try:
            if isinstance(row, InputError):
                raise row
            named: Fields = {
                "id": f"{path.stem}-{number}",
                **SCHEMAS[schema].read(row),
                "source": f"{path} row {number}",
            }
            problem = Problem(**named)
            if (before := first_row.setdefault(problem.id, number)) != number:
                what = f"the id {problem.id!r} is that of row {before} already"
                raise InputError(what, mend="make the ids differ")
        except InputError as error:
            done.bad.append(InputError(error.what, file=path, row=number, field=error.field, mend=error.mend))
            continue
        if (gold := gold_completion(problem)) is not None:
            tried.append((number, "gold", problem, gold))
        if problem.trace:
            tried.append((number, "trace", problem, problem.trace))
    verdicts = score([problem for _, _, problem, _ in tried], [text for _, _, _, text in tried], workers=workers)
    failed = set()
    for (number, what, problem, _), verdict in zip(tried, verdicts, strict=True):
        done.counts[f"{what}/{verdict.status}"] += 1
        if verdict.status == "correct":
            continue
        failed.add(number)
        if sum(failure.what == what for failure in done.failures) < examples:
            shown = (verdict.status, verdict.extracted, problem.target, verdict.reason)
            done.failures.append(Failure(number, problem.id, what, *shown))
    done.counts["failed"] += len(failed)
    return done
