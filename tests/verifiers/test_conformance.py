"""`cloze validate`, with the pool behind it, and `--conformance` as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cloze.errors import InputError
from cloze.problems import Problem
from cloze.verifiers import conformance, verify
from cloze.verifiers.conformance import check_cases
from cloze.verifiers.gold import gold_completion
from cloze.verifiers.workers import WorkerLostError

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "verifier_math.jsonl"
RIGHT = {"target": "1/2", "answer": r"\boxed{0.5}", "right": "correct", "note": "a decimal"}
ODD = {"target": r"\frac{\pi}{2^{99}}", "answer": r"\boxed{\frac{\pi}{2^{98}}}", "right": "wrong"}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def cloze(*arguments: object) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cloze.cli.main", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout, run.stderr


def test_each_case_is_shown_with_ours_and_plain_math_verify(tmp_path: Path) -> None:
    hashed = {"target": "4", "answer": "#### 4", "right": "no_answer", "extract": "boxed"}
    slow = {"target": "1", "answer": r"\boxed{9^{9^{9^{9}}}}", "right": "wrong_or_timeout"}
    code, out, err = cloze("validate", "--conformance", write(tmp_path / "cases.jsonl", RIGHT, ODD, hashed, slow))
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("4 of 4 right (plain math-verify: ")
    assert "0.5" in out and "DIFFERS" not in out


def test_a_verdict_that_differs_is_exit_code_1(tmp_path: Path) -> None:
    wrong = {**RIGHT, "right": "wrong"}
    code, out, err = cloze("validate", "--conformance", write(tmp_path / "cases.jsonl", RIGHT, wrong))
    assert code == 1 and "1 of 2 cases differ" in err
    assert out.splitlines()[-1].startswith("1 of 2 right") and out.count("DIFFERS") == 1
    code, out, _ = cloze("validate", "--conformance", tmp_path / "cases.jsonl", "--json")
    found = json.loads(out)
    assert code == 1 and (found["right"], found["all"]) == (1, 2)
    assert [(case["right"], case["ours"], case["plain"]) for case in found["cases"]] == [
        ("correct", "correct", "correct"),
        ("wrong", "correct", "correct"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"target": "1", "answer": "1"}, "row 2, field 'right'"),
        ({**RIGHT, "right": "maybe"}, "unknown verdict 'maybe'"),
        ({**RIGHT, "right": "wrong_or_maybe"}, "unknown verdict"),
        ({**RIGHT, "target": 5}, "field 'target'"),
        ({**RIGHT, "extract": "bx"}, "extract cannot be 'bx'"),
    ],
)
def test_what_is_no_case_is_named(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        list(check_cases(write(tmp_path / "cases.jsonl", RIGHT, row)))
    assert message in str(caught.value)


def test_one_of_data_and_cases(tmp_path: Path) -> None:
    for arguments in ((), (tmp_path / "x.jsonl", "--conformance", tmp_path / "y.jsonl")):
        code, _, err = cloze("validate", *arguments)
        assert code == 2 and "--conformance" in err


def test_when_plain_math_verify_hangs_the_table_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stuck_work.py").write_text(
        "def warm_up(): pass\n"
        "def outcome(answer, target):\n"
        "    while 'spin' in answer: pass\n"
        "    return 'wrong'\n"
    )  # fmt: skip
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(conformance, "PLAIN", "stuck_work")
    monkeypatch.setattr(conformance, "PLAIN_CPU_SECONDS", 1)
    spin = {"target": "1", "answer": r"\boxed{spin}", "right": "wrong"}
    cases = list(check_cases(write(tmp_path / "cases.jsonl", spin, RIGHT)))
    assert [(case.ours, case.plain) for case in cases] == [("wrong", "timeout"), ("correct", "wrong")]


def test_when_plain_math_verify_is_lost_the_table_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = conformance.Plain()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(plain.worker, "ask", lambda answer, target: (_ for _ in ()).throw(WorkerLostError("gone")))
            assert plain.ask(r"\boxed{1}", "1") == "lost"
        assert plain.ask(r"\boxed{1}", "1") == "correct"
    finally:
        plain.close()


def test_validate_scores_through_the_pool(tmp_path: Path) -> None:
    traces = [r"\boxed{3+\pi}", r"\boxed{4+\pi}", r"\boxed{\pi+\sqrt9}", "nothing"]
    rows = [{"id": str(n), "question": "?", "target": r"\pi+3", "trace": trace} for n, trace in enumerate(traces)]
    path = write(tmp_path / "in.jsonl", *rows)
    outputs = {cloze("validate", path, "--json", "--workers", count)[1] for count in (1, 3)}
    assert len(outputs) == 1
    found = json.loads(outputs.pop())
    assert found["targets"] == {"correct": 4}
    assert found["traces"] == {"correct": 2, "wrong": 1, "no_answer": 1}
    assert [(failure["row"], failure["status"]) for failure in found["examples"]] == [(2, "wrong"), (4, "no_answer")]


@pytest.mark.parametrize(
    ("verifier", "settings", "target"),
    [("math", {"extract": one}, r"\frac{1}{2}") for one in ("boxed", "hash", "answer_is", "bold", "last")]
    + [("answer", {"extract": one}, "New York") for one in ("tag", "answer_is", "last_line", "whole")]
    + [("math", {}, "4"), ("answer", {}, "New York")],
)
def test_every_target_is_right_in_its_own_writing(verifier: str, settings: dict[str, object], target: str) -> None:
    problem = Problem("p", "?", target, verifier=verifier, verifier_settings=settings)
    written = gold_completion(problem)
    assert written is not None and verify(problem, written).reward == 1.0


def test_tests_are_no_answer() -> None:
    assert gold_completion(Problem("p", "?", "[]", domain="code", verifier="code")) is None


@pytest.mark.slow
def test_the_shared_cases_as_a_command() -> None:
    if not CASES.exists():
        pytest.skip(f"no {CASES}")
    code, out, _ = cloze("validate", "--conformance", CASES)
    count = sum(bool(line.strip()) for line in CASES.read_text(encoding="utf-8").splitlines())
    assert code == 0 and out.splitlines()[-1].startswith(f"{count} of {count} right")
