"""From the configuration's data sections to problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cloze.errors import InputError
from cloze.problems import arithmetic, gym
from cloze.problems.readers import read_problems, require_traces
from cloze.problems.record import Problem
from cloze.training.config import Source
from cloze.verifiers import check_verifier, verify


def load_problems(source: Source, report: Callable[[str], None]) -> list[Problem]:
    """Read or draw the problems of a source; `report` gets one line for each thing worth knowing.

    Raises:
        InputError: anything wrong with the file, its rows, or a verifier's settings.
    """
    if source.family == "gym":
        problems = gym.generate(source.n, task=source.task, split=source.split, seed=source.seed, config=source.config)
    elif source.family:
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


def need_traces(problems: list[Problem], source: Source) -> None:
    """Make sure that a source has expert traces, for a method that cannot do without.

    Raises:
        InputError: it has none; says where they would be looked for.
    """
    if not source.family:
        require_traces(problems, Path(source.path).expanduser(), schema=source.schema_name or None)
    elif all(problem.trace is None for problem in problems):
        raise InputError(
            f"the family {source.family!r}{f', task {source.task!r},' if source.task else ''} has no expert traces",
            field="family",
            mend="choose another task, or a method that needs none",
        )


def with_right_traces(problems: list[Problem], report: Callable[[str], None]) -> list[Problem]:
    """Take away traces whose own answer the verifier rejects: they are counted, reported and never shown."""
    wrong = {problem.id for problem in problems if problem.trace and not verify(problem, problem.trace).reward}
    if wrong:
        some = ", ".join(sorted(wrong)[:3])
        report(f"{len(wrong)} of {len(problems)} expert traces are rejected by the verifier and not shown ({some} ...)")
    return [replace(problem, trace=None) if problem.id in wrong else problem for problem in problems]
