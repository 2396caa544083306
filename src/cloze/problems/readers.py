"""From a file to problems, with nothing lost in silence.

A reader walks the rows of a file, reads each by one schema (found from the columns, or named) and gives problems. A row
that cannot be read stops it with one line that says where and what; with `skip_bad` such rows are left out, shown and
counted. Rows without an expert trace are fine, and counted too: a method that needs traces asks for them by
`require_traces`, so that a misnamed trace column cannot pass for a data set without traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from cloze.errors import InputError
from cloze.problems.files import Row, scan_rows
from cloze.problems.record import Problem
from cloze.problems.schemas import SCHEMAS, Fields, Schema, detect_schema

HEAD = 64
SHOWN = 10


def read_problems(
    path: str | Path,
    *,
    schema: str | None = None,
    skip_bad: bool = False,
    limit: int | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Problem]:
    """Read a data set.

    Args:
        path: a file with one of the endings in `files.READERS`.
        schema: a name in `SCHEMAS`; None finds it from the first rows.
        skip_bad: leave bad rows out instead of stopping at the first.
        limit: read no further once there are so many problems.
        report: called with a line for each of the first bad rows that are left out, for their number, and for the
            number of rows without an expert trace.

    Returns:
        The problems in the order of the file. Ids that the file gives are kept; rows without one are named after the
        file and their row.

    Raises:
        InputError: the file cannot be read, its schema cannot be told, a row is bad (`skip_bad` not set), or every
            row is. A second row with the same id is a bad row.
    """
    path = Path(path)
    if limit is not None and limit < 1:
        raise InputError(f"limit must be at least 1, got {limit}")
    say = report or (lambda line: None)
    name, rows = _with_schema(path, schema)
    problems: list[Problem] = []
    first_row: dict[str, int] = {}
    first_bad: InputError | None = None
    read = bad = 0
    for number, row in rows:
        read += 1
        problem = _read_row(row, SCHEMAS[name], path, number, first_row)
        if isinstance(problem, Problem):
            problems.append(problem)
        else:
            bad += 1
            first_bad = first_bad or problem
            if skip_bad and bad <= SHOWN:
                say(str(problem))
        if limit is not None and len(problems) == limit:
            break
    if first_bad and not problems:
        raise _again(first_bad, what=f"{first_bad.what} (bad rows in all: {bad} of {read}, nothing is left)")
    if first_bad and not skip_bad:
        count = f"bad rows in all: {bad} of {read}, --skip-bad leaves them out"
        raise _again(first_bad, mend="; ".join(filter(None, (first_bad.mend, count))))
    if bad:
        say(f"{path}: {bad} of {read} rows are bad and left out" + (f", {SHOWN} are shown" if bad > SHOWN else ""))
    untraced = sum(problem.trace is None for problem in problems)
    if untraced:
        say(f"{path}: {untraced} of {len(problems)} rows have no expert trace")
    return problems


def require_traces(problems: Sequence[Problem], file: str | Path, *, schema: str | None = None) -> None:
    """Make sure that at least one problem has an expert trace, for a method that cannot do without.

    Args:
        problems: as read from `file`.
        file: where they came from; its first rows are looked at again if `schema` is not given.
        schema: the name of its schema.

    Raises:
        InputError: not one has a trace; names the fields in which the schema looks for it.
    """
    if any(problem.trace is not None for problem in problems):
        return
    name = _with_schema(Path(file), schema)[0]
    fields = SCHEMAS[name].traces
    raise InputError(
        "the trace column is all empty",
        file=file,
        field=" or ".join(fields),
        mend=f"the {name} schema has the expert trace there: fill it in, name another schema, or choose a method "
        "that needs no traces",
    )


def look_at(path: str | Path, schema: str | None = None) -> tuple[str, list[str]]:
    """The name of a file's schema and the columns of its first rows.

    Args:
        path: a file with one of the endings in `files.READERS`.
        schema: a name in `SCHEMAS`, which is taken as it is; None finds it.

    Raises:
        InputError: the file cannot be read, there is no such schema, or none fits.
    """
    name, rows = _with_schema(Path(path), schema)
    return name, list(dict.fromkeys(str(key) for _, row in islice(rows, HEAD) if isinstance(row, dict) for key in row))


def _with_schema(path: Path, schema: str | None) -> tuple[str, Iterator[tuple[int, Row | InputError]]]:
    """The schema's name, found by looking ahead if None, and all rows."""
    if schema is not None and schema not in SCHEMAS:
        raise InputError(f"unknown schema {schema!r}", mend=f"use one of {', '.join(SCHEMAS)}")
    rows = scan_rows(path)
    if schema is not None:
        return schema, rows
    head = list(islice(rows, HEAD))
    sound = [row for _, row in head if not isinstance(row, InputError)]
    bad = [row for _, row in head if isinstance(row, InputError)]
    if bad and not sound:
        raise _again(bad[0], what=f"{bad[0].what} (the first {len(head)} rows are all bad)")
    try:
        return detect_schema(sound), chain(head, rows)
    except InputError as error:
        raise _again(error, file=path) from None


def _read_row(
    row: Row | InputError, schema: Schema, path: Path, number: int, first_row: dict[str, int]
) -> Problem | InputError:
    """One problem, or what is wrong with the row; `first_row` remembers the ids."""
    if isinstance(row, InputError):
        return row
    try:
        fields = schema.read(row)
        named: Fields = {"id": f"{path.stem}-{number}", "source": f"{path} row {number}", **fields}
        problem = Problem(**named)
    except InputError as error:
        return _again(error, file=path, row=number)
    before = first_row.setdefault(problem.id, number)
    if before != number:
        mend = "make the ids differ, or drop the id column to have rows named by number"
        return InputError(f"the id {problem.id!r} is that of row {before} already", file=path, row=number, mend=mend)
    return problem


def _again(
    error: InputError,
    *,
    what: str | None = None,
    file: object | None = None,
    row: int | None = None,
    mend: str | None = None,
) -> InputError:
    """The same error with more told."""
    return InputError(
        what or error.what,
        file=file or error.file,
        row=row or error.row,
        field=error.field,
        mend=mend or error.mend,
    )
