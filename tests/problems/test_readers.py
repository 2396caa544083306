"""Readers: every schema from every format, and rows that cannot be read."""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import GOLD, OPENR1, REPLY, ROWS, SYSTEM, TRACES, USER, of_row, refusal, rows_of, write

from cloze.errors import InputError
from cloze.problems import Problem
from cloze.problems.arithmetic import generate
from cloze.problems.files import READERS, to_arrow
from cloze.problems.readers import read_problems, require_traces
from cloze.problems.schemas import SCHEMAS, detect_schema, plain, read_target


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("schema", ROWS)
def test_each_schema_is_found_and_read_from_each_format(schema: str, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"data{ending}", [ROWS[schema]])
    assert detect_schema([row for _, row in rows_of(path)]) == schema
    (problem,) = read_problems(path)
    assert (problem.question, problem.target) == ("1+1?", "2")
    assert problem.trace == TRACES.get(schema, "It is 2.")
    assert problem.id == "data-1"
    assert problem.source == f"{path} row 1"


def test_a_trace_alone_is_a_row_of_our_own_that_lacks_the_rest(tmp_path: Path) -> None:
    assert detect_schema([{"trace": "x", "domain": "code"}]) == "cloze"
    assert detect_schema([{"prompt": "q", "answer": "a", "trace": "x"}]) == "trl"
    assert detect_schema([{"problem": "q", "answer": "a", "trace": "x"}]) == "openr1"
    assert "row 1, field 'question': is missing" in refusal(write(tmp_path / "a.jsonl", [{"trace": "x"}]))


def test_own_rows_come_back_unchanged(tmp_path: Path) -> None:
    problems = [
        *generate(3),
        Problem("é-1", "Who?", "Ada", None, "entities", "answer", {}, "somewhere", "Be brief.", ("A. Lovelace",)),
    ]
    for ending in (".jsonl", ".parquet"):
        path = tmp_path / f"own{ending}"
        rows = [asdict(problem) for problem in problems]
        if ending == ".jsonl":
            write(path, rows)
        else:
            pq.write_table(to_arrow(rows, path, {}), path)
        assert read_problems(path) == problems


def test_python_writing_in_a_csv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    with open(path, "w", newline="") as handle:
        csv.writer(handle).writerows([["prompt", "reward_model"], [str([SYSTEM, USER]), str({"ground_truth": 4.0})]])
    (problem,) = read_problems(path)
    assert (problem.system, problem.question, problem.target) == ("Be brief.", "1+1?", "4")


def test_messages_that_cannot_be_read_are_no_question(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    with open(path, "w", newline="") as handle:
        csv.writer(handle).writerows([["prompt", "reward_model"], [f"[{SYSTEM} {USER}]", str(GOLD)]])
    assert "row 1, field 'prompt'" in refusal(path)


def test_columns_that_fit_nothing_or_too_much_are_named() -> None:
    with pytest.raises(InputError, match=r"'q', 'a' fit no known schema.*cloze \(question, target\)"):
        detect_schema([{"q": 1}, {"a": 2}])
    with pytest.raises(InputError, match="more than one schema, cloze and gsm8k"):
        detect_schema([{"question": "q", "target": "4", "answer": "2+2\n#### 4"}])


def test_narrow_schemas_win_over_verl() -> None:
    extra = {"teacher_ds": "t"}
    assert detect_schema([{"prompt": [USER], "question": "q", "reward_model": GOLD, "extra_info": extra}]) == "smepo"
    assert detect_schema([{"prompt": [USER], "question": "q", "reward_model": GOLD}]) == "verl"
    assert detect_schema([{"prompt": [USER], "reward_model": GOLD, "target": None}]) == "verl"
    assert detect_schema([{"prompt": [USER], "reward_model": GOLD, "target": 24}]) == "verl"


def test_a_named_schema_is_used_and_an_unknown_one_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"question": "q", "target": "4", "answer": "2+2\n#### 4"}])
    assert read_problems(path, schema="gsm8k")[0].trace == "2+2\n#### 4"
    assert "use one of cloze, smepo" in refusal(path, schema="glaze")


