"""Connections to one PostgreSQL database: a pool a process, one deadline for everything, errors that say what to do.

This module and ``ledger.postgres`` are imported only when a ``postgresql://`` address is connected.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from ledger.errors import InvalidInput, NotAStore, StoreError, sentence

T = TypeVar("T")

DEADLINE_SECONDS: Final = 60.0
POOL_SIZE: Final = 8
CANCEL_SECONDS: Final = 2.0
ATTEMPTS: Final = 4

# What libpq is told unless the address or a service says otherwise: notice in about half a minute that the other side is gone.
_DEFAULTS: Final[dict[str, str | int]] = {
    "connect_timeout": 10,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_ENVIRONMENT: Final = {"PGSERVICE", "PGCONNECT_TIMEOUT"}
_PREPARE_AFTER: Final = 2
_SERVER_SHARE: Final = 0.9
"""Of the deadline: so that the server says what took so long, before we give it up."""

_inherited: Final[list[object]] = []
"""A child process keeps its parent's pool here, untouched: closing its sockets would harm the parent."""


class DeadlinePassed(psycopg.OperationalError):
    """The database did not answer in time; the connection is given up."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for no answer longer than its ``deadline`` (of the monotonic clock)."""

    deadline = float("inf")

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Like the base class, until the deadline."""
        return super().wait(self._until_deadline(gen), interval)

    def _until_deadline(self, gen: PQGen[T]) -> PQGen[T]:
        try:
            ready = yield next(gen)
            while True:
                if not ready and time.monotonic() > self.deadline:
                    raise DeadlinePassed("the database did not answer in time")
                ready = yield gen.send(ready)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]  # a generator's result is not typed on StopIteration


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A ``postgresql://`` address, without the parameters that are ours: ``prepare``, ``pool`` and ``deadline``."""

    conninfo: str
    prepare: bool
    pool_size: int
    deadline_seconds: float

    @property
    def shown(self) -> str:
        """The address without a password, for messages."""
        given = psycopg.conninfo.conninfo_to_dict(self.conninfo)
        place = given.get("host") or given.get("service") or os.environ.get("PGHOST") or "local"
        return f"{place}/{given.get('dbname') or os.environ.get('PGDATABASE') or ''}"


def parse(url: str) -> Address:
    """Split off our parameters; ``InvalidInput`` for values that they do not have, or for what libpq cannot read."""
    parts = urlsplit(url)
    ours: dict[str, str] = {}
    theirs = []
    for pair in filter(None, parts.query.split("&")):
        name, _, value = pair.partition("=")
        if name in {"prepare", "pool", "deadline"}:
            ours[name] = unquote(value)
        else:
            theirs.append(pair)
    conninfo = urlunsplit(parts._replace(query="&".join(theirs)))
    if not parts.netloc and not conninfo.startswith(f"{parts.scheme}://"):
        conninfo = conninfo.replace(":", "://", 1)  # urlunsplit drops the empty host of postgresql:///name
    try:
        given = psycopg.conninfo.conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as error:
        raise InvalidInput(f"the address of the store cannot be read: {error}", path="store") from error
    told = _ENVIRONMENT & os.environ.keys() or "service" in given
    defaults = {} if told else {name: value for name, value in _DEFAULTS.items() if name not in given}
    return Address(
        conninfo=psycopg.conninfo.make_conninfo(conninfo, fallback_application_name="context-ledger", **defaults),
        prepare=_choice(ours, "prepare", {"on": True, "off": False}),
        pool_size=int(_number(ours, "pool", POOL_SIZE)),
        deadline_seconds=_number(ours, "deadline", DEADLINE_SECONDS),
    )


def _choice(given: dict[str, str], name: str, choices: dict[str, bool]) -> bool:
    value = given.get(name, "on")
    if value not in choices:
        raise InvalidInput(f"{name}={value} in the address of the store: give {' or '.join(choices)}", path="store")
    return choices[value]


def _number(given: dict[str, str], name: str, otherwise: float) -> float:
    try:
        value = float(given.get(name, otherwise))
    except ValueError:
        value = 0
    if not 1 <= value <= 86_400:
        raise InvalidInput(f"{name}={given[name]} in the address of the store: give a number from 1", path="store")
    return value


