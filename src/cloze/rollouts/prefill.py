"""The path for any model: each different prompt through its own `forward` once, however many rollouts share it.

A group of G rollouts has one prompt (two when only some are guided), so computing the prompt once and expanding its
keys and values to the rows saves most of the prompt's cost, in sampling and, because the expansion is differentiable,
in training too. Prompts are padded on the left, so that every row goes on from the same column; position ids skip the
padding, so a row's log-probs do not depend on its neighbours. Models that `decoder` knows take `packed` instead.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache, DynamicLayer


@dataclass(slots=True)
class Prefilled:
    """Prompts after one pass, expanded to B rows.

    Attributes:
        cache: keys and values of the prompt columns.
        mask_BP: 1 where a prompt column is not padding.
        lengths_B: prompt tokens of each row.
        logits_BV: at the last prompt token, which predict the first completion token.
    """

    cache: Any
    mask_BP: Tensor
    lengths_B: Tensor
    logits_BV: Tensor


def prefill(model: Any, prompts: Sequence[Sequence[int]], pad_id: int) -> Prefilled:
    """Run the prompts of B rows, each different one once.

    Args:
        model: a causal language model of transformers.
        prompts: token ids, one sequence a row, none empty.
        pad_id: fills the left; masked, so its value does not matter.

    Raises:
        ValueError: no rows, or an empty prompt.
    """
    if not prompts or not all(prompts):
        raise ValueError("every row needs a prompt of at least one token")
    unique = {prompt: at for at, prompt in enumerate(dict.fromkeys(tuple(prompt) for prompt in prompts))}
    index_B = torch.tensor([unique[tuple(prompt)] for prompt in prompts], device=model.device)
    width = max(map(len, unique))
    ids = torch.full((len(unique), width), pad_id)
    mask = torch.zeros((len(unique), width), dtype=torch.long)
    for prompt, row in unique.items():
        ids[row, width - len(prompt) :] = torch.tensor(prompt)
        mask[row, width - len(prompt) :] = 1
    ids, mask = ids.to(model.device), mask.to(model.device)
    cache = DynamicCache(config=model.config)
    logits = forward(model, ids, mask, _positions(mask), cache, logits_to_keep=1)[:, -1]
    cache.batch_select_indices(index_B)
    return Prefilled(cache, mask[index_B], mask.sum(dim=1)[index_B], logits[index_B])


def forward(model: Any, ids: Tensor, mask: Tensor, positions: Tensor, cache: Any, logits_to_keep: int = 0) -> Tensor:
    """One pass that reads and extends `cache`; `mask` covers cached and new columns. Returns logits [B, new, V]."""
    kind: Any = type(model)
    keyword = _cache_keyword(kind)
    full = bool(mask.all())  # without padding the attention kernels need no mask
    extra = {"logits_to_keep": logits_to_keep} if logits_to_keep else {}
    output = model(
        input_ids=ids,
        attention_mask=None if full else mask,
        position_ids=positions,
        use_cache=True,
        **{keyword: cache},
        **extra,
    )
    logits: Tensor = output.logits
    return logits


@functools.cache  # reading a signature costs as much as a small layer
def _cache_keyword(kind: Any) -> str:
    return "cache" if "cache" in inspect.signature(kind.forward).parameters else "past_key_values"


def _positions(mask: Tensor) -> Tensor:
    return (mask.cumsum(dim=1) - 1).clamp(min=0)


class RoomyLayer(DynamicLayer):
    """A cache layer with room reserved: a decoded token is written in place instead of copying all before it."""

    def __init__(self, keys: Tensor, values: Tensor, room: int) -> None:
        super().__init__()
        self.lazy_initialization(keys, values)
        self._room = room
        self._adopt(keys, values)

    def _adopt(self, keys: Tensor, values: Tensor) -> None:
        rows, heads, length, _ = keys.shape
        self._keys = keys.new_empty((rows, heads, self._room, keys.shape[-1]))
        self._values = values.new_empty((rows, heads, self._room, values.shape[-1]))
        self._keys[:, :, :length], self._values[:, :, :length] = keys, values
        self._view(length)

    def _view(self, length: int) -> None:
        self.keys, self.values = self._keys[:, :, :length], self._values[:, :, :length]

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        start, end = self.keys.shape[2], self.keys.shape[2] + key_states.shape[2]
        self._keys[:, :, start:end], self._values[:, :, start:end] = key_states, value_states
        self._view(end)
        return self.keys, self.values

    def batch_select_indices(self, indices: Tensor) -> None:
        length = self.keys.shape[2]
        self._keys, self._values = self._keys[indices], self._values[indices]
        self._view(length)


def reserve(cache: Any, room: int) -> None:
    """Give every plain layer room for `room` columns; layers of other kinds (sliding windows) stay as they are."""
    cache.layers = [
        RoomyLayer(layer.keys, layer.values, room) if type(layer) is DynamicLayer else layer for layer in cache.layers
    ]
