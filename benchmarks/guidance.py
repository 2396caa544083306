"""The demo's comparison over several seeds, with intervals: does guidance help, and does the policy learn or copy?

    python benchmarks/guidance.py --seeds 5

Every method starts from the same base policy and sees the same problems for the same steps; a seed changes the order
of the problems and every draw. Runs go two at a time, one core each; what is done is not run again, what was killed is
resumed. Printed: a table of means over seeds with 95% bootstrap intervals over seeds, paired differences to GRPO, and
time to the target accuracy. Written: guidance.csv (one row a run) and guidance.png beside the run folders.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

from rich.console import Console

from cloze.cli.demo import CONFIG, TARGET
from cloze.cli.terminal import table
from cloze.evaluation.intervals import bootstrap
from cloze.training.config import load_config
from cloze.training.side_by_side import Job, Outcome, is_done, outcome, plot_curves, run_jobs

METHODS = ["grpo", "full_trace", "smepo", "smepo_annealed", "smepo_mixed", "smepo_gated", "smepo_unguided_update"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default=",".join(METHODS), help="names, separated by commas")
    parser.add_argument("--steps", type=int, help="default: those of the demo")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--target", type=float, default=TARGET, help="unguided accuracy to reach")
    parser.add_argument("--out", type=Path, default=Path("runs/guidance"))
    parser.add_argument("--set", dest="sets", action="append", default=[], help="override a key of the demo's config")
    options = parser.parse_args()
    methods = options.methods.split(",")
    steps = options.steps or load_config(CONFIG).optim.steps
    sets = [item for key in (f"optim.steps={steps}", *options.sets) for item in ("--set", key)]
    jobs = {
        (method, seed): Job(
            f"{method}/{seed}",
            options.out / f"{method}-seed{seed}",
            (str(CONFIG), "--method", method, "--seed", str(seed), *sets),
        )
        for seed in range(options.seeds)
        for method in methods
    }
    started, shown = time.monotonic(), [-1]

    def watch() -> None:
        done = sum(is_done(job) for job in jobs.values())
        if done != shown[0]:
            shown[0] = done
            print(f"{done} of {len(jobs)} runs, {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)

    failed = run_jobs(list(jobs.values()), processes=options.processes, watch=watch)
    for job in failed:
        print(f"failed: {job.name}, see {job.folder}.log", file=sys.stderr)
    outcomes = {
        method: {s: outcome(jobs[method, s].folder) for s in range(options.seeds) if jobs[method, s] not in failed}
        for method in methods
    }
    outcomes = {method: results for method, results in outcomes.items() if results}
    _write_csv(options.out / "guidance.csv", outcomes, options.target)
    plot_curves(
        {m: list(r.values()) for m, r in outcomes.items()},
        options.out / "guidance.png",
        f"Unguided accuracy, mean and range of {options.seeds} seeds",
    )
    Console(width=170).print(_table(outcomes, options.target, steps))
    return 1 if failed else 0


def _table(outcomes: dict[str, dict[int, Outcome]], target: float, steps: int) -> object:
    base = outcomes.get("grpo", {})
    rows = []
    for method, by_seed in outcomes.items():
        common = [seed for seed in by_seed if seed in base and method != "grpo"]
        paired = _interval([100 * (by_seed[s].accuracy - base[s].accuracy) for s in common], sign=True)
        results = list(by_seed.values())
        reached = [result.reaches(target) for result in results]
        times = [found for found in reached if found]
        rows.append(
            [
                method,
                _interval([100 * result.guided_reward for result in results]),
                _interval([100 * result.accuracy for result in results]),
                paired,
                _interval([100 * result.follow_rate for result in results if result.follow_rate is not None]),
                _interval([100 * r.full_trace_follow_rate for r in results if r.full_trace_follow_rate is not None]),
                f"{len(times)} of {len(results)}",
                _interval([float(step) for step, _ in times]),
                _interval([seconds for _, seconds in times]),
                f"{sum(result.curve[-1][2] for result in results) / len(results):.0f}",
            ]
        )
    headers = [
        "method",
        "training reward %",
        "unguided %",
        "minus grpo (paired)",
        "follows forged hint %",
        "follows forged full trace %",
        f"reached {100 * target:.0f}%",
        "steps to it",
        "seconds to it",
        "seconds in all",
    ]
    return table(f"{steps} steps; mean over seeds [95% bootstrap interval over seeds]", headers, rows)


def _interval(values: list[float], sign: bool = False) -> str:
    if not values:
        return "-"
    low, high = bootstrap(values)
    mean = sum(values) / len(values)
    return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]" if sign else f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def _write_csv(path: Path, outcomes: dict[str, dict[int, Outcome]], target: float) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["method", "seed", "training_reward", "base_accuracy", "accuracy", "low", "high", "follow_rate"]
            + ["full_trace_follow_rate", "steps_to_target", "seconds_to_target", "training_seconds"]
        )
        for method, results in outcomes.items():
            for seed, r in results.items():
                reached = r.reaches(target) or ("", "")
                writer.writerow(
                    [method, seed, r.guided_reward, r.base_accuracy, r.accuracy, r.low, r.high, r.follow_rate]
                    + [r.full_trace_follow_rate, *reached, r.curve[-1][2]]
                )


if __name__ == "__main__":
    sys.exit(main())
