"""The code verifier: does the program pass the tests of its problem, when it runs as real Python in a sandbox?

The tests are the target (`code_tests` lists their forms); the program is the last fenced block of the completion. What
the program must not have is never in the sandbox with it: outputs and values are compared here, outside, and test code
with asserts runs in a second sandbox that reaches the program by calls over a pipe. There is no pass mark that the
program could print, no exit code that counts, no `==` of its own that anybody asks.

Rules worth knowing:

- Output of a program: compared line by line, without the white space at the ends of lines and of the whole; a line
  that differs is right if it has as many words and each is equal as a number (`Decimal`, so 1.0 is 1 and 0.1 + 0.2 is
  not 0.3) or, with `tolerance`, near enough. The exit code must be 0.
- Value of a function: equal as Python has it, tuples as lists, keys of objects as texts, floats exactly unless
  `tolerance` is set. Where every expected value is a list of one, the value alone counts too, as APPS has it.
- An argument that the program changes in place is not seen by the tests.
- The last fenced block counts, marked as Python if any is. If it never closes it counts only when it is the only one
  and parses: a program that was cut off is no answer, and nor is the one before it. Without a fence the whole text
  counts if it is Python that does something. A HumanEval completion may also be the rest of the function.
- Time is CPU time, so that a busy machine does not turn a right answer into a wrong one; a program that sleeps is
  stopped by the wall time. Hashes are seeded alike, `random` and the clock are not.
- What breaks in the sandbox itself is a verdict "error" without a reward. A program cannot bring that about where the
  process namespace is its own; with "unsafe", where it can, a sandbox that is gone counts as wrong.

Not covered: packages beside the standard library, tests that give functions to the program as arguments, other
languages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from time import monotonic, perf_counter
from typing import Any, Literal, NamedTuple, get_args

from cloze.errors import InputError
from cloze.verifiers.code_extract import extract_program
from cloze.verifiers.code_tests import CodeTests, read_tests
from cloze.verifiers.code_values import INERT, Unordered, decode, encode
from cloze.verifiers.sandbox import Backend, Limits, Sandbox, SandboxFault, choose, open_sandbox
from cloze.verifiers.verdict import Verdict

Score = Literal["all", "fraction"]
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
SHOWN = 80


class Outcome(NamedTuple):
    """One test: the status ("correct", "wrong", "timeout") and why."""

    status: str
    why: str


class BrokenTests(Exception):
    """The tests themselves cannot be run."""


def verify_code(
    completion: str,
    target: str,
    *,
    aliases: Sequence[str] = (),
    score: Score = "all",
    sandbox: Backend = "auto",
    seconds: float = 6.0,
    memory_mb: int = 1024,
    tolerance: float = 0.0,
) -> Verdict:
    """Score a completion by running its program against tests.

    Args:
        completion: what the policy wrote. If it opens a `<think>` block, only what follows the last `</think>` counts.
        target: the tests as JSON text, in a form of `code_tests`.
        aliases: not used; tests have none.
        score: "all": 1.0 if all tests pass, else 0.0, and the first failure ends the run; "fraction": the share of
            tests that pass.
        sandbox: where the program runs, see `sandbox`; "unsafe" is no isolation.
        seconds: CPU time for one test. All tests together may take ten times that, at most 60 seconds unless one test
            alone may take more.
        memory_mb: address space of the program.
        tolerance: how far two numbers may lie apart and be equal, absolutely up to 1 and relatively beyond; 0: exactly.

    Returns:
        The verdict. Status "timeout" has the reward of a test that failed; "unparseable_gold" (no tests, or none that
        can be run) and "error" (the sandbox broke) have none.

    Raises:
        InputError: a setting that cannot be, or no such sandbox on this machine.
    """
    started = perf_counter()
    _check(score, sandbox, seconds, memory_mb, tolerance)

    def verdict(reward: float | None, status: str, reason: str, extracted: str | None = None) -> Verdict:
        return Verdict(reward, status, extracted, target, reason, perf_counter() - started)

    try:
        tests = read_tests(target)
    except ValueError as error:
        return verdict(None, "unparseable_gold", str(error))
    program, reason = extract_program(completion, tests)
    if program is None:
        return verdict(0.0, "no_answer", reason)
    limits = Limits(seconds, memory_mb, max(seconds, min(60.0, 10 * seconds)))
    task = Task(program, tests, choose(sandbox), limits, score == "all", tolerance)
    try:
        outcomes = RUNNERS[tests.form](task)
    except SandboxFault as error:
        if task.backend == "unsafe":
            return verdict(0.0, "wrong", f"the program ended its own sandbox ({error})", program)
        return verdict(None, "error", str(error), program)
    except BrokenTests as error:
        return verdict(None, "unparseable_gold", str(error), program)
    passed = sum(outcome.status == "correct" for outcome in outcomes)
    if passed == len(tests):
        return verdict(1.0, "correct", f"passes {passed} of {passed} tests", program)
    first = next(at for at, outcome in enumerate(outcomes) if outcome.status != "correct")
    reward = passed / len(tests) if score == "fraction" else 0.0
    share = f"passes {passed} of {len(tests)} tests, " if score == "fraction" else ""
    reason = f"{share}test {first + 1} of {len(tests)}: {outcomes[first].why}"
    return verdict(reward, outcomes[first].status, reason, program)


def _check(score: str, sandbox: str, seconds: float, memory_mb: int, tolerance: float) -> None:
    for name, text, known in (("score", score, get_args(Score)), ("sandbox", sandbox, get_args(Backend))):
        if text not in known:
            raise InputError(f"{name} cannot be {text!r}", mend=f"use one of {', '.join(known)}")
    for name, value, low, high in (
        ("seconds", seconds, 0.05, 3600.0),
        ("memory_mb", memory_mb, 64, 1 << 20),
        ("tolerance", tolerance, 0.0, 1.0),
    ):
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InputError(f"{name} cannot be {value!r}", mend=f"give a number from {low} to {high}")
    if not isinstance(memory_mb, int):
        raise InputError(f"memory_mb cannot be {memory_mb!r}", mend="give a whole number")


class Task(NamedTuple):
    """All that a runner needs."""

    program: str
    tests: CodeTests
    backend: str
    limits: Limits
    stop_early: bool
    tolerance: float

    def open(self) -> Any:
        """A fresh sandbox."""
        return open_sandbox(self.backend, self.limits)  # type: ignore[arg-type]


# Runners


def run_programs(task: Task) -> list[Outcome]:
    """Whole programs: one run for each input."""
    outcomes: list[Outcome] = []
    clock = _Clock(task.limits)
    with task.open() as sandbox:
        for given, expected in task.tests.cases:
            if clock.over():
                outcome = Outcome("timeout", clock.why)
            else:
                reply = sandbox.ask({"do": "start", "role": "run", "program": task.program, "stdin": given})
                clock.add(reply)
                outcome = _ended(reply, task.limits) or _output(reply, expected, task.tolerance)
            outcomes.append(outcome)
            if task.stop_early and outcome.status != "correct":
                break
    return outcomes


def _output(reply: dict[str, Any], expected: str, tolerance: float) -> Outcome:
    if same_output(reply["out"], expected, tolerance):
        return Outcome("correct", "")
    return Outcome("wrong", f"prints {_short(reply['out'].strip())}")


def run_calls(task: Task) -> list[Outcome]:
    """One function: the program is loaded once and called for each case, and again after it died."""
    outcomes: list[Outcome] = []
    with task.open() as sandbox:
        candidate = Candidate(sandbox, task)
        for given, expected in task.tests.cases:
            question = {"op": "call", "name": task.tests.name, "values": encode([given, {}])}
            said, ended = candidate.ask(json.dumps(question))
            outcome = ended or _value(said, expected, task)
            outcomes.append(outcome)
            if task.stop_early and outcome.status != "correct":
                break
    return outcomes


def _value(said: str, expected: object, task: Task) -> Outcome:
    try:
        held = json.loads(said)
        if "value" not in held:
            return Outcome("wrong", f"raises {_short(str(held['raises']))}: {_short(str(held.get('text')))}")
        got = decode(held["value"], makers=INERT)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return Outcome("wrong", f"gives {error}")
    wanted = [expected]
    if task.tests.wrapped and isinstance(expected, list):
        wanted.append(expected[0])
    if any(same_value(got, want, task.tolerance) for want in wanted):
        return Outcome("correct", "")
    return Outcome("wrong", f"gives {_short(got)}")


def run_asserts(task: Task) -> list[Outcome]:
    """Test code in a sandbox of its own, which calls the program in another."""
    tests = task.tests
    job = {
        "do": "start",
        "role": "judge",
        "setup": tests.setup,
        "tests": tests.asserts,
        "remote": tests.remote,
        "all": task.stop_early,
    }
    died: dict[int, Outcome] = {}
    clock = _Clock(task.limits)
    with task.open() as judge, task.open() as sandbox:
        candidate, asked = Candidate(sandbox, task), False
        reply = judge.ask(job)
        while True:
            clock.add(reply)
            ended = _ended(reply, task.limits, always=True)
            if ended is None and clock.over():
                ended = Outcome("timeout", clock.why)
            if ended is not None:
                if not asked and ended.status != "timeout":
                    raise BrokenTests(f"the tests do not run: {ended.why}")
                return [ended]
            said = json.loads(reply["reply"])
            if "ask" not in said:
                break
            asked = True
            answer, dead = candidate.ask(json.dumps(said["ask"]))
            if dead:
                died.setdefault(said["test"], dead)
                if task.stop_early or candidate.broken:
                    return [*(Outcome("correct", "") for _ in range(said["test"] * task.stop_early)), dead]
                answer = json.dumps({"raises": "RuntimeError", "text": dead.why})
            reply = judge.ask({"do": "send", "ask": answer})
    if said.get("fault"):
        raise BrokenTests(said["fault"])
    outcomes = [Outcome("correct" if passed else "wrong", why) for passed, why in said["results"]]
    return [died.get(at, outcome) for at, outcome in enumerate(outcomes)]


RUNNERS: dict[str, Callable[[Task], list[Outcome]]] = {
    "stdin": run_programs,
    "call": run_calls,
    "asserts": run_asserts,
}


class Candidate:
    """The program, loaded, to be asked; loaded anew when it died."""

    def __init__(self, sandbox: Sandbox, task: Task) -> None:
        self.sandbox, self.task = sandbox, task
        self.clock = _Clock(task.limits)
        self.loaded = False
        self.broken: Outcome | None = None

    def ask(self, question: str) -> tuple[str, Outcome | None]:
        """The answer as JSON text, or how the program ended instead of answering."""
        if not self.loaded and not self.broken:
            program, prompt = self.task.program, self.task.tests.prompt
            job = {"do": "start", "role": "answer", "before": prompt, "program": program}
            self.broken = self._step({**job, "prelude": "class Solution" in program})[1]
            self.loaded = not self.broken
        if self.broken:
            return "", self.broken
        if self.clock.over():
            return "", Outcome("timeout", self.clock.why)
        said, ended = self._step({"do": "send", "ask": question})
        self.loaded = not ended
        return said, ended

    def _step(self, job: dict[str, Any]) -> tuple[str, Outcome | None]:
        reply = self.sandbox.ask(job)
        self.clock.add(reply)
        return reply["reply"], _ended(reply, self.task.limits, always=True)


class _Clock:
    """CPU time of the program over all tests, and wall time, both bounded."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.spent, self.began = limits, 0.0, monotonic()
        self.why = f"all tests together take more than {limits.total_seconds:g} s"

    def add(self, reply: dict[str, Any]) -> None:
        self.spent += reply["cpu"]

    def over(self) -> bool:
        return self.spent > self.limits.total_seconds or monotonic() - self.began > 3 * self.limits.total_seconds + 5


