"""A SQLite store has no WAL on file systems that are shared or virtual, where it gets damaged."""

from __future__ import annotations

import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from ledger import connect, filesystems
from ledger.errors import InvalidInput, StoreError
from ledger.filesystems import SharedFilesystem, filesystem_type, is_shared, shared_filesystem

MOUNTS = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
23 22 0:21 / /proc rw,nosuid shared:2 - proc proc rw
36 22 0:40 / /users rw,relatime - nfs4 files.example:/users rw,vers=4.2
37 36 0:41 / /users/me/local rw,relatime master:3 propagate_from:1 - btrfs /dev/vdb rw
38 22 0:42 / /mnt/my\040disk rw,relatime - cifs //server/share rw
39 22 0:43 / /host rw,relatime - virtiofs host rw
40 22 0:44 / /twice rw - 9p host rw
41 22 0:45 / /twice rw - tmpfs tmpfs rw
42 22 0:46 / /remote rw - fuse.sshfs me@server:/ rw
43 22 0:47 / /ab rw - xfs /dev/vdc rw
a line that is none
44 22 0:48 / /odd\134name rw - fuse.gcsfuse bucket rw
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "ext4"),
        ("/srv/record.db", "ext4"),
        ("/proc/1", "proc"),
        ("/users/me/record.db", "nfs4"),
        ("/users", "nfs4"),
        ("/userspace/record.db", "ext4"),
        ("/users/me/local/record.db", "btrfs"),
        ("/users/me/localized/record.db", "nfs4"),
        ("/mnt/my disk/record.db", "cifs"),
        ("/mnt/record.db", "ext4"),
        ("/host/a/b/c/record.db", "virtiofs"),
        ("/twice/record.db", "tmpfs"),
        ("/remote/record.db", "fuse.sshfs"),
        ("/abc/record.db", "ext4"),
        ("/odd\\name/record.db", "fuse.gcsfuse"),
    ],
)
def test_the_deepest_and_last_mount_counts(path: str, expected: str) -> None:
    assert filesystem_type(MOUNTS, path) == expected


@pytest.mark.parametrize("mounts", ["", "nonsense\n", "36 22 0:40 / /users rw,relatime - nfs4 files rw\n", "1 2 3 / / rw -\n"])
def test_what_the_system_does_not_tell_is_not_guessed(mounts: str) -> None:
    assert filesystem_type(mounts, "/srv/record.db") is None


@pytest.mark.parametrize(
    "name",
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "fuse",
        "fuse.sshfs",
        "fuse.osxfs",
        "fuse.grpcfuse",
        "vboxsf",
        "fakeowner",
    ],
)
def test_shared_and_virtual_file_systems(name: str) -> None:
    assert is_shared(name)


@pytest.mark.parametrize(
    "name",
    ["overlay", "tmpfs", "ext4", "xfs", "btrfs", "zfs", "apfs", "f2fs", "fuseblk", "ramfs", "bcachefs", "fuse.fuse-overlayfs"],
)
def test_local_file_systems(name: str) -> None:
    assert not is_shared(name)


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the system says is shared, on a disk that is not."""
    folder = tmp_path / "shared folder"
    folder.mkdir()
    mounts = tmp_path / "mounts"
    point = str(folder.resolve()).replace(" ", r"\040")
    mounts.write_text(f"1 0 254:0 / / rw - ext4 /dev/vda rw\n2 1 0:40 / {point} rw - virtiofs host rw\n", encoding="utf-8")
    monkeypatch.setattr(filesystems, "_MOUNTS", mounts)
    return folder


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the system says is on a local disk."""
    mounts = tmp_path / "mounts"
    mounts.write_text("1 0 254:0 / / rw - ext4 /dev/vda rw\n", encoding="utf-8")
    monkeypatch.setattr(filesystems, "_MOUNTS", mounts)
    return tmp_path


def journal(path: Path) -> str:
    """The journal that a database has for whoever opens it."""
    with closing(sqlite3.connect(path)) as connection:
        return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def test_a_store_on_a_shared_file_system_has_a_rollback_journal_and_says_so(shared: Path) -> None:
    path = shared / "record.db"
    places: list[str | Path] = [path, str(path), f"sqlite:///{path}"]
    for version, where in enumerate(places, 1):
        with pytest.warns(SharedFilesystem, match="virtiofs.*use a local disk or PostgreSQL") as warned:
            ledgers = connect(where)
        with ledgers, ledgers.store._connections.reading() as connection:  # type: ignore[attr-defined]
            assert ledgers.ledger("case").record_turn("user", "x") == version
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert [warning.filename for warning in warned] == [__file__], "once, and where connect was called"
        assert journal(path) == "delete"
    assert [entry.name for entry in shared.iterdir()] == ["record.db"]


