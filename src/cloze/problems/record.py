"""The record that everything else takes: one question with a target that a verifier can check.

A problem may carry an *expert trace*, the expert's written solution. A problem without one (`trace is None`) can still
be trained on without guidance. Readers make these records from files, families make them from a seed; nothing
further down the line knows where a problem came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cloze.errors import InputError

DOMAINS = ("math", "code", "entities", "text")


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem.

    Attributes:
        id: unique within its data set; rollouts, metrics and checkpoints name the problem by it.
        question: what the policy is asked, as plain text (chat markup is added later by the tokenizer's template).
        target: what the verifier compares with, as text.
        trace: the expert's written solution, or None. An empty trace is not a trace: give None.
        domain: which masker suits the trace, one of `DOMAINS`.
        verifier: name of the verifier that scores a completion.
        verifier_settings: keyword arguments of that verifier.
        source: where the problem came from (file and row, or family), for messages.
        system: system message that goes before the question, or empty.
        aliases: other texts that count as the target.

    Raises:
        InputError: an attribute has the wrong type or is empty where it may not be.
    """

    id: str
    question: str
    target: str
    trace: str | None = None
    domain: str = "math"
    verifier: str = "math"
    verifier_settings: Mapping[str, object] = field(default_factory=dict)
    source: str = ""
    system: str = ""
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("id", "question", "target", "domain", "verifier", "source", "system"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InputError(
                    f"{name} must be text, not {type(value).__name__}",
                    file=self.source or None,
                    field=name,
                    mend="convert it to text",
                )
        for name in ("id", "question", "target"):
            if not getattr(self, name).strip():
                raise InputError(
                    f"{name} is empty", file=self.source or None, field=name, mend="fill it in or drop the row"
                )
        if self.trace is not None and (not isinstance(self.trace, str) or not self.trace.strip()):
            raise InputError(
                "the trace must be non-empty text or None",
                file=self.source or None,
                field="trace",
                mend="use None for a problem without an expert trace",
            )
        if not isinstance(self.aliases, tuple) or not all(isinstance(alias, str) for alias in self.aliases):
            raise InputError(
                "aliases must be a tuple of texts",
                file=self.source or None,
                field="aliases",
                mend="give a list of texts",
            )
        if self.domain not in DOMAINS:
            raise InputError(
                f"unknown domain {self.domain!r}",
                file=self.source or None,
                field="domain",
                mend=f"use one of {', '.join(DOMAINS)}",
            )
