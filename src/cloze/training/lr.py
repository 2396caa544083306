"""The learning rate of a step: linear warm-up, then a cosine."""

from __future__ import annotations

import math


def learning_rate(step: int, steps: int, peak: float, warmup_ratio: float, final_ratio: float) -> float:
    """The learning rate of `step` (counted from 0): the warm-up starts above 0 and the
    cosine would reach `final_ratio * peak` one step after the last."""
    warmup = round(warmup_ratio * steps)
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return peak * (final_ratio + (1.0 - final_ratio) * 0.5 * (1.0 + math.cos(math.pi * done)))
