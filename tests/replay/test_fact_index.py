"""The history and the value of one field by way of the index: what folding the whole ledger gives, and no more is read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput, UnknownVersion
from ledger.store import Selection, Store, Stored
from replay import Turn, view
from tests.ledger.histories_forgotten import FIELDS, FORGETS, KINDS, NAMES, History
from tests.replay.long_ledgers import reads_only

START = datetime(2031, 3, 4, 9, 0, tzinfo=UTC)
ABOUT_FACTS = (*("fact", "same", "supersede", "retract", "dispute", "resolve") * 2, "declare", "schema", "keep", *KINDS)
SCHEMAS: tuple[dict[str, Any], ...] = (
    {
        "title": "by day",
        "properties": {"day": {"type": "string"}, "amount": {"type": "string", "x-ledger": {"aliases": ["owner"]}}},
    },
    {"title": "free", "properties": {"owner": {"type": "string"}}, "additionalProperties": True},
)


class Clock:
    """A clock that goes on by a minute each time it is asked."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        """Microseconds since 1970."""
        self.now += timedelta(minutes=1)
        return int(self.now.timestamp()) * 1_000_000


class Told(History):
    """Histories in which schemas are replaced and content is kept for a while only."""

    def _schema(self, handle: Ledger, options: dict[str, Any]) -> None:
        handle.declare(self.chance.choice(SCHEMAS))

    def forget(self, kind: str, name: str) -> None:
        """As any history does; what says how long content is kept is never forgotten."""
        with suppress(InvalidInput):
            super().forget(kind, name)

    def _keep(self, handle: Ledger, options: dict[str, Any]) -> None:
        rules: tuple[dict[str, Any], ...] = (
            {},
            {"section": "entities"},
            {"event_type": "fact.set"},
            {"event_type": "turn.recorded"},
        )
        handle.set_retention(self.chance.choice(("1 year", "40 minutes", "forever")), **self.chance.choice(rules))


def check_same(ledgers: Ledgers, judged_at: datetime) -> None:
    """At every version of every ledger, each field by the index as by the fold of everything."""
    for head in ledgers.heads():
        for version in range(head.version + 1):
            whole = view(ledgers, head.name, at=version, judged_at=judged_at)
            assert whole.state() is not None, "from here on it has read everything"
            for field in FIELDS:
                alone = view(ledgers, head.name, at=version, judged_at=judged_at)
                expected = whole.history(field)
                assert alone.history(field).to_json() == expected.to_json()
                standing = next((value for value in expected.values if value.to_version is None), None)
                assert alone.value(field) == standing
                assert whole.value(field) == alone.value(field)


steps = st.tuples(st.sampled_from(ABOUT_FACTS), st.sampled_from(NAMES))
forgettings = st.tuples(st.sampled_from(FORGETS), st.sampled_from(NAMES))
rounds = st.lists(st.tuples(st.lists(steps, min_size=5, max_size=30), forgettings), min_size=1, max_size=3)


@given(rounds, st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_whatever_was_recorded_and_forgotten(rounds: list[tuple[list[tuple[str, str]], tuple[str, str]]], seed: int) -> None:
    clock = Clock()
    with connect(":memory:", clock=clock) as ledgers:
        history = Told(ledgers, random.Random(seed))
        for commands, forgetting in rounds:
            for kind, name in commands:
                history.step(kind, name)
            check_same(ledgers, clock.now)
            history.forget(*forgetting)
            check_same(ledgers, clock.now)


@pytest.mark.parametrize("seed", range(6))
def test_histories_that_a_seed_chooses(seed: int) -> None:
    play(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_histories_that_a_seed_chooses(seed: int) -> None:
    play(seed)


def play(seed: int) -> None:
    """A history that a seed chooses, compared after every forgetting."""
    chance, clock = random.Random(seed), Clock()
    with connect(":memory:", clock=clock) as ledgers:
        history = Told(ledgers, chance)
        for _ in range(3):
            for _ in range(chance.randrange(5, 40)):
                history.step(chance.choice(ABOUT_FACTS), chance.choice(NAMES))
            history.forget(chance.choice(FORGETS), chance.choice(NAMES))
            check_same(ledgers, clock.now)


@pytest.fixture
def long(tmp_path: Path) -> Iterator[Ledgers]:
    """A ledger of 300 turns and 200 facts about other fields, with three values of one."""
    with connect(str(tmp_path / "long.db")) as store:
        case = store.ledger("case")
        for number in range(100):
            case.record_turn("user", f"turn {3 * number + 1}")
            case.record_turn("assistant", "…")
            case.record_turn("user", "…")
            case.set_fact(f"other {number}", number, source="user")
            case.set_fact("noise", number, source="tool")
            if number % 40 == 0:
                case.set_fact("city", f"city {number}", source="tool", turn=3 * number + 1)
        yield store


def test_only_what_is_about_the_field_is_read(long: Ledgers) -> None:
    view(long, "case").history("city")
    with reads_only(long, 3) as counted:
        assert [value.value for value in view(counted, "case").history("city").values] == ["city 0", "city 40", "city 80"]
    with reads_only(long, 1) as counted:
        assert view(counted, "case").value("city") == view(long, "case").history("city").values[-1]
    with reads_only(long, 1) as counted:
        past = view(counted, "case", at=300).value("city")
        assert past is not None
        assert past.value == "city 40"
    with reads_only(long, 1) as counted:
        value = view(counted, "case").value("noise")
        assert value is not None
        assert value.value == 99


def test_what_was_appended_since_is_read_once(long: Ledgers) -> None:
    view(long, "case").history("city")
    long.ledger("case").set_fact("city", "Ghent", source="user")
    for _ in range(2):
        history = view(long, "case").history("city")
        assert [value.value for value in history.values][-1] == "Ghent"
    with reads_only(long, 4) as counted:
        assert len(view(counted, "case").history("city").values) == 4


def test_a_moment_is_found_without_reading_what_was_said(long: Ledgers) -> None:
    events = list(long.ledger("case").events())
    began = {item.turn: item.version for item in events if isinstance(item.event, e.TurnRecorded)}
    with reads_only(long, 0) as counted:
        for number in (1, 2, 150, 299):
            assert view(counted, "case", at=Turn(number)).version == began[number + 1] - 1
        assert view(counted, "case", at=Turn(300)).version == len(events)
        for item in events[::97]:
            assert view(counted, "case", at=item.recorded_at).basis().recorded_at is not None
            expected = max(one.version for one in events if one.recorded_at <= item.recorded_at)
            assert view(counted, "case", at=item.recorded_at).version == expected
        assert view(counted, "case", at=START.replace(year=1990)).version == 0
    for missing in (0, 301, -1):
        with pytest.raises(UnknownVersion, match="the last turn of the ledger is 300"):
            view(long, "case", at=Turn(missing))


def test_an_unknown_field_and_no_field(long: Ledgers) -> None:
    assert (view(long, "case").value("nothing"), view(long, "case").history("nothing").values) == (None, ())
    assert view(long, "case", at=0).value("city") is None
    with pytest.raises(InvalidInput, match="has no letters"):
        view(long, "case").value("--")


def test_an_alias_is_the_field_that_it_stands_for_at_that_version() -> None:
    with connect(":memory:") as store:
        case = store.ledger("case")
        case.set_fact("sum", "1", source="user")
        case.declare({"title": "one", "properties": {"amount": {"type": "string", "x-ledger": {"aliases": ["sum"]}}}})
        case.set_fact("sum", "2", source="user")
        assert [value.value for value in view(store, "case", at=1).history("Sum").values] == ["1"]
        assert [value.value for value in view(store, "case").history("Sum").values] == ["2"]
        assert [view(store, "case", at=at).value("sum") is None for at in (1, 2, 3)] == [False, True, False]


def test_a_value_is_confirmed_by_what_it_means_under_a_schema_that_came_later() -> None:
    with connect(":memory:") as store:
        case = store.ledger("case")
        case.record_turn("user", "It is 4180.00 INR.")
        case.set_fact("amount", "4,180 INR", source="tool")
        case.declare({"title": "one", "properties": {"amount": {"type": "string", "format": "money"}}})
        assert case.set_fact("amount", "4180.00 INR", source="user", turn=1).event.type == "fact.reaffirmed"
        whole = view(store, "case")
        assert whole.state().entities["amount"].source == "user"
        alone = view(store, "case")
        assert alone.history("amount").to_json() == whole.history("amount").to_json()
        assert [value.confirmed_source for value in alone.history("amount").values] == ["user"]
        assert alone.value("amount") == whole.history("amount").values[0]


def by_fold_and_by_index(store: Ledgers, field: str) -> tuple[bytes, bytes]:
    """The history of a field from the whole ledger, and by the index."""
    whole = view(store, "case")
    assert whole.state() is not None
    return whole.history(field).to_json(), view(store, "case").history(field).to_json()


def test_a_forgotten_resolution_still_resolves() -> None:
    with connect(":memory:") as store:
        case = store.ledger("case")
        case.set_fact("city", "Ghent", source="user")
        case.set_fact("city", "Bruges", source="tool")
        case.resolve_contradiction("con_2", because="the user knows", source="user")
        assert view(store, "case").history("city").contradictions[0].resolution is not None
        case.forget(ids=["v_3"], reason="asked to")
        whole, alone = by_fold_and_by_index(store, "city")
        assert alone == whole
        [found] = view(store, "case").history("city").contradictions
        assert found.resolution is not None
        assert str(found.resolution.because) == "[forgotten]"


def test_what_ends_a_forgotten_claim_ends_it_in_the_history_of_its_field() -> None:
    """Which field a forgotten claim was about is not known when something says that it takes its place."""
    with connect(":memory:") as store:
        case = store.ledger("case")
        case.set_fact("city", "Ghent", source="tool")
        assert view(store, "case").value("city") is not None
        case.forget(ids=["v_1"], reason="asked to")
        case.append(e.FactSuperseded(field="town", value=JsonText.of("Bruges"), source="tool", replaces=1))
        whole, alone = by_fold_and_by_index(store, "city")
        assert alone == whole
        assert [value.to_version for value in view(store, "case").history("city").values] == [3]
        assert view(store, "case").value("city") is None
        assert view(store, "case", at=2).value("city") is not None


def test_what_is_forgotten_stands_as_forgotten_before_and_after_the_sweep() -> None:
    with connect(":memory:") as store:
        case = store.ledger("case")
        case.record_turn("user", "Ghent")
        case.set_fact("city", "Ghent", source="user", turn=1)
        assert view(store, "case").value("city").value == "Ghent"  # type: ignore[union-attr]
        kept = view(store, "case")
        case.forget(turns=[1], reason="asked to")
        for seen in (kept, view(store, "case"), view(store, "case", at=2)):
            found = seen.value("city")
            assert found is not None
            assert str(found.json) == "[forgotten]"
            assert b"Ghent" not in seen.history("city").to_json()
        with pytest.raises(AdmissionRefused):
            case.set_fact("city", "Ghent", source="user", turn=1)


def test_what_a_store_cannot_keep_is_made_for_each_answer(long: Ledgers) -> None:
    class Unwritable:
        """A store that takes nothing that is derived."""

        def __init__(self, store: Store) -> None:
            self._store = store

        def __getattr__(self, name: str) -> Any:
            if name.startswith("derived_put") or name in ("view_begin", "view_advance", "view_restored"):
                return self._refuse
            return getattr(self._store, name)

        def _refuse(self, *given: object, **named: object) -> None:
            from ledger.errors import StoreError

            raise StoreError("This server is a standby or read-only: connect to the primary.")

    unwritable: Any = Unwritable(long.store)
    standby = Ledgers(unwritable, long.clock)
    for _ in range(2):
        assert len(view(standby, "case").history("city").values) == 3
    view(long, "case").history("city")
    long.ledger("case").set_fact("city", "Ghent", source="user")
    assert [value.value for value in view(standby, "case").history("city").values][1:] == ["city 40", "city 80", "Ghent"]
    long.ledger("case").forget(facts=["noise"], reason="asked to")
    assert len(view(standby, "case").history("city").values) == 4
    assert all(str(value.json) == "[forgotten]" for value in view(standby, "case").history("noise").values)


def test_a_read_of_rows_is_a_read_of_the_store(long: Ledgers) -> None:
    """What counts the reads would see it if all were read."""
    with pytest.raises(AssertionError, match="read 50"), reads_only(long, 3) as counted:
        assert view(counted, "case").state() is not None
    rows: list[Stored] = list(long.store.read(long.head("case").ledger, Selection(limit=2)))
    assert len(rows) == 2
