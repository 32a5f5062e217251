"""Batches as a store receives them, made without the rest of the ledger."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ledger.codec import commitment
from ledger.store import Batch, Draft

LEDGER = b"L" * 16


def draft(payload: bytes = b'{"role":"user","parts":[]}', *, kind: str = "turn.recorded", turn: int | None = None) -> Draft:
    """A draft of an event with a salt of its own."""
    salt = os.urandom(32)
    return Draft(kind, 1, turn, payload, salt, commitment(salt, payload))


def batch(
    drafts: Sequence[Draft],
    *,
    expected: int = 0,
    name: str = "case",
    ledger: bytes = LEDGER,
    command: bytes | None = None,
    recorded_at: int = 1_000,
    blobs: Mapping[str, bytes] | None = None,
) -> Batch:
    """A batch for one ledger, with a random command unless one is given."""
    return Batch(
        name=name,
        ledger=ledger,
        expected=expected,
        command=os.urandom(16) if command is None else command,
        recorded_at=recorded_at,
        drafts=drafts,
        blobs=blobs or {},
    )
