"""One step's rollouts: who is guided, sample, verify, and give every row its advantage."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cloze.algorithms.advantages import group_advantages
from cloze.evaluation.accuracy import own_text
from cloze.guidance.guide import GuideSettings, guided_prompt, is_leaky, unguided_prompt
from cloze.guidance.placement import GuidedPrompt
from cloze.guidance.schedule import prefix_ratio
from cloze.methods.schema import Method
from cloze.problems.record import Problem
from cloze.rollouts.rows import HINT, POLICY, Row
from cloze.rollouts.sampler import Sampler, SamplingParams
from cloze.verifiers.pool import score


@dataclass(frozen=True, slots=True)
class Collector:
    """What stays the same over the steps of a run."""

    sampler: Sampler
    tokenizer: Any
    method: Method
    guide: GuideSettings
    params: SamplingParams
    group_size: int
    total_steps: int
    seed: int

    def ratio(self, step: int) -> float:
        """The prefix ratio asked for at a step (counted from 0)."""
        g = self.method.guidance
        return prefix_ratio(g.schedule, step, g.steps or self.total_steps, start=g.start, end=g.end)

    def collect(self, problems: Sequence[Problem], step: int, version: int) -> list[Row]:
        """Sample and score a group for each problem; `version` is of the weights that sample."""
        guidance = self.method.guidance
        ratio = self.ratio(step) if guidance.show == "trace" else 0.0
        plain = [unguided_prompt(problem, self.tokenizer, self.guide) for problem in problems]
        guided = [guided_prompt(problem, self.tokenizer, self.guide, ratio) for problem in problems]
        leaky = [is_leaky(prompt, problem) for prompt, problem in zip(guided, problems, strict=True)]
        members = guidance.members or self.group_size
        if guidance.gate == "group_fails" and guidance.show == "trace":
            rows = self._sample(problems, plain, plain, leaky, 0, step, version, "own")
            failed = [group for group, prompt in enumerate(guided) if prompt.hint and _fails(rows, group)]
            for row in rows:
                row.kept = row.group not in failed
            rows += self._sample(problems, guided, plain, leaky, members, step, version, "gated", only=failed)
        else:
            rows = self._sample(problems, guided, plain, leaky, members, step, version, "own")
        rows.sort(key=lambda row: (row.group, row.kept, row.member))
        self._set_advantages([row for row in rows if row.kept])
        return rows

    def _sample(
        self,
        problems: Sequence[Problem],
        guided: Sequence[GuidedPrompt],
        plain: Sequence[GuidedPrompt],
        leaky: Sequence[bool],
        members: int,
        step: int,
        version: int,
        phase: str,
        only: Sequence[int] | None = None,
    ) -> list[Row]:
        """Groups of rows; the first `members` of each group are guided."""
        plan = [
            (group, member, guided[group] if member < members else plain[group])
            for group in (range(len(problems)) if only is None else only)
            for member in range(self.group_size)
        ]
        if not plan:
            return []
        budgets = [max(1, self.params.max_tokens - prompt.hint_tokens) for _, _, prompt in plan]
        seed = draw_seed(self.seed, phase, step)
        completions = self.sampler.sample([prompt.token_ids for _, _, prompt in plan], self.params, seed, budgets)
        texts = [self.sampler.decode(completion.token_ids) for completion in completions]
        own = [own_text(prompt, text) for (_, _, prompt), text in zip(plan, texts, strict=True)]
        verdicts = score([problems[group] for group, _, _ in plan], own)
        rows = []
        for (group, member, prompt), completion, text, verdict in zip(plan, completions, texts, verdicts, strict=True):
            row = Row(
                problem_id=problems[group].id,
                group=group,
                member=member,
                prompt_ids=prompt.token_ids,
                completion_ids=completion.token_ids,
                behavior_logprobs=completion.logprobs,
                entropy=completion.entropy,
                truncated=completion.truncated,
                policy_version=version,
                text=text,
                guided=bool(prompt.hint),
                prefix_ratio=prompt.ratio,
                leaked=leaky[group] and bool(prompt.hint),
            )
            if prompt.hint_tokens:
                _move_hint_into_completion(row, prompt)
            if prompt.hint and self.method.guidance.update_prompt == "unguided":
                row.train_prompt_ids = plain[group].token_ids
            row.reward, row.status, row.reason = verdict.reward, verdict.status, verdict.reason
            if row.reward is None:
                row.completion_mask = (False,) * len(row.completion_ids)
            rows.append(row)
        return rows

    def _set_advantages(self, rows: Sequence[Row]) -> None:
        part = self.method.advantage
        for row in rows:
            row.peers = 2 * row.group + (row.guided if part.within == "prompt" else 0)
        advantages = group_advantages(
            torch.tensor([row.reward_or_nan for row in rows]),
            torch.tensor([row.peers for row in rows]),
            baseline=part.baseline,
            divide_by_std=part.divide_by_std,
        )
        for row, advantage in zip(rows, advantages.tolist(), strict=True):
            row.advantage = advantage


def _fails(rows: Sequence[Row], group: int) -> bool:
    """Whether a group has scored rollouts and none of them is right."""
    rewards = [row.reward for row in rows if row.group == group and row.reward is not None]
    return bool(rewards) and not any(rewards)


def _move_hint_into_completion(row: Row, prompt: GuidedPrompt) -> None:
    """A prefix in the policy's own turn is part of the completion, but not of what is trained."""
    cut = len(prompt.token_ids) - prompt.hint_tokens
    hint = prompt.token_ids[cut:]
    row.prompt_ids = row.train_prompt_ids = prompt.token_ids[:cut]
    row.completion_mask = (False,) * len(hint) + row.completion_mask
    row.source = (HINT,) * len(hint) + (POLICY,) * len(row.completion_ids)
    row.completion_ids = hint + row.completion_ids
    row.behavior_logprobs = (0.0,) * len(hint) + row.behavior_logprobs
    row.entropy = (0.0,) * len(hint) + row.entropy


def draw_seed(seed: int, purpose: str, step: int) -> int:
    """A seed for one purpose at one step, so that a resumed run draws what the uninterrupted one would have."""
    digest = hashlib.sha256(f"{seed}/{purpose}/{step}".encode()).digest()
    return int.from_bytes(digest[:7], "big")
