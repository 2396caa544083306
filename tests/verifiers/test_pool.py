"""The pool and its workers: the same verdicts from everywhere, nothing lost to hostile answers, nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

import cloze.verifiers
import cloze.verifiers.pool
from cloze.errors import InputError
from cloze.problems import Problem
from cloze.verifiers import Verdict, verify, workers
from cloze.verifiers.math_formula import formula
from cloze.verifiers.pool import score, score_async
from cloze.verifiers.workers import Pool, Worker, WorkerLostError, compare_formulas

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = SHARED / "cases" / "verifier_math.jsonl"
GSM8K = SHARED / "data" / "gsm8k"

# what a policy could write to hang, crash or fool a verifier
HOSTILE = [
    "9^{9^{9^{9}}}", r"9^{9^{9^{9}}}+\pi", "(10^{7})!", r"\sum_{k=1}^{10^{8}}\frac{1}{k^3+k}",
    r"\binom{99999999}{9999999}x",
    r"\pi+len(\"abc\")", r"\pi+__import__('os').system('true')", "x" * 5_000, "(" * 3_000 + ")" * 3_000, "9" * 4_500,
    r"\frac{1}{" * 80 + "x" + "}" * 80, r"\sqrt{" * 80, "x^{99999999}", "((((9!)!)!)!)!", "1e999999999", "{" * 500,
    r"\int_0^\infty e^{-x^2}dx", "x" + "!" * 60, "|" * 200, "+-" * 140 + "x", r"\sin" * 60 + " x",
    "1," * 4_000, "=" * 250,
    "x_{x_{x_{x_{x}}}}", r"\left(" * 50, "\x00\x01", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    r"\begin{pmatrix}" * 20, r"\pm" * 90, "<" * 100, r"x=\pi=x=\pi=x", r"\log_{1}(2)+\pi", r"\frac{\pi}{0}", "0^{-x}",
    r"\tan(\frac{\pi}{2})x", "exit()", "lambda: 0", "[i for i in x]", r"\pi^{9999999999}", "(x+y)^{99999}",
]  # fmt: skip
# target, what stands in the box, whether it is right; N is another number in every row
HONEST = [
    ("N", "N", True),
    ("N", "N1", False),
    ("N.75", r"N\frac{3}{4}", True),
    (r"\frac{N}{3}", "0.333", False),
    (r"\{N,1\}", r"\{1, N\}", True),
    ("no solution", "case N", False),
    (r"N\pi+3", r"3+N\pi", True),
    (r"N\pi+3", r"3-N\pi", False),
    ("x^2+2x+N", "(x+1)^2+N-1", True),
    (r"\frac{N\sqrt2}{2}", r"\frac{N}{\sqrt{2}}", True),
    ("y=Nx+3", "Nx-y=-3", True),
    (r"(-\infty,N\sqrt2)", r"x<N\sqrt2", True),
]


def problem(target: str, **changes: object) -> Problem:
    return Problem(**({"id": target[:40], "question": "?", "target": target} | changes))  # type: ignore[arg-type]


def boxed(answer: str) -> str:
    return rf"So \boxed{{{answer}}}"


def outline(verdicts: list[Verdict]) -> list[tuple[object, ...]]:
    return [(verdict.reward, verdict.status, verdict.extracted, verdict.reason) for verdict in verdicts]


def shared_cases() -> tuple[list[Problem], list[str], list[tuple[str, ...]]]:
    if not CASES.exists():
        pytest.skip(f"no {CASES}")
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]
    right = [("wrong", "timeout") if row["right"] == "wrong_or_timeout" else (row["right"],) for row in rows]
    return [problem(row["target"]) for row in rows], [row["answer"] for row in rows], right


def honest(count: int, start: int = 100) -> tuple[list[Problem], list[str], list[bool]]:
    rows = []
    for index in range(count):
        target, answer, right = HONEST[index % len(HONEST)]
        number = str(start + index // len(HONEST))
        rows.append((problem(target.replace("N", number)), boxed(answer.replace("N", number)), right))
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def test_the_verdicts_are_those_of_verify_in_order() -> None:
    problems, completions, right = honest(60)
    verdicts = score(problems, completions, workers=3)
    assert [verdict.reward == 1.0 for verdict in verdicts] == right
    assert outline(verdicts) == outline([verify(*pair) for pair in zip(problems, completions, strict=True)])


def test_the_shared_cases_from_threads_and_asyncio() -> None:
    problems, completions, right = shared_cases()
    found: list[list[Verdict]] = []
    threads = [threading.Thread(target=lambda: found.append(score(problems, completions, workers=2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    async def together() -> list[list[Verdict]]:
        return await asyncio.gather(*(score_async(problems, completions, workers=2) for _ in range(4)))

    found += asyncio.run(together())
    assert len(found) == 8
    for verdicts in found:
        assert all(verdict.status in allowed for verdict, allowed in zip(verdicts, right, strict=True))


def test_the_loop_goes_on_while_a_batch_is_scored() -> None:
    async def ticks() -> int:
        task = asyncio.create_task(score_async([problem(f"x+{index}") for index in range(40)], [boxed("1+x")] * 40))
        count = 0
        while not task.done():
            await asyncio.sleep(0.001)
            count += 1
        return count

    assert asyncio.run(ticks()) > 5


def test_plain_answers_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "pool", Pool(0))  # of which every question would wait for ever
    problems = [
        problem("12"),
        problem("1/3"),
        problem(r"\{1,2\}"),
        problem("C"),
        problem("x<3"),
        problem("no solution"),
    ]
    answers = ["12", r"0.\overline{3}", "2, 1", "(C)", r"(-\infty,3)", r"\text{no solution}"]
    assert all(verdict.reward == 1.0 for verdict in score(problems, [boxed(answer) for answer in answers]))
    assert {verdict.reward for verdict in score([problem("1")] * len(HOSTILE), list(map(boxed, HOSTILE)))} == {0.0}


def test_a_fault_of_ours_is_the_verdict_of_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(completion: str, *rest: object, **others: object) -> object:
        if "13" in completion:
            raise RecursionError("too deep")
        return plain(completion, *rest, **others)  # type: ignore[arg-type]

    plain = cloze.verifiers.math.look
    monkeypatch.setattr(cloze.verifiers.math, "look", broken)
    monkeypatch.setattr(cloze.verifiers.pool, "look", broken)
    verdicts = score([problem("12")] * 3, [boxed("12"), boxed("13"), boxed("14")])
    assert [(verdict.reward, verdict.status) for verdict in verdicts] == [
        (1.0, "correct"),
        (None, "error"),
        (0.0, "wrong"),
    ]


def test_importing_the_verifiers_loads_no_algebra() -> None:
    code = (
        "import sys, cloze.verifiers.pool; names = {'sympy', 'math_verify', 'torch', 'multiprocessing'};"
        "sys.exit(bool(names & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_lengths_and_workers_are_checked() -> None:
    with pytest.raises(InputError, match="2 problems for 1 completions"):
        score([problem("1")] * 2, ["1"])
    with pytest.raises(InputError, match="workers must be at least 0"):
        score([problem("1")], ["1"], workers=-1)
    with pytest.raises(InputError, match="unknown verifier"):
        score([problem("1", verifier="maths")], ["1"])
    assert score([], []) == []


def test_never_more_than_so_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def slow(completion: str, target: str, *, aliases: tuple[str, ...] = ()) -> Verdict:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return Verdict(1.0, "correct", completion, target, "", 0.0)

    monkeypatch.setitem(cloze.verifiers.VERIFIERS, "slow", slow)
    assert len(score([problem("1", verifier="slow")] * 30, ["1"] * 30, workers=3)) == 30
    assert most == 3


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A worker whose work is written here: what the kernel and the keeper do about it is what is tested."""
    (tmp_path / "toy_work.py").write_text(
        "import os, signal, time\n"
        "def warm_up(): pass\n"
        "def outcome(answer, target):\n"
        "    if answer == 'spin':\n"
        "        while True: pass\n"
        "    if answer == 'bignum': 9 ** 9 ** 9 ** 9\n"
        "    if answer == 'memory': b'x' * (8 << 30)\n"
        "    if answer == 'raise': raise ValueError\n"
        "    if answer == 'segv': os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    if answer == 'killed': os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if answer == 'print': print('equal')\n"
        "    if answer == 'sleep': time.sleep(3)\n"
        "    return 'equal' if answer == target else 'different'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    made = Worker("toy_work", 1)
    yield made
    made.kill()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [("spin", "timeout"), ("bignum", "timeout"), ("memory", "timeout"), ("segv", "timeout"), ("raise", "unreadable")],
)
def test_what_breaks_a_child_leaves_the_next_answer_alone(worker: Worker, answer: str, outcome: str) -> None:
    started = time.monotonic()
    assert worker.ask(answer, "x") == outcome
    assert worker.ask("x", "x") == "equal" and worker.ask("y", "x") == "different"
    assert time.monotonic() - started < 10


