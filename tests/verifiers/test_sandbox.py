"""The sandbox, one test a property, on each backend that this machine has."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cloze.errors import InputError
from cloze.verifiers import sandbox
from cloze.verifiers.sandbox import Limits, Sandbox, SandboxFault, choose, missing, open_sandbox

QUICK = Limits(seconds=0.5, memory_mb=512, total_seconds=3)
SAFE = ("bubblewrap", "landlock")
SOURCE = Path(sandbox.__file__).parents[2]


@pytest.fixture(params=SAFE)
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if why := missing(request.param):
        pytest.skip(f"{request.param}: {why}")
    with open_sandbox(request.param, QUICK) as opened:
        yield opened
        assert run(opened, "print(6 * 7)")["out"] == "42\n", "the next program is not served"


def run(box: Sandbox, program: str, stdin: str = "") -> dict:
    return box.ask({"do": "start", "role": "run", "program": program, "stdin": stdin})


def test_a_program_reads_and_prints(box: Sandbox) -> None:
    reply = run(box, "import sys\nprint(input())\nprint(sys.stdin.read())\nsys.exit(3)", "é\nrest")
    assert (reply["end"], reply["code"], reply["out"]) == ("exit", 3, "é\nrest\n")
    assert run(box, "print(len(open(0, 'rb').read()))", "é")["out"] == "2\n"


def test_large_input_and_output_pass_through(box: Sandbox) -> None:
    reply = run(box, "import sys\nsys.stdout.write(sys.stdin.read())", "0123456789" * 300_000)
    assert reply["end"] == "exit" and len(reply["out"]) == 3_000_000


def test_threads_work_and_are_waited_for(box: Sandbox) -> None:
    program = """
import sys, threading, time
sys.setrecursionlimit(100_000)
threading.stack_size(1 << 27)
def down(n): return n and 1 + down(n - 1)
def main(): time.sleep(0.05); print(down(50_000))
threading.Thread(target=main).start()
"""
    assert run(box, program)["out"] == "50000\n"


def test_an_endless_loop_is_stopped_by_its_cpu_time(box: Sandbox) -> None:
    began = time.monotonic()
    reply = run(box, "while True: pass")
    assert reply["end"] == "time" and 0.5 < reply["cpu"] < 1.0 and time.monotonic() - began < QUICK.wall


def test_a_loop_that_refuses_signals_is_stopped(box: Sandbox) -> None:
    program = "import signal\nfor n in (2, 10, 14, 15, 24): signal.signal(n, signal.SIG_IGN)\nwhile True: pass"
    assert run(box, program)["end"] == "time"


@pytest.mark.slow
def test_sleep_is_stopped_by_the_wall_time() -> None:
    with open_sandbox("auto", Limits(seconds=0.05)) as box:
        assert run(box, "import time\ntime.sleep(1000)")["end"] == "time"


def test_a_fork_bomb_does_not_start(box: Sandbox) -> None:
    before = len(os.listdir("/proc"))
    reply = run(box, "import os\nwhile True:\n  os.fork()")
    assert reply["code"] == 1 and "BlockingIOError" in reply["err"]
    assert abs(len(os.listdir("/proc")) - before) < 20


@pytest.mark.parametrize(
    "start",
    [
        "import subprocess\nsubprocess.run(['/bin/true'])",
        "import os\nos.posix_spawn('/bin/true', ['true'], {})",
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "import os\nos.forkpty()",
    ],
)
def test_no_other_way_to_a_process_works(box: Sandbox, start: str) -> None:
    assert run(box, start)["code"] == 1


def test_a_daemon_is_gone_with_the_sandbox() -> None:
    # Without seccomp a program can fork; the process namespace then ends its children.
    for backend in SAFE:
        if missing(backend):
            continue
        with open_sandbox(backend, QUICK) as box:
            pid = box.process.pid
            box.send(b'{"do": "start", "role": "run", "program": "import time; time.sleep(60)"}', time.monotonic() + 9)
            time.sleep(0.3)
            tree = descendants(pid)
            assert tree
        deadline = time.monotonic() + 5
        while any(alive(one) for one in tree) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not [one for one in tree if alive(one)]


def test_ten_gigabytes_are_refused(box: Sandbox) -> None:
    assert "MemoryError" in run(box, "x = bytearray(10 << 30)")["err"]
    assert "MemoryError" in run(box, "x = []\nwhile True: x.append(bytes(1 << 20))")["err"]


@pytest.mark.parametrize("way", ["import os\nfd = os.memfd_create('x')", "import mmap\nmmap.mmap(-1, 10 << 30)"])
def test_memory_by_another_door_is_refused(box: Sandbox, way: str) -> None:
    assert run(box, way)["code"] == 1


def test_files_of_the_host_are_not_there(box: Sandbox, tmp_path: Path) -> None:
    secret = tmp_path / "tests.json"
    secret.write_text("the expected output")
    for path in (
        secret,
        "/etc/passwd",
        "/etc/shadow",
        Path.home(),
        __file__,
        sandbox.__file__,
        "/proc/self/environ",
        "/proc/1/mem",
    ):
        reply = run(
            box, f"import os\np = {str(path)!r}\nprint(os.listdir(p) if os.path.isdir(p) else open(p, 'rb').read())"
        )
        on_the_way = reply["out"] == f"{leads_to_python(path)}\n"
        assert reply["code"] == 1 or on_the_way, (path, reply)
    for folder in map(str, sandbox._tree()[1]):
        assert run(box, f"import os\nprint(os.listdir({folder!r}))")["out"] == "[]\n", "packages may hold data sets"


def test_nothing_is_inherited(box: Sandbox) -> None:
    program = """
