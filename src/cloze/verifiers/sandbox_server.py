"""The first process inside the sandbox: it starts programs, feeds them, and stops them.

One sandbox serves one verdict. Each program runs in a forked child of its own, so this process never executes foreign
code, and it knows nothing worth stealing: it is given programs and inputs, and hands out what came of them. It reads
jobs from file 0 and writes replies to file 1, each as four bytes of length and then JSON.

A child is bounded by CPU time (the measure that does not depend on how busy the machine is), by wall time, and by the
size of what it prints. It cannot start processes where seccomp is there; where it is not, whatever it started is killed
with everything else in this process namespace before the next child begins.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from cloze.verifiers.sandbox_landlock import PR_SET_PDEATHSIG, become, enclose, forbid, limit, prctl

CHUNK = 1 << 16
TICK_MS = 20
TAIL = 2000
MAX_REPLY = 4 << 20  # of what a child says on its private pipe


class Child(NamedTuple):
    """A running program: its process, our ends of its pipes, and all files to close in the end."""

    pid: int
    watch: int
    stdin: int
    stdout: int
    stderr: int
    ask: int
    reply: int
    files: set[int]

    def close(self, *files: int) -> None:
        """Close some of its files, once."""
        for file in self.files.intersection(files):
            self.files.discard(file)
            os.close(file)


def read_exactly(file: int, count: int) -> bytes:
    """So many bytes from a file, or EOFError."""
    parts = []
    while count:
        part = os.read(file, min(count, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(file: int) -> bytes:
    """One frame: four bytes of length, then so many bytes."""
    return read_exactly(file, int.from_bytes(read_exactly(file, 4), "big"))


def write_frame(file: int, body: bytes) -> None:
    """Write one frame, all of it."""
    data = memoryview(len(body).to_bytes(4, "big") + body)
    while data:
        data = data[os.write(file, data) :]


def begin(config: dict[str, Any], roles: dict[str, Callable[[dict[str, Any], int, int], None]]) -> None:
    """Move in, say so with an empty frame, and serve. Arguments as of `serve`; `enclose` holds those of the walls."""
    if config["enclose"]:
        enclose(*config["enclose"])
    else:
        become(config["user"])
    write_frame(1, b"")
    serve(config, roles)


def serve(config: dict[str, Any], roles: dict[str, Callable[[dict[str, Any], int, int], None]]) -> None:
    """Answer jobs until the caller closes file 0.

    Args:
        config: `seconds`, `wall`, `memory_bytes`, `file_bytes`, `threads`, `output_bytes`, and `private`: whether
            every process that can be seen is of this sandbox.
        roles: what a child does, by name: a function of (job, file of questions, file of answers).
    """
    child: Child | None = None
    while True:
        try:
            job = json.loads(read_frame(0))
        except EOFError:
            return
        try:
            if job["do"] == "start":
                if child:
                    stop(child, config)
                _clear(".")
                child = spawn(config, job, roles[job["role"]])
            if child is None:
                reply: dict[str, Any] = {"end": "fault", "why": "no program is running"}
            else:
                reply = attend(child, config, job)
                if reply["end"] != "reply":
                    reply["code"] = stop(child, config)
                    child = None
        except OSError as error:
            reply = {"end": "fault", "why": f"{type(error).__name__}: {error}"}
        write_frame(1, json.dumps(reply).encode())


def spawn(config: dict[str, Any], job: dict[str, Any], role: Callable[[dict[str, Any], int, int], None]) -> Child:
    """Fork a child that plays the role.

    Raises:
        OSError: the system has no process or file left.
    """
    pipes = [os.pipe() for _ in range(5)]
    pid = os.fork()
    if pid == 0:
        _become_program(config, job, role, pipes)
    stdin, stdout, stderr, ask, reply = pipes
    for end in (stdin[0], stdout[1], stderr[1], ask[0], reply[1]):
        os.close(end)
    ours = (stdin[1], stdout[0], stderr[0], ask[1], reply[0])
    for end in ours:
        os.set_blocking(end, False)
    watch = os.pidfd_open(pid)
    return Child(pid, watch, *ours, files={watch, *ours})


def _become_program(
    config: dict[str, Any],
    job: dict[str, Any],
    role: Callable[[dict[str, Any], int, int], None],
    pipes: list[tuple[int, int]],
) -> NoReturn:
    code = 120
    try:
        stdin, stdout, stderr, ask, reply = pipes
        for ready, number in ((stdin[0], 0), (stdout[1], 1), (stderr[1], 2)):
            os.dup2(ready, number)
        keep = {0, 1, 2, ask[0], reply[1]}
        for file in range(3, max(max(pair) for pair in pipes) + 1):
            if file not in keep:
                try:
                    os.close(file)
                except OSError:
                    continue
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
        os.setsid()  # signals to its own group do not reach beyond it
        prctl(PR_SET_PDEATHSIG, 9)
        threads = config["threads"] if forbid() else config["threads"] // 2
        limit(
            memory_bytes=config["memory_bytes"],
            cpu_seconds=int(config["total_seconds"]) + 2,
            file_bytes=config["file_bytes"],
            threads=threads,
        )
        code = 1
        role(job, ask[0], reply[1])
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
        if isinstance(leave.code, str):
            print(leave.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    try:
        if "threading" in sys.modules:
            sys.modules["threading"]._shutdown()
        if "atexit" in sys.modules:
            sys.modules["atexit"]._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        code = code or 1
    os._exit(code & 255)


def attend(child: Child, config: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """Feed and watch a child until it answers on its pipe, ends, or goes beyond a bound.

    Returns:
        `end`: "reply" (its text in `reply`), "exit", "time" or "output"; `out` and `err` as text; `cpu` in seconds.
    """
    feeds = {child.stdin: memoryview(job.get("stdin", "").encode("utf-8", "surrogateescape"))}
    feeds[child.ask] = memoryview(b"")
    if "ask" in job:
        body = job["ask"].encode()
        feeds[child.ask] = memoryview(len(body).to_bytes(4, "big") + body)
    taken = {child.stdout: bytearray(), child.stderr: bytearray(), child.reply: bytearray()}
    poll = select.poll()
    poll.register(0, select.POLLHUP)
    poll.register(child.watch, select.POLLIN)
    for file in taken:
        poll.register(file, select.POLLIN)
    for file, data in feeds.items():
        if data:
            poll.register(file, select.POLLOUT)
        elif file == child.stdin:
            child.close(file)
    began, spent, end = time.monotonic(), cpu_seconds(child.pid), ""
    while not end:
        for file, event in poll.poll(TICK_MS):
            if file == 0:
                os._exit(0)  # the caller is gone: so is everything here
            elif file == child.watch:
                end = "exit"
            elif file in taken:
                if not _take(file, taken[file]):
                    poll.unregister(file)
            elif event:
                feeds[file] = _feed(file, feeds[file])
                if not feeds[file]:
                    poll.unregister(file)
                    if file == child.stdin:
                        child.close(file)
        said = len(taken[child.stdout]) + len(taken[child.stderr])
        if said > config["output_bytes"] or len(taken[child.reply]) > MAX_REPLY:
            end = "output"
        elif _whole(taken[child.reply]):
            end = "reply"
        used = cpu_seconds(child.pid) - spent
        if not end and (used > config["seconds"] or time.monotonic() - began > config["wall"]):
            end = "time"
    if end == "exit":
        for file in taken:
            while len(taken[file]) <= config["output_bytes"] and _take(file, taken[file], now=True):
                pass
        end = "reply" if _whole(taken[child.reply]) else "exit"
        if len(taken[child.stdout]) > config["output_bytes"]:
            end = "output"
    return {
        "end": end,
        "out": taken[child.stdout].decode("utf-8", "replace") if end == "exit" else "",
        "err": taken[child.stderr][-TAIL:].decode("utf-8", "replace"),
        "reply": taken[child.reply][4:].decode("utf-8", "replace") if end == "reply" else "",
        "cpu": round(used, 4),
    }


def _whole(frame: bytearray) -> bool:
    return len(frame) >= 4 and len(frame) - 4 >= int.from_bytes(frame[:4], "big")


def _take(file: int, into: bytearray, now: bool = False) -> bool:
    """Read what is there; False at the end of the file, and with `now` also when nothing is there."""
    try:
        part = os.read(file, CHUNK)
    except BlockingIOError:
        return not now
    into += part
    return bool(part)


def _feed(file: int, data: memoryview) -> memoryview:
    """Write what fits; the rest is left. A program that does not read its input loses it."""
    try:
        return data[os.write(file, data) :]
    except BlockingIOError:
        return data
    except OSError:
        return memoryview(b"")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far, with its threads."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def stop(child: Child, config: dict[str, Any]) -> int:
    """Kill a child and whatever it left; its exit code, negative for a signal."""
    signal.pidfd_send_signal(child.watch, signal.SIGKILL)
    status = os.waitpid(child.pid, 0)[1]
    if config["private"]:
        try:
            os.kill(-1, signal.SIGKILL)
            while os.waitpid(-1, 0)[0]:
                pass
        except (ProcessLookupError, ChildProcessError):
            pass
    child.close(*child.files)
    return os.waitstatus_to_exitcode(status)


def _clear(folder: str) -> None:
    """Empty the temporary folder, as far as what a program left there allows."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, 0o700)
                _clear(entry.path)
                os.rmdir(entry.path)
            else:
                os.unlink(entry.path)
        except (OSError, RecursionError):
            continue