def test_only_its_own_processor_time_counts(worker: Worker) -> None:
    assert worker.ask("sleep", "x") == "different"


def test_what_is_printed_is_no_outcome(worker: Worker) -> None:
    assert worker.ask("print", "x") == "different"


def test_a_worker_killed_by_the_machine_is_no_outcome(worker: Worker) -> None:
    with pytest.raises(WorkerLostError):
        worker.ask("killed", "x")


def test_a_lost_worker_is_replaced_and_the_answer_tried_again() -> None:
    compare_formulas.cache_clear()
    assert compare_formulas("x+1", "1+x") == "equal"
    before = workers.pool.lost
    for one in list(workers.pool.all):
        os.killpg(one.process.pid, signal.SIGKILL)
    assert compare_formulas("x+2", "2+x") == "equal"
    assert workers.pool.lost > before


def test_when_no_worker_can_be_had_it_is_an_error_and_not_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "BOOT", "raise SystemExit(3)")
    monkeypatch.setattr(workers, "pool", Pool(1))
    verdict = verify(problem(r"\pi+71"), boxed(r"71+\pi"))
    assert (verdict.status, verdict.reward) == ("error", None) and "worker" in verdict.reason


@pytest.mark.parametrize("how", ["end", "raise", "kill", "fork"])
def test_nothing_is_left_behind(how: str) -> None:
    endings = {
        "end": "",
        "raise": "raise ValueError",
        "kill": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
        "fork": "import os\nif os.fork() == 0: ask('x+2', '2+x'); os._exit(0)\nos.wait()\nassert ask('3+x', 'x+3')",
    }
    code = (
        "from cloze.verifiers.workers import compare_formulas as ask, pool\n"
        "assert ask('x+1', '1+x') == 'equal'\n"
        "print(*(worker.process.pid for worker in pool.all), flush=True)\n" + endings[how]
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == {"end": 0, "raise": 1, "kill": -9, "fork": 0}[how], run.stderr
    keepers = [int(pid) for pid in run.stdout.split()]
    until = time.monotonic() + 15
    while any(os.path.exists(f"/proc/{pid}") for pid in keepers) and time.monotonic() < until:
        time.sleep(0.05)
    assert keepers and not any(os.path.exists(f"/proc/{pid}") for pid in keepers)


def test_the_callers_signals_are_left_alone() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)]
    assert verify(problem("x+5"), boxed("5+x")).reward == 1.0
    assert before == [signal.getsignal(n) for n in (signal.SIGALRM, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM)]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.parametrize("target", ["1", r"\pi+3", "y=2x+3", r"\{1,\sqrt2\}", r"x<\sqrt2"])
