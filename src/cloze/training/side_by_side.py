"""Several runs of the same base under the same budget, a few processes at a time, and the table that compares them.

Each run is an ordinary `cloze train` in its own process and folder, so one that is killed can be resumed and one that
is done is not run again. What is compared is read back from the run folders.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloze.training.run_folder import RunFolder

Metrics = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """One run: where it goes, and the arguments of `cloze train` beside `--out`."""

    name: str
    folder: Path
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run came to.

    Attributes:
        guided_reward: mean reward of the last tenth of the steps, under the prompts that were trained.
        accuracy, low, high: unguided, at the last evaluation, with its 95% interval.
        base_accuracy: unguided, before the first step.
        follow_rate: share that follows a forged trace shown as the method shows it; None without guidance.
        full_trace_follow_rate: the same under the whole forged trace, whatever the method.
        curve: (step, unguided accuracy, seconds of training so far).
    """

    guided_reward: float
    accuracy: float
    low: float
    high: float
    base_accuracy: float
    follow_rate: float | None
    full_trace_follow_rate: float | None
    curve: tuple[tuple[int, float, float], ...]

    def reaches(self, target: float) -> tuple[int, float] | None:
        """Step and seconds of training at the first evaluation with at least this accuracy."""
        return next(((step, seconds) for step, accuracy, seconds in self.curve if accuracy >= target), None)


def run_jobs(
    jobs: Sequence[Job], *, processes: int = 2, watch: Callable[[], None] = lambda: None, every: float = 1.0
) -> list[Job]:
    """Run the jobs, `processes` at a time, calling `watch` now and then; returns those that failed.

    A job whose folder holds a finished run is skipped, one that was interrupted is resumed. What a run prints goes to
    `FOLDER.log`. On Ctrl-C the runs are told to save before this returns.
    """
    waiting, failed = [job for job in jobs if not is_done(job)], []
    running: dict[subprocess.Popen[bytes], Job] = {}
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                job = waiting.pop(0)
                running[_start(job)] = job
            time.sleep(every)
            watch()
            for process in [p for p in running if p.poll() is not None]:
                job = running.pop(process)
                if process.returncode != 0:
                    failed.append(job)
    except KeyboardInterrupt:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait()
        raise
    watch()
    return failed


def is_done(job: Job) -> bool:
    """Whether the run has its last checkpoint: the marker `finished` is written when `cloze train` ends well."""
    return (job.folder / "finished").exists()


def outcome(folder: Path) -> Outcome:
    """Read back what a run came to.

    Raises:
        ValueError: the run has no evaluation.
    """
    lines = RunFolder(folder).metrics()
    evaluations = [line for line in lines if line.get("eval/unguided_accuracy") is not None]
    if not evaluations:
        raise ValueError(f"{folder} has no evaluation")
    steps = [line for line in lines if line.get("reward/mean") is not None]
    tail = steps[-max(1, len(steps) // 10) :]
    seconds, spent = {0: 0.0}, 0.0
    for line in lines:
        spent += line.get("time/sample", 0.0) + line.get("time/update", 0.0)
        seconds[line["step"]] = spent
    last = evaluations[-1]
    return Outcome(
        guided_reward=sum(line["reward/mean"] for line in tail) / len(tail) if tail else float("nan"),
        accuracy=last["eval/unguided_accuracy"],
        low=last["eval/unguided_low"],
        high=last["eval/unguided_high"],
        base_accuracy=evaluations[0]["eval/unguided_accuracy"],
        follow_rate=last.get("copying/follow_rate"),
        full_trace_follow_rate=last.get("copying/full_trace_follow_rate"),
        curve=tuple((e["step"], e["eval/unguided_accuracy"], seconds[e["step"]]) for e in evaluations),
    )


def plot_curves(curves: dict[str, Sequence[Outcome]], path: Path, title: str) -> None:
    """Unguided accuracy over steps, one line a method; with several seeds the mean and the range of the seeds."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    for name, outcomes in curves.items():
        steps = [step for step, _, _ in outcomes[0].curve]
        by_step = [[{s: a for s, a, _ in o.curve}.get(step) for o in outcomes] for step in steps]
        known = [(step, [v for v in values if v is not None]) for step, values in zip(steps, by_step, strict=True)]
        xs = [step for step, values in known if values]
        means = [100 * sum(values) / len(values) for _, values in known if values]
        (line,) = axes.plot(xs, means, marker="o", markersize=3, label=name)
        if len(outcomes) > 1:
            lows = [100 * min(values) for _, values in known if values]
            highs = [100 * max(values) for _, values in known if values]
            axes.fill_between(xs, lows, highs, alpha=0.15, color=line.get_color())
    axes.set(xlabel="step", ylabel="unguided accuracy (%)", title=title, ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=140)
    pyplot.close(figure)


def _start(job: Job) -> subprocess.Popen[bytes]:
    job.folder.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "cloze.cli.main"]
    if (job.folder / "config.toml").exists():
        command += ["resume", str(job.folder)]
    else:
        command += ["train", *job.arguments, "--out", str(job.folder)]
    log = (job.folder.parent / f"{job.folder.name}.log").open("ab")
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,  # Ctrl-C reaches the parent only, which tells the runs to save
        env={**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
    )
