r"""A sandbox for programs that nobody has read: which walls there are, and a conversation with what stands behind them.

`open_sandbox` starts real CPython in isolation and gives a `Sandbox`, to which jobs are sent (`sandbox_server` answers
them). A sandbox lives for one verdict. The interpreter inside is a fresh one, not a fork of the caller: nothing of the
caller's memory, files or environment is in it.

What holds on which backend ("landlock" is namespaces, a bare file tree, landlock and seccomp; "safe" stands for both
bubblewrap and landlock):

| | safe | unsafe |
|---|---|---|
| no network: a namespace without any device (landlock refuses TCP once more) | yes | NO |
| of files, only the interpreter, its library and the system's libraries are there, read-only | yes | NO |
| nothing of /etc, /home, /root, /proc, the real /tmp or site-packages is there | yes | NO |
| one folder in memory, of `DISK` bytes, is all that can be written | yes | NO, only each file is bounded |
| an unprivileged user without capabilities or a way to gain any | yes | without capabilities |
| no process of the host can be seen or signalled; all inside die with the first one | yes | NO |
| no new processes, threads excepted (seccomp: x86_64, aarch64; elsewhere `THREADS // 2`, killed after) | yes | yes |
| address space, CPU time, wall time, output, open files are bounded | yes | yes |
| dies with the caller | yes | unless the program undoes that |
| the expected outputs are not in it | yes | they are not, but files of the host are |

No backend hides the time, the kernel's version or the number of cores, counts memory of the kernel itself (with
bubblewrap that of many empty files), keeps a program from slowing its neighbours within its CPU time, or protects from
a fault of the kernel. A caller who is not root cannot take another user: the one inside is then the caller's own as the
kernel sees it, in a user namespace and without rights. Elsewhere than on Linux there is only "unsafe".
"""

from __future__ import annotations

import json
import marshal
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from select import POLLIN, POLLOUT, poll
from typing import Any, Literal

from cloze.errors import InputError
from cloze.verifiers.sandbox_bubblewrap import bubblewrap

Backend = Literal["auto", "bubblewrap", "landlock", "unsafe"]
CHOICE = "CLOZE_SANDBOX"  # the environment variable that "auto" asks first
DISK = 64 << 20
OUTPUT = 8 << 20
THREADS = 64
MAX_FRAME = 80 << 20  # 8 MiB of output, each byte written as \u0000
FOLDER = "/tmp"
GRACE = 30.0  # seconds that a sandbox may take for its own work; beyond them it is broken
MODULES = ("sandbox_landlock", "code_values", "sandbox_server", "code_roles")
PROBE = "import colorsys, math, zlib\nprint(6 * 7)"  # from the library, once the user has changed
BOOT = """
import marshal, os, sys, types
def take(count):
    parts = []
    while count:
        part = os.read(0, min(count, 1 << 20))
        if not part: os._exit(3)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
config, codes = marshal.loads(take(int.from_bytes(take(4), "big")))
for name in ("cloze", "cloze.verifiers"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = []
for name, code in codes:
    sys.modules[name] = types.ModuleType(name)
    exec(code, sys.modules[name].__dict__)
sys.modules["cloze.verifiers.sandbox_server"].begin(config, sys.modules["cloze.verifiers.code_roles"].ROLES)
"""


class SandboxFault(Exception):
    """The sandbox itself broke: no process, no memory, no disk. Never the fault of the program in it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of the programs in a sandbox.

    Attributes:
        seconds: CPU time for one job.
        memory_mb: address space.
        total_seconds: CPU time of one program over all its jobs.
    """

    seconds: float = 6.0
    memory_mb: int = 1024
    total_seconds: float = 60.0

    @property
    def wall(self) -> float:
        """Wall time for one job; wide, because a busy machine must not turn a right answer into a wrong one."""
        return 3 * self.seconds + 5


