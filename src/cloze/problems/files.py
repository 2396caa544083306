"""Rows from files and back, before anybody asks what the columns mean.

A data set is a file of rows: `.parquet`, `.jsonl` (or `.ndjson`), `.json` (one list of objects), `.csv` or `.tsv`. A
row is a dict with a number that counts from 1: the line of a jsonl file (blank lines count, so that an editor finds
it), the data row of the others (a csv header does not count). Everything but `.json` streams. A row that cannot be read
does not end the walk: `scan_rows` hands it on as an error, and whoever reads decides whether to stop there.

Writing is in `rewrite` and `parts`; what a value looks like in each format stands here.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cloze.errors import InputError

Row = dict[str, object]
BATCH = 256
BUFFER = 1 << 20  # bytes read ahead of each column


def scan_rows(path: str | Path) -> Iterator[tuple[int, Row | InputError]]:
    """Walk a file, with an error in the place of each row that cannot be read.

    Args:
        path: a file with one of the endings in `READERS`.

    Returns:
        An iterator of (row number, row or what is wrong with it).

    Raises:
        InputError: at once if there is no such file, it is a folder or its ending is unknown; on the way if the file
            is empty or broken beyond the row.
    """
    path = Path(path)
    return _not_empty(path, reader_of(path)(path))


def reader_of(path: Path) -> Reader:
    """What reads a file.

    Raises:
        InputError: there is no such file, it is a folder or its ending is unknown.
    """
    if path.is_dir():
        raise InputError("is a folder, not a data file", file=path, mend="name one of the files in it")
    if not path.exists():
        raise InputError("no such file", file=path, mend="check the path")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"unknown ending {path.suffix!r}", file=path, mend=f"convert it to one of {', '.join(READERS)}"
        )
    return reader


def _not_empty(path: Path, rows: Iterator[tuple[int, Row | InputError]]) -> Iterator[tuple[int, Row | InputError]]:
    empty = True
    try:
        for item in rows:
            empty = False
            yield item
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=path) from error
    if empty:
        raise InputError("the data set is empty", file=path, mend="give a file with at least one row")


def _read_jsonl(path: Path) -> Iterator[tuple[int, Row | InputError]]:
    with open(path, "rb") as handle:
        for number, line in jsonl_lines(handle):
            yield number, parse_line(line, path, number)


def jsonl_lines(handle: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a jsonl file that hold something, with their numbers."""
    for number, line in enumerate(handle, 1):
        line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if line.strip():
            yield number, line


def parse_line(line: bytes, path: Path, number: int) -> Row | InputError:
    """The row in one line of a jsonl file, or what is wrong with it."""
    try:
        return _as_row(json.loads(line.decode("utf-8")), path, number)
    except UnicodeDecodeError:
        return _undecodable(path, number)
    except (ValueError, RecursionError) as error:
        where = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        return InputError(f"broken JSON ({where})", file=path, row=number, mend="mend the line")


def read_json(path: Path) -> Iterator[tuple[int, Row | InputError]]:
    """The rows of a json file, which is held in memory as a whole."""
    try:
        values = json.loads(path.read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {row} is not UTF-8 text", file=path, mend="save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"broken JSON ({error})", file=path, mend="if it holds one object a line, name it .jsonl"
        ) from error
    if not isinstance(values, list):
        raise InputError(
            f"holds a {type(values).__name__}, not a list of objects",
            file=path,
            mend="wrap the rows in [...], or write one a line and name it .jsonl",
        )
    for number, value in enumerate(values, 1):
        yield number, _as_row(value, path, number)


def _read_csv(path: Path) -> Iterator[tuple[int, Row | InputError]]:
    with open(path, "rb") as handle:
        yield from csv_rows(handle, path)


def csv_rows(handle: Iterable[bytes], path: Path) -> Iterator[tuple[int, Row | InputError]]:
    """The rows of an open csv or tsv file."""
    csv.field_size_limit(1 << 30)  # the module's own limit of 128 KiB is shorter than a long trace
    number = 0
    # Undecodable bytes survive as lone surrogates until their row is known.
    texts = (line.decode("utf-8", "surrogateescape") for line in handle)
    separator = "\t" if path.suffix.lower() == ".tsv" else ","
    records = (record for record in csv.reader(texts, delimiter=separator, strict=True) if record)
    try:
        header = [name.removeprefix("\ufeff") for name in next(records, [])]
        check_names(header, path)
        for number, record in enumerate(records, 1):
            if len(record) != len(header):
                what = f"the row has {len(record)} fields, the header {len(header)}"
                yield number, InputError(what, file=path, row=number, mend="quote fields that hold separators")
                continue
            broken = next((name for name, text in zip(header, record, strict=True) if not _encodes(text)), None)
            row: Row = dict(zip(header, record, strict=True))
            yield number, row if broken is None else _undecodable(path, number, broken)
    except csv.Error as error:
        raise InputError(
            f"broken csv ({error})", file=path, row=number + 1, mend="check the quotes from that row on"
        ) from error


