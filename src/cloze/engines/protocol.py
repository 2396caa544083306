"""What an engine does: sample, one backward pass over rows, one optimiser step, and keep itself on disk.

The training loop knows only this. An objective is a pure function of `cloze.algorithms`; the engine computes log-probs,
calls it, and adds up `loss_weights * loss`, so every engine trains by the same functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from torch import Tensor

from cloze.algorithms.objectives import TokenLoss
from cloze.rollouts.rows import Row
from cloze.rollouts.sampler import Sampler

Objective = Callable[[Tensor, Tensor, Tensor], TokenLoss]


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """Of one `forward_backward`: the loss, and over the trained tokens the ratio and the share without gradient."""

    loss: float
    tokens: int
    ratio_max: float
    clip_fraction: float
    approx_kl: float


class Engine(Sampler, Protocol):
    """The seam between the loop and whatever holds the weights."""

    version: int

    def forward_backward(self, rows: Sequence[Row], objective: Objective) -> UpdateReport: ...

    def optim_step(self, lr: float) -> float: ...

    def publish_weights(self) -> int: ...

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None: ...