# Targets


@pytest.mark.parametrize(
    ("value", "target", "aliases"),
    [
        ("4", "4", ()),
        (" 4\n", "4", ()),
        (4, "4", ()),
        (4.0, "4", ()),
        (-0.0, "0", ()),
        (0.25, "0.25", ()),
        (1e-7, "0.0000001", ()),
        (1e23, "1" + "0" * 23, ()),
        (["4"], "4", ()),
        ([4], "4", ()),
        (["Ada", "A. L.", "Ada", "A. L."], "Ada", ("A. L.",)),
        ({"target": ["Ada", "A. L."]}, "Ada", ("A. L.",)),
        ({"target": 24, "numbers": [4, 6]}, "24", ()),
        ({"ground_truth": "4", "target": None}, "4", ()),
        (np.int64(4), "4", ()),
        (np.float64(4.0), "4", ()),
        (np.float32(0.1), "0.1", ()),
        (np.array(["4"], dtype=object), "4", ()),
        (np.array([4]), "4", ()),
        ("[1,2]", "[1,2]", ()),
    ],
)
def test_clear_targets(value: object, target: str, aliases: tuple) -> None:
    assert read_target(value, "answer") == (target, aliases)


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", "  ", {}, [], [[4]], [None], [4, 5], ["4", 4], ["4", ""], True, [False], np.True_, b"4"),
        *(float("nan"), "nan", np.float32("nan"), [float("nan")], float("inf")),
        *({"target": None}, {"target": {"target": 4}}, {"target": "4", "ground_truth": "5"}, {"numbers": [4]}),
    ],
)
def test_unclear_targets_are_refused_by_field(value: object) -> None:
    with pytest.raises(InputError) as caught:
        of_row("verl", {"prompt": [USER], "reward_model": {"ground_truth": value}})
    assert caught.value.field == "reward_model.ground_truth"


@pytest.mark.parametrize("value", [None, {}, "", "4", [], 4])
def test_a_reward_model_that_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(InputError) as caught:
        of_row("verl", {"prompt": [USER], "reward_model": value})
    assert caught.value.field == "reward_model"


@settings(max_examples=60, deadline=None)
@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_written_out_and_keeps_its_value(number: float) -> None:
    text, _ = read_target(number, "answer")
    assert (int(text) if isinstance(number, int) else float(text)) == number
    assert set(text) <= set("-.0123456789")


# Schemas in detail


def test_extra_info_may_differ_from_row_to_row(tmp_path: Path) -> None:
    rows = [
        {"prompt": [USER], "reward_model": GOLD, "extra_info": extra}
        for extra in ({"index": 1}, {"solution": "Add."}, {"id": 7, "teacher_ds": "It is 2."}, None)
    ]
    for ending in (".jsonl", ".parquet"):
        problems = read_problems(write(tmp_path / f"v{ending}", rows))
        assert [problem.trace for problem in problems] == [None, "Add.", "It is 2.", None]
        assert [problem.id for problem in problems] == ["v-1", "v-2", "7", "v-4"]


@pytest.mark.parametrize(
    "prompt",
    [None, [], "", [REPLY], [USER, REPLY, USER], [{"role": "user", "content": None}], [{"content": "q"}], 4],
)
def test_prompts_that_are_not_one_question_are_refused(prompt: object) -> None:
    with pytest.raises(InputError) as caught:
        of_row("verl", {"prompt": prompt, "reward_model": GOLD})
    assert caught.value.field == "prompt"


@pytest.mark.parametrize("target", [[USER], [REPLY, REPLY], 4, [{"role": "assistant", "content": 4}]])
def test_an_expert_reply_is_one_assistant_message(target: object) -> None:
    with pytest.raises(InputError) as caught:
        of_row("luffy", {**ROWS["luffy"], "target": target})
    assert caught.value.field == "target"


