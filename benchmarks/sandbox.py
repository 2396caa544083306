"""The sandbox: latency of one run and runs a second, on each backend that is there, beside a plain `python` process.

    python benchmarks/sandbox.py
    python benchmarks/sandbox.py --runs 200 --workers 2

A run starts a sandbox, gives the program its input and reads what it prints; "20 tests" is one sandbox in which the
same program runs on twenty inputs. "20 calls" and "20 asserts" are whole verdicts of `verify_code`: tests read, program
found, values compared. The peer, `subprocess.run([python, "-c", program])`, has no isolation and no bounds at all, and
starts anew for each input. Latencies are medians with one worker; runs a second are those of so many threads.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from cloze.verifiers.code import verify_code
from cloze.verifiers.sandbox import interpreter, missing, open_sandbox

PROGRAM = "print(sum(map(int, input().split())))"
GIVEN, EXPECTED, TESTS = "1 2 3\n", "6\n", 20


def plain(count: int) -> None:
    """The peer: a process for each input."""
    for _ in range(count):
        done = subprocess.run([interpreter(), "-c", PROGRAM], input=GIVEN, capture_output=True, text=True, check=True)
        assert done.stdout == EXPECTED


def boxed(backend: str, count: int) -> None:
    """One sandbox, a program for each input."""
    with open_sandbox(backend) as box:  # type: ignore[arg-type]
        for _ in range(count):
            reply = box.ask({"do": "start", "role": "run", "program": PROGRAM, "stdin": GIVEN})
            assert reply["out"] == EXPECTED


def verdict(backend: str, target: str) -> None:
    """One verdict with a call for each test."""
    done = verify_code(f"```python\n{CALLED}\n```", target, sandbox=backend)  # type: ignore[arg-type]
    assert done.reward == 1.0, done


CALLED = "def add(a, b):\n    return a + b"
CALLS = json.dumps(
    {"fn_name": "add", "inputs": [[n, 1] for n in range(TESTS)], "outputs": [n + 1 for n in range(TESTS)]}
)
ASSERTS = json.dumps({"test_list": [f"assert add({n}, 1) == {n + 1}" for n in range(TESTS)]})


def latency(work: Callable[[], None], runs: int) -> float:
    """Median milliseconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def rate(work: Callable[[], None], runs: int, workers: int) -> float:
    """Runs a second from several threads."""
    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work) for _ in range(runs)]:
            done.result()
    return runs / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(f"{'':<14}{'1 run, ms':>12}{'20 tests, ms':>14}{'20 calls, ms':>14}{'20 asserts, ms':>16}{'runs/s':>10}")
    few = max(3, given.runs // 5)
    one, many = latency(lambda: plain(1), given.runs), latency(lambda: plain(TESTS), few)
    speed = rate(lambda: plain(1), given.runs, given.workers)
    print(f"{'plain python':<14}{one:>12.1f}{many:>14.1f}{'-':>14}{'-':>16}{speed:>10.1f}")
    for backend in ("bubblewrap", "landlock", "unsafe"):
        if backend != "unsafe" and (why := missing(backend)):
            print(f"{backend:<14}{why}")
            continue
        one = latency(lambda name=backend: boxed(name, 1), given.runs)  # type: ignore[misc]
        many = latency(lambda name=backend: boxed(name, TESTS), few)  # type: ignore[misc]
        calls = latency(lambda name=backend: verdict(name, CALLS), few)  # type: ignore[misc]
        asserts = latency(lambda name=backend: verdict(name, ASSERTS), few)  # type: ignore[misc]
        speed = rate(lambda name=backend: boxed(name, 1), given.runs, given.workers)  # type: ignore[misc]
        print(f"{backend:<14}{one:>12.1f}{many:>14.1f}{calls:>14.1f}{asserts:>16.1f}{speed:>10.1f}")


if __name__ == "__main__":
    main()