def test_a_log_written_ahead_is_refused_there(shared: Path) -> None:
    with pytest.raises(StoreError, match="local disk or PostgreSQL") as refused:
        connect(f"sqlite:///{shared}/record.db?journal=wal")
    assert refused.value.filesystem == "virtiofs"
    assert list(shared.iterdir()) == []


def test_a_link_to_a_shared_file_system_is_followed(shared: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shared)
    (tmp_path / "record.db").symlink_to(shared / "record.db")
    for path in (tmp_path / "link" / "record.db", tmp_path / "record.db"):
        with pytest.warns(SharedFilesystem, match="virtiofs"):
            connect(path).close()


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_store_that_others_have_open_there_stays_what_it_is(shared: Path, mode: str) -> None:
    """As when it was made elsewhere; nobody is told that it is in use."""
    path = shared / "record.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as before:
        before.execute(f"PRAGMA journal_mode = {mode}")
        with pytest.warns(SharedFilesystem, match="journal=delete"):
            first = connect(path)
        assert first.ledger("case").record_turn("user", "x") == 1
        with pytest.warns(SharedFilesystem):
            second = connect(path)
        with first, second:
            assert second.ledger("case").record_turn("user", "y") == 2
            assert first.ledger("case").version == 2
            assert journal(path) == mode


def test_a_store_beside_it_and_one_in_memory_are_not_concerned(shared: Path, tmp_path: Path) -> None:
    for where in (str(tmp_path / "record.db"), ":memory:"):
        with connect(where) as ledgers:
            assert ledgers.ledger("case").record_turn("user", "x") == 1


def test_the_way_out_that_is_named_works_without_a_warning(shared: Path) -> None:
    where = f"sqlite:///{shared}/record.db?journal=delete"
    with pytest.warns(SharedFilesystem) as warned:
        connect(shared / "record.db").close()
    assert str(warned[0].message).endswith(where)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with connect(where) as ledgers:
            assert ledgers.ledger("case").record_turn("user", "x") == 1


def test_a_rollback_journal_waits_for_its_folder_too(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with connect(f"sqlite:///{path}?journal=delete") as ledgers:
        ledgers.ledger("case").record_turn("user", "x")
        with ledgers.store._connections.reading() as connection:  # type: ignore[attr-defined]
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
            assert connection.execute("PRAGMA synchronous").fetchone() == (3,)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_store_changes_its_journal_while_nobody_uses_it(local: Path) -> None:
    path = local / "record.db"
    for where in (str(path), f"sqlite:///{path}?journal=delete", f"sqlite:///{path}?journal=wal"):
        with connect(where) as ledgers:
            ledgers.ledger("case").record_turn("user", "x")
    with connect(f"sqlite:///{path}?journal=wal") as ledgers:
        assert ledgers.ledger("case").version == 3
        with pytest.raises(StoreError, match="in use with journal=wal"):
            connect(f"sqlite:///{path}?journal=delete")


def test_a_store_keeps_its_journal_where_none_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with connect(f"sqlite:///{path}?journal=delete") as first, connect(path) as second:
        first.ledger("case").record_turn("user", "x")
        assert second.ledger("case").version == 1
    assert journal(path) == "delete"


def test_every_connection_to_a_log_written_ahead_waits_for_the_disk(local: Path) -> None:
    with connect(local / "record.db") as ledgers, ledgers.store._connections.reading() as connection:  # type: ignore[attr-defined]
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_an_unknown_journal_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="journal=off"):
        connect(f"sqlite:///{tmp_path}/record.db?journal=off")
    assert list(tmp_path.iterdir()) == []


def test_this_machine_is_asked(tmp_path: Path) -> None:
    """Without a plant; wherever the tests run, a store must be possible."""
    path = tmp_path / "record.db"
    connect(path).close()
    assert journal(path) == ("wal" if shared_filesystem(path) is None else "delete")