def test_a_trace_that_is_json_stays_text() -> None:
    assert of_row("trl", {"prompt": "q", "answer": "1", "completion": '[{"a": 1}]'})["trace"] == '[{"a": 1}]'


@pytest.mark.parametrize(
    ("changes", "trace"),
    [
        ({}, "Add."),
        ({"generations": ["a", "b"], "correctness_math_verify": [False, None]}, "Add."),
        ({"generations": np.array(["a", "b"]), "correctness_math_verify": np.array([False, True])}, "b"),
        ({"generations": ["", "b"], "correctness_math_verify": [True, True]}, "b"),
        ({"generations": ["a"], "correctness_math_verify": None}, "Add."),
        ({"generations": ["a"], "correctness_math_verify": ["False"]}, "Add."),
        ({"generations": None, "correctness_math_verify": None, "solution": None}, None),
    ],
)
def test_openr1_takes_the_first_right_generation(changes: dict, trace: str | None) -> None:
    assert of_row("openr1", {**OPENR1, **changes})["trace"] == trace


def test_a_list_of_texts_as_numpy_prints_it_is_not_joined_into_one() -> None:
    with pytest.raises(InputError, match="must be a list") as caught:
        of_row("openr1", {**OPENR1, "generations": "['a' 'b']", "correctness_math_verify": "[true]"})
    assert caught.value.field == "generations"


def test_openr1_marks_that_do_not_match_are_refused() -> None:
    with pytest.raises(InputError, match="2 generations but 1 marks"):
        of_row("openr1", {**OPENR1, "generations": ["a", "b"], "correctness_math_verify": [True]})


@pytest.mark.parametrize(
    ("answer", "target", "trace"),
    [
        ("a <<1*2=2>>2, b <<(2+2)/2=2>>2\n#### 1,234", "1234", "a 2, b 2\n#### 1234"),
        ("#### 5", "5", None),
        ("x\n#### 1,234,567.5", "1234567.5", "x\n#### 1234567.5"),
        ("x\n#### 1,2", "1,2", "x\n#### 1,2"),
    ],
)
def test_gsm8k_answers(answer: str, target: str, trace: str | None) -> None:
    fields = of_row("gsm8k", {"question": "q", "answer": answer})
    assert (fields["target"], fields["trace"]) == (target, trace)
    assert fields["verifier_settings"] == {"extract": "hash"}


@pytest.mark.parametrize("answer", ["no mark", "mark ####", None, 4])
def test_gsm8k_answers_without_a_target_are_refused(answer: object) -> None:
    with pytest.raises(InputError) as caught:
        of_row("gsm8k", {"question": "q", "answer": answer})
    assert caught.value.field == "answer"


def test_trl_takes_the_solution_when_there_is_no_answer() -> None:
    assert of_row("trl", {"prompt": "q", "solution": 4, "answer": None})["target"] == "4"
    assert of_row("trl", {"prompt": "q", "solution": "5", "answer": "4"})["target"] == "4"


def test_an_unknown_domain_is_named_by_row(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"question": "q", "target": "4", "domain": "maths"}])
    assert "a.jsonl, row 1, field 'domain': unknown domain 'maths'" in refusal(path)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("field", ["id", "question", "target", "trace", "system"])
def test_text_that_later_stages_cannot_hold_is_refused(text: str, field: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [ROWS["cloze"], {**ROWS["cloze"], field: text}])
    assert f"a.jsonl, row 2, field '{field}': holds a" in refusal(path)


def test_numpy_values_become_plain_all_the_way_down() -> None:
    value = plain({"a": np.array([np.float32(0.5)]), "b": (np.int64(1), [np.bool_(True)])})
    assert value == {"a": [0.5], "b": [1, [True]]}
    assert type(value["b"][0]) is int
    assert value["b"][1][0] is True


# Bad rows, counts, ids

BAD = [
    '{"question": "q1", "target": 4}',
    '{"question": "q2"}',
    "{torn",
    "",
    "[1]",
    '{"question": "", "target": 4}',
    '{"question": "q7", "target": 4, "trace": " "}',
]