class Sandbox:
    """A conversation with a sandbox. Use one from one thread at a time."""

    def __init__(self, process: subprocess.Popen[bytes], backend: str, limits: Limits) -> None:
        self.process, self.backend, self.limits = process, backend, limits
        assert process.stdin and process.stdout
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Send a job and wait for what came of it, as `sandbox_server.attend` describes.

        Raises:
            SandboxFault: the sandbox broke.
        """
        deadline = time.monotonic() + self.limits.wall + GRACE
        self.send(json.dumps(job).encode(), deadline)
        try:
            reply: dict[str, Any] = json.loads(self.receive(deadline))
        except ValueError as error:
            raise SandboxFault(f"the sandbox speaks nonsense ({error})") from None
        if reply["end"] == "fault":
            raise SandboxFault(reply["why"])
        return reply

    def send(self, body: bytes, deadline: float) -> None:
        """Write one frame."""
        data = memoryview(len(body).to_bytes(4, "big") + body)
        while data:
            try:
                data = data[os.write(self._to, data) :]
            except BlockingIOError:
                self._wait(self._to, POLLOUT, deadline)
            except OSError:
                raise SandboxFault(self._epitaph()) from None

    def receive(self, deadline: float) -> bytes:
        """Read one frame."""
        size = int.from_bytes(self._read(4, deadline), "big")
        if size > MAX_FRAME:
            raise SandboxFault(f"the sandbox sends {size} bytes at once")
        return self._read(size, deadline)

    def _read(self, count: int, deadline: float) -> bytes:
        parts = []
        while count:
            try:
                part = os.read(self._from, min(count, 1 << 20))
            except BlockingIOError:
                self._wait(self._from, POLLIN, deadline)
                continue
            if not part:
                raise SandboxFault(self._epitaph())
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, file: int, event: int, deadline: float) -> None:
        watch = poll()
        watch.register(file, event)
        left = deadline - time.monotonic()
        if left <= 0 or not watch.poll(left * 1000):
            raise SandboxFault("the sandbox does not answer")

    def _epitaph(self) -> str:
        """Why the sandbox is gone, from what it said last."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        assert self.process.stderr
        os.set_blocking(self.process.stderr.fileno(), False)
        said = (self.process.stderr.read() or b"").decode("utf-8", "replace").strip().splitlines()
        return f"the sandbox ended with code {self.process.poll()}" + (f": {said[-1][:300]}" if said else "")


@contextmanager
def open_sandbox(backend: Backend = "auto", limits: Limits | None = None) -> Iterator[Sandbox]:
    """Start a sandbox and, in the end, remove all that is in it.

    Args:
        backend: "auto" takes the environment's `CLOZE_SANDBOX` if it is set, else bubblewrap, else landlock.
        limits: bounds of the programs in it.

    Raises:
        InputError: this machine has no such sandbox.
        SandboxFault: it has, but now it could not be started.
    """
    with _started(choose(backend), limits or Limits()) as sandbox:
        yield sandbox


def choose(backend: Backend = "auto") -> str:
    """The backend that a name means on this machine: "bubblewrap", "landlock" or "unsafe".

    Raises:
        InputError: there is no such name, or it does not work here.
    """
    name = os.environ.get(CHOICE, "auto") if backend == "auto" else backend
    if name not in ("auto", "bubblewrap", "landlock", "unsafe"):
        raise InputError(f"there is no sandbox {name!r}", mend="use one of auto, bubblewrap, landlock, unsafe")
    if name == "unsafe":
        return name
    tried = {each: missing(each) for each in (("bubblewrap", "landlock") if name == "auto" else (name,))}
    found = next((each for each, why in tried.items() if not why), None)
    if found is None:
        raise InputError(
            "no sandbox for foreign code: " + ", ".join(f"{each} ({why})" for each, why in tried.items()),
            mend=f"install bubblewrap or allow user namespaces; --unsafe-sandbox ({CHOICE}=unsafe) does without",
        )
    return found


_PROBING = threading.Lock()


def missing(backend: str) -> str:
    """Why a backend cannot be had on this machine; empty if it can. It is tried once a process."""
    with _PROBING:
        return _missing(backend, os.geteuid() if hasattr(os, "geteuid") else -1)


