"""The rewriting engine, killed, interrupted, started again, in several processes: the same bytes come out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rewriting import ENVIRONMENT, WORK, jsonl, numbered, parts_of, refusal, run
from rows import rows_of
from work import die, fail, measure

import cloze.problems.rewrite
from cloze.problems.parts import PartMaker, Rewritten, read_tally

# Kill and go on


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_killed_run_goes_on_to_the_same_bytes(ending: str, workers: int, tmp_path: Path) -> None:
    source = numbered(tmp_path / "in.jsonl", 103)
    if ending == ".parquet":
        pq.write_table(pa.Table.from_pylist([row for _, row in rows_of(source)]), tmp_path / "in.parquet")
        source = tmp_path / "in.parquet"
    (tmp_path / "once").mkdir()
    whole, out = tmp_path / "once" / f"out{ending}", tmp_path / f"out{ending}"
    tally, _ = run(source, whole)
    pids = tmp_path / "pids"
    pids.mkdir()
    command = [sys.executable, WORK, source, out, "--workers", str(workers), "--seconds", "0.05", "--pids", pids]
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    await_true(lambda: len(list(parts_of(out).glob("*.part"))) >= 4)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    await_true(lambda: not any(alive(int(file.name)) for file in pids.iterdir()))
    assert not out.exists()
    made = {file.name: file.stat().st_mtime_ns for file in parts_of(out).glob("*.part")}
    assert 4 <= len(made) < 21
    again, lines = run(source, out, workers=workers)
    assert lines[0].startswith(f"resuming: {5 * len(made)}") and "done" in lines[0]
    assert out.read_bytes() == whole.read_bytes()
    assert again == tally and tally.counts["rows"] == 103
    assert not parts_of(out).exists()


def await_true(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


@pytest.fixture
def half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, list[int]]:
    """Input and output of a run whose parts are all made but not joined; and the chunks that are made from now on."""
    source, out, made = numbered(tmp_path / "in.jsonl", 23), tmp_path / "out.jsonl", []

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(cloze.problems.rewrite, "_join", stop)
        run(source, out)
    call = PartMaker.__call__
    monkeypatch.setattr(PartMaker, "__call__", lambda maker, chunk: made.append(chunk.index) or call(maker, chunk))
    return source, out, made


def test_what_is_done_is_not_done_again(half_done) -> None:
    source, out, made = half_done
    tally, lines = run(source, out)
    assert made == [] and lines == ["resuming: 23 rows are done"]
    assert tally.counts["kept"] == 23 and len(rows_of(out)) == 23


BROKEN = {
    "cut": lambda part: part.write_bytes(part.read_bytes()[:-1]),
    "a byte": lambda part: part.write_bytes(part.read_bytes()[:-3] + b"X" + part.read_bytes()[-2:]),
    "a figure": lambda part: part.write_bytes(part.read_bytes().replace(b'"rows": 5', b'"rows": 6')),
    "empty": lambda part: part.write_bytes(b""),
    "gone": lambda part: part.unlink(),
    "another": lambda part: part.write_bytes(b"\xff\xfe\n{\n"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_part_is_made_again(half_done, how: str) -> None:
    source, out, made = half_done
    BROKEN[how](parts_of(out) / "0000002.part")
    tally, lines = run(source, out)
    assert made == [2] and lines == ["resuming: 18 rows are done"]
    assert [row["n"] for _, row in rows_of(out)] == list(range(23)) and tally.counts["rows"] == 23


def test_other_settings_start_over_and_say_which(half_done) -> None:
    source, out, made = half_done
    _, lines = run(source, out, settings={"ratio": 0.5})
    assert lines == ["starting over: ratio was None and is 0.5"] and made == [0, 1, 2, 3, 4]


def test_a_changed_input_starts_over(half_done) -> None:
    source, out, made = half_done
    numbered(source, 7)
    tally, lines = run(source, out)
    assert lines == ["starting over: the input is not the one that the parts were made from"]
    assert made == [0, 1] and tally.counts["rows"] == 7 and len(rows_of(out)) == 7


def test_another_version_starts_over(half_done, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out, made = half_done
    monkeypatch.setattr(cloze.problems.rewrite, "__version__", "0")
    assert run(source, out)[1] == ["starting over: the parts were made by another version"] and len(made) == 5


def test_a_torn_manifest_starts_over(half_done) -> None:
    source, out, made = half_done
    (parts_of(out) / "manifest.json").write_text("{")
    run(source, out)
    assert len(made) == 5 and len(rows_of(out)) == 23


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(workers: int, tmp_path: Path) -> None:
    source, out, lines = numbered(tmp_path / "in.jsonl", 60), tmp_path / "out.jsonl", []

    def interrupt(count: int) -> None:
        if read_tally(parts_of(out) / "0000003.part"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(source, out, workers=workers, advance=interrupt, report=lines.append)
    assert lines == ["interrupted: what is done is kept, and the same command goes on from there"]
    assert not out.exists()
    _, lines = run(source, out, workers=workers)
    assert lines[0].startswith("resuming: ") and len(rows_of(out)) == 60


def test_an_input_that_changes_meanwhile(tmp_path: Path) -> None:
    source = numbered(tmp_path / "in.jsonl", 10)

    def change(rows: list) -> Rewritten:
        numbered(source, 11)
        return measure(rows)

    assert "the file changed while it was read" in refusal(source, tmp_path / "out.jsonl", change)
    assert not (tmp_path / "out.jsonl").exists()


# Workers


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_the_bytes_do_not_depend_on_the_workers(name: str, tmp_path: Path) -> None:
    source = numbered(tmp_path / "in.jsonl", 41)
    tallies = []
    for workers in (1, 2, 3):
        (tmp_path / str(workers)).mkdir()
        tallies.append(run(source, tmp_path / str(workers) / name, workers=workers)[0])
    assert len({(tmp_path / str(workers) / name).read_bytes() for workers in (1, 2, 3)}) == 1
    assert tallies[0] == tallies[1] == tallies[2] and tallies[0].named["seen"] == [str(n) for n in range(1, 11)]


def test_a_dead_worker_ends_the_run_with_one_line(tmp_path: Path) -> None:
    said = refusal(numbered(tmp_path / "in.jsonl", 50), tmp_path / "out.jsonl", die, workers=2)
    assert "a worker process died" in said and "fewer --workers" in said


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_of_the_work_is_raised_as_it_is(workers: int, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="at row 1"):
        run(numbered(tmp_path / "in.jsonl", 50), tmp_path / "out.jsonl", fail, workers=workers)


def test_no_workers(tmp_path: Path) -> None:
    assert "workers must be at least 1" in refusal(
        numbered(tmp_path / "in.jsonl", 5), tmp_path / "out.jsonl", workers=0
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("name", ["in.jsonl", "in.parquet"])
def test_memory_does_not_grow_with_the_file(name: str, tmp_path: Path) -> None:
    used = []
    for count in (20_000, 400_000):
        rows = [{"text": f"{n} " * 150} for n in range(count)]
        if name == "in.jsonl":
            jsonl(tmp_path / name, rows)
        else:
            pq.write_table(pa.Table.from_pylist(rows), tmp_path / name, row_group_size=count)
        code = (
            "from work import *\n"
            f"source, out = open_source({str(tmp_path / name)!r}), {str(tmp_path / 'out.parquet')!r}\n"
            "rewrite(source, out, measure, settings={}, adds=ADDS)\n"
            "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
        )
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=ENVIRONMENT).stdout
        used.append(int(out) / 1024)
    assert used[0] < 600 and used[1] < used[0] + 250, used  # megabytes; the rows are 400 MB as text
