"""Accuracy of a policy on problems: sample n completions of each, score them with the problem's own verifier.

The verifier is the one that training uses, by construction: it comes with the problem. Completions that cannot be
scored are left out of the mean and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cloze.evaluation.intervals import bootstrap, pass_at_k, wilson
from cloze.guidance.placement import GuidedPrompt
from cloze.problems.record import Problem
from cloze.rollouts.sampler import Completion, Sampler, SamplingParams
from cloze.verifiers import Verdict
from cloze.verifiers.pool import score


@dataclass(frozen=True, slots=True)
class Answer:
    """One completion of one problem and its verdict."""

    problem: Problem
    text: str
    completion: Completion
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Accuracy:
    """mean@n over problems, with a 95% interval (Wilson for one completion a problem, else bootstrap over problems).

    Attributes:
        mean: share of right completions among the scored, averaged over problems.
        low, high: the interval.
        problems: how many problems have a scored completion.
        samples: completions a problem.
        unscored: completions without a reward, left out.
        truncated: share of completions that the length limit ended.
        length: mean tokens of a completion.
    """

    mean: float
    low: float
    high: float
    problems: int
    samples: int
    unscored: int
    truncated: float
    length: float


def own_text(prompt: GuidedPrompt, completion: str) -> str:
    """What counts as the policy's answer: a hint that its own turn begins with is part of it."""
    return prompt.hint + completion if prompt.hint_tokens else completion


def answer_all(
    sampler: Sampler,
    problems: Sequence[Problem],
    prompts: Sequence[GuidedPrompt],
    params: SamplingParams,
    *,
    samples: int = 1,
    seed: int = 0,
    chunk: int = 256,
    report: Callable[[int], None] | None = None,
) -> list[list[Answer]]:
    """`samples` scored completions of each problem, in the order of the problems.

    Args:
        chunk: problems sampled in one call; `report` is told how many completions each call gave.
    """
    found: list[list[Answer]] = []
    for at in range(0, len(problems), chunk):
        each = [prompt for prompt in prompts[at : at + chunk] for _ in range(samples)]
        budgets = [max(1, params.max_tokens - prompt.hint_tokens) for prompt in each]
        completions = sampler.sample([prompt.token_ids for prompt in each], params, seed + at, budgets)
        asked = [problem for problem in problems[at : at + chunk] for _ in range(samples)]
        texts = [
            own_text(prompt, sampler.decode(completion.token_ids))
            for prompt, completion in zip(each, completions, strict=True)
        ]
        answers = [Answer(*answer) for answer in zip(asked, texts, completions, score(asked, texts), strict=True)]
        found += [answers[first : first + samples] for first in range(0, len(answers), samples)]
        if report:
            report(len(completions))
    return found


def accuracy(answers: Sequence[Sequence[Answer]]) -> Accuracy:
    """Sum up what `answer_all` gave.

    Raises:
        ValueError: no problems.
    """
    if not answers:
        raise ValueError("no problems to sum up")
    everything = [answer for group in answers for answer in group]
    scored = [[a.verdict.reward for a in group if a.verdict.reward is not None] for group in answers]
    means = [sum(rewards) / len(rewards) for rewards in scored if rewards]
    samples = max(map(len, answers))
    if samples == 1:
        low, high = wilson(round(sum(means)), len(means))
    else:
        low, high = bootstrap(means) if means else (0.0, 1.0)
    return Accuracy(
        mean=sum(means) / len(means) if means else float("nan"),
        low=low,
        high=high,
        problems=len(means),
        samples=samples,
        unscored=sum(answer.verdict.reward is None for answer in everything),
        truncated=sum(answer.completion.truncated for answer in everything) / len(everything),
        length=sum(len(answer.completion.token_ids) for answer in everything) / len(everything),
    )


def mean_pass_at_k(answers: Sequence[Sequence[Answer]], k: int) -> float:
    """Unbiased pass@k averaged over the problems whose every completion was scored and that have at least k.

    Raises:
        ValueError: no such problem.
    """
    values = [
        pass_at_k(len(group), sum(answer.verdict.reward == 1.0 for answer in group), k)
        for group in answers
        if len(group) >= k and all(answer.verdict.reward is not None for answer in group)
    ]
    if not values:
        raise ValueError(f"no problem has {k} scored completions")
    return sum(values) / len(values)
