"""How the policy's own tokens learn: a loss for each token from its log-probs and its advantage.

Each objective returns the loss before aggregation, so that the denominator stays a separate, named choice
(`aggregate`). Log-probs are natural logs of the distribution that was sampled from (temperature applied).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class TokenLoss:
    """Loss of each token and what happened to its ratio, all [B, T]; positions outside the mask mean nothing."""

    loss_BT: Tensor
    ratio_BT: Tensor
    clipped_BT: Tensor


def ppo_clip(
    logprobs_BT: Tensor,
    old_logprobs_BT: Tensor,
    advantages_BT: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.2,
    dual_clip: float | None = None,
) -> TokenLoss:
    """The clipped surrogate with separate bounds, and a bound for negative advantages.

    `loss = -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A)` with the token ratio `r = pi / pi_old`
    (PPO, arXiv 1707.06347, equation 7; separate bounds: DAPO, arXiv 2503.14476, equation 10). With `dual_clip = c`,
    the loss of a token with `A < 0` is at most `-c A` (arXiv 1912.09729, equation 5), so it has no gradient above
    ratio c. A token counts as clipped where its loss has no gradient.

    Args:
        logprobs_BT: of the current policy, with gradient.
        old_logprobs_BT: of the policy at batch start.
        advantages_BT: one a token, or [B, 1].
        clip_low: 0 to 1; the lower bound is 1 - clip_low.
        clip_high: at least 0; the upper bound is 1 + clip_high.
        dual_clip: above 1, or None.

    Raises:
        ValueError: shapes or bounds that make no sense.
    """
    _check(logprobs_BT, old_logprobs_BT, advantages_BT)
    if not 0.0 <= clip_low <= 1.0 or clip_high < 0.0 or (dual_clip is not None and dual_clip <= 1.0):
        raise ValueError(f"bad clip bounds: low {clip_low} (0 to 1), high {clip_high} (>= 0), dual {dual_clip} (> 1)")
    ratio_BT = torch.exp(logprobs_BT - old_logprobs_BT.detach())
    plain_BT = -advantages_BT * ratio_BT
    bounded_BT = -advantages_BT * ratio_BT.clamp(1.0 - clip_low, 1.0 + clip_high)
    loss_BT = torch.maximum(plain_BT, bounded_BT)
    clipped_BT = bounded_BT > plain_BT
    if dual_clip is not None:
        ceiling_BT = -dual_clip * advantages_BT
        over_BT = (advantages_BT < 0) & (loss_BT > ceiling_BT)
        loss_BT = torch.where(over_BT, ceiling_BT.expand_as(loss_BT), loss_BT)
        clipped_BT = clipped_BT | over_BT
    return TokenLoss(loss_BT, ratio_BT.detach(), clipped_BT.detach())


def unclipped(logprobs_BT: Tensor, old_logprobs_BT: Tensor, advantages_BT: Tensor) -> TokenLoss:
    """`loss = -r A` with the token ratio `r = pi / pi_old` and no bound (LUFFY's own tokens, arXiv 2504.14945)."""
    _check(logprobs_BT, old_logprobs_BT, advantages_BT)
    ratio_BT = torch.exp(logprobs_BT - old_logprobs_BT.detach())
    return TokenLoss(-advantages_BT * ratio_BT, ratio_BT.detach(), torch.zeros_like(ratio_BT, dtype=torch.bool))


def _check(logprobs_BT: Tensor, old_logprobs_BT: Tensor, advantages_BT: Tensor) -> None:
    if logprobs_BT.ndim != 2 or logprobs_BT.shape != old_logprobs_BT.shape:
        raise ValueError(
            f"logprobs {tuple(logprobs_BT.shape)} and old_logprobs {tuple(old_logprobs_BT.shape)} must both be [B, T]"
        )
    rows, tokens = logprobs_BT.shape
    if tuple(advantages_BT.shape) not in ((rows, tokens), (rows, 1)):
        raise ValueError(f"advantages {tuple(advantages_BT.shape)} must be [{rows}, {tokens}] or [{rows}, 1]")
