"""Log-probs of completions under the current policy, with gradient.

The same prompt sharing as in sampling: a prompt is computed once however many rollouts it has, and only the tokens that
predict a completion token go through the vocabulary. Models of the Llama kind take one pass without padding (`packed`),
all others two through their own `forward` and a cache with gradient (`prefill`). The result is the same as that of a
plain pass over prompt and completion; a test holds it to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from cloze.rollouts.decoder import LeanDecoder, lean
from cloze.rollouts.packed import pack
from cloze.rollouts.prefill import forward, prefill

PromptAndCompletion = tuple[tuple[int, ...], tuple[int, ...]]


def completion_logprobs(
    model: Any, pairs: Sequence[PromptAndCompletion], pad_id: int, temperature: float = 1.0
) -> Tensor:
    """Natural log-probs [B, T] of each completion token given what stands before it.

    Args:
        model: a causal language model of transformers.
        pairs: prompt ids and completion ids of B rows; no completion may be empty.
        pad_id: fills short completions on the right; those positions hold numbers without meaning.
        temperature: divides the logits, as it did when the tokens were sampled.
    """
    decoder = lean(model)
    if decoder:
        return _packed_logprobs(decoder, pairs, model.device, temperature)
    start = prefill(model, [prompt for prompt, _ in pairs], pad_id)
    width = max(len(completion) for _, completion in pairs)
    ids = torch.full((len(pairs), width), pad_id)
    filled = torch.zeros((len(pairs), width), dtype=torch.long)
    for row, (_, completion) in enumerate(pairs):
        ids[row, : len(completion)] = torch.tensor(completion)
        filled[row, : len(completion)] = 1
    ids, filled = ids.to(model.device), filled.to(model.device)
    first = _chosen(start.logits_BV, ids[:, 0], temperature)[:, None]
    if width == 1:
        return first
    # padding stands after every real token of its row, where causal attention never looks: it needs no mask
    positions = start.lengths_B[:, None] + torch.arange(width - 1, device=model.device)
    mask = torch.cat([start.mask_BP, torch.ones_like(filled[:, :-1])], dim=1)
    logits = forward(model, ids[:, :-1], mask, positions, start.cache)
    return torch.cat([first, _chosen(logits, ids[:, 1:], temperature)], dim=1)


def _packed_logprobs(
    decoder: LeanDecoder, pairs: Sequence[PromptAndCompletion], device: torch.device, temperature: float
) -> Tensor:
    packed = pack(decoder, [prompt for prompt, _ in pairs], [completion for _, completion in pairs], device)
    hidden = decoder.run(packed.ids, packed.positions, packed.attend)
    last = packed.prompts.lengths.cumsum(0) - 1  # of each prompt; it predicts the first token of all its rows
    first_ids = torch.tensor([completion[0] for _, completion in pairs], device=device)
    later_ids = torch.tensor([token for _, completion in pairs for token in completion[1:]], device=device)
    first = _chosen(decoder.logits(hidden[last])[packed.prompt_of_row], first_ids, temperature)
    if not packed.completions.total:
        return first[:, None]
    later = _chosen(decoder.logits(hidden[packed.prompts.total :]), later_ids, temperature)
    return torch.cat([first[:, None], packed.completions.pad(later)], dim=1)


def _chosen(logits: Tensor, ids: Tensor, temperature: float) -> Tensor:
    logits = logits.float()
    if temperature not in (0.0, 1.0):
        logits = logits / temperature
    return logits.gather(-1, ids[..., None]).squeeze(-1) - torch.logsumexp(logits, dim=-1)


def micro_batches(pairs: Sequence[PromptAndCompletion], budget: int) -> Iterator[list[int]]:
    """Cut rows into batches of at most `budget` tokens (padding counted, a shared prompt counted once).

    Rows of one prompt stay together, prompts of like length follow each other; a row that is too long goes alone.
    """
    order = sorted(range(len(pairs)), key=lambda row: (len(pairs[row][0]), pairs[row][0], len(pairs[row][1])))
    batch: list[int] = []
    prompts: set[tuple[int, ...]] = set()
    longest_prompt = longest = 0
    for row in order:
        prompt, completion = pairs[row]
        wider = max(longest_prompt, len(prompt)), max(longest, len(completion))
        count = len(prompts | {prompt})
        if batch and wider[0] * count + wider[1] * (len(batch) + 1) > budget:
            yield batch
            batch, prompts, wider = [], set(), (len(prompt), len(completion))
        batch.append(row)
        prompts.add(prompt)
        longest_prompt, longest = wider
    if batch:
        yield batch
