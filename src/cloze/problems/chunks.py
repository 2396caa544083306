"""A data file cut into chunks, so that a file of any length can be worked on piece by piece and by several processes.

A chunk is a few thousand rows at most, or about `CHUNK_BYTES` of them, in the form in which the file holds them: lines
of a jsonl file (parsed where the work is done, not where the file is read), an Arrow batch of a parquet file, rows of
the others. Where one chunk ends depends on the file alone, so a run that starts again finds the same chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from cloze.errors import InputError
from cloze.problems.files import (
    Row,
    batch_rows,
    csv_rows,
    jsonl_lines,
    parquet_batches,
    parse_line,
    read_json,
    reader_of,
)

CHUNK_ROWS = 2048
CHUNK_BYTES = 8 << 20

Numbered = list[tuple[int, Row | InputError]]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows that follow each other in a file.

    Attributes:
        path: the file.
        index: which chunk of the file, from 0.
        end: how far into the file it reaches, in the unit of its `Source`.
        numbers: the number of each row.
        lines: of a jsonl file, the line of each row.
        batch: of a parquet file, the rows as an Arrow batch.
        read: of the other files, each row or what is wrong with it.
    """

    path: Path
    index: int
    end: int
    numbers: tuple[int, ...]
    lines: tuple[bytes, ...] = ()
    batch: Any = None
    read: tuple[Row | InputError, ...] = ()

    def rows(self) -> Numbered:
        """Each row with its number, or what is wrong with it."""
        if self.lines:
            parsed = map(parse_line, self.lines, [self.path] * len(self.lines), self.numbers)
            return list(zip(self.numbers, parsed, strict=True))
        if self.batch is not None:
            return list(zip(self.numbers, batch_rows(self.batch, self.path, self.numbers[0]), strict=True))
        return list(zip(self.numbers, self.read, strict=True))


def on_rows(work: Callable[[Numbered], Result], chunk: Chunk) -> Result:
    """The work on the rows of a chunk; `partial` of it can be sent to another process."""
    return work(chunk.rows())


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is read in chunks.

    Attributes:
        path: the file.
        total: its length in `unit`.
        unit: "rows" where their number is known before reading, else "KB".
        limit: only so many rows, 0 for all.
        chunk_rows: rows of a chunk at most; 0 chooses.
    """

    path: Path
    total: int
    unit: str
    limit: int = 0
    chunk_rows: int = 0

    def chunks(self) -> Iterator[Chunk]:
        """Walk the file.

        Raises:
            InputError: on the way, if the file is empty or broken beyond a row.
        """
        walk = CHUNKERS.get(self.path.suffix.lower(), _chunks_of_rows)(self, self.chunk_rows or CHUNK_ROWS)
        left = self.limit or None
        empty = True
        try:
            for chunk in walk:
                empty = False
                if left is not None and len(chunk.numbers) >= left:
                    yield _first(chunk, left, self.total)
                    return
                left = None if left is None else left - len(chunk.numbers)
                yield chunk
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror or error}", file=self.path) from error
        if empty:
            raise InputError("the data set is empty", file=self.path, mend="give a file with at least one row")


def open_source(path: str | Path, *, limit: int = 0, chunk_rows: int = 0) -> Source:
    """Find out how long a file is.

    Args:
        path: a file with one of the endings in `files.READERS`.
        limit: only so many rows, 0 for all.
        chunk_rows: rows of a chunk at most, 0 to choose by what they weigh.

    Raises:
        InputError: there is no such file, it is a folder, its ending is unknown, or it is no parquet file at all.
    """
    path = Path(path)
    reader_of(path)
    if path.suffix.lower() != ".parquet":
        return Source(path, -(-path.stat().st_size // 1024), "KB", limit, chunk_rows)
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            rows, weight = file.metadata.num_rows, _weight(file.metadata)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"broken parquet ({error})", file=path, mend="write or download it again") from error
    heavy = max(1, min(CHUNK_ROWS, CHUNK_BYTES * max(rows, 1) // max(weight, 1)))
    return Source(path, min(rows, limit or rows), "rows", limit, chunk_rows or heavy)


def _weight(metadata: Any) -> int:
    """Bytes of all rows, before compression."""
    return sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))


def _first(chunk: Chunk, count: int, total: int) -> Chunk:
    """The first rows of a chunk, which is the last."""
    batch = None if chunk.batch is None else chunk.batch.slice(0, count)
    numbers, lines, read = chunk.numbers[:count], chunk.lines[:count], chunk.read[:count]
    return Chunk(chunk.path, chunk.index, total, numbers, lines, batch, read)


def _chunks_of_lines(source: Source, most: int) -> Iterator[Chunk]:
    with open(source.path, "rb") as handle:
        numbers: list[int] = []
        lines: list[bytes] = []
        index = weight = 0
        for number, line in jsonl_lines(handle):
            numbers.append(number)
            lines.append(line)
            weight += len(line)
            if len(lines) == most or weight >= CHUNK_BYTES:
                yield Chunk(source.path, index, handle.tell() // 1024, tuple(numbers), lines=tuple(lines))
                index, weight = index + 1, 0
                numbers.clear()
                lines.clear()
        if lines:
            yield Chunk(source.path, index, source.total, tuple(numbers), lines=tuple(lines))


def _chunks_of_batches(source: Source, most: int) -> Iterator[Chunk]:
    start = 1
    for index, batch in enumerate(batch for batch in parquet_batches(source.path, most) if batch.num_rows):
        end = start + batch.num_rows
        yield Chunk(source.path, index, end - 1, tuple(range(start, end)), batch=batch)
        start = end


def _chunks_of_rows(source: Source, most: int) -> Iterator[Chunk]:
    with open(source.path, "rb") as handle:
        csv = source.path.suffix.lower() != ".json"
        rows = csv_rows(handle, source.path) if csv else read_json(source.path)
        numbers: list[int] = []
        read: list[Row | InputError] = []
        index = weight = 0
        for number, row in rows:
            numbers.append(number)
            read.append(row)
            if isinstance(row, dict):
                weight += sum(len(value) for value in row.values() if isinstance(value, str))
            if len(read) == most or weight >= CHUNK_BYTES:
                end = handle.tell() // 1024 if csv else source.total
                yield Chunk(source.path, index, end, tuple(numbers), read=tuple(read))
                index, weight = index + 1, 0
                numbers.clear()
                read.clear()
        if read:
            yield Chunk(source.path, index, source.total, tuple(numbers), read=tuple(read))


CHUNKERS = {".jsonl": _chunks_of_lines, ".ndjson": _chunks_of_lines, ".parquet": _chunks_of_batches}
