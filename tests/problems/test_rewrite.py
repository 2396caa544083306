"""The rewriting engine: what it keeps, and one clear line for what it refuses."""

from __future__ import annotations

import csv
import json
import math
import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewriting import jsonl, numbered, refusal, run
from rows import rows_of
from work import ADDS, measure

from cloze.errors import InputError
from cloze.problems.chunks import open_source
from cloze.problems.files import READERS
from cloze.problems.parts import Rewritten, Tally

# What is kept


def test_a_jsonl_line_keeps_its_bytes(tmp_path: Path) -> None:
    lines = [
        b'{"text": "a b", "big": 123456789012345678901234567890, "f": 1E5, "nan": NaN, "half": "\\ud83d"}',
        b'\t{ "text":"\xc3\xa9" , "twice":1, "twice":2 }  \r',
        b"",
        b'{"text": "", "empty": {}}',
    ]
    (tmp_path / "in.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\n".join(lines))
    tally, _ = run(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes().splitlines() == [
        lines[0][:-1] + b', "size": 3, "words": ["a", "b"]}',
        b'\t{ "text":"\xc3\xa9" , "twice":1, "twice":2, "size": 1, "words": ["\xc3\xa9"]}',
        b'{"text": "", "empty": {}, "size": 0, "words": []}',
    ]
    assert dict(tally.counts) == {"rows": 3, "kept": 3, "letters": 4}
    assert tally.named == {"seen": ["1", "2", "4"]}


def test_a_parquet_keeps_its_types_and_metadata(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("text", pa.large_string(), metadata={"who": "me"}),
            ("kind", pa.dictionary(pa.int32(), pa.string())),
            ("when", pa.timestamp("us", tz="UTC")),
            ("cost", pa.decimal128(10, 2)),
            ("raw", pa.binary()),
            ("small", pa.int8()),
            ("single", pa.float32()),
            ("pairs", pa.map_(pa.string(), pa.int64())),
            ("nothing", pa.null()),
            ("deep", pa.list_(pa.struct([("a", pa.int16())]))),
        ],
        metadata={"huggingface": "{}", "mine": "1"},
    )
    rows = [
        {"text": f"t{n}", "kind": "ab"[n % 2], "when": datetime(2026, 1, 1, 0, 0, n, tzinfo=UTC), "raw": b"\xff\0",
         "cost": Decimal("1.50"), "small": n, "single": 0.1, "pairs": [("k", n)], "deep": [{"a": None}, {"a": n}]}
        for n in range(12)
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=4)
    run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    back = pq.read_table(tmp_path / "out.parquet")
    assert back.schema.metadata == table.schema.metadata
    assert back.drop_columns(list(ADDS)).equals(pq.read_table(tmp_path / "in.parquet"), check_metadata=True)
    assert back["size"].to_pylist() == [len(row["text"]) for row in rows]


@pytest.mark.parametrize("ending", READERS)
@pytest.mark.parametrize("out", ["out.jsonl", "out.ndjson", "out.parquet"])
def test_every_format_into_every_other(ending: str, out: str, tmp_path: Path) -> None:
    rows = [{"text": f"é {n}\n,", "more": "1" if n % 2 else ""} for n in range(12)]
    path = tmp_path / f"in{ending}"
    if ending in (".csv", ".tsv"):
        with open(path, "w", newline="", encoding="utf-8") as handle:
            writer = csv.DictWriter(handle, rows[0], delimiter="\t" if ending == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    elif ending == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        text = json.dumps(rows) if ending == ".json" else "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(text)
    moved: list[int] = []
    tally, lines = run(path, tmp_path / out, advance=moved.append)
    back = [row for _, row in rows_of(tmp_path / out)]
    assert back == [{**row, "size": len(row["text"]), "words": row["text"].split()} for row in rows]
    assert tally.counts["kept"] == 12 and lines == [] and sum(moved) == open_source(path).total
    assert {file.name for file in tmp_path.iterdir()} == {path.name, out}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), JSON_VALUES, max_size=3), min_size=1, max_size=12),
    st.integers(1, 5),
    st.integers(0, 14),
)
def test_any_rows_come_back_with_the_columns_added(tmp_path_factory, rows: list, chunk_rows: int, limit: int) -> None:
    folder = tmp_path_factory.mktemp("any")
    rows = [{**row, "text": str(row)} for row in rows]
    run(jsonl(folder / "in.jsonl", rows), folder / "out.jsonl", chunk_rows=chunk_rows, limit=limit)
    wanted = [{**row, "size": len(row["text"]), "words": row["text"].split()} for row in rows]
    assert [row for _, row in rows_of(folder / "out.jsonl")] == wanted[: limit or None]


