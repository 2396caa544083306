"""Prompts and their completions in one pass without padding: each different prompt once, whoever goes on from it.

The tokens of a batch lie one after the other, all prompts first and then all completions, so matrix products and norms
see no padding. Only attention needs rows: a prompt sees itself, a completion sees its prompt and itself. The last token
of a completion predicts nothing, so it is not run at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional as F

from cloze.rollouts.decoder import LeanDecoder


class Ragged:
    """Sequences of several lengths, flat [N, ...] or padded on the right [rows, width, ...]."""

    def __init__(self, lengths: Sequence[int], device: torch.device) -> None:
        self.rows, self.width, self.total = len(lengths), max(lengths, default=0), sum(lengths)
        columns = torch.arange(self.width)
        lengths_B = torch.tensor(lengths, dtype=torch.long)
        self.mask = (columns < lengths_B[:, None]).to(device)
        self.lengths = lengths_B.to(device)
        self.full = self.total == self.rows * self.width
        starts = lengths_B.cumsum(0) - lengths_B
        self._to_padded = (starts[:, None] + columns).clamp(max=max(self.total - 1, 0)).flatten().to(device)
        self._to_flat = self.mask.flatten().nonzero().squeeze(1)

    def pad(self, flat: Tensor) -> Tensor:
        """[N, ...] to [rows, width, ...]; padding repeats some token, and must have no gradient."""
        padded = flat if self.full else _Take.apply(flat, self._to_padded, self._to_flat)
        return padded.view(self.rows, self.width, *flat.shape[1:])

    def flatten(self, padded: Tensor) -> Tensor:
        """[rows, width, ...] to [N, ...]."""
        flat = padded.flatten(0, 1)
        return flat if self.full else _Take.apply(flat, self._to_flat, None)


class _Take(Function):
    """Rows of x by index. The gradient is taken back the same way, without a slow sum over equal indices."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor, inverse: Tensor | None) -> Tensor:
        ctx.index, ctx.inverse, ctx.rows = index, inverse, len(x)
        return x.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.inverse is not None:
            return grad.index_select(0, ctx.inverse), None, None
        out = grad.new_zeros((ctx.rows, *grad.shape[1:]))
        return out.index_copy_(0, ctx.index, grad), None, None


@dataclass(slots=True)
class Pack:
    """A batch of prompts and completions, ready for one pass.

    Attributes:
        ids, positions: of all tokens, prompts first.
        prompts: the U different prompts.
        completions: what is run of the B completions, their last token left out.
        prompt_of_row: which prompt each row goes on from, [B].
        mask: which prompt and completion columns a completion token sees, [B, 1, n, P + n], additive.
        kept: keys and values [U, P, KV heads, D] of the prompts by layer, for those who ask for them.
    """

    ids: Tensor
    positions: Tensor
    prompts: Ragged
    completions: Ragged
    prompt_of_row: Tensor
    mask: Tensor | None
    scaling: float
    kept: list[tuple[Tensor, Tensor]] | None = field(default=None)

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """See `decoder.Attend`."""
        sizes = [self.prompts.total, self.completions.total]
        prompt_parts, own_parts = zip(*(part.split(sizes) for part in (q, k, v)), strict=True)
        prompt_q, prompt_k, prompt_v = map(self.prompts.pad, prompt_parts)
        if self.kept is not None:
            self.kept.append((prompt_k, prompt_v))
        # padding stands behind every real token of a prompt, where causal attention never looks
        seen = self.prompts.flatten(_attention(prompt_q, prompt_k, prompt_v, None, self.scaling))
        if not self.completions.total:
            return seen
        own_q, own_k, own_v = map(self.completions.pad, own_parts)
        keys = torch.cat([prompt_k.index_select(0, self.prompt_of_row), own_k], dim=1)
        values = torch.cat([prompt_v.index_select(0, self.prompt_of_row), own_v], dim=1)
        continued = _attention(own_q, keys, values, self.mask, self.scaling)
        return torch.cat([seen, self.completions.flatten(continued)])


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scaling: float) -> Tensor:
    """Attention of q [B, n, heads, D] over k, v [B, m, KV heads, D]; causal without a mask."""
    q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    grouped = q.shape[1] != k.shape[1]
    if grouped and q.device.type != "cpu":  # elsewhere the fast kernels want one key head for each query head
        k, v = (part.repeat_interleave(q.shape[1] // part.shape[1], dim=1) for part in (k, v))
        grouped = False
    out = F.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=mask is None, scale=scaling, enable_gqa=grouped
    )
    return out.transpose(1, 2)


def pack(
    decoder: LeanDecoder, prompts: Sequence[Sequence[int]], completions: Sequence[Sequence[int]] | None, device: Any
) -> Pack:
    """Lay out B rows for one pass; without completions only their prompts are run.

    Raises:
        ValueError: no rows, or an empty prompt.
    """
    if not prompts or not all(prompts):
        raise ValueError("every row needs a prompt of at least one token")
    unique = {prompt: at for at, prompt in enumerate(dict.fromkeys(tuple(prompt) for prompt in prompts))}
    row_prompts = [unique[tuple(prompt)] for prompt in prompts]
    run = [list(completion[:-1]) for completion in completions] if completions is not None else []
    ids = [token for prompt in unique for token in prompt] + [token for part in run for token in part]
    places = [place for prompt in unique for place in range(len(prompt))]
    for prompt, part in zip(prompts, run, strict=bool(run)):
        places += range(len(prompt), len(prompt) + len(part))
    packed = Pack(
        torch.tensor(ids, device=device),
        torch.tensor(places, device=device),
        Ragged([len(prompt) for prompt in unique], device),
        Ragged([len(part) for part in run], device),
        torch.tensor(row_prompts, device=device),
        None,
        decoder.scaling,
    )
    if packed.completions.total:
        dtype = decoder.final_norm.dtype
        n = packed.completions.width
        causal = torch.ones((n, n), dtype=torch.bool, device=device).tril().expand(len(run), n, n)
        before = packed.prompts.mask[packed.prompt_of_row][:, None].expand(len(run), n, -1)
        packed.mask = additive(torch.cat([before, causal], dim=2), dtype)[:, None]
    return packed


def additive(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """0 where visible, minus infinity elsewhere: the form that attention kernels take without conversion."""
    return torch.zeros(visible.shape, dtype=dtype, device=visible.device).masked_fill_(~visible, -torch.inf)
