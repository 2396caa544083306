"""Many completions at once, from any thread or event loop.

What the exact stage decides (numbers, words, letters, sets of numbers) is decided at once in the calling thread. The
rest waits for something else, a worker process or a sandbox, and is shared out to a few threads that take the next row
when they are done with the last: never more than `workers` rows are under way, however long the batch. The verdicts
are those of `verify`, in order, whatever the number of workers.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from cloze.errors import InputError
from cloze.problems.record import Problem
from cloze.verifiers import check_verifier, verify
from cloze.verifiers.math import look
from cloze.verifiers.verdict import Verdict
from cloze.verifiers.workers import allow


def score(
    problems: Sequence[Problem],
    completions: Sequence[str],
    *,
    workers: int = 0,
) -> list[Verdict]:
    """Score completions, each of the problem at its place.

    Args:
        problems: one for each completion; the same one may stand many times.
        completions: what the policy wrote.
        workers: rows that are under way at once; 0 takes one for each core, 4 at most.

    Returns:
        The verdicts, in order.

    Raises:
        InputError: the lengths differ, workers is negative, or a problem names a verifier or setting that there is not.
    """
    if len(problems) != len(completions):
        raise InputError(f"{len(problems)} problems for {len(completions)} completions", mend="give one for each")
    if workers < 0:
        raise InputError(f"workers must be at least 0, got {workers}")
    workers = workers or min(4, os.cpu_count() or 1)
    for problem in {id(problem): problem for problem in problems}.values():
        check_verifier(problem)
    verdicts: list[Verdict | None] = [None] * len(problems)
    for index, (problem, completion) in enumerate(zip(problems, completions, strict=True)):
        if problem.verifier == "math":
            extract = str(problem.verifier_settings.get("extract", "last"))
            with suppress(Exception):  # `verify` makes the verdict of a fault of ours
                verdicts[index] = look(completion, problem.target, aliases=problem.aliases, extract=extract)[0]
    rest = [index for index, verdict in enumerate(verdicts) if verdict is None]
    _share_out(rest, problems, completions, verdicts, min(workers, len(rest)))
    return [verdict for verdict in verdicts if verdict is not None]


async def score_async(problems: Sequence[Problem], completions: Sequence[str], *, workers: int = 0) -> list[Verdict]:
    """`score` for an event loop, which goes on meanwhile."""
    return await asyncio.to_thread(score, problems, completions, workers=workers)


def _share_out(
    rest: list[int],
    problems: Sequence[Problem],
    completions: Sequence[str],
    verdicts: list[Verdict | None],
    workers: int,
) -> None:
    following = count()
    faults: list[BaseException] = []

    def work() -> None:
        try:
            while not faults and (place := next(following)) < len(rest):
                index = rest[place]
                verdicts[index] = verify(problems[index], completions[index])
        except BaseException as fault:
            faults.append(fault)

    allow(workers)
    others = [threading.Thread(target=work, daemon=True) for _ in range(workers - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        thread.join()
    if faults:
        raise faults[0]
