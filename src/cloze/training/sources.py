"""From the configuration's data sections to problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cloze.problems import arithmetic
from cloze.problems.readers import read_problems
from cloze.problems.record import Problem
from cloze.training.config import Source
from cloze.verifiers import check_verifier, verify


def load_problems(source: Source, report: Callable[[str], None]) -> list[Problem]:
    """Read or draw the problems of a source; `report` gets one line for each thing worth knowing.

    Raises:
        InputError: anything wrong with the file, its rows, or a verifier's settings.
    """
    if source.family:
        problems = arithmetic.generate(
            source.n,
            split=source.split,
            seed=source.seed,
            steps=source.steps,
            distractors=source.distractors,
            modulus=source.modulus,
            operations=source.operations,
        )
    else:
        problems = read_problems(
            Path(source.path).expanduser(),
            schema=source.schema_name or None,
            skip_bad=source.skip_bad,
            limit=source.limit or None,
            report=report,
        )
    for verifier in {(problem.verifier, str(problem.verifier_settings)): problem for problem in problems}.values():
        check_verifier(verifier)
    return problems[: source.limit] if source.limit else problems


def with_right_traces(problems: list[Problem], report: Callable[[str], None]) -> list[Problem]:
    """Take away traces whose own answer the verifier rejects: they are counted, reported and never shown."""
    wrong = {problem.id for problem in problems if problem.trace and not verify(problem, problem.trace).reward}
    if wrong:
        some = ", ".join(sorted(wrong)[:3])
        report(f"{len(wrong)} of {len(problems)} expert traces are rejected by the verifier and not shown ({some} ...)")
    return [replace(problem, trace=None) if problem.id in wrong else problem for problem in problems]
