"""Files: what is read, what is refused; and the data sets of others."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rows import ROWS, SHARED, refusal, rows_of, write

from cloze.errors import InputError
from cloze.problems.files import READERS, scan_rows
from cloze.problems.readers import read_problems


def test_paths_that_are_no_data_file(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("x")
    assert "no such file" in refusal(tmp_path / "none.jsonl")
    assert "is a folder" in refusal(tmp_path)
    assert "unknown ending '.xlsx'; convert it to one of .parquet, .jsonl" in refusal(tmp_path / "a.xlsx")


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.jsonl", b""), ("a.jsonl", b"\n \n"), ("a.json", b"[]"), ("a.csv", b""), ("a.csv", b"question,target\n")],
)
def test_empty_files(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert refusal(tmp_path / name).startswith(f"{tmp_path / name}: the data set is empty")


def test_an_empty_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"question": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert "the data set is empty" in refusal(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b'{"question": "q", "target": 1}\n{"question": "\xff"}\n', "row 2: the text is not UTF-8"),
        ("a.jsonl", b'{"question": "q", "target": 1}\n{"question": "q"', "row 2: broken JSON"),
        ("a.jsonl", b'{"question": "q", "target": 1}\n' + b"[" * 100_000, "row 2: broken JSON"),
        ("a.jsonl", b'{"question": "q", "target": 1}\n4\n', "row 2: a row must be an object with named fields"),
        ("a.json", b'[{"question": "q", "target": 1}, "x"]', "row 2: a row must be an object"),
        ("a.json", b'{"question": "q"}', "holds a dict, not a list of objects"),
        ("a.json", b'{"a": 1}\n{"a": 1}', "name it .jsonl"),
        ("a.json", b'[{\n"a": "\xff"}]', "line 2 is not UTF-8"),
        ("a.csv", b"question,target\nq,1\n\xff,1\n", "row 2, field 'question': the text is not UTF-8"),
        ("a.csv", b"question,target\nq,1\nq,1,2\n", "row 2: the row has 3 fields, the header 2"),
        ("a.csv", b'question,target\nq,1\nq,"1\n', "row 2: broken csv"),
        ("a.csv", b"question,question\nq,1\n", "two columns have the name 'question'"),
        ("a.parquet", b"PAR1 torn", "broken parquet"),
    ],
)
def test_broken_files(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert says in refusal(tmp_path / name)


def test_a_truncated_parquet(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [ROWS["cloze"]] * 50)
    path.write_bytes(path.read_bytes()[:-40])
    assert "broken parquet" in refusal(path)


def test_undecodable_text_in_a_parquet_costs_its_row_only(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 2, 3], np.int32)), pa.py_buffer(b"a\xffc")
    questions = pa.Array.from_buffers(pa.string(), 3, [None, offsets, data])
    pq.write_table(pa.table({"question": questions, "target": [1, 2, 3]}), tmp_path / "a.parquet")
    assert "row 2, field 'question': the text is not UTF-8" in refusal(tmp_path / "a.parquet")
    assert [p.question for p in read_problems(tmp_path / "a.parquet", skip_bad=True)] == ["a", "c"]


def test_rows_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}')
    assert rows_of(tmp_path / "a.jsonl") == [(1, {"a": 1}), (3, {"a": 2})]
    (tmp_path / "a.csv").write_bytes('\ufeffa,b\r\n"x\n,y",\u00e9\r\n\r\nz,\r\n'.encode())
    assert rows_of(tmp_path / "a.csv") == [(1, {"a": "x\n,y", "b": "é"}), (2, {"a": "z", "b": ""})]


def test_a_csv_cell_may_be_longer_than_the_module_likes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [{**ROWS["cloze"], "trace": "x" * 200_000}])
    assert len(read_problems(path)[0].trace) == 200_000


def test_jsonl_streams(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{torn\n')
    rows = scan_rows(path)
    assert next(rows) == (1, {"a": 1})
    assert isinstance(next(rows)[1], InputError)


def test_pyarrow_is_imported_for_parquet_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write(tmp_path / f"a{ending}", [ROWS["cloze"]]) for ending in READERS]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for path in paths:
        if path.suffix == ".parquet":
            with pytest.raises(ImportError):
                read_problems(path)
        else:
            assert len(read_problems(path)) == 1


# Public data sets, where a copy lies beside the repository


def shared(name: str) -> Path:
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"no shared/data/{name} beside the repository")
    return path


def test_all_of_gsm8k_is_read() -> None:
    problems = read_problems(shared("gsm8k/test.jsonl"))
    assert len(problems) == 1319
    assert (problems[0].target, problems[0].trace.splitlines()[-1]) == ("18", "#### 18")
    assert not [problem.id for problem in problems if "<<" in problem.trace or ">>" in problem.trace]
    assert all(float(problem.target) == int(problem.target) for problem in problems)


def test_countdown_is_read_as_verl() -> None:
    path, lines = shared("countdown/test.parquet"), []
    problems = read_problems(path, report=lines.append)
    assert {problem.target for problem in problems} == {str(row["target"]) for _, row in rows_of(path)}
    assert lines == [f"{path}: 1024 of 1024 rows have no expert trace"]