def test_the_first_bad_row_stops_and_the_line_says_how_many_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(BAD))
    assert refusal(path) == (
        f"{path}, row 2, field 'target': is missing; fill it in; bad rows in all: 4 of 6, --skip-bad leaves them out"
    )


def test_skipped_rows_are_shown_and_counted(tmp_path: Path) -> None:
    path, lines = tmp_path / "a.jsonl", []
    path.write_text("\n".join(BAD))
    problems = read_problems(path, skip_bad=True, report=lines.append)
    assert [problem.id for problem in problems] == ["a-1", "a-7"]
    assert [line.split(":")[0].removeprefix(f"{path}, ") for line in lines[:4]] == [
        "row 2, field 'target'",
        "row 3",
        "row 5",
        "row 6, field 'question'",
    ]
    assert lines[4:] == [f"{path}: 4 of 6 rows are bad and left out", f"{path}: 2 of 2 rows have no expert trace"]


def test_only_ten_bad_rows_are_shown(tmp_path: Path) -> None:
    path, lines = write(tmp_path / "a.jsonl", [ROWS["cloze"], *[{"question": "q"}] * 25]), []
    assert len(read_problems(path, skip_bad=True, report=lines.append)) == 1
    assert len(lines) == 11
    assert lines[-1].endswith("25 of 26 rows are bad and left out, 10 are shown")


def test_all_rows_bad_is_an_error_even_when_skipping(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"question": "q", "target": None}] * 3)
    assert "row 1, field 'target': is missing (bad rows in all: 3 of 3" in refusal(path, skip_bad=True)
    path.write_text("{torn\n" * 100)
    assert "row 1: broken JSON" in refusal(path, skip_bad=True)


def test_a_repeated_id_names_both_rows(tmp_path: Path) -> None:
    rows = [{**ROWS["cloze"], "id": name} for name in ("a", "b", "a")]
    path = write(tmp_path / "a.jsonl", rows)
    assert f"{path}, row 3: the id 'a' is that of row 1 already" in refusal(path)
    assert [problem.id for problem in read_problems(path, skip_bad=True)] == ["a", "b"]


def test_limit_stops_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [*[ROWS["cloze"]] * 100, {"question": "q"}])
    assert len(read_problems(path, limit=100)) == 100
    assert "row 101" in refusal(path, limit=101)
    assert "limit must be at least 1" in refusal(path, limit=0)


def test_rows_without_a_trace_are_counted(tmp_path: Path) -> None:
    rows = [{**ROWS["cloze"], "trace": trace} for trace in ("It is 2.", None, "", " \n")]
    path, lines = write(tmp_path / "a.jsonl", rows), []
    problems = read_problems(path, report=lines.append)
    assert [problem.trace for problem in problems] == ["It is 2.", None, None, None]
    assert lines == [f"{path}: 3 of 4 rows have no expert trace"]
    require_traces(problems, path)


@pytest.mark.parametrize("schema", ROWS)
def test_no_trace_at_all_names_where_the_schema_has_it(schema: str, tmp_path: Path) -> None:
    empty = {
        "cloze": {"trace": " "},
        "smepo": {"teacher_ds": ""},
        "verl": {"extra_info": {}},
        "luffy": {"target": []},
        "openr1": {"generations": [], "correctness_math_verify": [], "solution": None},
        "gsm8k": {"answer": "#### 2"},
        "trl": {"completion": None},
    }
    path = write(tmp_path / "a.jsonl", [{**ROWS[schema], **empty[schema]}])
    problems = read_problems(path, schema=schema)
    with pytest.raises(InputError, match="the trace column is all empty") as caught:
        require_traces(problems, path, schema=schema)
    assert caught.value.field == " or ".join(SCHEMAS[schema].traces)


def test_the_schema_is_looked_up_again_when_traces_are_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"question": "q", "target": 4, "teacher_ds": "misnamed"}])
    with pytest.raises(InputError, match="field 'trace': the trace column is all empty; the cloze schema"):
        require_traces(read_problems(path), path)


# Files
