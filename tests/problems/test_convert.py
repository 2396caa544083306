"""Conversion: what each format looks like, and that reading it back gives the same problems."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import GOLD, REPLY, ROWS, SYSTEM, TRACES, USER, rows_of, write

from cloze.errors import InputError
from cloze.problems import Problem
from cloze.problems.arithmetic import generate
from cloze.problems.chunks import open_source
from cloze.problems.convert import FORMATS, convert_rows
from cloze.problems.files import to_arrow
from cloze.problems.parts import Tally
from cloze.problems.readers import look_at, read_problems
from cloze.problems.record import DOMAINS
from cloze.problems.rewrite import rewrite


def convert(path: Path, out: Path, to: str, *, skip_bad: bool = False, **options) -> Tally:
    work = partial(convert_rows, path=path, schema=look_at(path)[0], to=to, **options)
    return rewrite(open_source(path, chunk_rows=2), out, work, settings={}, skip_bad=skip_bad)


def own(path: Path, problems: list[Problem]) -> Path:
    rows = [asdict(problem) for problem in problems]
    if path.suffix == ".parquet":
        pq.write_table(to_arrow(rows, path, {}), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FULL = Problem(
    "é-1",
    "Who?\n",
    "Ada",
    "It is Ada.",
    "entities",
    "math",
    {"extract": "boxed"},
    "book 1",
    "Be brief.",
    ("A. L.", "1"),
)
BARE = Problem("2", "1+1?", "2")

# What a row of each format is, to the letter


def test_a_row_of_verl(tmp_path: Path) -> None:
    convert(own(tmp_path / "in.jsonl", [FULL, BARE]), tmp_path / "out.jsonl", "verl")
    first, second = (row for _, row in rows_of(tmp_path / "out.jsonl"))
    rest = first["extra_info"].pop("cloze")
    assert first == {
        "data_source": "cloze",
        "prompt": [SYSTEM, {"role": "user", "content": "Who?\n"}],
        "ability": "entities",
        "reward_model": {"style": "rule", "ground_truth": "Ada"},
        "extra_info": {"index": 0, "split": None, "id": "é-1", "question": "Who?\n", "trace": "It is Ada."},
    }
    assert json.loads(rest) == {
        "domain": "entities",
        "verifier": "math",
        "verifier_settings": {"extract": "boxed"},
        "aliases": ["A. L.", "1"],
        "source": "book 1",
    }
    assert second["extra_info"]["index"] == 1 and second["extra_info"]["trace"] is None
    assert second["prompt"] == [USER] and second["reward_model"] == GOLD


def test_a_row_of_trl(tmp_path: Path) -> None:
    convert(own(tmp_path / "in.jsonl", [FULL, BARE]), tmp_path / "out.jsonl", "trl")
    first, second = (row for _, row in rows_of(tmp_path / "out.jsonl"))
    del first["cloze"], second["cloze"]
    assert first == {
        "id": "é-1",
        "prompt": [SYSTEM, {"role": "user", "content": "Who?\n"}],
        "completion": [{"role": "assistant", "content": "It is Ada."}],
        "answer": "Ada",
        "solution": "Ada",
    }
    assert second == {"id": "2", "prompt": [USER], "answer": "2", "solution": "2"}


def test_a_row_of_our_own(tmp_path: Path) -> None:
    convert(write(tmp_path / "in.jsonl", [ROWS["trl"]]), tmp_path / "out.jsonl", "cloze")
    assert [row for _, row in rows_of(tmp_path / "out.jsonl")] == [
        {"id": "in-1", "question": "1+1?", "target": "2", "trace": "It is 2.", "domain": "math", "verifier": "math"}
    ]


# There and back


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("schema", ROWS)
def test_every_schema_goes_there_and_comes_back(schema: str, to: str, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", [ROWS[schema], ROWS[schema]])
    tally = convert(path, tmp_path / f"out{ending}", to)
    dropped = {key for key in tally.counts if key.startswith("dropped/")}
    assert dropped == ({"dropped/solution"} if schema == "openr1" else set())  # a generation is its trace
    assert tally.counts["traced"] == 2
    assert look_at(tmp_path / f"out{ending}")[0] == to
    there, back = read_problems(path), read_problems(tmp_path / f"out{ending}")
    assert [replace(problem, source="") for problem in back] == [replace(problem, source="") for problem in there]
    assert back[0].trace == TRACES.get(schema, "It is 2.")


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
SOLID = TEXT.filter(lambda text: text.strip() and not text.lstrip().startswith(("[", "{")))
TARGET = SOLID.map(str.strip).filter(lambda text: text not in ("nan", "NaN"))
SCALAR = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=4)
PROBLEMS = st.builds(
    Problem,
    id=TARGET,
    question=SOLID,
    target=TARGET,
    trace=st.none() | SOLID,
    domain=st.sampled_from(DOMAINS),
    verifier=TARGET,
    verifier_settings=st.dictionaries(
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=3),
        (SCALAR | st.lists(SCALAR, max_size=2)).filter(lambda value: value is not None),
        max_size=3,
    ),
    source=SOLID,
    system=st.just("") | SOLID,
    aliases=st.lists(TARGET, max_size=3, unique=True).map(tuple),
).map(lambda problem: replace(problem, aliases=tuple(one for one in problem.aliases if one != problem.target)))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(PROBLEMS, min_size=1, max_size=5, unique_by=lambda problem: problem.id),
    st.sampled_from(
        [("verl", ".jsonl"), ("verl", ".parquet"), ("trl", ".jsonl"), ("trl", ".parquet"), ("cloze", ".jsonl")]
    ),
)
def test_any_problems_go_there_and_come_back(tmp_path_factory, problems: list[Problem], way: tuple[str, str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    to, ending = way
    convert(own(folder / "in.jsonl", problems), folder / f"out{ending}", to)
    assert read_problems(folder / f"out{ending}") == problems


@pytest.mark.parametrize("to", FORMATS)
def test_through_parquet_and_all_formats_in_a_row(to: str, tmp_path: Path) -> None:
    problems = [*generate(3), replace(FULL, verifier="math", domain="math"), BARE]
    path = own(tmp_path / "own.parquet", problems)
    for step, name in enumerate((to, "verl", "trl", "cloze", to)):
        convert(path, tmp_path / f"{step}.parquet", name)
        path = tmp_path / f"{step}.parquet"
    back = read_problems(path)
    assert back[:4] == problems[:4] and replace(back[4], source="") == BARE


# What goes along and what does not


def test_the_source_of_verl_is_the_rows_own_or_follows_from_the_settings(tmp_path: Path) -> None:
    def sources(schema: str, more: dict, **options) -> list[str]:
        convert(write(tmp_path / "in.jsonl", [{**ROWS[schema], **more}]), tmp_path / "out.jsonl", "verl", **options)
        return [row["data_source"] for _, row in rows_of(tmp_path / "out.jsonl")]

    assert sources("gsm8k", {}) == ["openai/gsm8k"]
    assert sources("trl", {}) == ["cloze"]
    assert sources("verl", {"data_source": "aime"}) == ["aime"]
    assert sources("verl", {"data_source": "aime"}, data_source="math_dapo") == ["math_dapo"]


def test_the_split_goes_along(tmp_path: Path) -> None:
    row = {**ROWS["verl"], "extra_info": {"split": "test", "index": 7}}
    convert(write(tmp_path / "in.jsonl", [row]), tmp_path / "out.jsonl", "verl")
    extra = rows_of(tmp_path / "out.jsonl")[0][1]["extra_info"]
    assert extra["split"] == "test" and extra["index"] == 0


@pytest.mark.parametrize("to", FORMATS)
def test_masks_go_along(to: str, tmp_path: Path) -> None:
    spans = [{"start": 6, "end": 7, "category": "target", "blank": "[A1]", "why": "the target"}]
    masks = {"masked_trace": "It is [A1].", "mask_spans": spans}
    path = write(tmp_path / "in.jsonl", [{**ROWS["trl"], **masks}, ROWS["trl"]])
    tally = convert(path, tmp_path / "out.parquet", to)
    first, second = (row for _, row in rows_of(tmp_path / "out.parquet"))
    assert {name: first[name] for name in masks} == masks and second["masked_trace"] is None
    assert not [key for key in tally.counts if key.startswith("dropped/")]


def test_columns_that_are_left_behind_are_counted(tmp_path: Path) -> None:
    extra = {"index": 0, "level": "hard", "none": None, "trace": "It is 2."}
    rows = [{**ROWS["verl"], "extra_info": extra, "tags": ["a"]}, {**ROWS["verl"], "tags": None, "n": 0}]
    tally = convert(write(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl", "trl")
    dropped = {key: count for key, count in tally.counts.items() if key.startswith("dropped/")}
    assert dropped == {"dropped/tags": 1, "dropped/extra_info.level": 1, "dropped/n": 1}


# Other people's columns are not taken for ours, ours are checked


@pytest.mark.parametrize(
    "extra", [{"domain": "Algebra"}, {"aliases": 4}, {"verifier": None}, {"cloze": None}, {"cloze": ""}]
)
def test_extra_info_of_others_is_left_alone(extra: dict, tmp_path: Path) -> None:
    row = {**ROWS["verl"], "extra_info": extra}
    (problem,) = read_problems(write(tmp_path / "in.jsonl", [row]))
    assert (problem.domain, problem.aliases, problem.verifier) == ("math", (), "math")


def test_a_broken_rest_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", [{**ROWS["trl"], "cloze": "what"}])
    with pytest.raises(InputError, match="row 1, field 'cloze': must be an object"):
        read_problems(path)


def test_aliases_of_both_kinds_are_kept(tmp_path: Path) -> None:
    row = {
        "prompt": [USER],
        "reward_model": {"ground_truth": ["2", "two"]},
        "extra_info": {"cloze": '{"aliases": ["II"]}'},
    }
    (problem,) = read_problems(write(tmp_path / "in.jsonl", [row]))
    assert (problem.target, problem.aliases) == ("2", ("two", "II"))


@pytest.mark.parametrize("to", FORMATS)
def test_bad_rows_are_named(to: str, tmp_path: Path) -> None:
    rows = [ROWS["trl"], {"prompt": [USER, REPLY], "answer": "2"}, {"prompt": [USER], "answer": None}, ROWS["trl"]]
    path = write(tmp_path / "in.jsonl", rows)
    with pytest.raises(InputError, match="row 2, field 'prompt': has the turns user, assistant"):
        convert(path, tmp_path / "out.jsonl", to)
    tally = convert(path, tmp_path / "out.jsonl", to, skip_bad=True)
    assert tally.counts["bad"] == 2
    assert [problem.id for problem in read_problems(tmp_path / "out.jsonl")] == ["in-1", "in-4"]
