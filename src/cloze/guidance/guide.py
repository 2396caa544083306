"""From a problem to the prompt that a rollout is sampled from: mask, cut, place, and check for leaks.

Whoever guides goes through this one function, so training, evaluation and the copy diagnostics see the same prompt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cloze.errors import InputError
from cloze.guidance.placement import GuidedPrompt, build_prompt
from cloze.guidance.prefix import cut_prefix
from cloze.masking import MaskedTrace, MaskSettings, mask
from cloze.masking.leaks import find_leaks
from cloze.masking.mask import DEFAULT
from cloze.problems.record import Problem


@dataclass(frozen=True, slots=True)
class GuideSettings:
    """What a method says of its prompts.

    Attributes:
        show: any of the trace at all.
        masked: mask the trace.
        mask: how.
        placement: see `placement`.
        instruction: goes after every question.
        max_prompt_tokens: the hint is cut until the prompt fits.
    """

    show: bool = False
    masked: bool = False
    mask: MaskSettings = DEFAULT
    placement: str = "user_turn"
    instruction: str = ""
    max_prompt_tokens: int = 4096


def mask_trace(problem: Problem, settings: MaskSettings = DEFAULT) -> MaskedTrace:
    """The problem's trace through the masker of its domain.

    Raises:
        InputError: no trace, or a package that the masker needs is not installed.
    """
    if problem.trace is None:
        raise InputError(f"problem {problem.id} has no expert trace", field="trace")
    try:
        return mask(
            problem.trace,
            problem.domain,
            target=problem.target,
            question=problem.question,
            aliases=problem.aliases,
            settings=settings,
        )
    except InputError as error:
        raise InputError(
            f"{error.what} (problem {problem.id})", file=problem.source or None, field=error.field, mend=error.mend
        ) from error


def check_maskers(problems: Iterable[Problem], settings: MaskSettings = DEFAULT) -> None:
    """Mask one trace of each domain, so that a missing package is known before a model is loaded.

    Raises:
        InputError: as `mask_trace`.
    """
    seen: set[str] = set()
    for problem in problems:
        if problem.trace is not None and problem.domain not in seen:
            seen.add(problem.domain)
            mask_trace(problem, settings)


def unguided_prompt(problem: Problem, tokenizer: Any, settings: GuideSettings) -> GuidedPrompt:
    """The prompt without any of the trace.

    Raises:
        InputError: it is longer than `max_prompt_tokens`.
    """
    prompt = build_prompt(problem, tokenizer, instruction=settings.instruction)
    if len(prompt.token_ids) > settings.max_prompt_tokens:
        raise InputError(
            f"the question of {problem.id} takes {len(prompt.token_ids)} tokens, the limit is"
            f" {settings.max_prompt_tokens}",
            file=problem.source or None,
            mend="raise sampling.max_prompt_tokens or drop the row",
        )
    return prompt


def guided_prompt(problem: Problem, tokenizer: Any, settings: GuideSettings, ratio: float = 1.0) -> GuidedPrompt:
    """The prompt with the first `ratio` of the (masked) trace; unguided where there is no trace or nothing to show.

    The trace is masked first and cut afterwards, so a cut can only hide more. When the prompt would be longer than
    `max_prompt_tokens` the hint gives way, never the question.
    """
    plain = unguided_prompt(problem, tokenizer, settings)
    if not settings.show or problem.trace is None or ratio <= 0.0:
        return plain
    text = problem.trace
    if settings.masked:
        text = mask_trace(problem, settings.mask).rendered
    room: int | None = None
    for _ in range(8):
        prefix = cut_prefix(text, tokenizer, ratio=ratio, max_tokens=room)
        prompt = build_prompt(
            problem,
            tokenizer,
            hint=prefix.text,
            ratio=prefix.ratio,
            placement=settings.placement,
            masked=settings.masked,
            instruction=settings.instruction,
        )
        over = len(prompt.token_ids) - settings.max_prompt_tokens
        if over <= 0:
            return prompt
        room = prefix.tokens - over
        if room <= 0:
            break
    return plain


def is_leaky(prompt: GuidedPrompt, problem: Problem) -> bool:
    """Whether the target can be read in what is shown of the trace.

    Not counted: a target that the question itself gives, and a label that happens to bear its number (`Step 5`).
    """
    return _reads(prompt.hint, problem) and not _reads(problem.question, problem)


def _reads(text: str, problem: Problem) -> bool:
    return any(leak.how != "label" for leak in find_leaks(text, problem.target, problem.aliases))