import os
print(sorted(os.environ))
held = []
for number in range(3, 64):
    try:
        os.fstat(number)
        held.append(number)
    except OSError:
        pass
print(len(held))
"""
    reply = run(box, program)
    names, files = reply["out"].splitlines()
    assert "PYTHONPATH" not in names and "USER" not in names
    assert int(files) == 2  # its question and answer pipes, on which nothing is asked


def test_packages_are_not_there(box: Sandbox) -> None:
    assert "ModuleNotFoundError" in run(box, "import numpy")["err"]


def test_nothing_but_its_folder_can_be_written(box: Sandbox) -> None:
    program = """
import os, sys
wrote = []
for folder in ("/", "/usr", "/usr/lib", "/dev", "/dev/shm", "/var/tmp", "/root", sys.prefix, sys.path[1]):
    try:
        open(folder + "/cloze-was-here", "w").close()
        wrote.append(folder)
    except OSError:
        pass
open("/tmp/mine", "w").write("x")
print(wrote, open("/tmp/mine").read())
"""
    assert run(box, program)["out"] == "[] x\n"
    assert not os.path.exists("/tmp/mine")
    assert run(box, "import os\nprint(os.listdir('/tmp'))")["out"] == "[]\n", "the folder is emptied between programs"


def test_a_huge_file_ends_with_its_folder(box: Sandbox) -> None:
    program = "f = open('big', 'wb', buffering=0)\nwhile True: f.write(bytes(1 << 20))"
    assert "OSError" in run(box, program)["err"]
    many = "import itertools\nfor n in itertools.count(): open(str(n), 'wb').write(bytes(1 << 20))"
    assert "OSError" in run(box, many)["err"]


def test_what_a_program_left_in_its_folder_does_not_stop_the_next(box: Sandbox) -> None:
    run(box, "import os\nfor n in range(900): os.mkdir('d'); os.chdir('d')\n")
    closed = "import os\nos.mkdir('x'); open('x/y', 'w').close(); os.chmod('x', 0)\n"
    run(box, closed + "try: os.chmod('/tmp', 0)\nexcept OSError: pass")
    assert run(box, "print(1)")["out"] == "1\n"


def test_huge_output_is_cut_off(box: Sandbox) -> None:
    began = time.monotonic()
    assert run(box, "while True: print('x' * 100_000)")["end"] == "output"
    assert run(box, "import sys\nwhile True: sys.stderr.write('x' * 100_000)")["end"] == "output"
    assert time.monotonic() - began < 5


def test_there_is_no_network(box: Sandbox) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        server.settimeout(0.1)
        datagrams.settimeout(0.1)
        port = server.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        program = f"""
import socket
for where in (("127.0.0.1", {port}), ("1.1.1.1", 53)):
    try:
        socket.create_connection(where, timeout=2)
        print("connected", where)
    except OSError:
        pass
    try:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", where)  # reaches the empty namespace at most
    except OSError:
        pass
