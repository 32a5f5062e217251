"""Whoever reads events meets what was forgotten as such: the feed, the library's recorder, and the check of the record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest
from eventsourcing.popo import POPOTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner

from ledger import Ledgers, connect
from ledger import events as e
from ledger.erased import Erased
from ledger.errors import NothingToForget
from ledger.record import NO_TAGS, Recorded
from ledger.recorder import LedgerEvent, LedgerMapper, LedgerNotification, LedgerRecorder, Record
from ledger.schema import Money, StateModel, declared
from ledger.sqlite import SqliteStore
from ledger.verify import verify_store
from tests.ledger.remains import REASON, envelopes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "record.db"


@pytest.fixture
def ledgers(path: Path) -> Iterator[Ledgers]:
    """A store with two ledgers, of which turns were forgotten, the events of both mixed in the feed."""
    with connect(path) as opened:
        first, second = opened.ledger("first"), opened.ledger("second")
        for number in range(4):
            first.record_turn("user", f"first {number}", subjects=["customer:ada"], labels=["payment"])
            second.record_turn("user", f"second {number}")
        second.store_artifact(b"a page", turn=2)
        yield opened


def forgetting(ledgers: Ledgers) -> None:
    ledgers.forget(ledger="second", turns=[2], reason=REASON)
    ledgers.forget(ledger="first", turns=[1, 3], reason=REASON)


def seen(items: Iterator[Recorded]) -> list[tuple[int, int, str]]:
    """Position, version and what is read of each event."""
    return [(item.envelope.position, item.version, type(item.event).__name__) for item in items]


MIXED = [
    *((1, 1, "Erased"), (2, 1, "TurnRecorded"), (3, 2, "TurnRecorded"), (4, 2, "Erased"), (5, 3, "Erased")),
    *((6, 3, "TurnRecorded"), (7, 4, "TurnRecorded"), (8, 4, "TurnRecorded"), (9, 5, "Erased")),
    *((10, 6, "ContentForgotten"), (11, 5, "ContentForgotten")),
]


def test_the_feed_goes_past_what_was_forgotten(ledgers: Ledgers) -> None:
    forgetting(ledgers)
    assert seen(ledgers.follow(idle_seconds=0)) == MIXED
    for after in range(12):
        assert seen(ledgers.follow(after, idle_seconds=0)) == MIXED[after:]
    marks = [item for item in ledgers.follow(idle_seconds=0) if isinstance(item.event, Erased)]
    assert {item.tags for item in marks} == {NO_TAGS}
    assert [item.event for item in marks if item.envelope.position in (1, 5)] == [
        item.event for item in ledgers.ledger("first").events() if isinstance(item.event, Erased)
    ]


def test_a_follower_under_way_meets_a_forgetting(ledgers: Ledgers) -> None:
    """What it was given before, it was given; from the forgetting on, nothing of it comes any more."""
    following = ledgers.follow(idle_seconds=0)
    first = [next(following) for _ in range(3)]
    forgetting(ledgers)
    rest = list(following)
    assert [item.envelope.position for item in (*first, *rest)] == list(range(1, 12))
    assert seen(ledgers.follow(9, idle_seconds=0)) == MIXED[9:]


def test_the_recorder_tells_what_is_left(ledgers: Ledgers) -> None:
    forgetting(ledgers)
    recorder, mapper = LedgerRecorder(ledgers.store), LedgerMapper.__new__(LedgerMapper)
    found = recorder.select_notifications(None, 100)
    assert [one.id for one in found] == list(range(1, 12))
    for one in found:
        assert isinstance(one, LedgerNotification)
        assert (one.erased is None) == (one.state != b"") == (one.id not in (1, 4, 5, 9))
        assert isinstance(mapper.to_domain_event(one), LedgerEvent)
    events = [mapper.to_domain_event(one) for one in recorder.select_notifications(1, 1)]
    assert isinstance(events[0].event, Erased)
    assert (events[0].event.role, events[0].event.forgotten.reason) == ("user", REASON)
    first = UUID(bytes=ledgers.head("first").ledger)
    assert [one.originator_version for one in recorder.select_events(first, desc=True)] == [5, 4, 3, 2, 1]
    assert [one.state == b"" for one in recorder.select_events(first)] == [True, False, True, False, False]
    assert [one.topic for one in recorder.select_notifications(None, 9, topics=["artifact.stored"])] == ["artifact.stored"]


class Counting(POPOTrackingRecorder):
    """A view: how many events of each kind there are."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}


class Count(Projection[Counting]):
    """Counts what it is given."""

    def process_event(self, domain_event: object, tracking: object) -> None:
        """Count one event."""
        assert isinstance(domain_event, LedgerEvent)
        kind = type(domain_event.event).__name__
        self.view.counts[kind] = self.view.counts.get(kind, 0) + 1
        self.view.insert_tracking(tracking)  # type: ignore[arg-type]


def test_the_library_projects_past_what_was_forgotten(path: Path, ledgers: Ledgers) -> None:
    forgetting(ledgers)
    with ProjectionRunner(
        application_class=Record, projection_class=Count, view_class=Counting, env={"RECORD_LEDGER_STORE": str(path)}
    ) as runner:
        runner.wait(11, timeout=30)
        assert runner.projection.view.counts == {"Erased": 4, "TurnRecorded": 5, "ContentForgotten": 2}


