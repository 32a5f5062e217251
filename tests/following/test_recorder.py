"""The ``eventsourcing`` library's own projections and tracking recorders on our record."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent, Tracking, TrackingRecorder
from eventsourcing.popo import POPOTrackingRecorder
from eventsourcing.postgres import PostgresDatastore, PostgresTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner
from eventsourcing.sqlite import SQLiteDatastore, SQLiteTrackingRecorder

from examples import sql_view
from ledger.connect import Ledgers, connect
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.events import TurnRecorded
from ledger.following import pages
from ledger.recorder import LedgerEvent, LedgerMapper, LedgerNotification, LedgerRecorder, Record
from tests.postgres.server import Databases

ROLES = {"user": 30, "assistant": 30}


def talk(ledgers: Ledgers, turns: int = 30) -> None:
    """Two ledgers with turns and one other event."""
    for name in ("a", "b"):
        ledger = ledgers.ledger(name)
        for number in range(turns):
            ledger.record_turn("user" if number % 2 == 0 else "assistant", f"turn {number}")
    ledgers.ledger("a").record_outcome("completed", judge="user")


@pytest.fixture
def recorder(ledgers: Ledgers) -> LedgerRecorder:
    """A recorder of a store with some events."""
    talk(ledgers)
    return LedgerRecorder(ledgers.store)


def ids(found: object) -> list[int]:
    """The positions of notifications."""
    assert isinstance(found, list)
    return [notification.id for notification in found]


def test_notifications_are_the_feed(recorder: LedgerRecorder) -> None:
    everything = ids(recorder.select_notifications(None, 1_000))
    assert len(everything) == 61
    assert everything == sorted(everything)
    assert recorder.max_notification_id() == everything[-1]
    assert ids(recorder.select_notifications(everything[10], 5)) == everything[10:15]
    assert ids(recorder.select_notifications(everything[10], 5, inclusive_of_start=False)) == everything[11:16]
    assert ids(recorder.select_notifications(everything[10], 50, everything[12])) == everything[10:13]
    assert ids(recorder.select_notifications(everything[-1], 5, inclusive_of_start=False)) == []


def test_topics_choose_types(recorder: LedgerRecorder) -> None:
    found = recorder.select_notifications(None, 1_000, topics=["outcome.recorded"])
    assert [notification.topic for notification in found] == ["outcome.recorded"]
    assert len(recorder.select_notifications(None, 7, topics=["turn.recorded"])) == 7


def test_events_of_one_ledger(recorder: LedgerRecorder) -> None:
    head = recorder.store.head("a")
    assert head is not None
    ledger = UUID(bytes=head.ledger)

    def versions(**choice: object) -> list[int]:
        return [event.originator_version for event in recorder.select_events(ledger, **choice)]  # type: ignore[arg-type]

    assert versions() == list(range(1, 32))
    assert versions(gt=5, lte=9) == [6, 7, 8, 9]
    assert versions(desc=True, limit=3) == [31, 30, 29]
    assert len(recorder.select_events(str(ledger))) == 31
    with pytest.raises(InvalidInput, match="UUID"):
        recorder.select_events("a")


def test_an_empty_store_has_no_last_notification(ledgers: Ledgers) -> None:
    assert LedgerRecorder(ledgers.store).max_notification_id() is None


def test_nothing_is_written_this_way(recorder: LedgerRecorder) -> None:
    with pytest.raises(AdmissionRefused, match="commands"):
        recorder.insert_events([StoredEvent("a", 1, "turn.recorded", b"{}")])


def test_the_mapper_gives_our_events(recorder: LedgerRecorder) -> None:
    (notification,) = recorder.select_notifications(None, 1)
    assert isinstance(notification, LedgerNotification)
    event = LedgerMapper.to_domain_event(LedgerMapper(None), notification)  # type: ignore[arg-type]  # no transcoder is needed
    assert (event.originator_id, event.originator_version) == (notification.originator_id, 1)
    assert isinstance(event.event, TurnRecorded)


def test_a_subscription_waits_and_stops(ledgers: Ledgers, recorder: LedgerRecorder) -> None:
    last = recorder.max_notification_id()
    with recorder.subscribe(gt=last, topics=["turn.recorded"]) as subscription:
        late = threading.Timer(0.1, lambda: ledgers.ledger("b").record_turn("user", "late"))
        late.start()
        assert next(subscription).topic == "turn.recorded"
        late.join()
        stopping = threading.Timer(0.1, subscription.stop)
        stopping.start()
        assert list(subscription) == []
        stopping.join()


class Roles(TrackingRecorder):
    """Counts turns by role."""

    @abstractmethod
    def count(self, role: str, tracking: Tracking) -> None:
        """One more turn."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Turns by role."""


