"""The one row that sampling writes, training reads and the run folder keeps.

Token ids are the ones that were sampled, never decoded and encoded again. Every token of the completion has a source:
`policy` for what the policy wrote, `hint` for a prefix that was put into its turn, `expert` for supervised tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

POLICY, HINT, EXPERT = 0, 1, 2
SOURCES = ("policy", "hint", "expert")


@dataclass(slots=True)
class Row:
    """One rollout.

    Attributes:
        problem_id: the problem it answers.
        group: its group in the step (one group a problem).
        member: its place in the group.
        prompt_ids: token ids that were sampled from, hint included.
        completion_ids: token ids as sampled, the terminal token included when there is one.
        completion_mask: which completion tokens may be trained.
        source: `POLICY`, `HINT` or `EXPERT`, one a completion token.
        behavior_logprobs: natural log-probs under the sampler, temperature applied; NaN for expert tokens.
        entropy: exact entropy over the vocabulary at each sampled token, nats.
        truncated: ended by the length limit.
        policy_version: of the weights that sampled it.
        train_prompt_ids: the prompt that the update is computed under; the sampled prompt unless the method says
            otherwise.
        guided: some of the trace was shown.
        prefix_ratio: share of the trace's tokens that was shown.
        leaked: the target could be read in what was shown.
        text: the completion as text, for verifiers and logs.
        reward: None when it cannot be scored.
        status: of the verdict.
        advantage: against its peers.
        peers: rows with the same number shared the statistics of the advantage.
        kept: False for a first draw that a gate replaced: logged and counted, never trained.
    """

    problem_id: str
    group: int
    member: int
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    behavior_logprobs: tuple[float, ...]
    entropy: tuple[float, ...]
    truncated: bool
    policy_version: int
    text: str
    train_prompt_ids: tuple[int, ...] = ()
    completion_mask: tuple[bool, ...] = ()
    source: tuple[int, ...] = ()
    guided: bool = False
    prefix_ratio: float = 0.0
    leaked: bool = False
    reward: float | None = None
    status: str = ""
    reason: str = ""
    advantage: float = 0.0
    peers: int = 0
    kept: bool = True
    loss_weights: tuple[float, ...] = field(default=())

    def __post_init__(self) -> None:
        tokens = len(self.completion_ids)
        self.train_prompt_ids = self.train_prompt_ids or self.prompt_ids
        self.completion_mask = self.completion_mask or (True,) * tokens
        self.source = self.source or (POLICY,) * tokens
        for name in ("behavior_logprobs", "entropy", "completion_mask", "source"):
            if len(getattr(self, name)) != tokens:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries for {tokens} completion tokens")

    @property
    def reward_or_nan(self) -> float:
        return math.nan if self.reward is None else self.reward
