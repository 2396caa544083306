"""What becomes of one chunk: rows written out, and figures about them, in a file that says itself whether it is whole.

A part is the output of one chunk. It holds a checksum, a `Tally` and the rows, and appears under its name only when all
of it is on the disk, so that a run that was killed finds which chunks it need not do again. For jsonl the rows are the
very lines of the final file; for parquet they are an Arrow stream, since the columns of the whole file are known only
at the end (a column may hold nothing but nulls in the first chunk).

Columns that are added to a row leave the rest as it was: a jsonl line keeps its bytes, an Arrow batch its types.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cloze.errors import InputError
from cloze.problems.chunks import Chunk, Numbered
from cloze.problems.files import as_json, to_arrow

ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=as_json)
NAMED = 10  # of each kind, so many are named


@dataclass
class Tally:
    """Figures about some rows, and the first examples of some kinds of them."""

    counts: Counter[str] = field(default_factory=Counter)
    named: dict[str, list[str]] = field(default_factory=dict)

    def name(self, kind: str, example: object) -> None:
        """Remember an example if there are few yet."""
        held = self.named.setdefault(kind, [])
        if len(held) < NAMED:
            held.append(str(example))

    def bad(self, error: InputError) -> None:
        """Count a row that is left out, and remember why."""
        self.counts["bad"] += 1
        self.name("bad", error)

    def add(self, other: Tally) -> None:
        """Take in the figures of rows that come later."""
        self.counts.update(other.counts)
        for kind, examples in other.named.items():
            for example in examples:
                self.name(kind, example)


@dataclass
class Rewritten:
    """What the work on some rows gives.

    Attributes:
        rows: for each row the columns to add, or the row to write in its place; None leaves the row out.
        tally: figures about them. Rows that are left out as bad are counted with `Tally.bad`.
    """

    rows: list[Mapping[str, object] | None]
    tally: Tally


Work = Callable[[Numbered], Rewritten]


@dataclass(frozen=True)
class PartMaker:
    """Does the work on a chunk and writes its part; can be sent to another process.

    Attributes:
        folder: where the parts go.
        ending: `.jsonl` or `.parquet`, of the final file.
        work: what to do with the rows.
        adds: columns that `work` adds to each row; empty if it gives rows to write in their place.
        types: gives the Arrow types of columns, by name; None or a name that it lacks leaves that to the values.
    """

    folder: Path
    ending: str
    work: Work
    adds: tuple[str, ...] = ()
    types: Callable[[], Mapping[str, Any]] | None = None

    def __call__(self, chunk: Chunk) -> Tally:
        read = chunk.rows()
        done = self.work(read)
        encode = self._parquet if self.ending == ".parquet" else self._jsonl
        payload = encode(chunk, read, done)
        done.tally.counts["rows"] += len(read)
        write_part(self.folder / part_name(chunk.index), done.tally, payload)
        return done.tally

    def _jsonl(self, chunk: Chunk, read: Numbered, done: Rewritten) -> bytes:
        lines = []
        for place, ((number, row), made) in enumerate(zip(read, done.rows, strict=True)):
            if made is None or isinstance(row, InputError):
                continue
            try:
                if chunk.lines and self.adds and not any(name in row for name in self.adds):
                    lines.append(_extended(chunk.lines[place], made))
                else:
                    lines.append(_line({**row, **made} if self.adds else made))
            except (TypeError, ValueError) as error:
                what, mend = f"JSON cannot hold the row ({error})", "write .parquet instead"
                done.tally.bad(InputError(what, file=chunk.path, row=number, mend=mend))
        done.tally.counts["kept"] += len(lines)
        return b"".join(lines)

    def _parquet(self, chunk: Chunk, read: Numbered, done: Rewritten) -> bytes:
        import pyarrow as pa

        types = self.types() if self.types else {}
        made = [one for one in done.rows if one is not None]
        if self.adds and chunk.batch is not None:
            kept = chunk.batch.filter(pa.array([one is not None for one in done.rows]))
            table = pa.Table.from_batches([kept])
            table = table.drop_columns([name for name in self.adds if name in table.column_names])
            for name in self.adds:
                values = [one[name] for one in made]
                table = table.append_column(name, pa.array(values, types.get(name)))
        else:
            rows = [
                {**row, **one} if self.adds else one
                for (_, row), one in zip(read, done.rows, strict=True)
                if one is not None and not isinstance(row, InputError)
            ]
            table = to_arrow(rows, chunk.path, types)
        done.tally.counts["kept"] += table.num_rows
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue()


def part_name(index: int) -> str:
    """The name of the part of a chunk."""
    return f"{index:07d}.part"


def write_part(path: Path, tally: Tally, payload: bytes) -> None:
    """Write a part, whole or not at all."""
    told = json.dumps({"counts": tally.counts, "named": tally.named}).encode() + b"\n"
    digest = hashlib.blake2b(told)
    digest.update(payload)
    aside = path.with_suffix(".aside")
    with open(aside, "wb") as handle:
        handle.writelines((digest.hexdigest().encode(), b"\n", told, payload))
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(aside, path)


def read_tally(path: Path) -> Tally | None:
    """The figures of a part; None if it is not there or not as it was written."""
    try:
        with open(path, "rb") as handle:
            written = handle.readline().strip().decode("ascii", "replace")
            told = handle.readline()
            digest = hashlib.blake2b(told)
            while piece := handle.read(1 << 20):
                digest.update(piece)
    except OSError:
        return None
    if digest.hexdigest() != written:
        return None
    values = json.loads(told)
    return Tally(Counter(values["counts"]), values["named"])


def join_parts(parts: Sequence[Path], ending: str, handle: IO[bytes], out: Path) -> None:
    """Write the rows of all parts, in order, to one file.

    Raises:
        InputError: a column has types in different parts that nothing holds both of.
    """
    if ending == ".parquet":
        _join_parquet(parts, handle, out)
        return
    for part in parts:
        with _payload(part) as rows:
            while piece := rows.read(1 << 20):
                handle.write(piece)


ROW_GROUP_ROWS = 1 << 16
ROW_GROUP_BYTES = 64 << 20


def _join_parquet(parts: Sequence[Path], handle: IO[bytes], out: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = None
    for part in parts:
        with _payload(part) as rows, pa.ipc.open_stream(rows) as stream:
            schema = _unified(schema, stream.schema, out)
    assert schema is not None, "a file without rows is refused before"
    try:
        with pq.ParquetWriter(handle, schema) as writer:
            for table in _row_groups(parts, schema, out):
                writer.write_table(table)
    except pa.ArrowException as error:
        raise InputError(f"parquet cannot hold the rows ({error})", file=out, mend="write .jsonl instead") from error


def _row_groups(parts: Sequence[Path], schema: Any, out: Path) -> Iterator[Any]:
    import pyarrow as pa

    group: list[Any] = []
    for part in parts:
        with _payload(part) as rows, pa.ipc.open_stream(rows) as stream:
            group.append(_fitted(stream.read_all(), schema, out))
        if sum(map(len, group)) >= ROW_GROUP_ROWS or sum(table.nbytes for table in group) >= ROW_GROUP_BYTES:
            yield pa.concat_tables(group)
            group.clear()
    if group:
        yield pa.concat_tables(group)


def _unified(known: Any, schema: Any, out: Path) -> Any:
    import pyarrow as pa

    if known is None or not len(known):
        return schema
    if known.equals(schema) or not len(schema):
        return known
    try:
        return pa.unify_schemas([known, schema], promote_options="permissive").with_metadata(known.metadata)
    except pa.ArrowException as error:
        mend = "write .jsonl instead"
        raise InputError(f"a column does not have one type ({error})", file=out, mend=mend) from error


def _fitted(table: Any, schema: Any, out: Path) -> Any:
    """The table with the columns of the whole file."""
    import pyarrow as pa

    if table.schema.equals(schema):
        return table
    columns = []
    for one in schema:
        held = one.name in table.column_names
        try:
            columns.append(table[one.name].cast(one.type) if held else pa.nulls(table.num_rows, one.type))
        except (pa.ArrowException, NotImplementedError) as error:
            what = f"parquet cannot hold the column ({error})"
            raise InputError(what, file=out, field=one.name, mend="write .jsonl instead") from error
    return pa.table(columns, schema=schema)


def _payload(part: Path) -> IO[bytes]:
    """A part, opened where its rows begin."""
    handle = open(part, "rb")  # noqa: SIM115 - the caller closes it
    handle.readline()
    handle.readline()
    return handle


def _extended(line: bytes, made: Mapping[str, object]) -> bytes:
    """A line that holds an object, with fields added at its end and nothing else changed."""
    return line.rstrip()[:-1].rstrip() + b", " + _line(made)[1:]


def _line(row: Mapping[str, object]) -> bytes:
    return ENCODER.encode(row).encode() + b"\n"
