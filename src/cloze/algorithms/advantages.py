"""What a rollout is worth, relative to the others of its group.

All estimators take ragged groups as one flat batch: `rewards_B` with `groups_B`, an integer for each row. A reward that
is NaN could not be scored: it is left out of every mean and its advantage is 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

BASELINES = ("group_mean", "leave_one_out", "none")


def group_advantages(
    rewards_B: Tensor, groups_B: Tensor, *, baseline: str = "group_mean", divide_by_std: bool = True, eps: float = 1e-6
) -> Tensor:
    """Advantage of each row against its group.

    `group_mean` is `A_i = R_i - mean(R)` (GRPO, arXiv 2402.03300, section 4.1.2; with `divide_by_std` divided by
    `std(R) + eps`, std with n - 1 in the denominator); `leave_one_out` takes the mean of the others (RLOO,
    arXiv 2402.14740, equation 8); `none` returns the rewards.

    A group whose scored rewards are all equal, or with one scored row, has advantage exactly 0: its spread is tested
    before any division, because in float32 `mean` of equal numbers need not equal them.

    Args:
        rewards_B: float [B]; NaN where the row cannot be scored.
        groups_B: int [B].
        baseline: one of `BASELINES`.
        divide_by_std: divide by the group's standard deviation.
        eps: added to the standard deviation.

    Returns:
        float [B]; 0 for rows that cannot be scored.

    Raises:
        ValueError: shapes differ, or an unknown baseline.
    """
    if rewards_B.ndim != 1 or rewards_B.shape != groups_B.shape:
        raise ValueError(f"rewards {tuple(rewards_B.shape)} and groups {tuple(groups_B.shape)} must be one [B] each")
    if baseline not in BASELINES:
        raise ValueError(f"unknown baseline {baseline!r}; use one of {', '.join(BASELINES)}")
    advantages_B = torch.zeros_like(rewards_B)
    for group in torch.unique(groups_B):
        rows = (groups_B == group) & ~torch.isnan(rewards_B)
        rewards = rewards_B[rows]
        if baseline == "none":
            advantages_B[rows] = rewards
            continue
        if len(rewards) < 2 or rewards.max() == rewards.min():
            continue
        centred = rewards - rewards.mean()
        if baseline == "leave_one_out":
            centred = centred * len(rewards) / (len(rewards) - 1)
        advantages_B[rows] = centred / (rewards.std() + eps) if divide_by_std else centred
    return advantages_B
