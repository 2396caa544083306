"""Did it learn or copy: show the policy a forged trace and see whom it believes.

A *counterfactual trace* is the expert's trace with every computed value, the final one included, replaced by another
number of the same shape, consistently. A policy that computes keeps the true answer; one that copies follows the
forgery. The forged trace goes through the method's own mask and placement, so the rate is about what the policy is
really shown: a mask that hides the values leaves nothing to follow.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cloze.evaluation.accuracy import answer_all
from cloze.guidance.guide import GuideSettings, guided_prompt, mask_trace
from cloze.masking.math.forms import read_goals
from cloze.masking.math.scan import numbers, parse_number
from cloze.problems.record import Problem
from cloze.rollouts.sampler import Sampler, SamplingParams
from cloze.verifiers import verify


@dataclass(frozen=True, slots=True)
class Following:
    """Of completions under forged traces: the share that follows the forgery, that keeps the truth, and how many."""

    follow_rate: float
    truth_rate: float
    problems: int


def forge(problem: Problem, seed: int = 0) -> Problem | None:
    """The problem with a counterfactual trace and the forged value as its target; None if there is nothing to forge.

    Only digits are changed, equal values stay equal, and no forged value is one that the question or the trace gives.
    """
    if problem.trace is None:
        return None
    masked = mask_trace(problem)
    rng = random.Random(f"forge/{seed}/{problem.id}")
    taken = {span.value for span in masked.spans} | {value for value, _, _ in numbers(problem.question)}
    goals = read_goals(problem.target, problem.aliases).keys
    originals = [(span, masked.text[span.start : span.end]) for span in masked.spans if span.category == "number"]
    originals.sort(key=lambda pair: parse_number(pair[1]) is None)  # one in plain digits first, if a value has any
    forged: dict[str, str] = {}
    for span, original in originals:
        if span.value not in forged:
            forged[span.value] = _other_number(original, rng, taken)
    target = next((forged[value] for value in sorted(goals) if value in forged), None)
    pieces, at = [], 0
    for span in masked.spans:
        if span.value in forged:
            pieces += [masked.text[at : span.start], forged[span.value]]
            at = span.end
    text = "".join([*pieces, masked.text[at:]])
    if target is None or target == problem.target or text == problem.trace:
        return None
    return replace(problem, trace=text, target=target, aliases=())


def follow_rate(
    sampler: Sampler,
    tokenizer: Any,
    problems: Sequence[Problem],
    settings: GuideSettings,
    params: SamplingParams,
    *,
    seed: int = 0,
) -> Following:
    """Sample under forged traces, guided as `settings` says, and compare each answer with the forgery and the truth.

    Args:
        problems: those without a trace, or with nothing to forge, are left out.
    """
    pairs = [(problem, forge(problem, seed)) for problem in problems]
    usable = [(true, forged) for true, forged in pairs if forged is not None]
    if not usable:
        return Following(float("nan"), float("nan"), 0)
    prompts = [guided_prompt(forged, tokenizer, settings) for _, forged in usable]
    answers = answer_all(sampler, [forged for _, forged in usable], prompts, params, seed=seed)
    followed = sum(group[0].verdict.reward == 1.0 for group in answers)
    kept = sum(verify(true, group[0].text).reward == 1.0 for (true, _), group in zip(usable, answers, strict=True))
    return Following(followed / len(usable), kept / len(usable), len(usable))


def _other_number(original: str, rng: random.Random, taken: set[str]) -> str:
    for _ in range(100):
        characters = list(original)
        digits = [i for i, character in enumerate(characters) if character.isdigit()]
        for i in digits:
            leading = i == digits[0] and len(digits) > 1
            characters[i] = rng.choice("123456789" if leading else "0123456789")
        candidate = "".join(characters)
        value = parse_number(candidate) or candidate
        if value not in taken:
            taken.add(value)
            return candidate
    return original
