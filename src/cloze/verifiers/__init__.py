"""Verifiers: is this completion right, and why?

A problem names its verifier and that verifier's settings; `verify` looks the name up in `VERIFIERS` and returns a
`Verdict`. A new verifier is one function and one entry in that table. What the user wrote wrongly (an unknown
verifier, setting or value) is an `InputError`, and `check_verifier` finds it before a model is loaded. What breaks
inside a verifier is a verdict with the status "error" and no reward, so that a fault of ours never reads as a wrong
answer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from time import perf_counter
from typing import Literal, get_args, get_origin, get_type_hints

from cloze.errors import InputError
from cloze.problems.record import Problem
from cloze.verifiers.answer import verify_answer
from cloze.verifiers.code import verify_code
from cloze.verifiers.gym import verify_gym
from cloze.verifiers.math import verify_math
from cloze.verifiers.verdict import STATUSES, Verdict

__all__ = ["STATUSES", "VERIFIERS", "Verdict", "check_verifier", "verify", "verify_math"]

Verifier = Callable[..., Verdict]
VERIFIERS: dict[str, Verifier] = {"math": verify_math, "answer": verify_answer, "gym": verify_gym, "code": verify_code}


def verify(problem: Problem, completion: str) -> Verdict:
    """Score one completion of a problem with the verifier that the problem names.

    Args:
        problem: gives the target, its aliases, the verifier and its settings.
        completion: what the policy wrote, without the prompt.

    Returns:
        The verdict; status "error" and reward None when the verifier itself broke.

    Raises:
        InputError: unknown verifier, unknown setting, a value that the setting does not take, or no sandbox for code.
    """
    check_verifier(problem)
    started = perf_counter()
    try:
        return VERIFIERS[problem.verifier](
            completion, problem.target, aliases=problem.aliases, **problem.verifier_settings
        )
    except Exception as error:
        reason = str(error) or type(error).__name__
        return Verdict(None, "error", None, problem.target, reason, perf_counter() - started)


def check_verifier(problem: Problem) -> None:
    """Check that a problem's verifier and settings exist, without scoring anything.

    Args:
        problem: the problem whose `verifier` and `verifier_settings` are checked.

    Raises:
        InputError: names the problem's source, the field and the nearest spelling.
    """
    place = problem.source or f"problem {problem.id}"
    if problem.verifier not in VERIFIERS:
        raise InputError(
            f"unknown verifier {problem.verifier!r}",
            file=place,
            field="verifier",
            mend=_nearest(problem.verifier, tuple(VERIFIERS)),
        )
    known = _settings(VERIFIERS[problem.verifier])
    for key, value in problem.verifier_settings.items():
        if key not in known:
            raise InputError(
                f"the verifier {problem.verifier!r} has no setting {key!r}",
                file=place,
                field="verifier_settings",
                mend=_nearest(key, tuple(known)),
            )
        if known[key] and value not in known[key]:
            raise InputError(
                f"{key} cannot be {value!r}",
                file=place,
                field="verifier_settings",
                mend=_nearest(str(value), known[key]),
            )
    if problem.verifier == "code":
        from cloze.verifiers.sandbox import choose

        choose(problem.verifier_settings.get("sandbox", "auto"))  # type: ignore[arg-type]


@cache
def _settings(verifier: Verifier) -> dict[str, tuple[object, ...]]:
    """The settings of a verifier (its keyword-only arguments), each with its values if only some are allowed."""
    hints = get_type_hints(verifier)
    names = [
        name
        for name, parameter in inspect.signature(verifier).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "aliases"
    ]
    return {name: get_args(hints[name]) if get_origin(hints.get(name)) is Literal else () for name in names}


def _nearest(wrong: str, known: tuple[object, ...]) -> str:
    names = [str(name) for name in known]
    close = get_close_matches(wrong, names, n=1)
    listing = f"use one of {', '.join(names)}" if names else "it takes none"
    return f"did you mean {close[0]!r}? {listing}" if close else listing
