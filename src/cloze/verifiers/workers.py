r"""Worker processes for algebra: started when first needed, killed when they take too long, replaced unseen.

A worker is a small process of its own (no fork of the caller, no import of the caller's `__main__`, no signal and no
thread in the caller's process), so it is safe beside torch, from threads and from asyncio. Inside it a keeper, which
has read the grammar once, forks the child that does the work. The kernel ends a child that uses more than
`CPU_SECONDS` of processor time on one answer, even in the midst of a big-number operation, or that asks for more than
`MEMORY_BYTES`; the keeper says so and forks the next child in milliseconds. The limit is processor time, so the same
answer has the same outcome on an idle and on a busy machine. `WALL_SECONDS` only guards against a stopped machine: what
reaches it is tried once more on a new worker and is then no verdict but an error.

The protocol is one line of JSON each way. Any number of threads may call `compare_formulas`; each holds one worker
while it waits, and waits for a free one when `limit` are busy. A process forked from this one starts with no workers.
At the end of the interpreter, or when it is killed, the workers see their input close and end.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import lru_cache

CPU_SECONDS = 2
WALL_SECONDS = 60.0
START_SECONDS = 120.0
MEMORY_BYTES = 1 << 30
ANSWERS_PER_CHILD = 2_000  # then a fresh one, so that memory cannot creep up
ALGEBRA = "cloze.verifiers.math_symbols"
BOOT = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from cloze.verifiers.workers import keep; keep()"
BROKE = (
    signal.SIGXCPU,
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGABRT,
)  # by what it worked on; SIGKILL is the machine's


class WorkerLostError(RuntimeError):
    """A worker process could not be started or ended without an answer, twice."""


class Worker:
    """One keeper process and the pipe to it.

    Args:
        module: what it imports: it has `outcome(answer, target) -> str` and `warm_up()`.
        cpu_seconds: processor time for one answer.
    """

    def __init__(self, module: str = ALGEBRA, cpu_seconds: int = CPU_SECONDS) -> None:
        environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", BOOT, json.dumps(sys.path), module, str(cpu_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=environment,
            start_new_session=True,
        )
        self.ready = False
        self.buffer = b""

    def ask(self, answer: str, target: str) -> str:
        """The outcome for one pair; raises WorkerLostError when the process ends or the wall clock runs out."""
        if not self.ready:
            if self._line(START_SECONDS) != "ready":
                raise WorkerLostError("a worker process did not start")
            self.ready = True
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([answer, target]).encode() + b"\n")
        except OSError as error:
            raise WorkerLostError("a worker process has ended") from error
        outcome = self._line(WALL_SECONDS)
        if outcome == "lost":
            raise WorkerLostError("a worker process was killed")
        return outcome

    def _line(self, seconds: float) -> str:
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self.process.stdout.fileno(), select.POLLIN | select.POLLHUP)
        while b"\n" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not poll.poll(1000 * left):
                raise WorkerLostError(f"a worker process did not answer in {seconds:g} s")
            read = os.read(self.process.stdout.fileno(), 4096)
            if not read:
                raise WorkerLostError("a worker process has ended")
            self.buffer += read
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def kill(self) -> None:
        """End the keeper and its child now, and leave no zombie."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)


class Pool:
    """The workers of this process.

    Args:
        limit: how many there may be; the pool grows to it one by one, when all that there are are busy.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.idle: list[Worker] = []
        self.all: set[Worker] = set()
        self.lost = 0
        self.free = threading.Condition()

    def ask(self, answer: str, target: str) -> str:
        """The outcome for one pair; a lost worker is replaced, and the pair tried once more."""
        for attempt in (1, 2):
            worker = self._take(fresh=attempt == 2)
            try:
                outcome = worker.ask(answer, target)
            except BaseException as error:  # also Ctrl-C: a worker with an answer on its way cannot be used again
                self._drop(worker)
                if isinstance(error, WorkerLostError) and attempt == 1:
                    continue
                raise
            self._give_back(worker)
            return outcome
        raise WorkerLostError("unreachable")

    def _take(self, fresh: bool) -> Worker:
        with self.free:
            while not self.idle and len(self.all) >= self.limit:
                self.free.wait()
            if self.idle:
                worker = self.idle.pop()
                if not fresh:
                    return worker
                self.all.discard(worker)  # what killed one may have killed them all
                worker.kill()
            worker = Worker()
            self.all.add(worker)
            return worker

    def _give_back(self, worker: Worker) -> None:
        with self.free:
            self.idle.append(worker)
            self.free.notify()

    def _drop(self, worker: Worker) -> None:
        worker.kill()
        with self.free:
            self.all.discard(worker)
            self.lost += 1
            self.free.notify()

    def close(self) -> None:
        """End all workers; a later question starts new ones."""
        with self.free:
            workers, self.all, self.idle = self.all, set(), []
        for worker in workers:
            worker.kill()


pool = Pool(max(1, min(4, os.cpu_count() or 1)))
_of_the_parent: list[Pool] = []  # kept, so that a forked child does not close or reap what is not its own


def _after_fork() -> None:
    global pool
    _of_the_parent.append(pool)
    pool = Pool(pool.limit)
    compare_formulas.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


@atexit.register
def close() -> None:
    """End all workers of this process."""
    pool.close()


def allow(workers: int) -> None:
    """Let the pool grow to so many workers, if it may not already."""
    pool.limit = max(pool.limit, workers)


@lru_cache(maxsize=8192)
def compare_formulas(answer: str, target: str) -> str:
    """Compare two texts by algebra in a worker; only after `math.look` has let them through.

    Returns:
        "equal", "different", "unreadable" (one of them is no formula after all), or "timeout".

    Raises:
        WorkerLostError: no worker could be had, or two were lost over this pair.
    """
    return pool.ask(answer, target)


def keep() -> None:
    """The keeper: fork a child that answers, and another one whenever it ends. Runs in the worker process only."""
    caller = os.getppid()
    replies = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no reply
    module, cpu_seconds = importlib.import_module(sys.argv[2]), int(sys.argv[3])
    module.warm_up()
    os.write(replies, b"ready\n")
    while True:
        child = os.fork()
        if child == 0:
            _answer(module.outcome, cpu_seconds, replies, caller)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return
        if os.WIFSIGNALED(status):
            os.write(replies, b"timeout\n" if os.WTERMSIG(status) in BROKE else b"lost\n")


def _answer(outcome: Callable[[str, str], str], cpu_seconds: int, replies: int, caller: int) -> None:
    """The child: read a pair, answer, until the input closes (exit code 0) or it has done enough (1)."""
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_BYTES, size + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for _ in range(ANSWERS_PER_CHILD):
        line = _next_line(caller)
        if line is None:
            os._exit(0)
        answer, target = json.loads(line)
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + 1 + cpu_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        try:
            said = outcome(answer, target)
        except MemoryError:
            said = "timeout"
        except Exception:
            said = "unreadable"
        os.write(replies, said.encode() + b"\n")
    os._exit(1)


def _next_line(caller: int) -> bytes | None:
    """The next line of the input, or None when it closes or the caller is gone."""
    line = b""
    while not line.endswith(b"\n"):
        if not select.select([0], [], [], 5)[0]:
            try:
                os.kill(caller, 0)
            except OSError:
                return None
            continue
        read = os.read(0, 65_536)
        if not read:
            return None
        line += read
    return line
