"""Keyed hashes of names: what may be kept of a name that must be forgotten.

They tell whether a name that is given again is the forgotten one, and reveal nothing to those who do not have the store's
secret.
"""

from __future__ import annotations

import hmac
from typing import Final

FORGOTTEN_NAME: Final = "forgotten:"
"""How the name of a wholly forgotten ledger begins; the rest is its keyed hash."""


def subject_mark(secret: bytes, subject: str) -> bytes:
    """16 bytes for a subject, the same in all ledgers of the store."""
    return _mark(secret, b"subject", subject)


def forgotten_name(secret: bytes, name: str) -> str:
    """The name that a ledger has once it was forgotten, made of the one that it had."""
    return FORGOTTEN_NAME + _mark(secret, b"name", name).hex()


def names_key(secret: bytes, ledger: bytes) -> bytes:
    """The key for names inside one ledger."""
    return hmac.digest(secret, b"names\0" + ledger, "sha256")


def field_mark(key: bytes, field: str) -> str:
    """The keyed hash of a field's canonical name, hexadecimal."""
    return _mark(key, b"field", field).hex()


def artifact_mark(key: bytes, sha256: str) -> str:
    """The keyed hash of an artifact's hash, hexadecimal."""
    return _mark(key, b"artifact", sha256).hex()


def secret_mark(secret: bytes, found: str) -> str:
    """The keyed hash of a secret that was kept out, 12 hexadecimal digits."""
    return _mark(secret, b"secret", found)[:6].hex()


def _mark(key: bytes, kind: bytes, name: str) -> bytes:
    return hmac.digest(key, kind + b"\0" + name.encode("utf-8", "surrogatepass"), "sha256")[:16]
