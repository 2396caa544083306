"""Converted files in the hands of those they are for: TRL's trainers and verl's data set, each in its own environment.

A peer's Python is named by CLOZE_TRL_PYTHON or CLOZE_VERL_PYTHON, or lies in `.venv-trl` or `.venv-verl` beside `src`.
"""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from cloze.problems import Problem
from cloze.problems.chunks import open_source
from cloze.problems.convert import convert_rows
from cloze.problems.rewrite import rewrite

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
TOKENIZER = ROOT / "src" / "cloze" / "base"
PROBLEMS = [
    Problem("007", "What is 1+1?", "2", "1+1=2\n#### 2", verifier_settings={"extract": "hash"}),
    Problem(
        "é", "And 3*4, twelve or not?", "12", "3*4=12\n#### 12", "math", "math", {"extract": "hash"}, "", "Be brief."
    ),
    Problem("3", "0+0?", "0", "#### 0", verifier_settings={"extract": "hash"}, aliases=("zero",)),
]


def peer(name: str) -> str:
    python = os.environ.get(f"CLOZE_{name.upper()}_PYTHON", str(ROOT / f".venv-{name}" / "bin" / "python"))
    if not Path(python).exists():
        pytest.skip(f"no Python with {name}: name one by CLOZE_{name.upper()}_PYTHON, or make .venv-{name}")
    return python


def seen_by(name: str, problems: list[Problem], tmp_path: Path, ending: str) -> object:
    python = peer(name)
    path, out = tmp_path / "in.jsonl", tmp_path / f"out{ending}"
    names = ("id", "question", "target", "trace", "verifier_settings", "system", "aliases")
    rows = [{name: getattr(problem, name) for name in names} for problem in problems]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    work = partial(convert_rows, path=path, schema="cloze", to=name)
    rewrite(open_source(path), out, work, settings={})
    script = Path(__file__).with_name(f"with_{name}.py")
    given = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": ""}
    done = subprocess.run(
        [python, script, out, TOKENIZER, tmp_path / "peer"],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_trl_trains_on_a_converted_file(ending: str, tmp_path: Path) -> None:
    untraced = Problem("4", "5+5?", "10")
    seen = seen_by("trl", [*PROBLEMS, untraced], tmp_path, ending)
    rows = {row["id"]: row for row in seen["grpo"]}
    assert len(seen["grpo"]) == 8 and set(rows) == {"007", "é", "3", "4"}
    for problem in (*PROBLEMS, untraced):
        row = rows[problem.id]
        assert row["answer"] == row["solution"] == problem.target
        system = [{"role": "system", "content": problem.system}] if problem.system else []
        assert row["prompt"] == [*system, {"role": "user", "content": problem.question}]
    assert len(seen["sft"]) == 3
    for problem, text in zip(PROBLEMS, seen["sft"], strict=True):
        assert problem.question in text["all"] and problem.system in text["all"]
        assert problem.trace in text["trained"] and problem.question not in text["trained"]


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_verl_loads_and_scores_a_converted_file(ending: str, tmp_path: Path) -> None:
    seen = seen_by("verl", PROBLEMS, tmp_path, ending)
    assert [row["index"] for row in seen] == [0, 1, 2]
    for problem, row in zip(PROBLEMS, seen, strict=True):
        assert problem.question in row["prompt"] and problem.system in row["prompt"]
        assert (row["data_source"], row["ground_truth"], row["ability"]) == ("openai/gsm8k", problem.target, "math")
        assert row["scores"] == [1.0, 0.0]
        assert (row["extra_info"]["id"], row["extra_info"]["trace"]) == (problem.id, problem.trace)
