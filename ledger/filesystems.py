"""On which kind of file system a path lies. SQLite's WAL needs memory that all its users share, and locks that hold: a file
system that other machines share, or that a virtual machine or a user process serves, has neither for certain, and a store
on it can be damaged within minutes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")

_SHARED: Final = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fakeowner",
        "fuse",
        "gfs2",
        "glusterfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
    }
    | {"orangefs", "prl_fs", "pvfs2", "smb", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
_LOCAL_FUSE: Final = frozenset({"fuse.fuse-overlayfs"})
"""Served by a user process, but for one machine: the root of containers that run without privileges."""


class SharedFilesystem(UserWarning):
    """A store lies on a file system that is shared or virtual; says what it is and the way out."""


def shared_filesystem(path: Path) -> str | None:
    """The type of the file system of ``path`` (which need not exist) if it is shared or virtual; None if it is not, or if
    this system does not tell.
    """
    try:
        mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None
    found = filesystem_type(mounts, str(path.resolve()))
    return found if found is not None and is_shared(found) else None


def filesystem_type(mounts: str, path: str) -> str | None:
    """The type of the file system that an absolute path lies on, by the text of ``/proc/self/mountinfo``.

    Of the mounts above the path the deepest counts, and of several in one place the last.
    """
    deepest, found = -1, None
    for line in mounts.splitlines():
        mount, _, source = line.partition(" - ")
        fields = mount.split(" ")
        if len(fields) < 5 or not source:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        if len(point) >= deepest and is_inside(path, point):
            deepest, found = len(point), source.split(" ")[0]
    return found


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def is_shared(filesystem: str) -> bool:
    """Whether a type of file system is one on which WAL is not safe."""
    if filesystem.startswith("fuse."):
        return filesystem not in _LOCAL_FUSE
    return filesystem in _SHARED
