"""Several runs side by side: finished ones are skipped, failed ones named, figures read back as they were written."""

import io
import json
from pathlib import Path

import pytest

from cloze.cli.demo import final_table
from cloze.training.run_folder import RunFolder
from cloze.training.side_by_side import Job, is_done, outcome, plot_curves, run_jobs

ARGUMENTS = (
    "--set", "data.train.family=arithmetic", "--set", "data.train.n=4", "--set", "optim.steps=1",
    "--set", "sampling.prompts_per_step=1", "--set", "sampling.group_size=2",
    "--set", "sampling.max_completion_tokens=4",
    "--set", "data.eval.family=arithmetic", "--set", "data.eval.n=4", "--set", "eval.every=1",
)  # fmt: skip


def test_runs_go_in_processes_of_their_own_and_are_not_run_twice(tmp_path):
    good = Job("good", tmp_path / "good", (*ARGUMENTS, "--method", "smepo"))
    bad = Job("bad", tmp_path / "bad", (*ARGUMENTS, "--method", "nothing"))
    seen = []
    assert run_jobs([good, bad], watch=lambda: seen.append(is_done(good)), every=0.2) == [bad]
    assert is_done(good) and seen[-1] and "nothing" in Path(f"{bad.folder}.log").read_text()
    result = outcome(good.folder)
    assert [step for step, _, _ in result.curve] == [0, 1] and result.follow_rate is not None
    before = RunFolder(good.folder).metrics()
    assert run_jobs([good], every=0.05) == [] and RunFolder(good.folder).metrics() == before


def write_run(folder, accuracies):
    folder.mkdir()
    lines = []
    for step, value in accuracies.items():
        line = {"step": step, "eval/unguided_accuracy": value, "eval/unguided_low": value, "eval/unguided_high": value}
        if step:
            line |= {"reward/mean": step / 100, "time/sample": 2.0, "time/update": 1.0}
        lines.append(json.dumps(line))
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    return outcome(folder)


def test_outcome_and_time_to_target_by_hand(tmp_path):
    result = write_run(tmp_path / "run", {0: 0.01, 10: 0.05, 20: 0.3, 30: 0.25})
    assert (result.base_accuracy, result.accuracy, result.guided_reward) == (0.01, 0.25, 0.3)
    assert result.curve == ((0, 0.01, 0.0), (10, 0.05, 3.0), (20, 0.3, 6.0), (30, 0.25, 9.0))
    assert result.reaches(0.1) == (20, 6.0) and result.reaches(0.5) is None
    assert result.follow_rate is None


def test_table_and_plot_are_made(tmp_path):
    from rich.console import Console

    results = {
        name: write_run(tmp_path / name, {0: 0.0, 10: value}) for name, value in (("grpo", 0.02), ("smepo", 0.2))
    }
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(final_table(results, 0.1, 10))
    text = console.export_text()
    assert ">10" in text and "20.0%" in text and "grpo" in text
    plot_curves({name: [result, result] for name, result in results.items()}, tmp_path / "p.png", "t")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"


def test_a_run_without_evaluation_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_text('{"step": 1, "reward/mean": 0.5}\n')
    with pytest.raises(ValueError, match="no evaluation"):
        outcome(tmp_path / "run")