"""
        assert run(box, program)["out"] == ""
        for end in (server.accept, lambda: datagrams.recv(1)):
            with pytest.raises(TimeoutError):
                end()


def test_neither_the_server_inside_nor_the_caller_can_be_killed(box: Sandbox) -> None:
    program = """
import os, signal
for pid in (os.getppid(), 1, PID, -1, 0):
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL)[not pid :]:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            pass
""".replace("PID", str(os.getpid()))
    assert run(box, program)["end"] == "exit"


def test_the_server_inside_cannot_be_read(box: Sandbox) -> None:
    program = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.ptrace(16, os.getppid(), 0, 0), ctypes.get_errno())
"""
    assert run(box, program)["out"] == "-1 1\n"


def test_no_way_back_to_root(box: Sandbox) -> None:
    program = """
import ctypes, os
print(os.getuid() != 0, os.geteuid() != 0)
for attempt in (lambda: os.setuid(0), lambda: os.chroot("/tmp"), lambda: os.setgroups([0])):
    try:
        attempt()
        print("could")
    except OSError:
        pass
libc = ctypes.CDLL(None)
print(libc.unshare(0x10000000), libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None))
"""
    assert run(box, program)["out"] == "True True\n-1 -1\n"


def test_limits_cannot_be_raised(box: Sandbox) -> None:
    program = """
import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):
    try:
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("raised")
    except (ValueError, OSError):
        pass
"""
    assert run(box, program)["out"] == ""


def test_a_caller_that_is_killed_takes_the_sandbox_along() -> None:
    if all(map(missing, SAFE)):
        pytest.skip("no sandbox here")
    script = """
import time
from cloze.verifiers.sandbox import *
with open_sandbox() as box:
    box.send(b'{"do": "start", "role": "run", "program": "import time; time.sleep(60)"}', time.monotonic() + 9)
    time.sleep(0.3)
    print(box.process.pid, flush=True)
    time.sleep(60)
"""
    caller = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)}
    )
    assert caller.stdout
    tree = descendants(int(caller.stdout.readline()))
    assert tree and all(map(alive, tree))
    caller.send_signal(signal.SIGKILL)
    caller.wait()
    caller.stdout.close()
    deadline = time.monotonic() + 5
    while any(map(alive, tree)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, tree))


def test_a_sandbox_that_dies_is_a_fault_and_not_an_answer() -> None:
    with open_sandbox() as box:
        os.killpg(box.process.pid, signal.SIGKILL)
        with pytest.raises(SandboxFault, match="the sandbox ended"):
            run(box, "print(1)")


def test_sandboxes_run_beside_each_other_from_threads() -> None:
    outputs: list[str] = []

    def one(number: int) -> None:
        with open_sandbox() as box:
            outputs.append(run(box, "print(int(input()) ** 2)", str(number))["out"])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, outputs)) == [n * n for n in range(8)]


def test_no_sandbox_is_a_clear_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "missing", lambda backend: "not here")
    with pytest.raises(
        InputError, match=r"bubblewrap \(not here\), landlock \(not here\); install bubblewrap.*=unsafe"
    ):
        choose("auto")
    monkeypatch.setenv("CLOZE_SANDBOX", "unsafe")
    assert choose("auto") == "unsafe"
    with pytest.raises(InputError, match="no sandbox"):
        choose("landlock")
    monkeypatch.setenv("CLOZE_SANDBOX", "docker")
    with pytest.raises(InputError, match="there is no sandbox 'docker'"):
        choose("auto")


def test_without_bwrap_landlock_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    if missing("landlock"):
        pytest.skip(missing("landlock"))
    monkeypatch.setattr(sandbox.shutil, "which", lambda name: None)
    sandbox._missing.cache_clear()
    try:
        assert choose("auto") == "landlock"
        assert missing("bubblewrap") == "bwrap is not installed"
    finally:
        sandbox._missing.cache_clear()


def leads_to_python(path: str | Path) -> list[str]:
    """What is in a folder that is there only because the interpreter's path goes through it."""
    parts, own = Path(path).parts, Path(sandbox.interpreter()).parts
    return [own[len(parts)]] if own[: len(parts)] == parts and len(own) > len(parts) else []


def descendants(pid: int) -> list[int]:
    """A process and its children, all the way down."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += descendants(int(child))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
