"""What psycopg's errors mean for the store: whether to try again, and what to tell the caller to do."""

from __future__ import annotations

import re
from typing import Final

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from ledger.errors import NotAStore, StoreError, sentence


class DeadlinePassed(psycopg.OperationalError):
    """The database did not answer in time; the connection is given up."""


_WAYS_OUT: Final[tuple[tuple[type[psycopg.Error] | tuple[type[psycopg.Error], ...], str], ...]] = (
    (
        (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement),
        "A pooler in transaction mode stands between: add ?prepare=off to the address.",
    ),
    (errors.ReadOnlySqlTransaction, "This server is a standby or read-only: connect to the primary."),
    (
        errors.InsufficientPrivilege,
        "Ask the owner of the schema context_ledger to run context-ledger init, or to GRANT what is missing.",
    ),
    (errors.DuplicateSchema, "The schema context_ledger is of something else: use another database."),
    (errors.UndefinedTable, "The tables are gone: restore them from a backup."),
    ((errors.DiskFull, errors.OutOfMemory), "Nothing was written: free some space and try again."),
    (errors.TooManyConnections, "Close other clients, or lower pool= in the address."),
    (
        (errors.QueryCanceled, errors.LockNotAvailable),
        "Nothing was written: find who holds it in pg_stat_activity, or raise deadline= in the address.",
    ),
    ((errors.SerializationFailure, errors.DeadlockDetected), "Nothing was written: try again."),
    (errors.DataError, "Nothing was written: text may not hold U+0000 here."),
    (errors.RestrictViolation, "Nothing was changed."),
)

# A refused connection comes without a code of its own, so its words are read. These are not tried again.
_REFUSALS: Final = (
    (
        re.compile(r"no pg_hba\.conf entry|pg_hba\.conf rejects"),
        "Ask for TLS with sslmode=require in the address, or let the server's pg_hba.conf admit this host and user.",
    ),
    (
        re.compile(r"certificate verify failed|root certificate file|server does not support SSL"),
        "Check sslmode and sslrootcert in the address, and the server's certificate.",
    ),
    (
        re.compile(r'authentication failed|no password supplied|role ".*" (does not exist|is not permitted)'),
        "Check the user and the password: in the address, in PGUSER and PGPASSWORD, or in the password file.",
    ),
    (re.compile(r'database ".*" does not exist'), "Make it with createdb, or check the name in the address."),
    (
        re.compile(r'invalid port number|connection option "port"|port numbers to'),
        "Check the port in the address: it is a number from 1 to 65535.",
    ),
)
_FULL: Final = re.compile(r"too many (clients|connections)|connection slots are reserved")


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection broke, rather than that the server refused or the pool had none to give."""
    if isinstance(error, PoolTimeout | PoolClosed | DeadlinePassed):
        return False
    state = error.sqlstate
    if state is None:
        return _refusal(str(error)) is None
    return state.startswith("08") or state in {"57P01", "57P02", "57P03"}


def told(error: psycopg.Error, place: str, *, cause: str, maybe_stored: bool) -> StoreError:
    """The error to raise instead. ``cause`` is why the pool has no connection; an append may be stored where it was begun."""
    said = str(error).strip() or type(error).__name__
    if cause:
        said = f"{said}; connecting says: {cause}"
    kind = NotAStore if isinstance(error, errors.DuplicateSchema) else StoreError
    way_out = _way_out(error, said)
    if maybe_stored and (isinstance(error, DeadlinePassed | PoolTimeout) or is_lost(error)):
        way_out += " The append may have been stored: repeat it with the same idempotency key."
    return kind(f"PostgreSQL store {place}: {sentence(said)} {way_out}", sqlstate=error.sqlstate)


def _refusal(said: str) -> str | None:
    return next((way_out for words, way_out in _REFUSALS if words.search(said)), None)


def _way_out(error: psycopg.Error, said: str) -> str:
    for kind, way_out in _WAYS_OUT:
        if isinstance(error, kind):
            return way_out
    if error.sqlstate is None:
        refusal = _refusal(said)
        if refusal is not None:
            return refusal
        if _FULL.search(said):
            return "Close other clients, or lower pool= in the address."
    if isinstance(error, DeadlinePassed | PoolTimeout) or is_lost(error):
        return "Check that the server runs and can be reached at this address."
    return "Nothing was written."