def test_hostile_answers_are_wrong(target: str) -> None:
    verdicts = score([problem(target)] * len(HOSTILE), list(map(boxed, HOSTILE)), workers=2)
    assert {verdict.reward for verdict in verdicts} == {0.0}
    assert Counter(verdict.status for verdict in verdicts)["timeout"] == 0


def test_code_and_prose_are_no_formulas() -> None:
    for text in (
        'len("abc")',
        "__import__('os')",
        "the last one",
        "x.__class__",
        r"\sum_{k=1}^{9}k",
        "1" * 31,
        "x" * 301,
    ):
        assert formula(text) is None, text


@pytest.mark.slow
def test_ten_thousand_hostile_answers_among_honest_ones() -> None:
    rng = random.Random(0)
    score(*honest(500)[:2], workers=2)  # warm
    lost, seconds = workers.pool.lost, Counter[str]()
    for batch in range(50):
        problems, completions, right = honest(1_800, 200 * (batch + 1))
        mixed_problems, mixed_completions, hostile = [], [], set()
        for index, (one, text) in enumerate(zip(problems, completions, strict=True)):
            if index % 9 == 4:
                hostile.add(len(mixed_problems))
                mixed_problems.append(problem(rng.choice(problems).target))
                mixed_completions.append(boxed(f"{rng.choice(HOSTILE)}+{batch}"))
            mixed_problems.append(one)
            mixed_completions.append(text)
        for name, rows in (("clean", (problems, completions)), ("mixed", (mixed_problems, mixed_completions))):
            compare_formulas.cache_clear()
            started = time.perf_counter()
            verdicts = score(*rows, workers=2)
            seconds[name] += time.perf_counter() - started
            if name == "mixed":
                assert {verdicts[index].reward for index in hostile} == {0.0}
                verdicts = [verdict for index, verdict in enumerate(verdicts) if index not in hostile]
            assert [verdict.reward == 1.0 for verdict in verdicts] == right
    assert workers.pool.lost == lost
    rate = {"clean": 50 * 1_800 / seconds["clean"], "mixed": 50 * 2_000 / seconds["mixed"]}
    print(rate)
    assert rate["mixed"] > 0.8 * rate["clean"], rate


