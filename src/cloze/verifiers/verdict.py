"""A verdict: what a verifier says about one completion, and why.

The reward alone is not enough to run a training loop. A completion that never gave an answer, an answer that is wrong
and a target that cannot be read all look like 0 in a mean, and they call for three different mends. So a verdict
carries its status, what was taken to be the answer, and a reason that a reader of a rollout log understands. A
completion that cannot be scored has the reward None, never 0: it is left out of every mean, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

STATUSES = ("correct", "wrong", "no_answer", "unparseable_gold", "timeout", "error")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One completion, scored.

    Attributes:
        reward: the reward, or None when the completion cannot be scored.
        status: one of `STATUSES`.
        extracted: the part of the completion that was compared, or None when no answer was found.
        target: what it was compared with.
        reason: why, in a few words.
        seconds: how long the verifier took.

    Raises:
        ValueError: the status is not one of `STATUSES`.
    """

    reward: float | None
    status: str
    extracted: str | None
    target: str
    reason: str
    seconds: float

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"unknown status {self.status!r}, use one of {', '.join(STATUSES)}")
