"""The command line that puts a process behind bubblewrap, the sandbox that Flatpak uses.

Nothing of the host is in its file tree but the interpreter and the system's shared libraries, all read-only; it has its
own network (empty), process, IPC and host name namespaces, and one folder in memory of bounded size. As root, the
process inside then changes to an unprivileged user; as another user, bubblewrap makes a user namespace instead.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath


def bubblewrap(
    program: str, readable: Sequence[str], hidden: Sequence[str], folder: str, disk_bytes: int, *, root: bool
) -> list[str]:
    """The arguments before the command that is to run inside.

    Args:
        program: path of `bwrap`.
        readable: folders and files that are there, read-only.
        hidden: folders within them that appear empty.
        folder: the one folder that can be written.
        disk_bytes: how much it holds.
        root: whether the caller is root.
    """
    line = [program, "--die-with-parent", "--as-pid-1", "--cap-drop", "ALL"]
    line += ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if root:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    above = {str(folder) for path in readable for folder in PurePosixPath(path).parents} - {"/"}
    for path in sorted(above):  # bubblewrap would make /root as closed as the host has it
        line += ["--perms", "0755", "--dir", path]
    for path in readable:
        if os.path.islink(path):
            line += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            line += ["--ro-bind", path, path]
    for path in hidden:
        if os.path.isdir(path):
            line += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    line += ["--dev", "/dev", "--remount-ro", "/dev"]
    line += ["--perms", "1777", "--size", str(disk_bytes), "--tmpfs", folder, "--remount-ro", "/", "--chdir", folder]
    # Short of memory, the kernel takes this process and not the caller's.
    return ["/bin/sh", "-c", 'echo 1000 > /proc/self/oom_score_adj; exec "$@"', "sh", *line]
