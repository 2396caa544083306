"""How the tests of the rewriting engine write its input, run it and have it refuse."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from work import ADDS, measure

from cloze.errors import InputError
from cloze.problems.chunks import open_source
from cloze.problems.rewrite import rewrite

WORK = Path(__file__).with_name("work.py")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(WORK.parent), *map(os.path.abspath, sys.path)])}


def jsonl(path: Path, rows: list) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def numbered(path: Path, count: int) -> Path:
    return jsonl(path, [{"n": n, "text": f"line {n} " + "x" * (n % 7)} for n in range(count)])


def run(source: Path, out: Path, work=measure, *, chunk_rows: int = 5, limit: int = 0, adds=ADDS, **options):
    lines: list[str] = []
    given = {"settings": {}, "report": lines.append, **options}
    tally = rewrite(open_source(source, chunk_rows=chunk_rows, limit=limit), out, work, adds=adds, **given)
    return tally, lines


def refusal(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        run(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def parts_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.parts")