@pytest.mark.slow
def test_the_same_verdict_a_thousand_times_and_for_any_number_of_workers() -> None:
    problems, completions, _ = honest(len(HONEST))
    problems += [problem(r"\pi+3")] * len(HOSTILE)
    completions += list(map(boxed, HOSTILE))
    first = outline(score(problems, completions, workers=1))
    for turn in range(1_000):
        if turn % 50 == 0:
            compare_formulas.cache_clear()
        assert outline(score(problems, completions, workers=1 + turn % 4)) == first


def gsm8k() -> tuple[list[Problem], list[str]]:
    if not GSM8K.exists():
        pytest.skip(f"no {GSM8K}")
    rows = [json.loads(line) for name in ("train", "test") for line in (GSM8K / f"{name}.jsonl").open(encoding="utf-8")]
    targets = [row["answer"].rpartition("####")[2].strip() for row in rows]
    return [problem(target, verifier_settings={"extract": "hash"}) for target in targets], [
        row["answer"] for row in rows
    ]


@pytest.mark.slow
def test_every_gsm8k_trace_is_correct_and_a_shuffled_one_only_by_chance() -> None:
    problems, traces = gsm8k()
    assert Counter(verdict.status for verdict in score(problems, traces)) == {"correct": 8_792}
    order = list(range(len(traces)))
    random.Random(0).shuffle(order)
    chance = sum(
        int(problems[index].target.replace(",", "")) == int(problems[other].target.replace(",", ""))
        for index, other in enumerate(order)
    )
    verdicts = score(problems, [traces[other] for other in order])
    assert Counter(verdict.status for verdict in verdicts) == {"correct": chance, "wrong": 8_792 - chance}
    assert 0 < chance < 200
