"""Connections to one PostgreSQL database: a pool a process, one deadline for everything, errors that say what to do.

This module and the others of PostgreSQL are imported only when a ``postgresql://`` address is connected.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

import psycopg
from psycopg import pq
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool, PoolTimeout

from ledger.errors import InvalidInput, StoreError
from ledger.postgres_errors import DeadlinePassed, is_lost, told

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
_LEAST_CONNECT_SECONDS: Final = 2
"""libpq's own minimum."""

_POOL_NAME: Final = "context-ledger"
_PREPARE_AFTER: Final = 2
_SERVER_SHARE: Final = 0.9
"""Of the deadline: so that the server says what took so long, before we give it up."""

_SESSION: Final = (
    "SELECT set_config('statement_timeout', %s, false), set_config('plan_cache_mode', 'force_generic_plan', false), "
    "set_config('default_transaction_isolation', 'read committed', false)"
)
_AT_LENGTH: Final = "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', %s, true)"

_inherited: Final[list[object]] = []
"""A child process keeps its parent's pool here, untouched: closing its sockets would harm the parent."""


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


class _Quiet(logging.Filter):
    """Holds back what the pool warns of our connections: a lost one is replaced here, or becomes an error."""

    def filter(self, record: logging.LogRecord) -> bool:
        given = record.args if isinstance(record.args, tuple) else ()
        ours = any(isinstance(value, Connection) or value == _POOL_NAME for value in given)
        return record.levelno > logging.WARNING or not ours


logging.getLogger("psycopg.pool").addFilter(_Quiet())


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A ``postgresql://`` address, without the parameters that are ours: ``prepare``, ``pool`` and ``deadline``."""

    conninfo: str = field(repr=False)
    prepare: bool
    pool_size: int
    deadline_seconds: float
    connect_seconds: float

    def connect_within(self, seconds: float) -> int:
        """The ``connect_timeout`` that lets an attempt at each of the hosts end in this time."""
        hosts = 1 + str(psycopg.conninfo.conninfo_to_dict(self.conninfo).get("host", "")).count(",")
        return max(_LEAST_CONNECT_SECONDS, math.ceil(min(self.connect_seconds, seconds / hosts)))

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
        psycopg.conninfo.conninfo_to_dict(conninfo)
    except psycopg.ProgrammingError as error:
        raise InvalidInput(f"the address of the store cannot be read: {error}", path="store") from error
    settings = _settings(conninfo)
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in settings}
    return Address(
        conninfo=psycopg.conninfo.make_conninfo(conninfo, fallback_application_name="context-ledger", **defaults),
        prepare=_choice(ours, "prepare", {"on": True, "off": False}),
        pool_size=int(_number(ours, "pool", POOL_SIZE)),
        deadline_seconds=_number(ours, "deadline", DEADLINE_SECONDS),
        connect_seconds=_connect_seconds(settings.get("connect_timeout", str(_DEFAULTS["connect_timeout"]))),
    )


def _settings(conninfo: str) -> dict[str, str]:
    """What libpq goes by: the address, its service and the environment. Nothing is connected: the mode of TLS is wrong."""
    probe = pq.PGconn.connect_start(psycopg.conninfo.make_conninfo(conninfo, sslmode="only to ask").encode())
    try:
        return {option.keyword.decode(): option.val.decode() for option in probe.info if option.val is not None}
    finally:
        probe.finish()


