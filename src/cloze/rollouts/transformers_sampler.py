"""Sampling from a transformers model in this process, as tight as the library allows.

Prompts that repeat are run once, the cache has its room reserved (`decoding`), rows that have ended leave the batch,
and the log-prob and entropy of each token are taken from the very logits that it was drawn from. Draws come from a
generator seeded by the caller, so the same weights and seed give the same completions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.rollouts.decoding import start
from cloze.rollouts.sampler import Completion, SamplingParams


class TransformersSampler:
    """Samples from `model`; `stop_ids` end a completion (a model may have several), `max_rows` go in one batch."""

    def __init__(self, model: Any, tokenizer: Any, *, max_rows: int = 256) -> None:
        self.model, self.tokenizer, self.max_rows = model, tokenizer, max_rows
        self.stop_ids = stop_ids(model, tokenizer)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Completion ids as text, without the terminal token."""
        ids = list(token_ids)
        if ids and ids[-1] in self.stop_ids:
            ids = ids[:-1]
        return str(self.tokenizer.decode(ids, skip_special_tokens=False))

    def sample(
        self, prompts: Sequence[Sequence[int]], params: SamplingParams, seed: int, budgets: Sequence[int] | None = None
    ) -> list[Completion]:
        """One completion a prompt, in the order of the prompts.

        Args:
            prompts: token ids; equal prompts are computed once.
            params: limits and temperature.
            seed: of all draws.
            budgets: the most tokens of each row, where that is below `params.max_tokens`.
        """
        limits = [min(params.max_tokens, b) for b in budgets] if budgets else [params.max_tokens] * len(prompts)
        generator = torch.Generator(device=self.model.device).manual_seed(seed)
        was_training = self.model.training
        self.model.eval()
        try:
            # rows of like length go together: less padding
            order = sorted(range(len(prompts)), key=lambda row: len(prompts[row]))
            found: dict[int, Completion] = {}
            for at in range(0, len(order), self.max_rows):
                rows = order[at : at + self.max_rows]
                batch = self._batch([prompts[row] for row in rows], [limits[row] for row in rows], params, generator)
                found.update(zip(rows, batch, strict=True))
        finally:
            self.model.train(was_training)
        return [found[row] for row in range(len(prompts))]

    @torch.inference_mode()
    def _batch(
        self, prompts: list[Sequence[int]], limits: list[int], params: SamplingParams, generator: torch.Generator
    ) -> list[Completion]:
        device = self.model.device
        rows, steps = len(prompts), max(limits)
        decoding = start(self.model, prompts, steps, self.tokenizer.pad_token_id or 0)
        ids = torch.zeros((rows, steps), dtype=torch.long, device=device)
        logprobs, entropy = (torch.zeros((rows, steps), device=device) for _ in range(2))
        lengths = torch.zeros(rows, dtype=torch.long, device=device)
        ended = torch.zeros(rows, dtype=torch.bool, device=device)
        limit, stops = torch.tensor(limits, device=device), torch.tensor(self.stop_ids, device=device)
        live = torch.arange(rows, device=device)  # which row of the result each batch row writes
        active = torch.ones(rows, dtype=torch.bool, device=device)  # ended rows stay until moving the cache pays
        for step in range(steps):
            token, logprob, uncertainty = draw(decoding.logits_BV, params, generator)
            ids[live, step], logprobs[live, step], entropy[live, step] = token, logprob, uncertainty
            stopped = torch.isin(token, stops)
            lengths[live] += active
            ended[live] |= stopped & active
            active = active & ~stopped & (limit > step + 1)
            alive = int(active.sum())
            if alive == 0:
                break
            if alive <= 0.8 * len(live):
                kept = active.nonzero().squeeze(1)
                decoding.keep(kept)
                live, token, limit, active = (x[kept] for x in (live, token, limit, active))
            decoding.step(token)
        return self._collect(ids, logprobs, entropy, lengths, ended)

    def _collect(
        self, ids: Tensor, logprobs: Tensor, entropy: Tensor, lengths: Tensor, ended: Tensor
    ) -> list[Completion]:
        completions = []
        for row, length in enumerate(lengths.tolist()):
            completions.append(
                Completion(
                    tuple(ids[row, :length].tolist()),
                    tuple(logprobs[row, :length].tolist()),
                    tuple(entropy[row, :length].tolist()),
                    not bool(ended[row]),
                )
            )
        return completions


def draw(logits: Tensor, params: SamplingParams, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Draw a token from each row of logits [B, V]; returns ids, log-probs and entropies, [B] each."""
    logits = logits.float()
    if params.temperature not in (0.0, 1.0):
        logits = logits / params.temperature
    logprobs = torch.log_softmax(logits, dim=-1)
    probs = logprobs.exp()
    entropy = -(probs * logprobs.clamp(min=-1e4)).sum(dim=-1)
    if params.temperature == 0.0:
        token = logits.argmax(dim=-1)
    else:
        if params.top_p < 1.0:
            probs = _nucleus(probs, params.top_p)
        # the largest of p / Exponential(1) is a draw from p
        token = (probs / torch.empty_like(probs).exponential_(generator=generator)).argmax(dim=-1)
    return token, logprobs.gather(1, token[:, None]).squeeze(1), entropy


def _nucleus(probs: Tensor, top_p: float) -> Tensor:
    ordered, index = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    return torch.zeros_like(probs).scatter(1, index, ordered * (before < top_p))


def stop_ids(model: Any, tokenizer: Any) -> list[int]:
    """Every id that ends a turn: the tokenizer's and those of the generation configuration."""
    found = {tokenizer.eos_token_id}
    for config in (getattr(model, "generation_config", None), model.config):
        ids = getattr(config, "eos_token_id", None)
        found.update(ids if isinstance(ids, (list, tuple)) else [ids])
    return sorted(found - {None})
