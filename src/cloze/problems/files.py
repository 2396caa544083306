"""Rows from files and back, before anybody asks what the columns mean.

A data set is a file of rows: `.parquet`, `.jsonl` (or `.ndjson`), `.json` (one list of objects), `.csv` or `.tsv`. A
row is a dict with a number that counts from 1: the line of a jsonl file (blank lines count, so that an editor finds
it), the data row of the others (a csv header does not count). Everything but `.json` streams. A row that cannot be read
does not end the walk: `scan_rows` hands it on as an error, and whoever reads decides whether to stop there.

Writing is all or nothing: the rows go to a file beside the wanted one, which takes its place only when all of it is
on the disk.
"""

from __future__ import annotations

import codecs
import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from cloze.errors import InputError

Row = dict[str, object]
BATCH = 256


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
    if path.is_dir():
        raise InputError("is a folder, not a data file", file=path, mend="name one of the files in it")
    if not path.exists():
        raise InputError("no such file", file=path, mend="check the path")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"unknown ending {path.suffix!r}", file=path, mend=f"convert it to one of {', '.join(READERS)}"
        )
    return _not_empty(path, reader(path))


def iterate_rows(path: str | Path) -> Iterator[tuple[int, Row]]:
    """Walk a file that has to be sound throughout: as `scan_rows`, but the first bad row is raised.

    Raises:
        InputError: as `scan_rows`, or a row cannot be read.
    """
    return _all_sound(scan_rows(path))


def write_rows(path: str | Path, rows: Iterable[Mapping[str, object]]) -> int:
    """Write rows to a `.jsonl`, `.ndjson` or `.parquet` file, which appears whole or not at all.

    Args:
        path: where; an existing file is replaced at the end.
        rows: streamed into jsonl, collected first for parquet. A parquet column is the same type in every row.

    Returns:
        How many rows were written.

    Raises:
        InputError: unknown ending, no rows, a value that the format cannot hold, or the disk says no.
    """
    path = Path(path)
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"cannot write {path.suffix!r}", file=path, mend=f"use one of {', '.join(WRITERS)}")
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as handle:
            count = writer(handle, rows, path)
            if not count:
                raise InputError("there are no rows to write", file=path)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(aside, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=path) from error
    finally:
        aside.unlink(missing_ok=True)
    return count


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


def _all_sound(rows: Iterator[tuple[int, Row | InputError]]) -> Iterator[tuple[int, Row]]:
    for number, row in rows:
        if isinstance(row, InputError):
            raise row
        yield number, row


def _read_jsonl(path: Path) -> Iterator[tuple[int, Row | InputError]]:
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            line = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not line.strip():
                continue
            try:
                yield number, _as_row(json.loads(line.decode("utf-8")), path, number)
            except UnicodeDecodeError:
                yield number, _undecodable(path, number)
            except (ValueError, RecursionError) as error:
                where = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
                yield number, InputError(f"broken JSON ({where})", file=path, row=number, mend="mend the line")


def _read_json(path: Path) -> Iterator[tuple[int, Row | InputError]]:
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
    csv.field_size_limit(1 << 30)  # the module's own limit of 128 KiB is shorter than a long trace
    number = 0
    with open(path, "rb") as lines:
        # Undecodable bytes survive as lone surrogates until their row is known.
        texts = (line.decode("utf-8", "surrogateescape") for line in lines)
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        records = (record for record in csv.reader(texts, delimiter=separator, strict=True) if record)
        try:
            header = [name.removeprefix("\ufeff") for name in next(records, [])]
            _check_names(header, path)
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
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    with open(path, "rb") as handle:
        try:
            with pq.ParquetFile(handle) as file:
                _check_names(file.schema_arrow.names, path)
                for batch in file.iter_batches(batch_size=BATCH):
                    for row in _batch_rows(batch, path, number + 1):
                        number += 1
                        yield number, row
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"broken parquet ({error})",
                file=path,
                row=number + 1 if number else None,
                mend="write or download it again",
            ) from error


def _batch_rows(batch: Any, path: Path, start: int) -> Iterator[Row | InputError]:
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


def _check_names(names: list[str], path: Path) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"two columns have the name {twice[0]!r}", file=path, field=twice[0], mend="rename one")
    if not all(map(_encodes, names)):
        raise InputError("the header is not UTF-8", file=path, mend="save it as UTF-8")


def _write_jsonl(handle: IO[bytes], rows: Iterable[Mapping[str, object]], path: Path) -> int:
    count = 0
    for count, row in enumerate(rows, 1):
        try:
            text = json.dumps(dict(row), ensure_ascii=False, allow_nan=False, default=_as_json)
            handle.write(text.encode("utf-8") + b"\n")
        except (TypeError, ValueError) as error:
            raise InputError(f"JSON cannot hold the row ({error})", file=path, row=count) from error
    return count


def _as_json(value: Any) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__}")


def _write_parquet(handle: IO[bytes], rows: Iterable[Mapping[str, object]], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(rows)
    arrays = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if all(value is None or (isinstance(value, dict) and not value) for value in values):
            values = [None] * len(rows)  # parquet has no object without fields
        try:
            arrays[name] = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f"parquet cannot hold the column ({error})", file=path, field=name, mend="write .jsonl instead"
            ) from error
    try:
        pq.write_table(pa.table(arrays), handle)
    except pa.ArrowException as error:
        raise InputError(f"parquet cannot hold the rows ({error})", file=path, mend="write .jsonl instead") from error
    return len(rows)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


Reader = Callable[[Path], Iterator[tuple[int, Row | InputError]]]
Writer = Callable[[IO[bytes], Iterable[Mapping[str, object]], Path], int]
READERS: dict[str, Reader] = {
    ".parquet": _read_parquet,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": _read_csv,
}
WRITERS: dict[str, Writer] = {".jsonl": _write_jsonl, ".ndjson": _write_jsonl, ".parquet": _write_parquet}
