"""Where the trace is put: the chat that the policy is asked to continue, with or without guidance.

Three placements: in the user's turn after the question, as an earlier assistant turn, or as the beginning of the
policy's own turn. All chat markup comes from the tokenizer's own template; a tokenizer without one gets plain text.
The prompt is turned into token ids here, once; those ids are what is sampled from, trained on and logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jinja2

from cloze.errors import InputError
from cloze.problems.record import Problem

PLACEMENTS = ("user_turn", "assistant_turn", "assistant_prefix")
INTRO = "Here is a worked solution:"
INTRO_MASKED = "Here is a worked solution. Each mark such as [N1] hides a value; equal marks hide equal values:"
TAIL = "Now solve the problem yourself, in full."


@dataclass(frozen=True, slots=True)
class GuidedPrompt:
    """A prompt as the policy gets it.

    Attributes:
        token_ids: the whole prompt, hint included.
        text: the same as text, for logs.
        hint: what was shown of the trace; empty when unguided.
        hint_tokens: how many of the last prompt tokens the policy's own turn begins with (assistant_prefix only).
        ratio: share of the trace's tokens that is shown.
    """

    token_ids: tuple[int, ...]
    text: str
    hint: str = ""
    hint_tokens: int = 0
    ratio: float = 0.0


def build_prompt(
    problem: Problem,
    tokenizer: Any,
    *,
    hint: str = "",
    ratio: float = 0.0,
    placement: str = "user_turn",
    masked: bool = False,
    instruction: str = "",
) -> GuidedPrompt:
    """Write the prompt of a problem, guided when `hint` is not empty.

    Args:
        problem: the problem; its system message, if any, goes first.
        tokenizer: a Hugging Face tokenizer; its chat template decides all markup.
        hint: the part of the (masked) trace to show, already cut.
        ratio: what share of the trace `hint` is, for the log.
        placement: one of `PLACEMENTS`.
        masked: the hint has blanks, so the prompt says what a blank is.
        instruction: added after the question, guided or not (an answer format, for instance).

    Raises:
        InputError: unknown placement.
    """
    if placement not in PLACEMENTS:
        raise InputError(f"unknown placement {placement!r}", mend=f"use one of {', '.join(PLACEMENTS)}")
    ask = problem.question + (f"\n{instruction}" if instruction else "")
    intro = INTRO_MASKED if masked else INTRO
    system = [{"role": "system", "content": problem.system}] if problem.system else []
    if not hint or placement == "assistant_prefix":
        turns = [{"role": "user", "content": ask}]
    elif placement == "user_turn":
        turns = [{"role": "user", "content": f"{ask}\n\n{intro}\n{hint.rstrip()}\n\n{TAIL}"}]
    else:
        turns = [
            {"role": "user", "content": ask},
            {"role": "assistant", "content": f"{intro}\n{hint.rstrip()}"},
            {"role": "user", "content": TAIL},
        ]
    text = render_chat(tokenizer, [*system, *turns])
    ids = list(tokenizer(text, add_special_tokens=False)["input_ids"])
    hint_tokens = 0
    if hint and placement == "assistant_prefix":
        own = _without_repeated_opening(text, hint)
        hint_ids = tokenizer(own, add_special_tokens=False)["input_ids"]
        text, hint_tokens = text + own, len(hint_ids)
        ids += hint_ids
    return GuidedPrompt(tuple(ids), text, hint, hint_tokens, ratio if hint else 0.0)


def render_chat(tokenizer: Any, messages: list[dict[str, str]]) -> str:
    """The chat as text, ready for the policy's turn; plain text when the tokenizer has no chat template.

    Raises:
        InputError: the template refuses these turns (some know no system message).
    """
    if getattr(tokenizer, "chat_template", None):
        try:
            return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
        except jinja2.TemplateError as error:
            roles = ", ".join(message["role"] for message in messages)
            raise InputError(f"the tokenizer's chat template refuses the turns {roles}: {error}") from error
    bos = tokenizer.bos_token or ""
    return bos + "\n\n".join(message["content"] for message in messages) + "\n\n"


def _without_repeated_opening(prompt: str, hint: str) -> str:
    """Drop from the hint an opening mark such as `<think>` that the template has just written."""
    opening = prompt.rsplit("\n", 2)[-2] + "\n" if prompt.endswith("\n") and prompt.count("\n") > 1 else ""
    return hint[len(opening) :] if opening.startswith("<") and hint.startswith(opening) else hint
