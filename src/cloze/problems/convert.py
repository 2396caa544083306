"""A problem as a row of verl, of TRL, or of our own, so that a data set can go to whichever trainer and come back.

Each format gets what its own loaders read. What it has no place for (domain, verifier and its settings, aliases) goes
along as one JSON text, which our readers take in again (`schemas`): reading the converted file gives the same problems.

- verl: `data_source`, `prompt` as messages, `ability`, `reward_model` with `ground_truth`, `extra_info` with index, id,
  question, trace and the rest. `data_source` chooses the scorer in verl; a name that verl does not know, as "cloze",
  needs a reward function of one's own.
- TRL: `prompt` and `completion` (the trace) as messages, the target as `answer` and as `solution`, where TRL's own
  reward looks for it. A row without a trace has no `completion`, and `SFTTrainer` wants one in every row.

The columns that `cloze mask` adds go along, the others do not: they are counted and named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cloze.errors import InputError
from cloze.problems.chunks import Numbered
from cloze.problems.files import Row
from cloze.problems.parts import Rewritten, Tally
from cloze.problems.record import Problem
from cloze.problems.schemas import SCHEMAS, Fields, structured

MASKED_COLUMNS = ("masked_trace", "mask_spans")
REST = ("domain", "verifier", "verifier_settings", "aliases", "source")
CARRIED = (*MASKED_COLUMNS, "data_source", "split", "ability", "extra_info")
EXTRA = ("index", "split", "id", "question", "trace", "teacher_ds", "solution", "cloze")
SCORERS = {"hash": "openai/gsm8k"}  # of verl, by how the answer is marked


def convert_rows(rows: Numbered, *, path: Path, schema: str, to: str, data_source: str = "") -> Rewritten:
    """Turn rows into those of another format.

    Args:
        rows: as read, with their numbers.
        path: their file, for messages and for the ids of rows that have none.
        schema: how they are read, a name in `SCHEMAS`.
        to: a name in `FORMATS`.
        data_source: of verl; empty for the row's own, or else what the problem's verifier suggests.

    Returns:
        A row for each; `tally.counts` has `traced`, and the columns that are left behind under `dropped/NAME`.
    """
    done = Rewritten([], Tally())
    for number, row in rows:
        made = None
        if isinstance(row, InputError):
            done.tally.bad(row)
        else:
            watched = Watched(row)
            try:
                fields = SCHEMAS[schema].read(watched)
                made = FORMATS[to](_sound(fields, path, number), row, number - 1, data_source)
            except InputError as error:
                done.tally.bad(InputError(error.what, file=path, row=number, field=error.field, mend=error.mend))
            else:
                done.tally.counts["traced"] += fields.get("trace") is not None
                done.tally.counts.update(f"dropped/{name}" for name in _left_behind(watched))
        done.rows.append(made)
    return done


class Watched(dict[str, object]):
    """A row that remembers which of its columns a schema read."""

    def __init__(self, row: Row) -> None:
        super().__init__(row)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> object:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


def _left_behind(row: Watched) -> Iterator[str]:
    """The columns that hold something and were not read, and such keys of `extra_info`."""
    for name, value in row.items():
        if name not in row.read and name not in CARRIED and value is not None:
            yield name
    extra = structured(row.get("extra_info"))
    if isinstance(extra, dict):
        yield from (f"extra_info.{key}" for key, value in extra.items() if key not in EXTRA and value is not None)


def _sound(fields: Fields, path: Path, number: int) -> Fields:
    """The fields with an id, checked as a problem's are."""
    fields = {"id": f"{path.stem}-{number}", **fields}
    problem = Problem(**fields)
    return {**fields, "domain": problem.domain, "verifier": problem.verifier}


def to_cloze(fields: Fields, row: Row, index: int, data_source: str) -> Row:
    """Our own row: the attributes of a problem, those that are empty left out."""
    made: Row = {name: fields[name] for name in ("id", "question", "target")}
    optional = ("trace", "system", *REST)
    made |= {name: fields.get(name) for name in optional if fields.get(name)}
    return made | _masked(row)


def to_verl(fields: Fields, row: Row, index: int, data_source: str) -> Row:
    """A row of `RLHFDataset`."""
    extra = structured(row.get("extra_info"))
    split = row.get("split") or (extra.get("split") if isinstance(extra, dict) else None)
    settings = fields.get("verifier_settings") or {}
    own = row.get("data_source") or SCORERS.get(str(settings.get("extract")), "cloze")
    return {
        "data_source": data_source or str(own),
        "prompt": _prompt(fields),
        "ability": fields["domain"],
        "reward_model": {"style": "rule", "ground_truth": fields["target"]},
        "extra_info": {
            "index": index,
            "split": split if isinstance(split, str) else None,
            "id": fields["id"],
            "question": fields["question"],
            "trace": fields.get("trace"),
            "cloze": _rest(fields),
        },
    } | _masked(row)


def to_trl(fields: Fields, row: Row, index: int, data_source: str) -> Row:
    """A row of `GRPOTrainer`, and of `SFTTrainer` if it has a trace."""
    trace = fields.get("trace")
    made: Row = {"id": fields["id"], "prompt": _prompt(fields)}
    if trace is not None:
        made["completion"] = [{"role": "assistant", "content": trace}]
    return made | {"answer": fields["target"], "solution": fields["target"], "cloze": _rest(fields)} | _masked(row)


FORMATS: dict[str, Callable[[Fields, Row, int, str], Row]] = {"verl": to_verl, "trl": to_trl, "cloze": to_cloze}


def _prompt(fields: Fields) -> list[dict[str, str]]:
    system = fields.get("system")
    turns = [{"role": "system", "content": system}] if system else []
    return [*turns, {"role": "user", "content": fields["question"]}]


def _rest(fields: Fields) -> str:
    """What the format has no place for; text, since settings differ from row to row and a column has one type."""
    held = {name: fields.get(name) for name in REST if fields.get(name)}
    return json.dumps(held, ensure_ascii=False)


def _masked(row: Mapping[str, object]) -> Row:
    return {name: row[name] for name in MASKED_COLUMNS if row.get(name) is not None}
