"""Where a SQLite store may lie, and which journal it has there."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Final

from ledger.errors import InvalidInput, NotAStore, StoreError
from ledger.filesystems import SharedFilesystem, shared_filesystem
from ledger.sqlite_connections import Journal

_HEADER: Final = b"SQLite format 3\0"
_WRITE_VERSION: Final = 18
_WAL: Final = 2
_UP_TO_THE_CALLER_OF_CONNECT: Final = 5


def check_place(path: str) -> None:
    """``NotAStore`` where something else lies, ``StoreError`` where the folder is missing."""
    if "\0" in path:
        raise InvalidInput(f"{path!r} is not a path: leave out the NUL", path="store")
    place = Path(path)
    if not place.resolve().parent.is_dir():
        raise StoreError(f"the folder of {path} does not exist: make it first", path=path)
    if place.is_dir():
        raise NotAStore(f"{path} is a folder: name a file in it", path=path)
    if place.exists() and not place.is_file():
        raise NotAStore(f"{path} is not a file: name another one", path=path)
    if not _HEADER.startswith(_header(place)[: len(_HEADER)]):
        raise NotAStore(f"{path} is not a store, nor a SQLite database at all: name another file", path=path)


def journal_for(path: str, asked: Journal | None) -> Journal:
    """The journal to open a store with: the one asked for, else the one it has, else the one that its file system bears.

    Warns of a ``SharedFilesystem`` where none was asked for; ``StoreError`` where WAL was.
    """
    filesystem = None if asked == "delete" else shared_filesystem(Path(path))
    if filesystem is None:
        return asked or _journal_of(path) or "wal"
    place = f"a file system that is shared or virtual ({filesystem}) holds {path}, and SQLite's WAL gets damaged there"
    way_out = f"use a local disk or PostgreSQL, or, for one process alone, sqlite:///{path}?journal=delete"
    if asked == "wal":
        raise StoreError(f"{place}: {way_out}", path=path, filesystem=filesystem)
    journal = _journal_of(path) or "delete"
    has = "is in WAL mode all the same" if journal == "wal" else "has a rollback journal therefore"
    warnings.warn(SharedFilesystem(f"{place}. The store {has}: {way_out}"), stacklevel=_UP_TO_THE_CALLER_OF_CONNECT)
    return journal


def _journal_of(path: str) -> Journal | None:
    """The journal of a database, by its file alone, so that one in use is not disturbed; None if there is no database yet."""
    header = _header(Path(path))
    if len(header) <= _WRITE_VERSION:
        return None
    return "wal" if header[_WRITE_VERSION] == _WAL else "delete"


def _header(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_WRITE_VERSION + 1)
    except OSError:
        return b""  # none yet; or one that may not be read, of which SQLite says so
