"""Folding only the events that matter gives the state that folding all of them gives, at every version."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.events import Source
from projections.basis import Basis
from projections.fold import run
from projections.live_events import LiveEventsFold
from projections.state import State, state_of
from projections.task_turn import task_turn
from replay.kept.warm import shelf_of
from replay.loading import Loaded
from replay.standing.live_events import StandingFolds
from replay.standing.state import recorded_before, standing_contradictions, standing_state
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import Clock, Told, anew, loaded_at
from tests.ledger.histories_forgotten import FORGETS, KINDS, NAMES
from tests.projections.histories import HISTORIES, Step, recorded
from tests.replay.long_ledgers import reads_only

BASIS = Basis("", 0, None, None, "", 0)
ABOUT_STATE = (
    *KINDS,
    *("fact", "same", "supersede", "retract", "dispute", "resolve", "entry", "close", "schema", "outcome") * 2,
)
SCHEMAS: tuple[dict[str, Any], ...] = (
    {"title": "by day", "properties": {"day": {"type": "string"}, "amount": {"type": "string"}}},
    {"title": "free", "properties": {"owner": {"type": "string"}}, "additionalProperties": True},
)


class Stated(Told):
    """Histories in which schemas are replaced."""

    def _schema(self, handle: Any, options: dict[str, Any]) -> None:
        handle.declare(self.chance.choice(SCHEMAS))


def by_all(loaded: Loaded) -> State:
    folds = loaded.folds
    return state_of(
        BASIS,
        lifecycle=folds.lifecycle,
        stated=task_turn(loaded.transcript.turns),
        facts=folds.facts,
        entries=folds.entries,
        contradictions=folds.contradictions,
        forgotten=folds.forgotten,
        schema=folds.schemas.schema(),
    )


def check_same(ledgers: Ledgers, chance: random.Random, most: int) -> None:
    """At some versions of every ledger, what stands by the events that matter as by all."""
    cold = anew(ledgers)
    for head in ledgers.heads():
        versions = range(head.version + 1)
        for version in versions if len(versions) <= most else sorted(chance.sample(versions, most)):
            whole = loaded_at(ledgers, head.name, version)
            expected = by_all(whole)
            for seen in (ledgers, cold, anew(ledgers)):
                loaded = loaded_at(seen, head.name, version)
                state = standing_state(loaded, BASIS, count=len)
                assert not loaded.is_read
                assert state == expected
                assert state.to_json() == expected.to_json()
                assert list(state.entities) == list(expected.entities)
                assert standing_contradictions(loaded) == whole.folds.contradictions.all()
                recorded_ids = recorded_before(loaded, shelf_of(loaded), version + 1)
                evidence, disputed = whole.folds.evidence.all(), whole.folds.contradictions.all()
                assert recorded_ids == (*(one.id for one in evidence), *(one.id for one in disputed))


def play(ledgers: Ledgers, seed: int, *, rounds: int, steps: int, most: int) -> None:
    chance = random.Random(seed)
    history = Stated(ledgers, chance)
    for _ in range(rounds):
        for _ in range(chance.randrange(5, steps)):
            history.step(chance.choice(ABOUT_STATE), chance.choice(NAMES))
        check_same(ledgers, chance, most)
        history.forget(chance.choice(FORGETS), chance.choice(NAMES))
        check_same(ledgers, chance, most)


@pytest.mark.parametrize("seed", range(8))
def test_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=3, steps=60, most=20)


@pytest.mark.parametrize("seed", range(30, 31))
def test_long_histories_that_a_seed_chooses(seed: int) -> None:
    """So long that rows are kept, of which some are keyframes."""
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=2, steps=800, most=8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=4, steps=90, most=60)


@pytest.mark.parametrize("seed", range(50, 52))
def test_what_stands_goes_on_with_each_event(seed: int) -> None:
    """Whoever asks after each event, and now and then at a version before it, gets what folding all of them gives."""
    with connect(":memory:", clock=Clock()) as ledgers:
        chance = random.Random(seed)
        history = Stated(ledgers, chance)
        ledgers.ledger("case").record_turn("user", "Move the piano.")
        for number in range(330):
            history.step(chance.choice(ABOUT_STATE), "case")
            if number in (90, 200):
                history.forget(chance.choice(("turns", "facts", "ids")), "case")
            head = ledgers.head("case")
            for version in (head.version, *([chance.randrange(head.version)] if number % 5 == 0 else [])):
                whole = loaded_at(ledgers, "case", version)
                state, expected = standing_state(loaded_at(ledgers, "case", version), BASIS, count=len), by_all(whole)
                assert state == expected
                assert state.shown() == expected.shown()
                assert list(state.entities) == list(expected.entities)
                assert standing_contradictions(loaded_at(ledgers, "case", version)) == whole.folds.contradictions.all()


def test_what_was_read_for_a_version_answers_all_that_is_asked_of_it() -> None:
    """At the head, in the middle, and after turns came."""
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        case.record_turn("user", "Move the piano.")
        for number in range(300):
            case.set_fact(f"field {number % 7}", number, source="tool")
        asked_for = (case.version, 150, 90)
        before = -1
        with reads_only(ledgers, 1_000) as counted:
            for version in (*asked_for, *asked_for):
                if version == asked_for[0]:
                    before = vars(counted.store)["read_rows"]
                loaded = loaded_at(counted, "case", version)
                state = standing_state(loaded, BASIS, count=len)
                assert state.entities["field_6"].value == max(n for n in range(300) if n % 7 == 6 and n + 2 <= version)
                assert standing_contradictions(loaded) == ()
                assert recorded_before(loaded, shelf_of(loaded), version + 1) == ()
            assert vars(counted.store)["read_rows"] == before


@given(HISTORIES)
@settings(max_examples=60, deadline=None)
def test_whatever_was_recorded(steps: list[Step]) -> None:
    with recorded(steps) as ledgers:
        check_same(ledgers, random.Random(0), 100)


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


def test_in_both_stores(opened: OpenStore) -> None:
    play(opened(Clock()), 40, rounds=2, steps=500, most=5)


def test_what_confirms_a_value_and_where_its_field_stands() -> None:
    """A better source becomes the provenance; a field that had a value before keeps its place among the others."""
    with connect(":memory:", clock=Clock()) as ledgers:
        case = ledgers.ledger("case")
        for field in ("day", "amount", "owner"):
            case.set_fact(field, "Monday", source="inferred")
        case.retract_fact("day", source="inferred")
        sources: tuple[Source, ...] = ("tool", "inferred", "user", "interface", "user")
        for source in sources:
            case.set_fact("amount", "Monday", source=source)
        case.set_fact("day", "Friday", source="tool")
        check_same(ledgers, random.Random(0), 100)
        found = standing_state(loaded_at(ledgers, "case", case.version), BASIS, count=len)
        assert list(found.entities) == ["day", "amount", "owner"]
        assert found.entities["amount"].source == "user"
        confirmed = [item.version for item in case.events() if item.envelope.type == "fact.reaffirmed"]
        case.forget(ids=[f"v_{confirmed[-2]}"], reason="asked to")
        check_same(ledgers, random.Random(0), 100)


@pytest.mark.parametrize("seed", range(4))
def test_the_pure_fold_keeps_enough_at_every_version(seed: int) -> None:
    """What it keeps, folded alone, keeps the same again, and says what all events say."""
    with connect(":memory:", clock=Clock()) as ledgers:
        chance = random.Random(seed)
        history = Stated(ledgers, chance)
        for number in range(120):
            history.step(chance.choice(ABOUT_STATE), "case")
            if number in (50, 90):
                history.forget(chance.choice(("turns", "facts", "ids")), "case")
        events = list(ledgers.ledger("case").events())
        fold, whole = LiveEventsFold(), StandingFolds()
        for item in events:
            run([fold, *vars(whole).values()], [item])
            kept = [one for one in events if one.version <= item.version and (one.version in fold.versions() or _erased(one))]
            again, alone = LiveEventsFold(), StandingFolds()
            run([again, *vars(alone).values()], kept)
            assert again.versions() == fold.versions()
            assert alone.facts.standing() == whole.facts.standing()
            assert list(alone.facts.standing()) == list(whole.facts.standing())
            assert alone.contradictions.open() == whole.contradictions.open()


def _erased(item: Any) -> bool:
    return isinstance(item.event, Erased)
