"""From token losses to one number: the denominator, by name.

Aggregation is linear, so it is written as a weight for each token: `loss = sum(weight * token_loss)`. The weights are
computed once over the whole batch of an update; micro-batches then only add up, and the gradient cannot depend on how
the batch was cut.
"""

from __future__ import annotations

import torch
from torch import Tensor

AGGREGATIONS = ("token_mean", "seq_mean_token_mean", "seq_mean_token_sum", "constant_length")


def token_weights(mask_BT: Tensor, how: str, *, length: int | None = None) -> Tensor:
    """The weight of each token's loss.

    - `token_mean`: 1 / (all tokens of the batch) (DAPO, arXiv 2503.14476, equation 8).
    - `seq_mean_token_mean`: each row is averaged over its own tokens, then the rows (GRPO, arXiv 2402.03300).
    - `seq_mean_token_sum`: each row is summed, then the rows averaged.
    - `constant_length`: each row is summed and divided by `length`, then the rows averaged (Dr. GRPO,
      arXiv 2503.20783).

    Rows without a token in the mask count in no denominator; if no row has one, every weight is 0.

    Args:
        mask_BT: bool [B, T], tokens that may be trained.
        how: one of `AGGREGATIONS`.
        length: tokens, for `constant_length` (the completion budget).

    Returns:
        float32 [B, T], 0 outside the mask.

    Raises:
        ValueError: unknown name, wrong shape, or a missing length.
    """
    if mask_BT.ndim != 2 or mask_BT.dtype != torch.bool:
        raise ValueError(f"the mask must be bool [B, T], got {mask_BT.dtype} {tuple(mask_BT.shape)}")
    tokens_B = mask_BT.sum(dim=1)
    rows = int((tokens_B > 0).sum())
    mask = mask_BT.to(torch.float32)
    if rows == 0:
        return mask
    if how == "token_mean":
        return mask / float(tokens_B.sum())
    if how == "seq_mean_token_mean":
        return mask / tokens_B.clamp(min=1)[:, None] / rows
    if how == "seq_mean_token_sum":
        return mask / rows
    if how == "constant_length":
        if length is None or length < 1:
            raise ValueError("constant_length needs a length of at least 1 token")
        return mask / (rows * length)
    raise ValueError(f"unknown aggregation {how!r}; use one of {', '.join(AGGREGATIONS)}")
