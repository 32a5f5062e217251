"""The composition root: which store the doors open."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ledger import Ledgers, connect
from ledger.connect import sqlite_file
from ledger.errors import InvalidInput

STORE_VARIABLE: Final = "CONTEXT_LEDGER_STORE"
DEFAULT_STORE: Final = "./context-ledger.db"


def store_place(given: str | None) -> str:
    """The store's path or URL: the one given, else the one in ``CONTEXT_LEDGER_STORE``, else a file in this folder.

    ``InvalidInput`` for an empty text: a variable that a script forgot to set must not mean another store.
    """
    if given == "":
        raise InvalidInput(f"--store is empty: name a store, or leave --store out for {STORE_VARIABLE}", path="store")
    return given or os.environ.get(STORE_VARIABLE) or DEFAULT_STORE


def open_store(place: str) -> Ledgers:
    """Open a store, making it if there is none; its folder is the caller's to make."""
    path = sqlite_file(place)
    if path is not None and not Path(path).absolute().parent.is_dir():
        raise InvalidInput(f"the folder of {path} does not exist: make it first, or name another with --store", path="store")
    return connect(place)


def open_existing_store(place: str) -> Ledgers:
    """Open a store for reading: a mistyped path is the caller's mistake and not a new, empty store."""
    path = sqlite_file(place)
    if path is not None and not Path(path).exists():
        raise InvalidInput(
            f"no store at {path}: import something first, or name the store with --store or {STORE_VARIABLE}", path="store"
        )
    return connect(place)
