"""What every sampler promises: completions with the ids, log-probs and entropies of the tokens as they were sampled.

One convention for log-probs holds throughout: they are those of the distribution that was sampled from, temperature
applied. A sampler that truncates the distribution (top-p) therefore gives log-probs that training must not use; the
training configuration refuses that combination, evaluation may use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cloze.errors import InputError


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How to sample.

    Attributes:
        max_tokens: the most tokens of a completion.
        temperature: divides the logits; 0 takes the likeliest token (log-probs are then those at temperature 1).
        top_p: keep the smallest set of tokens with this much probability; 1 keeps all.
    """

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or self.temperature < 0 or not 0 < self.top_p <= 1:
            raise InputError(
                f"sampling needs max_tokens >= 1, temperature >= 0 and 0 < top_p <= 1, got {self.max_tokens},"
                f" {self.temperature} and {self.top_p}"
            )


@dataclass(frozen=True, slots=True)
class Completion:
    """One sampled completion: ids (terminal token included), natural log-probs and entropies (nats) a token."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    entropy: tuple[float, ...]
    truncated: bool


class Sampler(Protocol):
    """Anything that samples; `budgets` lowers `params.max_tokens` for single rows."""

    def sample(
        self, prompts: Sequence[Sequence[int]], params: SamplingParams, seed: int, budgets: Sequence[int] | None = None
    ) -> list[Completion]: ...

    def decode(self, token_ids: Sequence[int]) -> str: ...