class Connections:
    """The pool of this process. Safe for threads; a forked child gets a pool of its own."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._pool: ConnectionPool[Connection] | None = None
        self._closed = False

    def run(self, work: Callable[[Connection, int], T]) -> T:
        """Do some work on a connection, in autocommit; again, on a new connection, if the connection is lost.

        ``work`` is told which attempt this is, from 0: in a later one, the lost connection may or may not have carried
        it out. What it raises comes out as ``StoreError``, unless it is an error of ours.
        """
        return self._repeated(self._pooled, work)

    def run_alone(self, work: Callable[[Connection, int], T]) -> T:
        """Like ``run``, on a connection outside the pool, whose failure to connect is told at once and by its cause."""
        return self._repeated(self._alone, work)

    def _repeated(
        self,
        take: Callable[[float], AbstractContextManager[Connection]],
        work: Callable[[Connection, int], T],
    ) -> T:
        deadline = time.monotonic() + self.address.deadline_seconds
        with translated(self.address):
            for attempt in range(ATTEMPTS):
                try:
                    with take(deadline) as connection:
                        return work(connection, attempt)
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if attempt + 1 == ATTEMPTS or not _is_lost(error):
                        raise
                if self._pool is not None:
                    self._pool.drain()  # the server dropped one connection, so the others are likely to be gone too
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _alone(self, deadline: float) -> Iterator[Connection]:
        self._guard()
        connection = Connection.connect(self.address.conninfo, autocommit=True, prepare_threshold=None)
        connection.deadline = deadline
        with connection:
            yield connection

    @contextmanager
    def _pooled(self, deadline: float) -> Iterator[Connection]:
        pool = self._open_pool()
        connection = pool.getconn(max(0.0, deadline - time.monotonic()))
        try:
            connection.deadline = deadline
            yield connection
        except DeadlinePassed:
            with suppress(psycopg.Error):  # it is given up in any case
                connection.cancel_safe(timeout=CANCEL_SECONDS)
            connection.close()
            raise
        finally:
            connection.deadline = float("inf")
            pool.putconn(connection)

    def close(self) -> None:
        """Close the pool of this process."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None and self._pid == os.getpid():
            pool.close()

    def _open_pool(self) -> ConnectionPool[Connection]:
        self._guard()
        pool = self._pool
        if pool is None:
            with self._lock:
                pool = self._pool = self._pool or self._new_pool()
        return pool

    def _new_pool(self) -> ConnectionPool[Connection]:
        return ConnectionPool(
            self.address.conninfo,
            connection_class=Connection,
            kwargs={"autocommit": True, "prepare_threshold": _PREPARE_AFTER if self.address.prepare else None},
            configure=self._configure,
            min_size=0,
            max_size=self.address.pool_size,
            timeout=self.address.deadline_seconds,
            num_workers=1,
            open=True,
        )

    def _configure(self, connection: Connection) -> None:
        """Let the server give up what we have given up, and plan a prepared statement once: planning costs more than
        appending, and no plan depends on the values. Not behind a pooler: there a session's settings wander.
        """
        if self.address.prepare:
            milliseconds = int(self.address.deadline_seconds * 1000 * _SERVER_SHARE)
            connection.execute(
                "SELECT set_config('statement_timeout', %s, false), set_config('plan_cache_mode', 'force_generic_plan', false)",
                (str(milliseconds),),
            )

    def _guard(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.address.shown} was closed: connect again")
        if self._pid != os.getpid():
            _inherited.append(self._pool)
            self._pool, self._lock, self._pid = None, threading.Lock(), os.getpid()


def _is_lost(error: psycopg.Error) -> bool:
    """Whether the connection broke, rather than that the server refused or the pool had none to give."""
    if isinstance(error, PoolTimeout | PoolClosed | DeadlinePassed):
        return False
    state = error.sqlstate
    return state is None or state.startswith("08") or state in {"57P01", "57P02", "57P03"}


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Turn psycopg's errors into ``StoreError`` that says what to do."""
    try:
        yield
    except psycopg.Error as error:
        said = str(error).strip() or type(error).__name__
        if isinstance(error, PoolTimeout):
            said = f"{said}; connecting says: {_cause(address)}"
        kind = NotAStore if isinstance(error, errors.DuplicateSchema) else StoreError
        raise kind(f"PostgreSQL store {address.shown}: {sentence(said)} {_way_out(error)}", sqlstate=error.sqlstate) from error


def _cause(address: Address) -> str:
    """Why the pool has no connection to give."""
    try:
        psycopg.connect(address.conninfo).close()
    except psycopg.Error as error:
        return str(error).strip()
    return "nothing wrong: all connections are in use, raise pool= in the address"


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
    (PoolTimeout, "Check the address and that the server runs."),
)


def _way_out(error: psycopg.Error) -> str:
    for kind, way_out in _WAYS_OUT:
        if isinstance(error, kind):
            return way_out
    if isinstance(error, DeadlinePassed) or _is_lost(error):
        return (
            "Check that the server runs and can be reached. If this was an append, it may have been stored: "
            "repeat it with the same idempotency key."
        )
    return "Nothing was written."
