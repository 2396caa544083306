"""Code problems: ground truths that are tests, in the schemas that carry them, and the files of HumanEval and MBPP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows import USER, refusal, write

from cloze.errors import InputError
from cloze.problems.code_rows import as_tests
from cloze.problems.readers import read_problems
from cloze.problems.schemas import detect_schema

TESTS: dict[str, Any] = {
    "stdin": {"inputs": ["1\n"], "outputs": ["2\n"]},
    "call": {"fn_name": "f", "inputs": [[1]], "outputs": [2]},
    "live": [{"input": "1", "output": "2", "testtype": "stdin"}],
    "eval": {"prompt": "def f(x):\n", "entry_point": "f", "test": "def check(f):\n    assert f(1) == 2\n"},
    "mbpp": {"test_list": ["assert f(1) == 2"]},
}
EVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def f(x):\n    """One more."""\n',
    "entry_point": "f",
    "canonical_solution": "    return x + 1\n",
    "test": "def check(candidate):\n    assert candidate(1) == 2\n",
}
MBPP = {
    "task_id": 11,
    "text": "Write a function that adds.",
    "code": "class Pair:\n    pass\n\ndef sum(a, b):\n    return a + b\n",
    "test_list": ["assert sum(1, 2) == 3", "assert sum(2, 2) == 4"],
    "test_setup_code": "",
    "challenge_test_list": [],
}


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("form", TESTS)
@pytest.mark.parametrize("schema", ["cloze", "verl", "smepo", "luffy"])
def test_tests_are_a_target(schema: str, form: str, as_text: bool, tmp_path: Path) -> None:
    gold = json.dumps(TESTS[form]) if as_text else TESTS[form]
    row = {
        "cloze": {"question": "1+1?", "target": gold},
        "verl": {"prompt": [USER], "reward_model": {"ground_truth": gold}},
        "smepo": {"question": "1+1?", "reward_model": {"ground_truth": gold}, "teacher_ds": "x = 1"},
        "luffy": {
            "prompt": [USER],
            "reward_model": {"ground_truth": gold},
            "target": [{"role": "assistant", "content": "x = 1"}],
        },
    }[schema]
    assert detect_schema([row]) == schema
    (problem,) = read_problems(write(tmp_path / "a.jsonl", [row]))
    assert (problem.domain, problem.verifier, json.loads(problem.target)) == ("code", "code", TESTS[form])
    assert problem.aliases == ()


def test_columns_of_other_rows_are_not_part_of_the_tests(tmp_path: Path) -> None:
    rows = [{"question": "q", "target": {"fn_name": None, "test_list": None, **TESTS["stdin"]}}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (problem,) = read_problems(tmp_path / "a.parquet")
    assert json.loads(problem.target) == TESTS["stdin"]


@pytest.mark.parametrize(
    "value", ["4", 4, ["4"], {"target": 24, "numbers": [4, 6]}, "[1,2]", "{1, 2}", "", None, [], {}, {"inputs": [1]}]
)
def test_other_ground_truths_are_not_tests(value: object) -> None:
    assert as_tests(value, "target") is None


@pytest.mark.parametrize("empty", [{"inputs": [], "outputs": []}, {"test_list": []}, {"test": "", "entry_point": "f"}])
def test_no_tests_are_refused(empty: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="field 'target': holds no tests"):
        as_tests(empty, "target")
    row = {"prompt": [USER], "reward_model": {"ground_truth": empty}}
    assert "row 1, field 'reward_model.ground_truth': holds no tests" in refusal(write(tmp_path / "a.jsonl", [row]))


def test_a_row_with_another_verifier_keeps_its_target(tmp_path: Path) -> None:
    row = {"question": "q", "target": json.dumps(TESTS["mbpp"]), "verifier": "math"}
    (problem,) = read_problems(write(tmp_path / "a.jsonl", [row]))
    assert (problem.verifier, problem.domain) == ("math", "math")


def test_a_data_set_may_not_turn_the_sandbox_off(tmp_path: Path) -> None:
    own = {"question": "q", "target": TESTS["mbpp"], "verifier_settings": {"sandbox": "unsafe"}}
    assert "may not turn the sandbox off" in refusal(write(tmp_path / "a.jsonl", [own]))
    rest = {"cloze": {"verifier": "code", "verifier_settings": {"sandbox": "unsafe"}}}
    verl = {"prompt": [USER], "reward_model": {"ground_truth": TESTS["mbpp"]}, "extra_info": rest}
    assert "may not turn the sandbox off" in refusal(write(tmp_path / "b.jsonl", [verl]))


def test_human_eval_is_read(tmp_path: Path) -> None:
    assert detect_schema([EVAL]) == "human_eval"
    (problem,) = read_problems(write(tmp_path / "a.jsonl", [EVAL]))
    assert (problem.id, problem.question, problem.domain) == ("HumanEval/0", EVAL["prompt"], "code")
    assert problem.trace == EVAL["prompt"] + EVAL["canonical_solution"]
    assert json.loads(problem.target) == {name: EVAL[name] for name in ("prompt", "entry_point", "test")}


@pytest.mark.parametrize("asked", ["text", "prompt"])
def test_mbpp_is_read(asked: str, tmp_path: Path) -> None:
    row = {**MBPP, asked: MBPP["text"], "test_imports": ["import math"]}
    if asked == "prompt":
        del row["text"]
    assert detect_schema([row]) == "mbpp"
    (problem,) = read_problems(write(tmp_path / "a.jsonl", [row]))
    assert problem.id == "11" and problem.trace == MBPP["code"]
    assert problem.question.startswith("Write a function") and problem.question.endswith(MBPP["test_list"][-1])
    assert json.loads(problem.target) == {
        "test_list": MBPP["test_list"],
        "entry_point": ["Pair", "sum"],
        "test_imports": ["import math"],
    }


def test_an_mbpp_solution_that_is_no_python_is_a_bad_row(tmp_path: Path) -> None:
    assert "row 1, field 'code': is not Python" in refusal(write(tmp_path / "a.jsonl", [{**MBPP, "code": "def f("}]))
