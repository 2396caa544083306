"""The walls that Python can build by itself on Linux: namespaces, a bare file tree, landlock, seccomp.

Everything here runs in a process that is about to hold a foreign program, never in the caller's own, and speaks to the
kernel through `ctypes`, so it needs no package and no tool. `enclose` is the whole "landlock" backend: it moves the
process into its own network, process, mount and IPC namespaces, swaps the file tree for one that holds only the
interpreter and a bounded temporary folder, adds landlock on top and gives up root. `forbid` and `limit` narrow a single
child further and serve every backend.
"""

from __future__ import annotations

import ctypes
import os
import resource
import struct
from collections.abc import Sequence

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE = {"mount": 0x00020000, "uts": 0x04000000, "ipc": 0x08000000, "pid": 0x20000000, "net": 0x40000000}
CLONE_USER = 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    32,
    4096,
    16384,
    1 << 18,
)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
READ, READ_FILE, WRITE_FILE = 4 | 8, 4, 2  # of landlock: read a file, list a folder
NOBODY = 65534

# Numbers of system calls: (x86_64, aarch64). clone and clone3 are handled by themselves; -1 where there is none.
FORK = {"fork": (57, -1), "vfork": (58, -1)}
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282),
    "memfd_create": (319, 279),  # memory that no limit counts
    "shmget": (29, 194),
    "mq_open": (240, 180),
}
CALLS = {"pivot_root": (155, 41), "clone": (56, 220), "clone3": (435, 435)}
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


class Refused(OSError):
    """The kernel said no to a wall."""


def _call(name: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise Refused(code, f"{name}: {os.strerror(code)}")
    return result


def mount(source: str | None, at: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """`mount(2)`.

    Raises:
        Refused: the kernel's reason.
    """
    texts = [None if text is None else text.encode() for text in (source, at, kind, data)]
    result = LIBC.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])
    _call(f"mount {at}", result)


def prctl(option: int, value: int) -> None:
    """`prctl(2)` with one value.

    Raises:
        Refused: the kernel's reason.
    """
    zero = ctypes.c_ulong(0)
    _call("prctl", LIBC.prctl(option, ctypes.c_ulong(value), zero, zero, zero))


def enclose(readable: Sequence[str], hidden: Sequence[str], folder: str, disk_bytes: int, user: int) -> None:
    """Move into the sandbox and come back as its first process, in the folder.

    Args:
        readable: folders and files that stay, read-only.
        hidden: folders within them that appear empty.
        folder: the one folder that can be written, in memory.
        disk_bytes: how much it holds.
        user: the number of the unprivileged user to become when the caller is root.

    Raises:
        Refused, OSError: a wall cannot be had.
    """
    if landlock_version() < 1:
        raise Refused(0, "landlock: the kernel has none")
    with open("/proc/self/oom_score_adj", "w") as handle:
        handle.write("1000")  # short of memory, the kernel takes this process and not the caller's
    root, flags = os.geteuid() == 0, sum(CLONE.values())
    caller, group = os.geteuid(), os.getegid()
    _call("unshare", LIBC.unshare(flags if root else flags | CLONE_USER))
    if not root:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{NOBODY} {caller} 1"),
            ("gid_map", f"{NOBODY} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as handle:
                handle.write(text)
    first = os.fork()  # the process namespace begins with the next child
    if first:
        os.close(0)
        os.close(1)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) & 255)
    prctl(PR_SET_PDEATHSIG, 9)
    owner = user if root else NOBODY
    _swap_tree(readable, hidden, folder, f"size={disk_bytes},nr_inodes=10000,mode=0700,uid={owner},gid={owner}")
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _landlock(readable, folder)
    become(user if root else None)
    os.chdir(folder)