@cache
def _missing(backend: str, user: int) -> str:
    if sys.platform != "linux":
        return "needs Linux"
    if backend == "bubblewrap" and not shutil.which("bwrap"):
        return "bwrap is not installed"
    try:
        with _started(backend, Limits()) as sandbox:
            reply = sandbox.ask({"do": "start", "role": "run", "program": PROBE})
    except (SandboxFault, OSError) as error:
        return str(error)
    return "" if reply["out"] == "42\n" else f"it does not run Python: {reply['err'][-300:]}"


@contextmanager
def _started(backend: str, limits: Limits) -> Iterator[Sandbox]:
    root = os.geteuid() == 0
    readable, hidden = _tree()
    user = random.SystemRandom().randrange(1 << 30, 1 << 31)  # its own, so that no two sandboxes share limits
    line = [interpreter(), "-s", "-S", "-P", "-B", "-X", "utf8", "-c", BOOT]
    if backend == "bubblewrap":
        line = bubblewrap(shutil.which("bwrap") or "bwrap", readable, hidden, FOLDER, DISK, root=root) + line
    config = {
        "enclose": [readable, hidden, FOLDER, DISK, user] if backend == "landlock" else None,
        "user": user if root and backend == "bubblewrap" else None,
        "private": backend != "unsafe",
        "seconds": limits.seconds,
        "wall": limits.wall,
        "total_seconds": limits.total_seconds,
        "memory_bytes": limits.memory_mb << 20,
        "file_bytes": DISK,
        "output_bytes": OUTPUT,
        "threads": THREADS,
    }
    with _outer_folder(backend) as folder:
        environment = {"HOME": FOLDER, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        environment["MALLOC_ARENA_MAX"] = "2"  # else each thread takes 64 MiB of the address space
        try:
            process = subprocess.Popen(
                line,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=environment,
                start_new_session=True,
                umask=0o022,
            )
        except OSError as error:
            raise SandboxFault(f"the sandbox cannot be started: {error}") from None
        try:
            sandbox = Sandbox(process, backend, limits)
            deadline = time.monotonic() + GRACE
            sandbox.send(marshal.dumps((config, _codes())), deadline)
            sandbox.receive(deadline)
            yield sandbox
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the first process inside, whose end is that of the rest
            for pipe in (process.stdin, process.stdout, process.stderr):
                assert pipe
                with suppress(OSError):
                    pipe.close()
            process.wait()


def _outer_folder(backend: str) -> AbstractContextManager[str]:
    """Where the process starts; only without isolation does it also write there."""
    if backend == "unsafe":
        return tempfile.TemporaryDirectory(prefix="cloze-", ignore_cleanup_errors=True)
    return nullcontext("/")


@cache
def _codes() -> list[tuple[str, Any]]:
    """The modules that run inside, compiled; the interpreter there is the one that runs here."""
    found = []
    for name in MODULES:
        full = f"cloze.verifiers.{name}"
        spec = find_spec(full)
        assert spec and spec.origin
        source = Path(spec.origin).read_text(encoding="utf-8")
        found.append((full, compile(source, f"{name}.py", "exec", dont_inherit=True)))
    return found


@cache
def interpreter() -> str:
    """The Python that is behind a virtual environment, if there is one."""
    return os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)


@cache
def _tree() -> tuple[list[str], list[str]]:
    """What can be read inside, and what of it appears empty: the packages, where data sets and their tests may be."""
    own = [sysconfig.get_path("stdlib"), os.path.join(sys.base_prefix, "lib"), interpreter()]
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"]
    readable = system + [path for path in own if not path.startswith(("/usr/lib/", "/lib/")) and path != "/usr/lib"]
    nested = [path for path in readable if any(path.startswith(other + "/") for other in readable)]
    kept = [path for path in dict.fromkeys(readable) if path not in nested and os.path.exists(path)]
    patterns = ("/site-packages", "/dist-packages", "/python*/site-packages", "/python*/dist-packages")
    packages = {path for folder in kept for pattern in patterns for path in glob(folder + pattern)}
    return kept, sorted(path for path in packages if os.path.realpath(path) == path)
