"""Until when guidance is given: the prefix ratio as a function of the step."""

from __future__ import annotations

import math

SCHEDULES = ("constant", "linear", "cosine")


def prefix_ratio(kind: str, step: int, steps: int, *, start: float = 1.0, end: float = 0.0) -> float:
    """The share of the trace to show at `step` (counted from 0).

    `constant` is `start`. `linear` and `cosine` go from `start` at step 0 to `end` at step `steps` and stay there;
    cosine is `end + (start - end)(1 + cos(pi t / T)) / 2` (MOER, arXiv 2610.30873; the form is inferred).

    Raises:
        ValueError: unknown kind, or no steps.
    """
    if kind not in SCHEDULES or steps < 1:
        raise ValueError(f"schedule must be one of {', '.join(SCHEDULES)} over at least 1 step, got {kind!r}, {steps}")
    done = min(max(step, 0), steps) / steps
    if kind == "constant":
        return start
    if kind == "linear":
        return start + (end - start) * done
    return end + (start - end) * (1.0 + math.cos(math.pi * done)) / 2.0