def _connect_seconds(given: str) -> float:
    """Without a bound of its own, an attempt is bound by the deadline."""
    try:
        seconds = float(given)
    except ValueError:
        raise InvalidInput(f"connect_timeout={given} for the store: give a number of seconds", path="store") from None
    return seconds if seconds > 0 else math.inf


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

    def run(self, work: Callable[[Connection, int], T], *, appends: bool = False) -> T:
        """Do some work on a connection, in autocommit; again, on a new connection, if the connection is lost.

        ``work`` is told which attempt this is, from 0: in a later one, the lost connection may or may not have carried
        it out. What it raises comes out as ``StoreError``, unless it is an error of ours.
        """
        return self._repeated(self._pooled, work, appends=appends)

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """What a query gives."""
        return self.run(lambda connection, _: connection.execute(query, values, binary=True).fetchall())

    def row(self, query: str, values: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
        """The first row that a query gives."""
        return self.run(lambda connection, _: connection.execute(query, values, binary=True).fetchone())

    def run_alone(self, work: Callable[[Connection, int], T]) -> T:
        """Like ``run``, on a connection outside the pool, whose failure to connect is told at once and by its cause."""
        return self._repeated(self._alone, work, appends=False)

    def run_at_length(self, work: Callable[[Connection], T]) -> T:
        """Do work that may take longer than the deadline, in one transaction, on a connection outside the pool. Only
        connecting and each wait for a lock are bound by the deadline.
        """

        def begin(connection: Connection, _: int) -> T:
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            with connection.transaction():
                connection.execute(_AT_LENGTH, (self._milliseconds(),))
                connection.deadline = math.inf
                return work(connection)

        return self.run_alone(begin)

    def _milliseconds(self) -> str:
        return str(int(self.address.deadline_seconds * 1000 * _SERVER_SHARE))

    def _repeated(
        self,
        take: Callable[[float], AbstractContextManager[Connection]],
        work: Callable[[Connection, int], T],
        *,
        appends: bool,
    ) -> T:
        deadline = time.monotonic() + self.address.deadline_seconds
        begun = False
        try:
            for attempt in range(ATTEMPTS):
                try:
                    with take(deadline) as connection:
                        begun = True
                        return work(connection, attempt)
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if attempt + 1 == ATTEMPTS or not is_lost(error) or time.monotonic() >= deadline:
                        raise
                if self._pool is not None:
                    self._pool.drain()  # the server dropped one connection, so the others are likely to be gone too
        except psycopg.Error as error:
            cause = self._cause(deadline) if isinstance(error, PoolTimeout) else ""
            raise told(error, self.address.shown, cause=cause, maybe_stored=appends and begun) from error
        raise AssertionError("the last attempt returns or raises")

    def _cause(self, deadline: float) -> str:
        """Why the pool has no connection to give."""
        try:
            self._connect(deadline).close()
        except psycopg.Error as error:
            return str(error).strip()
        return "nothing wrong: all connections are in use, raise pool= in the address"

    def _connect(self, deadline: float) -> Connection:
        seconds = self.address.connect_within(deadline - time.monotonic())
        return Connection.connect(self.address.conninfo, autocommit=True, prepare_threshold=None, connect_timeout=seconds)

    @contextmanager
    def _alone(self, deadline: float) -> Iterator[Connection]:
        self._guard()
        connection = self._connect(deadline)
        connection.deadline = deadline
        with connection:
            yield connection

    @contextmanager
    def _pooled(self, deadline: float) -> Iterator[Connection]:
        pool = self._open_pool()
        left = max(0.0, deadline - time.monotonic())
        connection = pool.getconn(max(left - _LEAST_CONNECT_SECONDS, left / 2))  # and then there is time to find the cause
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
            kwargs={
                "autocommit": True,
                "prepare_threshold": _PREPARE_AFTER if self.address.prepare else None,
                "connect_timeout": self.address.connect_within(self.address.deadline_seconds),
            },
            name=_POOL_NAME,
            configure=self._configure,
            min_size=0,
            max_size=self.address.pool_size,
            timeout=self.address.deadline_seconds,
            num_workers=1,
            open=True,
        )

    def _configure(self, connection: Connection) -> None:
        """Let the server give up what we have given up, show each statement what was stored before it, and plan a prepared
        statement once: planning costs more than appending, and no plan depends on the values. Not behind a pooler: there a
        session's settings wander.
        """
        if self.address.prepare:
            connection.deadline = time.monotonic() + self.address.deadline_seconds
            connection.execute(_SESSION, (self._milliseconds(),))
            connection.deadline = math.inf

    def _guard(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.address.shown} was closed: connect again")
        if self._pid != os.getpid():
            _inherited.append(self._pool)
            self._pool, self._lock, self._pid = None, threading.Lock(), os.getpid()