def test_a_handle_reads_any_part_of_a_ledger(ledgers: Ledgers) -> None:
    forgetting(ledgers)
    handle = ledgers.ledger("first")
    whole = list(handle.events())
    assert [isinstance(item.event, Erased) for item in whole] == [True, False, True, False, False]
    for after in range(6):
        for upto in range(after, 6):
            assert list(handle.events(after, upto)) == whole[after:upto]
    assert all(
        item.event == Erased("turn.recorded", item.turn, item.event.forgotten, "user")
        for item in whole
        if isinstance(item.event, Erased)
    )


def tamper(*statements: str) -> Callable[[Ledgers], None]:
    def carried_out(ledgers: Ledgers) -> None:
        assert isinstance(ledgers.store, SqliteStore)
        with ledgers.store._connections.writing() as connection:
            for statement in statements:
                connection.execute(statement)

    return carried_out


FAULTS: dict[str, tuple[Callable[[Ledgers], None], list[tuple[str, int, str]]]] = {
    "content is back": (
        tamper("INSERT INTO payloads SELECT 1, salt, compression, payload FROM payloads WHERE position = 3"),
        [("first", 1, "its content is still there: resume the job")],
    ),
    "more than was forgotten is missing": (
        tamper("DELETE FROM payloads WHERE position = 3"),
        [("first", 2, "its payload is missing")],
    ),
    "what says that it was forgotten is missing": (
        tamper("DELETE FROM payloads WHERE position = 11"),
        [("first", 5, "its payload is missing")],
    ),
    "bytes are back": (
        tamper("INSERT INTO blobs SELECT ledger, 'ab', x'00', 1 FROM ledgers WHERE name = 'second'"),
        [("second", 6, "bytes of ab are kept, but no event that stored them")],
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_verify_tells_a_forgetting_from_damage(ledgers: Ledgers, fault: str) -> None:
    forgetting(ledgers)
    assert verify_store(ledgers).problems == ()
    plant, expected = FAULTS[fault]
    plant(ledgers)
    found = [(one.ledger, one.version, one.problem) for one in verify_store(ledgers).problems]
    for ledger, version, problem in expected:
        assert any((at, where) == (ledger, version) and problem in said for at, where, said in found), found


def test_every_envelope_stays_as_it_was(ledgers: Ledgers) -> None:
    before = envelopes(ledgers)
    forgetting(ledgers)
    ledgers.forget(ledger="second", reason=REASON)
    assert envelopes(ledgers)[: len(before)] == before
    assert verify_store(ledgers).events == 12


def test_what_is_derived_is_purged_and_not_taken_any_more(ledgers: Ledgers) -> None:
    """What was made before the forgetting may not be kept after it."""
    heads = {name: ledgers.head(name) for name in ("first", "second")}
    for head in heads.values():
        for key in ("1", "2"):
            assert ledgers.store.derived_put(head.ledger, "segment", key, b"counts", erasures=head.erasures)
    done = ledgers.forget(ledger="first", turns=[1], reason=REASON).ledgers[0]
    assert done.derived == {"segment": 2}
    assert ledgers.store.holdings(heads["first"].ledger).derived == {}
    assert ledgers.store.holdings(heads["second"].ledger).derived == {"segment": 2}
    assert not ledgers.store.derived_put(heads["first"].ledger, "segment", "1", b"counts", erasures=heads["first"].erasures)
    assert ledgers.head("first").erasures == heads["first"].erasures + 1
    assert ledgers.store.derived_put(heads["first"].ledger, "segment", "1", b"new", erasures=ledgers.head("first").erasures)
    assert ledgers.head("second").erasures == heads["second"].erasures


def test_the_event_of_a_forgetting_is_like_any_other(ledgers: Ledgers) -> None:
    forgetting(ledgers)
    (fence,) = ledgers.ledger("first").events(4)
    assert isinstance(fence.event, e.ContentForgotten)
    assert fence.event.erased == (e.Erasure(version=1, role="user"), e.Erasure(version=3, role="user"))
    assert fence.event.count == 2


class Amounts(StateModel):
    """The amount is money."""

    amount: Money | None = declared(currencies=["INR"])


def test_claims_outlive_the_schema_that_took_them(ledgers: Ledgers) -> None:
    """Without it nobody can tell any more whether it would have, until the next schema is in force."""
    case = ledgers.ledger("case", schema=Amounts)
    assert case.set_fact("amount", "INR 4,050", source="user").event.type == "fact.set"
    assert case.set_fact("amount", "lots", source="user").event.type == "fact.rejected"
    case.forget(ids=["v_1"], reason=REASON)
    assert verify_store(ledgers).problems == ()
    for handle in (case, ledgers.ledger("case")):
        handle.declare(Amounts)
        assert handle.set_fact("amount", "INR 4,180", source="user", supersedes="INR 4,050").event.type != "fact.set"
    assert verify_store(ledgers).problems == ()


def test_a_refused_value_is_forgotten_with_its_field(ledgers: Ledgers) -> None:
    case = ledgers.ledger("case", schema=Amounts)
    assert case.set_fact("amount", "lots of 4929", source="user").event.type == "fact.rejected"
    assert case.forget(facts=["amount"], reason=REASON).count == 1
    with pytest.raises(NothingToForget, match="forgotten already"):
        case.forget(facts=["amount"], reason=REASON)
    assert verify_store(ledgers).problems == ()
