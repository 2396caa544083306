"""Rows in every schema, and how a test writes and refuses them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloze.errors import InputError
from cloze.problems.files import scan_rows
from cloze.problems.readers import read_problems
from cloze.problems.schemas import SCHEMAS

SHARED = Path(__file__).parents[2].parent / "shared"

USER = {"role": "user", "content": "1+1?"}
SYSTEM = {"role": "system", "content": "Be brief."}
REPLY = {"role": "assistant", "content": "It is 2."}
GOLD = {"style": "rule", "ground_truth": "2"}
OPENR1 = {"problem": "1+1?", "answer": "2", "solution": "Add."}

# One row of each schema, and what it says: (question, target, trace).
ROWS = {
    "cloze": {"question": "1+1?", "target": "2", "trace": "It is 2."},
    "smepo": {"question": "1+1?", "reward_model": GOLD, "teacher_ds": "It is 2."},
    "verl": {"prompt": [USER], "reward_model": GOLD, "extra_info": {"index": 0, "trace": "It is 2."}},
    "luffy": {"prompt": [USER], "reward_model": GOLD, "target": [REPLY]},
    "openr1": {
        **OPENR1,
        "generations": ["It is 3.", "It is 2.", "Two."],
        "correctness_math_verify": [False, True, True],
    },
    "gsm8k": {"question": "1+1?", "answer": "1 + 1 = <<1+1=2>>2\n#### 2"},
    "trl": {"prompt": [USER], "answer": "2", "completion": [REPLY]},
}
TRACES = {"gsm8k": "1 + 1 = 2\n#### 2"}


def write(path: Path, rows: list) -> Path:
    """Rows as the other tools of the field write them: nested values are JSON text in a csv."""
    if path.suffix in (".jsonl", ".ndjson"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows))
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        with open(path, "w", newline="") as handle:
            writer = csv.writer(handle, delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writerow(rows[0])
            for row in rows:
                writer.writerow([value if isinstance(value, str) else json.dumps(value) for value in row.values()])
    return path


def rows_of(path: Path) -> list[tuple[int, dict]]:
    """The rows of a sound file, with their numbers."""
    rows = list(scan_rows(path))
    assert not [row for _, row in rows if isinstance(row, InputError)]
    return rows


def refusal(path: Path, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_problems(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line


def of_row(schema: str, row: dict) -> dict:
    return SCHEMAS[schema].read(row)


# Formats and schemas
