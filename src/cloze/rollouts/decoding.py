"""A batch of rows as it grows by one token at a time: what a sampler asks for the next logits.

Two ways to the same numbers. `LeanDecoding` runs the written-out decoder over keys and values that it keeps in plain
tensors; `PlainDecoding` goes through the model's own `forward` and the library's cache, whatever the model is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from cloze.rollouts.decoder import LeanDecoder, lean
from cloze.rollouts.packed import Pack, additive, pack
from cloze.rollouts.prefill import forward, prefill, reserve


class Decoding(Protocol):
    """Rows in the middle of being sampled; `logits_BV` are those of the next token."""

    logits_BV: Tensor

    def step(self, tokens_B: Tensor) -> None:
        """Append a token to each row."""

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only."""


def start(model: Any, prompts: Sequence[Sequence[int]], steps: int, pad_id: int) -> Decoding:
    """Run the prompts of a batch, each different one once, with room for `steps` tokens a row.

    Raises:
        ValueError: no rows, or an empty prompt.
    """
    decoder = lean(model)
    if decoder:
        return LeanDecoding(decoder, pack(decoder, prompts, None, model.device), steps)
    return PlainDecoding(model, prompts, steps, pad_id)


class PlainDecoding:
    """Through the model's own `forward`."""

    def __init__(self, model: Any, prompts: Sequence[Sequence[int]], steps: int, pad_id: int) -> None:
        self.model = model
        begun = prefill(model, prompts, pad_id)
        self.cache, self.logits_BV, self.positions = begun.cache, begun.logits_BV, begun.lengths_B.clone()
        self.used = begun.mask_BP.shape[1]
        reserve(self.cache, self.used + steps)
        self.mask = begun.mask_BP.new_ones((len(prompts), self.used + steps))
        self.mask[:, : self.used] = begun.mask_BP

    def step(self, tokens_B: Tensor) -> None:
        self.used += 1
        seen = self.mask[:, : self.used]
        self.logits_BV = forward(self.model, tokens_B[:, None], seen, self.positions[:, None], self.cache)[:, -1]
        self.positions = self.positions + 1

    def keep(self, rows: Tensor) -> None:
        self.cache.batch_select_indices(rows)
        self.positions, self.mask = self.positions[rows], self.mask[rows]


class LeanDecoding:
    """Through the written-out decoder.

    A step attends with two batched matrix products: the query heads that share a key head are the rows of one, so
    nothing is repeated.
    """

    def __init__(self, decoder: LeanDecoder, prompts: Pack, steps: int) -> None:
        self.decoder = decoder.for_few_rows()
        prompts.kept = []
        hidden = decoder.run(prompts.ids, prompts.positions, prompts.attend)
        lengths, row = prompts.prompts.lengths, prompts.prompt_of_row
        self.logits_BV = decoder.logits(hidden[lengths.cumsum(0) - 1])[row]
        self.positions = lengths[row]
        self.used = prompts.prompts.width
        self.keys: list[Tensor] = []  # [B * KV heads, columns, D]
        self.values: list[Tensor] = []
        while prompts.kept:  # the prompts' own go as soon as they are copied to the rows
            for part, held in zip(prompts.kept.pop(0), (self.keys, self.values), strict=True):
                held.append(F.pad(part.transpose(1, 2)[row].flatten(0, 1), (0, 0, 0, steps)))
        visible = F.pad(prompts.prompts.mask[row], (0, steps), value=True)
        groups = len(self.keys[0]) // len(row)
        self.mask = additive(visible, decoder.final_norm.dtype).repeat_interleave(groups, dim=0)[:, None]

    def step(self, tokens_B: Tensor) -> None:
        self.used += 1
        hidden = self.decoder.run(tokens_B, self.positions, self._attend)
        self.logits_BV = self.decoder.logits(hidden)
        self.positions = self.positions + 1

    def _attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        keys, values = self.keys[layer][:, : self.used], self.values[layer][:, : self.used]
        groups, _, size = keys.shape
        keys[:, -1], values[:, -1] = k.view(groups, size), v.view(groups, size)
        mask = self.mask[..., : self.used]
        scores = torch.baddbmm(mask, q.view(groups, -1, size), keys.transpose(1, 2), alpha=self.decoder.scaling)
        weights = scores.softmax(-1, dtype=torch.float32).to(q.dtype)
        return torch.bmm(weights, values).view(q.shape)

    def keep(self, rows: Tensor) -> None:
        count = len(self.positions)
        self.keys, self.values = (
            [part.unflatten(0, (count, -1))[rows].flatten(0, 1) for part in parts] for parts in (self.keys, self.values)
        )
        self.mask = self.mask.unflatten(0, (count, -1))[rows].flatten(0, 1)
        self.positions = self.positions[rows]