class PopoRoles(POPOTrackingRecorder, Roles):
    """In memory."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[str] = Counter()

    def count(self, role: str, tracking: Tracking) -> None:
        with self._database_lock:
            self._assert_tracking_uniqueness(tracking)
            self._insert_tracking(tracking)
            self._counts[role] += 1

    def counts(self) -> dict[str, int]:
        return dict(self._counts)


CREATE = "CREATE TABLE IF NOT EXISTS roles (role TEXT PRIMARY KEY, turns INTEGER)"
ADD = "INSERT INTO roles VALUES ('{}', 1) ON CONFLICT (role) DO UPDATE SET turns = roles.turns + 1"
READ = "SELECT role, turns FROM roles"


class SqliteRoles(SQLiteTrackingRecorder, Roles):
    """In SQLite."""

    def _create_table(self, c: object) -> None:
        super()._create_table(c)  # type: ignore[arg-type]
        c.execute(CREATE)  # type: ignore[attr-defined]

    def count(self, role: str, tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(ADD.format(role))

    def counts(self) -> dict[str, int]:
        with self.datastore.transaction(commit=False) as cursor:
            cursor.execute(READ)
            return {row["role"]: row["turns"] for row in cursor.fetchall()}


class PostgresRoles(PostgresTrackingRecorder, Roles):
    """In PostgreSQL."""

    def _create_table(self, curs: object) -> None:
        super()._create_table(curs)  # type: ignore[arg-type]
        curs.execute(CREATE)  # type: ignore[attr-defined]

    def count(self, role: str, tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(ADD.format(role).encode())

    def counts(self) -> dict[str, int]:
        with self.datastore.transaction() as cursor:
            cursor.execute(READ)
            return {row["role"]: row["turns"] for row in cursor.fetchall()}


class CountRoles(Projection[Roles]):
    """The library's kind of projection."""

    name = "countroles"
    topics = ("turn.recorded",)

    def process_event(self, domain_event: object, tracking: Tracking) -> None:
        """Count a turn."""
        assert isinstance(domain_event, LedgerEvent)
        assert isinstance(domain_event.event, TurnRecorded)
        self.view.count(domain_event.event.role, tracking)


