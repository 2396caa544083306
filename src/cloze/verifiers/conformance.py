"""Verdict conformance: cases with the right verdict, what our verifier gives, and what plain math-verify gives.

A case is a row with `target`, `answer` (a whole completion) and `right`: one of the statuses, or two joined by "_or_".
An optional `extract` names the policy, an optional `note` says what the case is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cloze.errors import InputError
from cloze.problems.files import scan_rows
from cloze.problems.record import Problem
from cloze.verifiers.pool import score
from cloze.verifiers.verdict import STATUSES
from cloze.verifiers.workers import Worker, WorkerLostError

PLAIN = "cloze.verifiers.math_verify_plain"
PLAIN_CPU_SECONDS = 12  # its own alarm rings after 5 s of reading and 5 s of comparing


class Case(NamedTuple):
    """One case: what is right, what ours gave, what plain math-verify gave, and whether ours is right."""

    row: int
    target: str
    answer: str
    right: str
    ours: str
    plain: str
    agrees: bool
    note: str


def check_cases(path: Path, workers: int = 0) -> Iterator[Case]:
    """Score every case of a file, one after the other.

    Args:
        path: a jsonl file.
        workers: as of `score`.

    Returns:
        The cases, with what both verifiers gave.

    Raises:
        InputError: the file cannot be read, or a row lacks one of its fields.
    """
    rows = list(_rows(path))
    problems = [
        Problem(
            id=f"case-{number}", question="?", target=target, verifier_settings=settings, source=f"{path} row {number}"
        )
        for number, target, _, _, settings, _ in rows
    ]
    verdicts = score(problems, [answer for _, _, answer, _, _, _ in rows], workers=workers)
    plain = Plain()
    try:
        for (number, target, answer, right, _, note), verdict in zip(rows, verdicts, strict=True):
            agrees = verdict.status in right.split("_or_") or verdict.status == right
            yield Case(number, target, answer, right, verdict.status, plain.ask(answer, target), agrees, note)
    finally:
        plain.close()


class Plain:
    """Plain math-verify in a process of its own, so that what hangs or breaks it cannot hang or break us."""

    def __init__(self) -> None:
        self.worker = Worker(PLAIN, PLAIN_CPU_SECONDS)

    def ask(self, answer: str, target: str) -> str:
        """Its verdict, or "lost" when its process ended or stood still."""
        try:
            return self.worker.ask(answer, target)
        except WorkerLostError:
            self.worker.kill()
            self.worker = Worker(PLAIN, PLAIN_CPU_SECONDS)
            return "lost"

    def close(self) -> None:
        """End the process."""
        self.worker.kill()


def _rows(path: Path) -> Iterator[tuple[int, str, str, str, dict[str, object], str]]:
    for number, row in scan_rows(path):
        if isinstance(row, InputError):
            raise row
        for name in ("target", "answer", "right"):
            if not isinstance(row.get(name), str):
                raise InputError(f"{name} must be text", file=path, row=number, field=name)
        right = str(row["right"])
        if right not in STATUSES and not set(right.split("_or_")) <= set(STATUSES):
            mend = f"use one of {', '.join(STATUSES)}, or two joined by _or_"
            raise InputError(f"unknown verdict {right!r}", file=path, row=number, field="right", mend=mend)
        settings: dict[str, object] = {"extract": row["extract"]} if row.get("extract") else {}
        yield number, str(row["target"]), str(row["answer"]), right, settings, str(row.get("note") or "")
