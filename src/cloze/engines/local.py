"""The engine of one process: a transformers model, AdamW, and the sampler that shares its weights.

Rows are cut into micro-batches by tokens, not by count. Weights of the loss are set by the caller over the whole batch,
so the gradient is the same however the batch is cut.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from cloze.engines.logprobs import completion_logprobs, micro_batches
from cloze.engines.protocol import Objective, UpdateReport
from cloze.rollouts.rows import Row
from cloze.rollouts.sampler import Completion, SamplingParams
from cloze.rollouts.transformers_sampler import TransformersSampler


class LocalEngine:
    """Holds a model on one device.

    Args:
        model, tokenizer: as loaded.
        weight_decay: of AdamW, on matrices only.
        max_grad_norm: the gradient is scaled down to this norm.
        temperature: of sampling, so that log-probs are those of the distribution that was sampled from.
        micro_batch_tokens: tokens of one backward pass; bounds the memory.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        weight_decay: float = 0.1,
        max_grad_norm: float = 1.0,
        temperature: float = 1.0,
        micro_batch_tokens: int = 8192,
    ) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.max_grad_norm, self.temperature, self.micro_batch_tokens = max_grad_norm, temperature, micro_batch_tokens
        self.version = 0
        self.sampler = TransformersSampler(model, tokenizer)
        named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
        groups = [
            {"params": [p for _, p in named if p.ndim >= 2], "weight_decay": weight_decay},
            {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0},
        ]
        self.names = [name for name, p in named if p.ndim >= 2] + [name for name, p in named if p.ndim < 2]
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.999), eps=1e-8, fused=True)

    def sample(
        self, prompts: Sequence[Sequence[int]], params: SamplingParams, seed: int, budgets: Sequence[int] | None = None
    ) -> list[Completion]:
        """See `TransformersSampler.sample`."""
        return self.sampler.sample(prompts, params, seed, budgets)

    def decode(self, token_ids: Sequence[int]) -> str:
        """Completion ids as text, without the terminal token."""
        return self.sampler.decode(token_ids)

    def forward_backward(self, rows: Sequence[Row], objective: Objective) -> UpdateReport:
        """Add the gradient of `sum(loss_weights * objective)` over the rows.

        Args:
            rows: with `advantage`, `loss_weights` and `behavior_logprobs` set; the latter serve as the log-probs at
                batch start once the weights have moved.
            objective: from log-probs, old log-probs [B, T] and advantages [B, 1] to a `TokenLoss`.

        Raises:
            FloatingPointError: the loss is not finite; the gradient is then dropped.
        """
        pairs = [(row.train_prompt_ids, row.completion_ids) for row in rows]
        loss = ratio_max = clipped = kl = 0.0
        tokens = 0
        for batch in micro_batches(pairs, self.micro_batch_tokens):
            logprobs_BT = completion_logprobs(self.model, [pairs[i] for i in batch], self._pad, self.temperature)
            old_BT = self._pack([rows[i].behavior_logprobs for i in batch], logprobs_BT.shape)
            weights_BT = self._pack([rows[i].loss_weights for i in batch], logprobs_BT.shape)
            mask_BT = self._pack([[float(m) for m in rows[i].completion_mask] for i in batch], logprobs_BT.shape) > 0
            advantages_B1 = torch.tensor([[rows[i].advantage] for i in batch], device=logprobs_BT.device)
            logprobs_BT = torch.where(mask_BT, logprobs_BT, 0.0)
            # Rows that these very weights sampled have ratio 1 exactly: with a clip bound at 1 (SMEPO's lower one),
            # rounding between sampling and training would otherwise decide which tokens have a gradient.
            fresh_B1 = torch.tensor([[self._is_fresh(rows[i])] for i in batch], device=logprobs_BT.device)
            old_BT = torch.where(fresh_B1 | ~mask_BT, logprobs_BT.detach(), old_BT)
            out = objective(logprobs_BT, old_BT, advantages_B1)
            partial = (weights_BT * out.loss_BT).sum()
            if not torch.isfinite(partial):
                self.optimizer.zero_grad(set_to_none=True)
                finite = torch.isfinite((weights_BT * out.loss_BT).sum(dim=1)).tolist()
                bad = sorted({rows[i].problem_id for i, good in zip(batch, finite, strict=True) if not good})
                raise FloatingPointError(f"the loss is not finite in the rows of {', '.join(bad[:3])}")
            partial.backward()
            loss += float(partial.detach())
            ratio = out.ratio_BT[mask_BT]
            if not ratio.numel():
                continue
            tokens += ratio.numel()
            ratio_max = max(ratio_max, float(ratio.max()))
            clipped += float(out.clipped_BT[mask_BT].sum())
            kl += float((ratio - 1.0 - ratio.log()).sum())
        count = max(tokens, 1)
        return UpdateReport(loss, tokens, ratio_max, clipped / count, kl / count)

    def optim_step(self, lr: float) -> float:
        """Clip the gradient, take one step at this learning rate, and return the norm before clipping.

        Raises:
            FloatingPointError: the gradient is not finite; nothing is applied.
        """
        parameters = [p for group in self.optimizer.param_groups for p in group["params"]]
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.max_grad_norm))
        if norm != norm or norm == float("inf"):
            self.optimizer.zero_grad(set_to_none=True)
            raise FloatingPointError("the gradient is not finite")
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.version += 1
        return norm

    def publish_weights(self) -> int:
        """The sampler shares the weights, so there is nothing to send; returns the version it now samples with."""
        return self.version

    def save(self, folder: Path) -> None:
        """Write weights and tokenizer (loadable by `from_pretrained`) and the optimiser's state, without pickle."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        tensors = {}
        for name, parameter in zip(self.names, self._parameters(), strict=True):
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"{name}/{key}"] = value.detach().clone().contiguous()
        save_file(tensors, folder / "optimizer.safetensors")
        (folder / "engine.json").write_text(json.dumps({"version": self.version}))

    def load(self, folder: Path) -> None:
        """Take back what `save` wrote."""
        weights = load_file(folder / "model.safetensors", device=str(self.model.device))
        missing, unexpected = self.model.load_state_dict(weights, strict=False)
        tied = set(getattr(self.model, "_tied_weights_keys", None) or ())
        if unexpected or set(missing) - tied:
            raise ValueError(f"the checkpoint does not fit the model: {sorted(set(missing) - tied) + list(unexpected)}")
        tensors = load_file(folder / "optimizer.safetensors", device=str(self.model.device))
        for name, parameter in zip(self.names, self._parameters(), strict=True):
            state = {key[len(name) + 1 :]: value for key, value in tensors.items() if key.rsplit("/", 1)[0] == name}
            if state:
                self.optimizer.state[parameter] = state
        self.version = int(json.loads((folder / "engine.json").read_text())["version"])

    def _is_fresh(self, row: Row) -> bool:
        return row.policy_version == self.version and row.train_prompt_ids == row.prompt_ids

    @property
    def _pad(self) -> int:
        return int(self.tokenizer.pad_token_id or 0)

    def _parameters(self) -> list[Tensor]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def _pack(self, values: Sequence[Sequence[float]], shape: torch.Size) -> Tensor:
        packed = torch.zeros(shape)
        for row, entries in enumerate(values):
            packed[row, : len(entries)] = torch.tensor(entries)
        return packed.to(self.model.device)