def _ended(reply: dict[str, Any], limits: Limits, always: bool = False) -> Outcome | None:
    """How a program ended, unless it answered or, `always` aside, ended well."""
    end, code = reply["end"], reply.get("code", 0)
    if end == "reply" or (end == "exit" and code == 0 and not always):
        return None
    if end == "time":
        return Outcome("timeout", f"is stopped after {limits.seconds:g} s of CPU time or {limits.wall:g} s")
    if end == "output":
        return Outcome("wrong", "says more than it may")
    last = (reply["err"].strip().splitlines() or [""])[-1]
    how = f"ends by signal {-code}" if code < 0 else f"ends with code {code}"
    return Outcome("wrong", how + (f": {_short(last)}" if last else ""))


# Comparison


def same_output(got: str, expected: str, tolerance: float = 0.0) -> bool:
    """Whether two outputs are the same by the rule of this module."""
    left, right = ([line.strip() for line in text.strip().splitlines()] for text in (got, expected))
    return len(left) == len(right) and all(
        one == other or _same_words(one.split(), other.split(), tolerance)
        for one, other in zip(left, right, strict=True)
    )


def _same_words(left: list[str], right: list[str], tolerance: float) -> bool:
    if len(left) != len(right):
        return False
    for one, other in zip(left, right, strict=True):
        if not NUMBER.fullmatch(one) or not NUMBER.fullmatch(other):
            return False
        if Decimal(one) != Decimal(other) and not _near(float(one), float(other), tolerance):
            return False
    return True


def _near(one: float, other: float, tolerance: float) -> bool:
    return tolerance > 0 and abs(one - other) <= tolerance * max(1.0, abs(other))


def same_value(got: object, expected: object, tolerance: float = 0.0) -> bool:
    """Whether a value equals the expected one, which is made of what JSON has."""
    if isinstance(expected, list):
        return (
            isinstance(got, list | tuple)
            and not isinstance(got, Unordered)
            and len(got) == len(expected)
            and all(same_value(one, other, tolerance) for one, other in zip(got, expected, strict=True))
        )
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return False
        named = {key if isinstance(key, str) else str(key): value for key, value in got.items()}
        return named.keys() == expected.keys() and all(
            same_value(named[key], expected[key], tolerance) for key in expected
        )
    if got == expected:
        return True
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    return numbers and -1e300 < got < 1e300 and _near(float(got), float(expected), tolerance)  # type: ignore[operator,arg-type]


def _short(value: object) -> str:
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer beyond Python's own limit
        text = f"a {type(value).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
