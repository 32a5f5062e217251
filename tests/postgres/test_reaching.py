"""Servers that are silent or refuse: an end at the deadline, and advice that fits."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from psycopg import sql as text

from ledger.connect import connect
from ledger.errors import StoreError
from ledger.postgres import open_postgres
from ledger.postgres_connections import parse
from ledger.postgres_errors import told
from tests.contract.batches import batch, draft
from tests.postgres.cutting import CuttingProxy
from tests.postgres.server import Databases
from tests.postgres.test_connections import kill_all

DEFAULTS = {"keepalives_idle": "15", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "30000"}


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("hosts", [1, 3])
def test_connecting_ends_at_the_deadline(silent: int, hosts: int) -> None:
    """All attempts together, at all hosts; the default of one attempt is 10 seconds."""
    place = ",".join([f"127.0.0.1:{silent}"] * hosts)
    begun = time.monotonic()
    with pytest.raises(StoreError, match=r"server runs.*address\.$"):
        connect(f"postgresql://nobody@{place}/x?deadline=2")
    assert time.monotonic() - begun < 2 * hosts + 6


def test_an_open_store_whose_server_falls_silent_ends_at_the_deadline(url: str) -> None:
    """Finding the cause takes no longer either."""
    with TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        proxy = CuttingProxy(url, Path(folder))
        store = open_postgres(f"{proxy.url}&deadline=2")
        store.append(batch([draft()]))
        proxy.close()
        [name] = Path(folder).iterdir()
        name.unlink()
        server.bind(str(name))
        server.listen()
        for work in (store.heads, lambda: store.append(batch([draft()], expected=1))):
            begun = time.monotonic()
            with pytest.raises(StoreError, match="server runs"):
                work()
            assert time.monotonic() - begun < 7
        store.close()


@pytest.mark.parametrize("by", ["address", "environment"])
def test_a_service_that_is_silent_on_it_leaves_our_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    service = tmp_path / "services"
    service.write_text("[record]\nhost=db.example\ndbname=record\nkeepalives_idle=99\n", encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    if by == "environment":
        monkeypatch.setenv("PGSERVICE", "record")
    address = parse("postgresql://" if by == "environment" else "postgresql://?service=record")
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    assert "keepalives_idle" not in given, "the service says otherwise"
    assert {name: given.get(name) for name in DEFAULTS if name != "keepalives_idle"} == {
        name: value for name, value in DEFAULTS.items() if name != "keepalives_idle"
    }
    assert address.connect_within(60) == 10
    service.write_text("[record]\nhost=db.example\nconnect_timeout=4\n", encoding="utf-8")
    assert parse("postgresql://?service=record").connect_within(60) == 4


def test_a_time_to_connect_from_the_environment_leaves_our_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "5")
    address = parse("postgresql://db.example/record")
    given = psycopg.conninfo.conninfo_to_dict(address.conninfo)
    assert {name: given.get(name) for name in DEFAULTS} == DEFAULTS
    assert [address.connect_within(seconds) for seconds in (60, 3, 0)] == [5, 3, 2]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("ledger_test", "no_such"), "createdb"),
        (("user=ledger", "user=nobody"), "Check the user and the password"),
        (("host=", "port=99999&host="), "Check the port"),
        (("host=", "host=/nowhere"), "Check that the server runs"),
    ],
)
def test_the_advice_fits_the_refusal(url: str, change: tuple[str, str], says: str) -> None:
    with pytest.raises(StoreError, match=says) as caught:
        connect(url.replace(*change))
    assert "append" not in str(caught.value)
    assert ("server runs" in str(caught.value)) == ("server runs" in says)


@pytest.mark.parametrize(
    ("said", "way_out"),
    [
        ('FATAL:  password authentication failed for user "app"', "Check the user and the password"),
        ("connection to server failed: fe_sendauth: no password supplied", "Check the user and the password"),
        ('FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "app", database "x", no encryption', "sslmode=require"),
        ('FATAL:  pg_hba.conf rejects connection for host "10.0.0.1", user "app", no encryption', "sslmode=require"),
        ("SSL error: certificate verify failed", "sslrootcert"),
    ],
)
def test_a_refusal_is_told_as_what_it_is(said: str, way_out: str) -> None:
    """In the words of the server and of libpq: the server of the tests asks for no password and has no TLS."""
    assert way_out in str(told(psycopg.OperationalError(said), "db/x", cause="", maybe_stored=False))


def test_only_an_append_may_have_been_stored(url: str) -> None:
    store = open_postgres(f"{url}&deadline=1&prepare=off")
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE context_ledger.ledgers IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreError, match="The append may have been stored"):
            store.append(batch([draft()]))
        with pytest.raises(StoreError, match=r"at this address\.$"):
            store.heads()
    store.close()


def test_the_pool_warns_of_nothing_that_we_handle(url: str, postgres: Databases, caplog: pytest.LogCaptureFixture) -> None:
    """Connections that are killed, and then a database that lets nobody in."""
    store = open_postgres(f"{url}&deadline=1")
    with psycopg.connect(url, autocommit=True) as sql:
        name = text.Identifier(sql.info.dbname)
        for version in range(3):
            store.append(batch([draft()], expected=version))
            kill_all(sql)
    with psycopg.connect(postgres.dsn, autocommit=True) as sql:
        sql.execute(text.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        try:
            with pytest.raises(StoreError, match="not currently accepting"):
                store.heads()
        finally:
            sql.execute(text.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
    store.close()
    assert [record.getMessage() for record in caplog.records if record.name.startswith("psycopg")] == []
