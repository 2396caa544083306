"""What the scripts of this folder share: a stopwatch by part, the reward, peak memory, the command line, the output.

Each peer runs in an environment of its own, so nothing is imported here but the standard library. A step is timed with
`time.process_time` (all threads of the process), from the end of one step to the end of the next, so that nothing a
loop does is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PHASES = ("sample", "old_logprobs", "forward", "backward_and_rest")
PARTS = ("sample", "old_logprobs", "reward", "forward", "backward", "optimizer", "loop")


class Stopwatch:
    """CPU-seconds of the running step by part; `finish_step` closes the step and starts the next."""

    def __init__(self) -> None:
        self.steps: list[dict[str, float]] = []
        self._spent: dict[str, float] = defaultdict(float)
        self._running: str | None = None
        self._start = time.process_time()

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Add the block's time to `name`; a part inside a part would be counted twice and is refused."""
        if self._running is not None:
            raise RuntimeError(f"{name} begins inside {self._running}")
        self._running, start = name, time.process_time()
        try:
            yield
        finally:
            self._spent[name] += time.process_time() - start
            self._running = None

    @contextlib.contextmanager
    def inner_part(self, name: str) -> Iterator[None]:
        """Move the block's time from the part that it stands in to `name`."""
        outer, start = self._running, time.process_time()
        try:
            yield
        finally:
            spent = time.process_time() - start
            self._spent[name] += spent
            if outer is not None:
                self._spent[outer] -= spent

    def finish_step(self) -> None:
        now = time.process_time()
        self.steps.append({"step": now - self._start, **self._spent})
        self._spent.clear()
        self._start = now

    def summary(self, warmup: int) -> dict[str, Any]:
        """Seconds of the steps after `warmup`: all, by phase, by part, and the medians.

        `loop` is what is left of a step when its named parts are taken off.
        """
        measured = self.steps[warmup:]
        parts = [{name: step.get(name, 0.0) for name in PARTS[:-1]} for step in measured]
        phases = [{name: part[name] for name in PHASES[:-1]} for part in parts]
        for part, phase, step in zip(parts, phases, measured, strict=True):
            part["loop"] = step["step"] - sum(part.values())
            phase["backward_and_rest"] = step["step"] - sum(phase.values())
        seconds = [step["step"] for step in measured]
        medians = {name: statistics.median(phase[name] for phase in phases) for name in PHASES}
        return {
            "cpu_seconds": rounded(seconds),
            "phases": [rounded(phase) for phase in phases],
            "parts": [rounded(part) for part in parts],
            "median": rounded({"step": statistics.median(seconds), **medians}),
        }


def digit_share(text: str) -> float:
    """The reward: the share of digits among a completion's characters."""
    return sum(character.isdigit() for character in text) / max(1, len(text))


def peak_rss_mb() -> float:
    """The most memory this program has held so far, in MB of 2**20 bytes.

    `getrusage` also counts what the parent held at the moment it started this program, so Linux's own figure is read
    where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024


def rounded(values: Any) -> Any:
    """Seconds or MB to four places."""
    if isinstance(values, dict):
        return {name: round(value, 4) for name, value in values.items()}
    return [round(value, 4) for value in values]


def command_line(description: str) -> argparse.ArgumentParser:
    """The options that every peer has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--model", required=True, help="folder with model and tokenizer")
    parser.add_argument(
        "--prompts", required=True, help="JSON lines with the field prompt: text, or a list of messages"
    )
    parser.add_argument("--steps", type=int, default=10, help="steps measured")
    parser.add_argument("--warmup", type=int, default=3, help="steps before them that do not count")
    parser.add_argument("--generations", type=int, default=8, help="completions a prompt")
    parser.add_argument("--completions", type=int, default=64, help="completions a step")
    parser.add_argument("--tokens", type=int, default=32, help="tokens a completion")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def parse(parser: argparse.ArgumentParser, arguments: list[str]) -> argparse.Namespace:
    """Read the command line; sizes that do not fit each other are refused."""
    options = parser.parse_args(arguments)
    if options.steps < 1 or options.warmup < 0 or options.completions % options.generations:
        parser.error("steps must be positive, and completions a multiple of generations")
    return options