def test_columns_of_the_same_name_are_replaced(tmp_path: Path) -> None:
    rows = [{"size": "old", "text": "a"}, {"text": "bc"}]
    run(jsonl(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl")
    assert rows_of(tmp_path / "out.jsonl")[0][1] == {"size": 1, "text": "a", "words": ["a"]}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", tmp_path / "out.parquet")
    assert [row["size"] for _, row in rows_of(tmp_path / "out.parquet")] == [1, 2]


# Types of columns that chunks see only in part


def to_parquet(tmp_path: Path, rows: list, **options) -> list:
    source = jsonl(tmp_path / "in.jsonl", [{"text": "", **row} for row in rows])
    run(source, tmp_path / "out.parquet", chunk_rows=1, **options)
    return [
        {name: row[name] for name in row if name not in ("text", *ADDS)} for _, row in rows_of(tmp_path / "out.parquet")
    ]


def test_chunks_with_other_types_are_fitted(tmp_path: Path) -> None:
    rows = [
        {"a": None, "s": {"x": 1}, "l": []},
        {"a": 1, "s": None, "l": [1]},
        {"a": 1.5, "s": {"y": [{"z": "é"}]}, "l": [0.5], "new": True},
        {"s": {}},
    ]
    assert to_parquet(tmp_path, rows) == [
        {"a": None, "s": {"x": 1, "y": None}, "l": [], "new": None},
        {"a": 1.0, "s": None, "l": [1.0], "new": None},
        {"a": 1.5, "s": {"x": None, "y": [{"z": "é"}]}, "l": [0.5], "new": True},
        {"a": None, "s": None, "l": None, "new": None},
    ]


def test_objects_without_fields_become_nulls(tmp_path: Path) -> None:
    rows = [{"a": {"b": {}, "c": [{}]}}, {"a": {"b": {}, "c": []}}]
    assert to_parquet(tmp_path, rows) == [{"a": {"b": None, "c": [None]}}, {"a": {"b": None, "c": []}}]


def test_types_that_nothing_holds_both_of(tmp_path: Path) -> None:
    (tmp_path / "out.parquet").write_text("old")
    assert "a column does not have one type" in refusal(
        jsonl(tmp_path / "in.jsonl", [{"text": "", "a": 1}, {"text": "", "a": "1"}]),
        tmp_path / "out.parquet",
        chunk_rows=1,
    )
    said = refusal(
        jsonl(tmp_path / "in.jsonl", [{"text": "", "a": 1}, {"text": "", "a": "1"}]), tmp_path / "out.parquet"
    )
    assert "field 'a': parquet cannot hold the column" in said and "write .jsonl instead" in said
    assert (tmp_path / "out.parquet").read_text() == "old"


def test_given_types_hold_where_the_values_do_not_tell(tmp_path: Path) -> None:
    path = numbered(tmp_path / "in.jsonl", 3)
    run(path, tmp_path / "out.parquet", nulls, adds=("size",), types=types)
    assert pq.read_schema(tmp_path / "out.parquet").field("size").type == pa.int16()
    pq.write_table(pa.Table.from_pylist([{"text": "a"}]), tmp_path / "in.parquet")
    run(tmp_path / "in.parquet", tmp_path / "other.parquet", nulls, adds=("size",), types=types)
    assert pq.read_schema(tmp_path / "other.parquet").field("size").type == pa.int16()


def nulls(rows: list) -> Rewritten:
    return Rewritten([{"size": None} for _ in rows], Tally())


def types() -> dict:
    return {"size": pa.int16()}


def test_values_of_parquet_in_jsonl(tmp_path: Path) -> None:
    rows = [{"text": "a", "when": datetime(2026, 1, 2), "f": 1.5}, {"text": "b", "when": None, "f": math.nan}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    assert "row 2: JSON cannot hold the row" in refusal(tmp_path / "in.parquet", tmp_path / "out.jsonl")
    tally, lines = run(tmp_path / "in.parquet", tmp_path / "out.jsonl", skip_bad=True)
    assert [row["when"] for _, row in rows_of(tmp_path / "out.jsonl")] == ["2026-01-02T00:00:00"]
    assert tally.counts["bad"] == 1 and "write .parquet instead" in lines[0]


def test_rows_instead_of_columns_and_numpy_values(tmp_path: Path) -> None:
    run(numbered(tmp_path / "in.jsonl", 7), tmp_path / "out.jsonl", others, adds=())
    assert [row for _, row in rows_of(tmp_path / "out.jsonl")] == [{"n": n, "v": [0.5]} for n in range(1, 8)]


def others(rows: list) -> Rewritten:
    return Rewritten([{"n": np.int64(number), "v": np.array([0.5])} for number, _ in rows], Tally())


# Bad rows


def with_bad_rows(path: Path) -> Path:
    numbered(path, 30)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[6], lines[17], lines[28] = b"{torn\n", b'{"text": 4}\n', b'{"text": "\xff"}\n'
    path.write_bytes(b"".join(lines))
    return path


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_row_stops_and_skip_bad_goes_on_from_there(workers: int, tmp_path: Path) -> None:
    source, out = with_bad_rows(tmp_path / "in.jsonl"), tmp_path / "out.jsonl"
    said = refusal(source, out, workers=workers)
    assert said.startswith(f"{source}, row 7: broken JSON")
    assert "bad rows so far: 1 of 10, --skip-bad leaves them out" in said
    assert not out.exists()
    tally, lines = run(source, out, skip_bad=True, workers=workers)
    assert lines[0].startswith("resuming: ")
    assert [line.partition(":")[0] for line in lines[1:4]] == [
        f"{source}, row 7",
        "row 18, field 'text'",
        f"{source}, row 29",
    ]
    assert lines[4] == f"{source}: 3 of 30 rows are bad and left out"
    assert [row["n"] for _, row in rows_of(out)] == [n for n in range(30) if n not in (6, 17, 28)]
    assert tally.counts["bad"] == 3 and tally.counts["kept"] == 27


def test_a_bad_text_in_a_parquet_costs_its_row_only(tmp_path: Path) -> None:
    offsets, data = pa.py_buffer(np.array([0, 1, 2, 3], np.int32)), pa.py_buffer(b"a\xffc")
    texts = pa.Array.from_buffers(pa.string(), 3, [None, offsets, data])
    pq.write_table(pa.table({"text": texts, "n": [1, 2, 3]}), tmp_path / "in.parquet")
    assert "row 2, field 'text': the text is not UTF-8" in refusal(tmp_path / "in.parquet", tmp_path / "out.parquet")
    run(tmp_path / "in.parquet", tmp_path / "out.parquet", skip_bad=True)
    assert [row["n"] for _, row in rows_of(tmp_path / "out.parquet")] == [1, 3]


def test_figures_that_are_not_accepted(tmp_path: Path) -> None:
    def accept(tally: Tally) -> None:
        raise InputError(f"{tally.counts['letters']} letters")

    source = jsonl(tmp_path / "in.jsonl", [{"text": "ab"}])
    assert refusal(source, tmp_path / "out.jsonl", accept=accept) == "2 letters"
    assert [file.name for file in tmp_path.iterdir()] == ["in.jsonl"]


def test_many_bad_rows_are_shown_in_part_and_none_left_is_refused(tmp_path: Path) -> None:
    source = jsonl(tmp_path / "in.jsonl", [{"text": None}] * 20)
    assert "bad rows so far: 20 of 20, nothing is left" in refusal(source, tmp_path / "out.jsonl", skip_bad=True)
    jsonl(source, [{"text": None}] * 20 + [{"text": "a"}])
    _, lines = run(source, tmp_path / "out.parquet", skip_bad=True)
    assert len(lines) == 11 and lines[-1].endswith("20 of 21 rows are bad and left out, 10 are shown")
    assert rows_of(tmp_path / "out.parquet") == [(1, {"text": "a", "size": 1, "words": ["a"]})]


# Places


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    source = numbered(tmp_path / "in.jsonl", 5)
    (tmp_path / "d.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to(source)
    for name, says in {
        "out.csv": "cannot write '.csv'; use one of .jsonl, .ndjson, .parquet",
        "none/out.jsonl": "its folder is not there",
        "d.jsonl": "is a folder",
        "in.jsonl": "input and output are the same file",
        "link.jsonl": "input and output are the same file",
    }.items():
        assert says in refusal(source, tmp_path / name)
    assert len(rows_of(source)) == 5 and not list(tmp_path.glob(".*"))


def test_the_output_is_replaced_at_the_end_only(tmp_path: Path) -> None:
    source, out = numbered(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl"
    out.write_text("old")
    assert "no text" in refusal(jsonl(source, [{}]), out)
    assert out.read_text() == "old" and {file.name for file in tmp_path.iterdir()} == {"in.jsonl", "out.jsonl"}
    numbered(source, 5)
    run(source, out)
    assert len(rows_of(out)) == 5


@pytest.mark.skipif(os.name != "posix", reason="locks are of posix systems")
def test_two_runs_at_once(tmp_path: Path) -> None:
    source, out = numbered(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl"

    def again(rows: list) -> Rewritten:
        assert "another run is writing this file" in refusal(source, out)
        return measure(rows)

    run(source, out, again)
    assert len(rows_of(out)) == 5


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = refusal(numbered(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl")
    assert said == f"{tmp_path / 'out.jsonl'}: cannot be written: No space left on device"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.jsonl", b"\n", "the data set is empty"),
        ("a.csv", b"text\n", "the data set is empty"),
        ("a.csv", b'text\nq\nq"x', "broken csv"),
        ("a.parquet", b"PAR1 torn", "broken parquet"),
        ("a.json", b"{", "broken JSON"),
    ],
)
def test_inputs_that_cannot_be_read(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    if name == "a.csv" and b'"' in content:
        (tmp_path / name).write_bytes(b'text\nq\n"q"x\n')
    assert says in refusal(tmp_path / name, tmp_path / "out.jsonl")
