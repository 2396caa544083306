"""mask, audit, validate and convert as a user meets them: what they print where, what they write, how they end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloze.cli.main import main
from cloze.problems.readers import read_problems


@pytest.fixture
def cloze(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["cloze", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        out, err = capsys.readouterr()
        return caught.value.code or 0, out, err

    return run


def write(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    return [json.loads(line) for line in path.read_text().splitlines()]


def figure(table: str, name: str) -> str:
    """The last cell of the row with this name, in a printed table."""
    (line,) = [line for line in table.splitlines() if line.strip("│┃ ").split("  ")[0].strip() == name]
    return line.strip("│ ").split("│")[-1].strip()


MATH = {
    "id": "m",
    "question": "Tom has 6 boxes of 40. How many?",
    "target": "240",
    "trace": "6*40=240.\n#### 240",
    "x": 1,
}
CODE = {"domain": "code", "question": "", "target": "", "trace": "Plan.\n```python\nsecret()\n```\nDone."}
TEXT = {"question": "Which day?", "target": "Tuesday", "trace": "it was a Tuesday", "domain": "text"}
PLAIN = {"question": "Which day?", "target": "Tuesday", "trace": None}


def rebuilt(trace: str, spans: list[dict]) -> str:
    pieces, at = [], 0
    for span in spans:
        pieces += [trace[at : span["start"]], span["blank"]]
        at = span["end"]
    return "".join([*pieces, trace[at:]])


# mask


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_mask_adds_two_columns_and_counts(cloze, ending: str, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", MATH, CODE, TEXT, PLAIN)
    code, out, err = cloze("mask", source, "-o", tmp_path / f"out{ending}")
    assert code == 0, err
    rows = read(tmp_path / f"out{ending}")
    for row, before in zip(rows, (MATH, CODE, TEXT, PLAIN), strict=True):
        assert {name: row.get(name) for name in before} == before
        if before["trace"] is None:
            assert row["masked_trace"] is None and row["mask_spans"] is None
        else:
            assert row["masked_trace"] == rebuilt(before["trace"], row["mask_spans"]) != before["trace"]
            assert set(row["mask_spans"][0]) == {"start", "end", "category", "blank", "why"}
    assert "240" not in rows[0]["masked_trace"] and "secret" not in rows[1]["masked_trace"]
    assert rows[1]["masked_trace"].startswith("Plan.") and "Tuesday" not in rows[2]["masked_trace"]
    assert figure(out, "rows") == "4" and figure(out, "rows with a trace") == "3"
    assert [figure(out, f"domain {name}") for name in ("code", "math", "text")] == ["1", "1", "1"]
    assert figure(out, "leaks") == "0" and figure(out, "rows with nothing hidden") == "0"
    assert "1 row has no expert trace" in err and "1 row has no target" in err


def test_mask_keeps_the_columns_of_a_parquet_and_works_in_processes(cloze, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{**MATH, "kind": "a"}] * 9)
    table = table.set_column(table.schema.get_field_index("kind"), "kind", table["kind"].dictionary_encode())
    pq.write_table(table, tmp_path / "in.parquet")
    for workers in ("1", "2"):
        code, _, err = cloze(
            "mask", tmp_path / "in.parquet", "-o", tmp_path / f"{workers}.parquet", "--workers", workers
        )
        assert code == 0, err
    back = pq.read_table(tmp_path / "1.parquet")
    assert back.drop_columns(["masked_trace", "mask_spans"]).equals(pq.read_table(tmp_path / "in.parquet"))
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


def test_mask_needs_a_trace_and_no_more(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", {"trace": CODE["trace"]}, {"trace": "def f(x):\n    return x*2\n"})
    code, out, err = cloze("mask", source, "-o", tmp_path / "out.jsonl")
    assert code == 0 and figure(out, "domain code") == "2", err
    assert "return" not in read(tmp_path / "out.jsonl")[1]["masked_trace"]
    assert "2 rows have no target, so there is nothing to audit in them" in err


def test_mask_names_what_leaks_and_where_nothing_is_hidden(cloze, tmp_path: Path) -> None:
    rows = [
        TEXT,
        {**TEXT, "trace": "I do not know"},
        {**TEXT, "question": "Tuesday or not?"},
        {**MATH, "domain": "code", "trace": "so 240\n```\nf(x)\n```"},
    ]
    code, out, err = cloze("mask", write(tmp_path / "in.jsonl", *rows), "-o", tmp_path / "out.jsonl")
    assert code == 0 and figure(out, "leaks") == "1" and figure(out, "rows with leaks") == "1"
    assert "warning: 1 leak left in row 4; see cloze audit" in err
    assert "1 row has nothing hidden: row 2" in err
    code, out, err = cloze("mask", write(tmp_path / "in.jsonl", *[rows[1]] * 12), "-o", tmp_path / "out.jsonl")
    assert "12 rows have nothing hidden: rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..." in err


def test_mask_passes_its_settings_on(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", *[{**MATH, "id": str(n)} for n in range(8)], CODE)

    def masked(*options: str) -> list[str]:
        code, _, err = cloze("mask", source, "-o", tmp_path / "out.jsonl", *options)
        assert code == 0, err
        return [row["masked_trace"] for row in read(tmp_path / "out.jsonl")]

    plain = masked()
    assert "6*40" in plain[0]
    assert "6*40" not in masked("--hide-given")[0]
    assert "<blank_N_1>" in masked("--style", "<blank_{letter}_{index}>")[0] or "<blank_A_1>" in plain[0]
    assert masked("--control", "tokens") != plain != masked("--control", "spans")
    assert masked("--domain", "text")[-1] == CODE["trace"]
    assert len(masked("--limit", "2")) == 2
    assert masked("--ratio", "0.5", "--seed", "1") == masked("--ratio", "0.5", "--seed", "1")
    assert "secret" not in masked("--level", "statement")[-1]


def test_the_domain_is_the_rows_own_or_the_given_one(cloze, tmp_path: Path) -> None:
    chat = {"prompt": "Which day?", "answer": "Tuesday", "completion": "a Tuesday", "domain": "text"}
    _, out, _ = cloze("mask", write(tmp_path / "in.jsonl", chat), "-o", tmp_path / "out.jsonl")
    assert figure(out, "domain text") == "1"
    source = write(tmp_path / "in.jsonl", {**MATH, "domain": "Algebra"})
    code, out, err = cloze("mask", source, "-o", tmp_path / "out.jsonl", "--domain", "math")
    assert code == 0 and figure(out, "domain math") == "1", err
    assert cloze("audit", source)[0] == 1


def test_mask_shows_and_writes_a_page(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", PLAIN, *[{**MATH, "id": f"id-{n}"} for n in range(3)])
    code, out, err = cloze("mask", source, "-o", tmp_path / "o.jsonl", "--show", 2, "--html", tmp_path / "page.html")
    assert code == 0, err
    assert "id-0" in out and "id-1" in out and "id-2" not in out
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!") and "id-2" in page and "in.jsonl" in page


def test_masking_twice_is_refused_without_force(cloze, tmp_path: Path) -> None:
    cloze("mask", write(tmp_path / "in.jsonl", MATH, TEXT), "-o", tmp_path / "once.jsonl")
    code, out, err = cloze("mask", tmp_path / "once.jsonl", "-o", tmp_path / "twice.jsonl")
    assert (code, out) == (2, "") and "field 'masked_trace': the file is masked already; --force" in err
    assert err.count("\n") == 1 and not (tmp_path / "twice.jsonl").exists()
    code, _, err = cloze("mask", tmp_path / "once.jsonl", "-o", tmp_path / "twice.jsonl", "--force")
    assert code == 0 and read(tmp_path / "twice.jsonl") == read(tmp_path / "once.jsonl")
    late = write(tmp_path / "late.jsonl", *[MATH] * 70, {**MATH, "masked_trace": "x"})
    code, _, err = cloze("mask", late, "-o", tmp_path / "twice.jsonl")
    assert code == 2 and "row 71, field 'masked_trace': the row is masked already" in err


def start(source: Path, out: Path, *options: str) -> subprocess.Popen:
    """`cloze mask` in a process of its own, with its own process group as a terminal gives it."""
    command = [
        sys.executable,
        "-m",
        "cloze.cli.main",
        "mask",
        str(source),
        "-o",
        str(out),
        "--domain",
        "text",
        *options,
    ]
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def await_part(process: subprocess.Popen, out: Path) -> None:
    end = time.monotonic() + 60
    while not list(out.parent.glob(f".{out.name}.parts/*.part")):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.002)


@pytest.mark.parametrize(("how", "workers"), [(signal.SIGKILL, "1"), (signal.SIGINT, "1"), (signal.SIGINT, "2")])
def test_mask_goes_on_after_a_kill_and_after_ctrl_c(how: signal.Signals, workers: str, tmp_path: Path) -> None:
    source = write(
        tmp_path / "in.jsonl", *[{**TEXT, "id": str(n), "trace": "it was a day " * 20} for n in range(9_000)]
    )
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    killed = start(source, out, "--workers", workers)
    await_part(killed, out)
    os.killpg(killed.pid, how)
    _, notes = killed.communicate()
    assert not out.exists()
    if how is signal.SIGINT:
        assert killed.returncode == 130 and "Traceback" not in notes
        assert notes.splitlines()[-1] == "interrupted: what is done is kept, and the same command goes on from there"
    again, first = start(source, out, "--workers", workers), start(source, whole)
    (printed, notes), (wanted, _) = again.communicate(), first.communicate()
    assert again.returncode == first.returncode == 0
    assert re.search(r"resuming: [\d,]+ rows are done", notes)
    assert out.read_bytes() == whole.read_bytes()
    assert printed.splitlines()[1:] == wanted.splitlines()[1:]


BAD = [
    (("mask", "none.jsonl", "-o", "out.jsonl"), ["none.jsonl", "no such file"]),
    (("mask", "in.jsonl", "-o", "out.txt"), ["out.txt", ".jsonl, .ndjson, .parquet"]),
    (("mask", "in.jsonl", "-o", "in.jsonl"), ["same file", "-o"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--domain", "maths"), ["maths", "math, code"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--control", "words"), ["words", "spans", "tokens"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--level", "line"), ["line", "block", "statement"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--style", "[x]"), ["style", "index"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--schema", "clozze"), ["clozze", "cloze, smepo"]),
    (("mask", "untraced.jsonl", "-o", "out.jsonl"), ["untraced.jsonl, field 'trace'", "all empty", "--schema"]),
    (("mask", "algebra.jsonl", "-o", "out.jsonl"), ["algebra.jsonl, row 1, field 'domain'", "Algebra", "math, code"]),
    (("mask", "in.jsonl", "-o", "out.jsonl", "--html", "none/a.html"), ["none/a.html", "folder"]),
    (("audit", "in.jsonl", "--column", "masked"), ["masked", "question, target, trace"]),
    (("audit", "bad.jsonl"), ["bad.jsonl, row 2", "--skip-bad"]),
    (("mask", "bad.jsonl", "-o", "out.jsonl"), ["bad.jsonl, row 2", "--skip-bad"]),
    (("convert", "bad.jsonl", "-o", "out.jsonl", "--to", "verl"), ["bad.jsonl, row 2, field 'target'", "--skip-bad"]),
    (("convert", "in.jsonl", "-o", "out.jsonl", "--to", "trll"), ["trll", "verl, trl, cloze"]),
    (("convert", "in.jsonl", "-o", "in.jsonl", "--to", "trl"), ["same file"]),
    (("validate", "none.jsonl"), ["no such file"]),
    (("validate", "verifier.jsonl"), ["verifier.jsonl row 1", "mathh", "math"]),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_arguments_and_rows_are_one_line_and_leave_nothing(cloze, arguments, words, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "in.jsonl", {"question": "q", "target": "t", "trace": "r"})
    write(tmp_path / "bad.jsonl", MATH, {**MATH, "trace": 4, "target": None})
    write(tmp_path / "verifier.jsonl", {**MATH, "verifier": "mathh"})
    write(tmp_path / "untraced.jsonl", PLAIN, PLAIN)
    write(tmp_path / "algebra.jsonl", {**MATH, "domain": "Algebra"})
    before = sorted(tmp_path.iterdir())
    code, out, err = cloze(*arguments)
    lines = [line for line in err.splitlines() if not re.match(r"\w+ing: \d+ of \d+", line)]
    assert (code, out) == (2, "") and len(lines) == 1, err
    for word in words:
        assert word in lines[0]
    assert sorted(tmp_path.iterdir()) == before


def test_skip_bad_goes_on_and_counts(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", MATH, {**MATH, "trace": 4}, TEXT)
    code, _, err = cloze("mask", source, "-o", tmp_path / "out.jsonl", "--skip-bad")
    assert code == 0 and "row 2, field 'trace'" in err and "1 of 3 rows are bad and left out" in err
    assert len(read(tmp_path / "out.jsonl")) == 2
    code, _, err = cloze("audit", source, "--skip-bad", "--max-leaks", 9)
    assert code == 0 and "1 row cannot be read" in err


# audit


def test_audit_reads_the_mask_or_the_trace(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", MATH, TEXT, PLAIN)
    cloze("mask", source, "-o", tmp_path / "out.parquet")
    code, out, err = cloze("audit", tmp_path / "out.parquet")
    assert code == 0 and "masked_trace: 2 rows audited" in out, err
    code, out, err = cloze("audit", tmp_path / "out.parquet", "--column", "trace")
    assert code == 1 and err.splitlines()[-1].endswith("3 leaks in 2 of 2 rows, --max-leaks is 0")
    assert "row 1, id m, line 1, number: 6*40=>>240<<. #### 240" in out
    assert "row 2, id out-2, line 1, text: it was a >>Tuesday<<" in out
    assert cloze("audit", source, "--max-leaks", 3)[0] == 0
    assert cloze("audit", source, "--max-leaks", 2)[0] == 1


def test_audit_tells_apart_what_the_question_gives_and_labels(cloze, tmp_path: Path) -> None:
    rows = [
        {"question": "Is it 24 or 25?", "target": "24", "trace": "It is 24, yes 24."},
        {"question": "How many?", "target": "5", "trace": "Step 5: done"},
        {"question": "How many?", "target": "1/2", "trace": "so 0.5\nor 2/4"},
        {"question": "How many?", "target": "", "trace": "so 0.5"},
    ]
    source = write(tmp_path / "in.jsonl", *rows)
    for workers in (1, 2):
        code, out, _ = cloze("audit", source, "--json", "--workers", workers, "--examples", 1)
        told = json.loads(out)
        assert code == 1
        assert (told["rows"], told["audited"], told["untargeted"], told["column"]) == (4, 4, 1, "trace")
        assert (told["leaks"], told["leaky_rows"], told["given_rows"]) == (2, 1, 1)
        assert sum(told["by_how"].values()) == 2 and sum(told["given_by_how"].values()) == 2 and told["labels"] == 1
        assert {(one["row"], one["id"], one["line"]) for one in told["examples"]} <= {(3, "in-3", 1), (3, "in-3", 2)}
        assert told["examples"][0]["text"] == "0.5" and told["examples"][0]["before"] == "so "
    _, out, err = cloze("audit", source)
    assert "the question gives the target in row 1: not counted" in err


def test_audit_sees_only_what_the_policy_sees(cloze, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", {**TEXT, "trace": "x" * 50 + " Tuesday " + "x" * 41})
    assert cloze("audit", source)[0] == 1
    assert cloze("audit", source, "--max-characters", 50)[0] == 0
    assert cloze("audit", source, "--max-characters", 58)[0] == 1
    assert cloze("audit", source, "--ratio", 0.5)[0] == 0
    assert cloze("audit", source, "--ratio", 0.6)[0] == 1


def test_audit_without_traces_has_nothing_to_say(cloze, tmp_path: Path) -> None:
    code, out, err = cloze("audit", write(tmp_path / "in.jsonl", PLAIN))
    assert (code, out) == (2, "") and "field 'trace': nothing to audit" in err


# validate


def test_validate_passes_what_is_right(cloze, tmp_path: Path) -> None:
    boxed = {**MATH, "id": "b", "trace": r"\boxed{240}", "verifier_settings": {"extract": "boxed"}}
    said = {**MATH, "id": "s", "trace": "The answer is 240.", "verifier_settings": {"extract": "answer_is"}}
    hashed = {**MATH, "id": "h", "verifier_settings": {"extract": "hash"}}
    code, out, err = cloze("validate", write(tmp_path / "in.jsonl", MATH, boxed, said, hashed, PLAIN))
    assert code == 0, err
    assert re.search(r"correct\s*│\s*5\s*│\s*4\s*│", out)


def test_validate_names_what_fails(cloze, tmp_path: Path) -> None:
    rows = [
        MATH,
        {**MATH, "id": "wrong", "trace": "#### 241"},
        {**MATH, "id": "silent", "trace": "I do not know"},
        {**MATH, "id": "empty", "target": "$$", "trace": None},
        {**MATH, "id": "m"},
        {**MATH, "id": "bad", "target": None},
    ]
    source = write(tmp_path / "in.jsonl", *rows)
    code, out, err = cloze("validate", source)
    assert code == 1 and err.splitlines()[-1].endswith("5 of 6 rows fail, --max-failures is 0")
    assert "row 2, id wrong, trace: wrong, read '241' for '240'" in out
    assert "row 3, id silent, trace: no_answer, read nothing" in out
    assert "row 4, id empty, target: unparseable_gold" in out
    assert "row 5: the id 'm' is that of row 1 already" in err and "row 6, field 'target'" in err
    assert cloze("validate", source, "--max-failures", 5)[0] == 0
    code, out, _ = cloze("validate", source, "--json", "--examples", 1)
    told = json.loads(out)
    assert code == 1 and (told["rows"], told["failed"], told["bad"]) == (6, 3, 2)
    assert told["targets"] == {"correct": 3, "unparseable_gold": 1}
    assert told["traces"] == {"correct": 1, "wrong": 1, "no_answer": 1}
    assert [one["id"] for one in told["examples"]] == ["empty", "wrong"] and len(told["bad_rows"]) == 1


# convert


@pytest.mark.parametrize("to", ["verl", "trl", "cloze"])
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_convert_and_read_back(cloze, to: str, ending: str, tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", MATH, {**TEXT, "system": "Be brief.", "aliases": ["Tue"]}, PLAIN)
    out_file = tmp_path / f"out{ending}"
    code, out, err = cloze("convert", source, "-o", out_file, "--to", to, "--workers", 2)
    assert (code, out) == (0, "") and f"3 rows for {to}, 2 with an expert trace" in err
    assert "not taken over: x" in err
    assert ("have no completion" in err) == (to == "trl")

    def told(path: Path) -> list[tuple]:
        found = read_problems(path)
        return [(p.id, p.question, p.target, p.trace, p.domain, p.system, p.aliases, p.verifier) for p in found]

    assert told(out_file) == told(source)


def test_code_is_refused_without_a_sandbox_unless_the_user_says_so(cloze, tmp_path, monkeypatch):
    monkeypatch.setenv("CLOZE_SANDBOX", "auto")  # put back afterwards, whatever the flag does
    monkeypatch.setattr("cloze.verifiers.sandbox.missing", lambda name: "not here")
    tests = json.dumps({"inputs": ["2\n"], "outputs": ["4\n"]})
    trace = "```python\nprint(2 * int(input()))\n```"
    path = write(
        tmp_path / "code.jsonl", {"question": "Double it.", "target": tests, "trace": trace, "verifier": "code"}
    )
    code, _, err = cloze("validate", path)
    assert code == 2 and "no sandbox for foreign code" in err and "--unsafe-sandbox" in err
    code, out, _ = cloze("validate", path, "--unsafe-sandbox")
    assert code == 0 and re.search(r"correct\W+0\W+1\b", out)  # no target, one trace