def _read_parquet(path: Path) -> Iterator[tuple[int, Row | InputError]]:
    number = 0
    for batch in parquet_batches(path, BATCH):
        for row in batch_rows(batch, path, number + 1):
            number += 1
            yield number, row


def parquet_batches(path: Path, size: int) -> Iterator[Any]:
    """The rows of a parquet file as Arrow batches of at most `size` rows, without holding a whole row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    with open(path, "rb") as handle:
        try:
            with pq.ParquetFile(handle, buffer_size=BUFFER) as file:
                check_names(file.schema_arrow.names, path)
                for batch in file.iter_batches(batch_size=size):
                    number += batch.num_rows
                    yield batch
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"broken parquet ({error})",
                file=path,
                row=number + 1 if number else None,
                mend="write or download it again",
            ) from error


def batch_rows(batch: Any, path: Path, start: int) -> Iterator[Row | InputError]:
    """The rows of an Arrow batch whose first row has the number `start`."""
    try:
        yield from batch.to_pylist()
        return
    except (ValueError, OverflowError):  # a value that Python cannot hold, mostly text that is not UTF-8: find it
        pass
    for index in range(batch.num_rows):
        row: Row | InputError = {}
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            try:
                value = column[index].as_py()
            except (ValueError, OverflowError):
                row = _undecodable(path, start + index, name)
                break
            if isinstance(row, dict):
                row[name] = value
        yield row


def _as_row(value: object, path: Path, number: int) -> Row | InputError:
    if isinstance(value, dict):
        return value
    what = f"a row must be an object with named fields, not {type(value).__name__}"
    return InputError(what, file=path, row=number, mend='write {"question": ..., "target": ...}')


def _undecodable(path: Path, number: int, name: str | None = None) -> InputError:
    return InputError("the text is not UTF-8", file=path, row=number, field=name, mend="save it as UTF-8")


def _encodes(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def check_names(names: list[str], path: Path) -> None:
    """Refuse column names that are not told apart or cannot be written."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"two columns have the name {twice[0]!r}", file=path, field=twice[0], mend="rename one")
    if not all(map(_encodes, names)):
        raise InputError("the header is not UTF-8", file=path, mend="save it as UTF-8")


def as_json(value: Any) -> object:
    """For `json.dumps`: numpy's values and dates as JSON has them.

    Raises:
        TypeError: anything else.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__}")


def to_arrow(rows: Sequence[Mapping[str, object]], path: Path, types: Mapping[str, Any]) -> Any:
    """Rows as an Arrow table whose columns are all that any row has.

    Args:
        rows: in a column, one type and None.
        path: for messages.
        types: Arrow types of some columns; those of the others follow from their values.

    Raises:
        InputError: names the column that has no type of its own.
    """
    import pyarrow as pa

    arrays = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        try:
            array = pa.array(values, types.get(name))
            if _has_empty_object(array.type):
                array = pa.array([_without_empty_objects(value) for value in values], types.get(name))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"parquet cannot hold the column ({error})", file=path, field=name, mend="write .jsonl instead"
            ) from error
        arrays[name] = array
    return pa.table(arrays)


def _has_empty_object(kind: Any) -> bool:
    import pyarrow as pa

    children = [kind.field(index).type for index in range(kind.num_fields)]
    return (pa.types.is_struct(kind) and not children) or any(map(_has_empty_object, children))


def _without_empty_objects(value: object) -> object:
    """Parquet has no object without fields: None in its place, all the way down."""
    if isinstance(value, dict):
        return {key: _without_empty_objects(inner) for key, inner in value.items()} or None
    return [_without_empty_objects(inner) for inner in value] if isinstance(value, list | tuple) else value


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


Reader = Callable[[Path], Iterator[tuple[int, Row | InputError]]]
READERS: dict[str, Reader] = {
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
}
