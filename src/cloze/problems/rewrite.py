"""A file into another, row by row: the engine under `cloze mask` and `cloze convert`.

The file is read in chunks (`chunks`), the work is done on them in one process or several (`pool`), and what becomes of
each goes to a part file (`parts`) in a folder beside the wanted one. At the end the parts are joined, and the result
takes its place when all of it is on the disk; its bytes do not depend on the number of workers or on how often the run
was killed. A run that is started again with the same input and settings goes on from its parts, with others it
starts over and says why. Memory does not grow with the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cloze import __version__
from cloze.errors import InputError
from cloze.problems.chunks import CHUNK_BYTES, CHUNK_ROWS, Source
from cloze.problems.files import sync_folder
from cloze.problems.parts import PartMaker, Tally, Work, join_parts, part_name, read_tally
from cloze.problems.pool import in_order

WRITTEN = (".jsonl", ".ndjson", ".parquet")
WORTH_KEEPING = 2  # parts of a run that failed
ENDS = 1 << 16  # bytes at both ends of a file by which it is known again


def rewrite(
    source: Source,
    out: str | Path,
    work: Work,
    *,
    settings: Mapping[str, object],
    adds: tuple[str, ...] = (),
    types: Callable[[], Mapping[str, Any]] | None = None,
    workers: int = 1,
    skip_bad: bool = False,
    accept: Callable[[Tally], None] | None = None,
    report: Callable[[str], None] | None = None,
    advance: Callable[[int], object] | None = None,
) -> Tally:
    """Write a file from another.

    Args:
        source: what to read.
        out: what to write, `.jsonl`, `.ndjson` or `.parquet`; an existing file is replaced at the end.
        work: from rows to columns to add or rows to write; can be pickled when there is more than one worker.
        settings: everything on which the outcome of `work` depends, as JSON can hold it.
        adds: the columns that `work` adds; empty if it gives whole rows.
        types: gives the Arrow types of columns; can be pickled too.
        workers: processes.
        skip_bad: leave rows out that cannot be read or written, instead of stopping at the first chunk with one.
        accept: called with the figures of all rows before anything is written to `out`; may raise `InputError`.
        report: called with a line for each thing worth knowing.
        advance: called with the length of each chunk that is done, in the unit of the source.

    Returns:
        The figures of all rows. `counts` has `rows`, `kept` and `bad`, beside those of `work`.

    Raises:
        InputError: a bad row, no rows left, a place that cannot be written, another run that writes it, or an input
            that changes meanwhile.
        KeyboardInterrupt: after saying how to go on.
    """
    out = Path(out)
    say = report or (lambda line: None)
    check_out(out, source.path)
    ending = ".parquet" if out.suffix.lower() == ".parquet" else ".jsonl"
    marks = _fingerprint(source.path)
    manifest: dict[str, object] = {
        "version": __version__,
        "input": marks,
        "chunk": [source.chunk_rows, CHUNK_ROWS, CHUNK_BYTES],
        "settings": {**settings, "limit": source.limit, "output": ending},
    }
    folder = out.with_name(f".{out.name}.parts")
    try:
        with _held(folder, out):
            _begin(folder, manifest, say)
            maker = PartMaker(folder, ending, work, adds, types)
            try:
                total, parts = _make_parts(source, maker, workers, skip_bad, say, advance or (lambda count: None))
                if _fingerprint(source.path) != marks:
                    raise InputError("the file changed while it was read", file=source.path, mend="start again")
                if accept is not None:
                    accept(total)
                _join(parts, ending, out)
            except KeyboardInterrupt:
                say("interrupted: what is done is kept, and the same command goes on from there")
                raise
            except (InputError, OSError):
                if len(list(folder.glob("*.part"))) < WORTH_KEEPING:
                    shutil.rmtree(folder)
                raise
            shutil.rmtree(folder)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=out) from error
    return total


def check_out(out: Path, path: Path) -> None:
    """Refuse a place that cannot be written before any work is done.

    Raises:
        InputError: unknown ending, a folder, a folder that is not there, or the input itself.
    """
    if out.suffix.lower() not in WRITTEN:
        raise InputError(f"cannot write {out.suffix!r}", file=out, mend=f"use one of {', '.join(WRITTEN)}")
    if out.is_dir():
        raise InputError("is a folder, not a file", file=out, mend="name a file in it")
    if not out.parent.is_dir():
        raise InputError("its folder is not there", file=out, mend=f"make {out.parent} first")
    if out.exists() and path.exists() and out.samefile(path):
        raise InputError("input and output are the same file", file=out, mend="give another name with -o")


def _make_parts(
    source: Source,
    maker: PartMaker,
    workers: int,
    skip_bad: bool,
    say: Callable[[str], None],
    advance: Callable[[int], object],
) -> tuple[Tally, list[Path]]:
    """Make the part of each chunk, unless it is there and whole."""
    done = {part.name: tally for part in maker.folder.glob("*.part") if (tally := read_tally(part)) is not None}
    if done:
        rows = sum(tally.counts["rows"] for tally in done.values())
        say(f"resuming: {rows:,}{f' of {source.total:,}' if source.unit == 'rows' else ''} rows are done")
    total, parts, reached = Tally(), [], 0
    made = in_order(maker, source.chunks(), workers, lambda chunk: done.get(part_name(chunk.index)))
    with closing(made):
        for chunk, tally in made:
            total.add(tally)
            parts.append(maker.folder / part_name(chunk.index))
            advance(chunk.end - reached)
            reached = chunk.end
            if total.counts["bad"] and not skip_bad:
                raise _bad_rows(total, "--skip-bad leaves them out")
    if not total.counts["kept"]:
        raise _bad_rows(total, "nothing is left")
    if bad := total.counts["bad"]:
        for line in total.named["bad"]:
            say(line)
        shown = f", {len(total.named['bad'])} are shown" if bad > len(total.named["bad"]) else ""
        say(f"{source.path}: {bad:,} of {total.counts['rows']:,} rows are bad and left out{shown}")
    return total, parts


def _bad_rows(total: Tally, more: str) -> InputError:
    first = (total.named.get("bad") or ["there are no rows to write"])[0]
    return InputError(f"{first}; bad rows so far: {total.counts['bad']:,} of {total.counts['rows']:,}, {more}")


def _begin(folder: Path, manifest: dict[str, object], say: Callable[[str], None]) -> None:
    """Leave in the folder only parts that were made by the same version with the same settings from the same input."""
    path = folder / "manifest.json"
    text = json.dumps(manifest, indent=1, sort_keys=True, default=str)
    try:
        known = json.loads(path.read_bytes())
    except (OSError, ValueError):
        known = None
    if known == json.loads(text):
        return
    parts = [*folder.glob("*.part"), *folder.glob("*.aside")]
    if parts and known is not None:
        say(f"starting over: {_difference(known, json.loads(text))}")
    for part in parts:
        part.unlink()
    aside = path.with_suffix(".aside")
    aside.write_text(text)
    os.replace(aside, path)


def _difference(known: Any, wanted: dict[str, Any]) -> str:
    """What is not as it was, in a few words."""
    if not isinstance(known, dict) or known.get("version") != wanted["version"]:
        return "the parts were made by another version"
    if known.get("input") != wanted["input"]:
        return "the input is not the one that the parts were made from"
    before, now = known.get("settings"), wanted["settings"]
    names = [name for name in now if not isinstance(before, dict) or before.get(name) != now[name]]
    if not names or not isinstance(before, dict):
        return "the parts were made in another way"
    return ", ".join(f"{name} was {before.get(name)!r} and is {now[name]!r}" for name in names)


def _fingerprint(path: Path) -> dict[str, object]:
    """By what a file is known again, without reading all of it."""
    state = path.stat()
    with open(path, "rb") as handle:
        head = handle.read(ENDS)
        handle.seek(max(0, state.st_size - ENDS))
        ends = hashlib.blake2b(head + handle.read(ENDS)).hexdigest()
    return {"path": str(path.resolve()), "size": state.st_size, "mtime_ns": state.st_mtime_ns, "ends": ends}


@contextmanager
def _held(folder: Path, out: Path) -> Iterator[None]:
    """The folder of the parts, for this run alone.

    Raises:
        InputError: another run has it.
    """
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "wb") as lock:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InputError("another run is writing this file", file=out, mend="wait for it") from None
        yield


def _join(parts: list[Path], ending: str, out: Path) -> None:
    aside = parts[0].with_name("joined.aside")
    with open(aside, "wb") as handle:
        join_parts(parts, ending, handle, out)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(aside, out)
    sync_folder(out.parent)
