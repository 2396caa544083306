"""`cloze demo`: the whole story on a laptop CPU in minutes.

One base policy that is right now and then is trained in three settings with the same steps: without guidance, with the
full expert trace in the prompt, and with the masked trace. While they run a table shows where each stands; at the end
it shows who learned and who copied.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloze.cli.terminal import note, percent, stderr, table

if TYPE_CHECKING:
    from rich.table import Table

    from cloze.training.side_by_side import Job

CONFIG = Path(__file__).with_name("demo.toml")
METHODS = ("grpo", "full_trace", "smepo")
TARGET = 0.1
SECONDS_A_STEP = 0.8
EVALUATION_SECONDS = 7.0


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run folders, table and plot.")] = Path("demo-run"),
    steps: Annotated[int | None, typer.Option(min=1, help="Steps of each run (default: those of the demo).")] = None,
    seed: Annotated[int, typer.Option(help="The one seed of every random draw.")] = 0,
    processes: Annotated[int, typer.Option(min=1, help="Runs at a time, one core each.")] = 2,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what an earlier demo has done.")] = False,
) -> None:
    """Train one base policy without guidance, with the full trace, and with the masked trace; show who learned.

    Needs no download and no GPU. An interrupted demo goes on where it stopped; a finished one just shows its table.
    """
    import shutil

    from cloze.errors import CheckFailed
    from cloze.training.config import load_config
    from cloze.training.side_by_side import Job, is_done, outcome, plot_curves, run_jobs

    config = load_config(CONFIG)
    total = steps or config.optim.steps
    sets = ("--set", f"optim.steps={total}", "--seed", str(seed))
    jobs = [Job(m, out / f"{m}-seed{seed}-{total}", (str(CONFIG), "--method", m, *sets)) for m in METHODS]
    for job in jobs if fresh else []:
        shutil.rmtree(job.folder, ignore_errors=True)
        Path(f"{job.folder}.log").unlink(missing_ok=True)
    left = [job for job in jobs if not is_done(job)]
    if left:
        a_run = total * SECONDS_A_STEP + (2 + total // max(config.eval.every, 1)) * EVALUATION_SECONDS + 10
        minutes = a_run * -(-len(left) // processes) / 60
        note(
            f"{len(left)} runs of {total} steps, {processes} at a time: about {minutes:.0f} minutes on 2 cores."
            f" Base policy: {config.model.path}. Run folders and logs: {out}/"
        )
        started = time.monotonic()
        try:
            failed = _watch(jobs, total, processes, run_jobs)
        except KeyboardInterrupt:
            note("stopped; the same command goes on where it stopped")
            raise typer.Exit(130) from None
        if failed:
            logs = ", ".join(f"{job.folder}.log" for job in failed)
            raise CheckFailed(f"{len(failed)} of {len(jobs)} runs failed; see {logs}")
        note(f"done in {(time.monotonic() - started) / 60:.1f} minutes")
    outcomes = {job.name: outcome(job.folder) for job in jobs}
    plot_curves({name: [result] for name, result in outcomes.items()}, out / "accuracy.png", "One base, three settings")
    from rich.console import Console

    Console().print(final_table(outcomes, TARGET, total))
    note(f"plot: {out / 'accuracy.png'}; run folders: {', '.join(str(job.folder) for job in jobs)}")


def final_table(outcomes: dict[str, Any], target: float, steps: int) -> Table:
    """Who learned and who copied."""
    rows = []
    for name, result in outcomes.items():
        reached = result.reaches(target)
        rows.append(
            [
                name,
                percent(result.guided_reward),
                percent(result.base_accuracy),
                percent(result.accuracy),
                f"{100 * result.low:.0f}-{100 * result.high:.0f}%",
                percent(result.follow_rate),
                str(reached[0]) if reached else f">{steps}",
                f"{reached[1]:.0f}" if reached else "-",
            ]
        )
    goal = f"{100 * target:.0f}%"
    headers = ["setting", "reward", "before", "after", "95%", "follows", f"steps to {goal}", f"s to {goal}"]
    title = "Who learned, who copied (before, after: unguided; follows: a forgery)"
    return table(title, headers, rows)


def _watch(jobs: Sequence[Job], total: int, processes: int, run_jobs: Any) -> list[Job]:
    if not stderr.is_terminal:
        shown = [-1]

        def print_now_and_then() -> None:
            lines = [_last(job) for job in jobs]
            if (done := sum(int(line.get("step", 0)) for line in lines)) // 20 != shown[0]:
                shown[0] = done // 20
                note(
                    f"{done} of {total * len(jobs)} steps; "
                    + "; ".join(_brief(job, line) for job, line in zip(jobs, lines, strict=True))
                )

        return list(run_jobs(jobs, processes=processes, watch=print_now_and_then))
    from rich.live import Live

    with Live(_progress_table(jobs, total), console=stderr, refresh_per_second=2) as live:
        return list(run_jobs(jobs, processes=processes, watch=lambda: live.update(_progress_table(jobs, total))))


def _last(job: Job) -> dict[str, Any]:
    """The newest known value of each metric."""
    from cloze.training.run_folder import RunFolder

    merged: dict[str, Any] = {}
    for line in RunFolder(job.folder).metrics():
        merged |= {key: value for key, value in line.items() if value is not None}
    return merged


def _brief(job: Job, line: dict[str, Any]) -> str:
    return f"{job.name} step {line.get('step', 0)}, unguided {percent(line.get('eval/unguided_accuracy'))}"


def _progress_table(jobs: Sequence[Job], total: int) -> Table:
    rows = []
    for job in jobs:
        line = _last(job)
        rows.append(
            [
                job.name,
                f"{line.get('step', 0)} of {total}",
                percent(line.get("reward/mean")),
                percent(line.get("group/zero_variance")),
                percent(line.get("eval/unguided_accuracy")),
                percent(line.get("copying/follow_rate")),
            ]
        )
    headers = ["setting", "step", "reward", "groups without signal", "unguided", "follows a forged trace"]
    return table("Training", headers, rows)