def _swap_tree(readable: Sequence[str], hidden: Sequence[str], folder: str, options: str) -> None:
    mount(None, "/", None, MS_REC | MS_PRIVATE)
    tree = "/sys"  # a folder that every system has; what was there is not needed any more
    held = {path: os.open(path, os.O_PATH) for path in (*readable, *DEVICES) if os.path.exists(path)}
    links = {path: os.readlink(path) for path in readable if os.path.islink(path)}
    mount("tmpfs", tree, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755")
    for path, handle in held.items():
        inside = tree + path
        os.makedirs(os.path.dirname(inside), 0o755, exist_ok=True)
        if path in links:
            os.symlink(links[path], inside)
            continue
        if os.path.isdir(path):
            os.makedirs(inside, 0o755, exist_ok=True)
        elif not os.path.exists(inside):
            os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o644))
        mount(f"/proc/self/fd/{handle}", inside, None, MS_BIND | MS_REC)
        kept = os.statvfs(inside).f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)
        if path not in DEVICES:
            mount(None, inside, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | kept)
        os.close(handle)
    for path in hidden:
        if os.path.isdir(tree + path):
            mount("tmpfs", tree + path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=0755")
    os.makedirs(tree + folder, 0o755, exist_ok=True)
    mount("tmpfs", tree + folder, "tmpfs", MS_NOSUID | MS_NODEV, options)
    os.chdir(tree)
    machine, _ = MACHINES[os.uname().machine]
    _call("pivot_root", LIBC.syscall(CALLS["pivot_root"][machine], b".", b"."))
    _call("umount", LIBC.umount2(b".", 2))
    mount(None, "/", None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def landlock_version() -> int:
    """The version of landlock that the kernel speaks, or 0."""
    return max(0, int(LIBC.syscall(444, None, ctypes.c_size_t(0), 1)))


def _landlock(readable: Sequence[str], folder: str) -> None:
    version = landlock_version()
    files = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    network = 3 if version >= 4 else 0  # TCP: bind and connect
    scoped = 3 if version >= 6 else 0  # abstract sockets and signals across the border
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = _call("landlock", LIBC.syscall(444, struct.pack("=QQQ", files, network, scoped), ctypes.c_size_t(size), 0))
    allowed = {**dict.fromkeys(readable, READ), **dict.fromkeys(DEVICES, READ_FILE | WRITE_FILE), folder: files}
    for path, rights in allowed.items():
        if not os.path.exists(path):
            continue
        handle = os.open(path, os.O_PATH)
        rights &= files if os.path.isdir(path) else READ_FILE | WRITE_FILE
        _call(f"landlock {path}", LIBC.syscall(445, rules, 1, struct.pack("=Qi", rights, handle), 0))
        os.close(handle)
    _call("landlock", LIBC.syscall(446, rules, 0))
    os.close(rules)


def become(user: int | None) -> None:
    """Give up root for a user without rights (None keeps the user), and all capabilities; no way back.

    Raises:
        Refused, OSError: the kernel's reason.
    """
    if user is not None:
        os.setgroups([])
        try:
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:  # a container that maps few numbers
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    header, none = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _call("capset", LIBC.capset(header, none))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    prctl(PR_SET_PDEATHSIG, 9)  # a change of user clears it
    prctl(PR_SET_DUMPABLE, 0)  # children of the same user may not look into this process


def forbid() -> bool:
    """Take new processes (threads stay) and the calls in `REFUSED` from this process; False if the kernel cannot."""
    if os.uname().machine not in MACHINES:
        return False
    column, architecture = MACHINES[os.uname().machine]

    def number(table: dict[str, tuple[int, int]]) -> list[int]:
        return [row[column] for row in table.values() if row[column] >= 0]

    refuse, allow = 0x00050000, 0x7FFF0000
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, architecture), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    if column == 0:
        code += [(0x35, 0, 1, 0x40000000), (0x06, 0, 0, refuse | 1)]  # the x32 numbers are another way to the same
    for call in number(REFUSED):
        code += [(0x15, 0, 1, call), (0x06, 0, 0, refuse | 1)]
    for call in number(FORK):
        code += [(0x15, 0, 1, call), (0x06, 0, 0, refuse | 11)]
    code += [(0x15, 0, 1, CALLS["clone3"][column]), (0x06, 0, 0, refuse | 38)]  # glibc then asks clone
    code += [(0x15, 0, 3, CALLS["clone"][column]), (0x20, 0, 0, 16)]
    code += [(0x45, 1, 0, 0x00010000), (0x06, 0, 0, refuse | 11), (0x06, 0, 0, allow)]  # CLONE_THREAD
    program = b"".join(struct.pack("=HBBI", *line) for line in code)
    held = ctypes.create_string_buffer(program)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    filters = struct.pack("@HP", len(code), ctypes.addressof(held))
    zero = ctypes.c_ulong(0)
    return int(LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), filters, zero, zero)) == 0


def limit(*, memory_bytes: int, cpu_seconds: int, file_bytes: int, threads: int) -> None:
    """Bound this process and what it may start; the bounds cannot be raised again."""
    wanted = {
        resource.RLIMIT_AS: memory_bytes,
        resource.RLIMIT_CPU: cpu_seconds,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NPROC: threads,
        resource.RLIMIT_NOFILE: 64,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in wanted.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