def postgres_settings(url: str) -> dict[str, str]:
    """What the library wants to know of a database."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    names = {"dbname": "DBNAME", "host": "HOST", "user": "USER"}
    settings = {f"POSTGRES_{there}": str(given[here]) for here, there in names.items()}
    return {**settings, "POSTGRES_PORT": "5432", "POSTGRES_PASSWORD": "unused", "PERSISTENCE_MODULE": "eventsourcing.postgres"}


VIEWS: dict[type[Roles], Callable[[Path, str], dict[str, str]]] = {
    PopoRoles: lambda _folder, _url: {},
    SqliteRoles: lambda folder, _url: {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": str(folder / "view.db"),
    },
    PostgresRoles: lambda _folder, url: postgres_settings(url),
}


@pytest.fixture
def url(postgres: Databases) -> Iterator[str]:
    """The address of an empty database."""
    with postgres.lent() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path, url: str) -> str:
    """The address of a store that a second handle can open."""
    return str(tmp_path / "record.db") if request.param == "sqlite" else url


@pytest.mark.parametrize("view_class", VIEWS)
def test_a_projection_of_the_library_runs_on_our_record(
    address: str, view_class: type[Roles], tmp_path: Path, url: str
) -> None:
    """It is stopped half-way and resumed; events come before, between and while it runs."""
    env = {f"COUNTROLES_{name}": value for name, value in VIEWS[view_class](tmp_path, url).items()}
    env["RECORD_LEDGER_STORE"] = address
    with connect(address) as ledgers:
        talk(ledgers, 10)
        with ProjectionRunner(application_class=Record, projection_class=CountRoles, view_class=view_class, env=env) as runner:
            talked = LedgerRecorder(ledgers.store).select_notifications(None, 100, topics=CountRoles.topics)
            runner.wait(talked[-1].id, timeout=30)
            assert runner.view.counts() == {"user": 10, "assistant": 10}
            ledgers.ledger("late").record_turn("user", "while it runs")
            runner.wait(ledgers.store.last_position(), timeout=30)
            assert runner.view.counts() == {"user": 11, "assistant": 10}
        if view_class is PopoRoles:
            return
        ledgers.ledger("late").record_turn("user", "while it is stopped")
        with ProjectionRunner(application_class=Record, projection_class=CountRoles, view_class=view_class, env=env) as runner:
            runner.wait(ledgers.store.last_position(), timeout=30)
            assert runner.view.counts() == {"user": 12, "assistant": 10}


@pytest.fixture(params=["sqlite", "postgres"])
def view(request: pytest.FixtureRequest, tmp_path: Path, url: str) -> Iterator[sql_view.SqliteView | sql_view.PostgresView]:
    """The example's table, in each database."""
    made: sql_view.SqliteView | sql_view.PostgresView
    if request.param == "sqlite":
        made = sql_view.SqliteView(SQLiteDatastore(str(tmp_path / "view.db")))
    else:
        given = {name[9:].lower(): value for name, value in postgres_settings(url).items() if "POSTGRES_" in name}
        made = sql_view.PostgresView(PostgresDatastore(**given))  # type: ignore[arg-type]
    made.create_table()
    yield made
    made.datastore.close()


def totals(view: sql_view.SqliteView | sql_view.PostgresView) -> Counter[str]:
    """Turns by role over all ledgers."""
    found: Counter[str] = Counter()
    for (_, role), turns in view.rows().items():
        found[role] += turns
    return found


def test_a_view_is_caught_up_again_and_again(ledgers: Ledgers, view: sql_view.SqliteView | sql_view.PostgresView) -> None:
    talk(ledgers)
    for _ in range(3):
        sql_view.catch_up(ledgers.store, view)
        assert totals(view) == ROLES
    ledgers.ledger("c").record_turn("user", "one more")
    sql_view.catch_up(ledgers.store, view)
    assert totals(view) == {"user": 31, "assistant": 30}


def test_a_page_that_fails_leaves_nothing_behind(
    ledgers: Ledgers, view: sql_view.SqliteView | sql_view.PostgresView, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are written, then the position is refused: both are gone, and the next run counts each event once."""
    talk(ledgers)
    first = next(pages(ledgers.store))
    with monkeypatch.context() as patch:
        patch.setattr(sql_view, "_tracking", lambda _: Tracking(sql_view.NAME, -1))
        view.add(first[:1], after=0)
        with pytest.raises(IntegrityError):
            view.add(first, after=-1)
    assert sum(totals(view).values()) == 1


def test_two_who_count_at_once_count_once(ledgers: Ledgers, view: sql_view.SqliteView | sql_view.PostgresView) -> None:
    """Both read the same events; one is refused and goes on where the other left the table."""
    talk(ledgers)
    start = threading.Barrier(4)

    def count() -> None:
        start.wait()
        while (view.max_tracking_id(sql_view.NAME) or 0) < ledgers.store.last_position():
            try:
                sql_view.catch_up(ledgers.store, view)
            except IntegrityError:
                continue

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals(view) == ROLES


def test_the_example_prints_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with connect(str(tmp_path / "record.db")) as ledgers:
        talk(ledgers, 3)
    sql_view.main(str(tmp_path / "record.db"), str(tmp_path / "view.db"))
    assert capsys.readouterr().out == "a\tassistant\t1\na\tuser\t2\nb\tassistant\t1\nb\tuser\t2\n"
