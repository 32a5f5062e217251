"""An old value never comes back, and a field that was forgotten by its name is not learnt again from what was said before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.errors import AdmissionRefused, NothingToForget, SupersessionMismatch
from ledger.verify import verify_store
from tests.ledger.remains import REASON, gone, stored_bytes


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A new store."""
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """A ledger of three turns: a user's, an assistant's, a user's."""
    handle = ledgers.ledger("case")
    handle.record_turn("user", "hello")
    handle.record_turn("assistant", "what can I do?")
    handle.record_turn("user", "go on")
    return handle


def stands(ledgers: Ledgers, name: str) -> object:
    """The value that a handle which is made now takes for standing, found out by superseding it."""
    try:
        ledgers.ledger("case").set_fact(name, "found out", source="interface", supersedes="not this")
    except SupersessionMismatch as refused:
        return refused.standing
    raise AssertionError


def test_the_superseded_value_stays_superseded(ledgers: Ledgers, case: Ledger) -> None:
    case.set_fact("day", "Tue", source="user")
    case.set_fact("day", "Wed", source="user", supersedes="Tue")
    case.forget(ids=["v_5"], reason=REASON)
    assert stands(ledgers, "day") is None
    assert case.set_fact("city", "Pune", source="user").event.type == "fact.set"
    assert verify_store(ledgers).problems == ()


def test_neither_of_a_chain_comes_back(ledgers: Ledgers, case: Ledger) -> None:
    for day in ("Mon", "Tue", "Wed", "Thu"):
        case.set_fact("day", day, source="tool")
    case.forget(ids=["v_6"], reason=REASON)
    assert stands(ledgers, "day") == "Thu"
    case.forget(ids=["v_7"], reason=REASON)
    assert stands(ledgers, "day") is None
    assert verify_store(ledgers).problems == ()


def test_the_retracted_value_stays_retracted(ledgers: Ledgers, case: Ledger) -> None:
    case.set_fact("day", "Tue", source="user")
    case.retract_fact("day", source="user", because="it was Bob's")
    case.forget(ids=["v_5"], reason=REASON)
    assert (stands(ledgers, "day"), gone(ledgers)) == (None, {5})
    with pytest.raises(AdmissionRefused, match="no value to retract"):
        case.retract_fact("day", source="user")


def test_what_was_closed_stays_closed(case: Ledger) -> None:
    entry = case.add_entry("open", "which depot?", source="user")
    case.close_entry(entry, source="interface", because="the one in Pune")
    case.forget(ids=["v_5"], reason=REASON)
    with pytest.raises(AdmissionRefused, match="closed already"):
        case.close_entry(entry, source="interface", because="again")


def test_what_was_resolved_stays_resolved(case: Ledger) -> None:
    sides = [e.Side(value=JsonText("1")), e.Side(value=JsonText("2"))]
    contradiction = case.record_contradiction("price", sides)
    case.resolve_contradiction(contradiction, because="asked Bob", source="user")
    case.forget(ids=["v_5"], reason=REASON)
    with pytest.raises(AdmissionRefused, match="resolved already"):
        case.resolve_contradiction(contradiction, because="again", source="user")


def test_what_was_forgotten_is_told_apart_from_what_never_was(case: Ledger) -> None:
    entry = case.add_entry("open", "which depot?", source="user")
    sides = [e.Side(value=JsonText("1")), e.Side(value=JsonText("2"))]
    contradiction = case.record_contradiction("price", sides)
    job = case.forget(ids=[entry, contradiction, "v_1"], reason=REASON).job
    attempts: list[Callable[[], object]] = [
        lambda: case.close_entry(entry, source="interface", because="x"),
        lambda: case.resolve_contradiction(contradiction, because="x", source="user"),
        lambda: case.set_fact("day", "Tue", source="inferred", turn=1),
    ]
    for attempt in attempts:
        with pytest.raises(AdmissionRefused, match="was forgotten by job") as refused:
            attempt()
        assert refused.value.job == job
    with pytest.raises(AdmissionRefused, match="no entry 'en_99'"):
        case.close_entry("en_99", source="interface", because="x")


def test_a_closed_ledger_stays_closed(ledgers: Ledgers, case: Ledger) -> None:
    case.close("sold to Bob")
    case.forget(ids=["v_4"], reason=REASON)
    for handle in (case, ledgers.ledger("case")):
        with pytest.raises(AdmissionRefused, match="closed"):
            handle.record_turn("user", "more")
    case.record_outcome("completed", judge="user")


LEARN: list[tuple[str, int | None, bool]] = [
    ("user", 1, False),
    ("user", 3, False),
    ("interface", 2, False),
    ("tool", 2, False),
    ("inferred", 1, False),
    ("tool", None, False),
    ("inferred", None, False),
    ("user", None, True),
    ("interface", None, True),
    ("user", 4, True),
    ("inferred", 4, True),
    ("tool", 5, True),
]


@pytest.mark.parametrize(("source", "turn", "is_told_anew"), LEARN)
@pytest.mark.parametrize("is_warm", [True, False])
def test_a_forgotten_field(
    ledgers: Ledgers, case: Ledger, source: e.Source, turn: int | None, *, is_told_anew: bool, is_warm: bool
) -> None:
    """What the user says in a later turn, or says now, is told anew; all else is extraction that runs late."""
    case.set_fact("E-Mail", "ada@example.org", source="user", turn=1)
    warm = ledgers.ledger("case")
    warm.set_fact("city", "Pune", source="user", turn=1)
    case.forget(facts=["e mail"], reason=REASON)
    case.record_turn("user", "write to me")
    case.record_turn("assistant", "where?")
    handle = warm if is_warm else ledgers.ledger("case")
    if is_told_anew:
        assert handle.set_fact("e_mail", "ada@example.com", source=source, turn=turn).event.type == "fact.set"
    else:
        with pytest.raises(AdmissionRefused, match="was forgotten, and turns up to 3 are no source") as refused:
            handle.set_fact("e_mail", "ada@example.com", source=source, turn=turn)
        assert (refused.value.field, refused.value.through_turn) == ("field", 3)
    assert handle.set_fact("phone", "4929", source="inferred", turn=1).event.type == "fact.set"
    assert verify_store(ledgers).problems == ()


@pytest.mark.parametrize(
    "event",
    [
        e.FactSet(field="mail", value=JsonText("1"), source="tool", turn=2),
        e.FactSet(field="mail", value=JsonText("1"), source="inferred"),
        e.ContradictionRecorded(
            about="mail", field="mail", turn=2, sides=(e.Side(value=JsonText("1")), e.Side(value=JsonText("2")))
        ),
        e.ContradictionRecorded(about="mail", field="mail", sides=(e.Side(value=JsonText("1")), e.Side(value=JsonText("2")))),
    ],
    ids=str,
)
def test_raw_events_are_no_way_around(case: Ledger, event: e.Event) -> None:
    case.set_fact("mail", "ada@example.org", source="user", turn=1)
    case.forget(facts=["mail"], reason=REASON)
    with pytest.raises(AdmissionRefused, match="was forgotten"):
        case.append(event)


def test_later_forgettings_count_from_later_turns(case: Ledger) -> None:
    case.set_fact("mail", "a", source="user", turn=1)
    case.forget(facts=["mail"], reason=REASON)
    case.record_turn("user", "it is b")
    case.set_fact("mail", "b", source="user", turn=4)
    case.forget(facts=["mail"], reason=REASON)
    with pytest.raises(AdmissionRefused, match="turns up to 4"):
        case.set_fact("mail", "b", source="user", turn=4)
    case.record_turn("user", "it is c")
    assert case.set_fact("mail", "c", source="user", turn=5).event.type == "fact.set"


def extract(handle: Ledger) -> list[str]:
    """What an extraction makes of the three turns; how each of its commands ended."""
    commands: list[Callable[[], Any]] = [
        lambda: handle.set_fact("mail", "ada@example.org", source="user", turn=1, idempotency_key="1"),
        lambda: handle.set_fact("mail", "ada@example.org", source="inferred", turn=2, idempotency_key="2"),
        lambda: handle.set_fact("city", "Pune", source="user", turn=1),
        lambda: handle.set_fact("mail", "ada@example.com", source="user", turn=3, supersedes="ada@example.org"),
        lambda: handle.set_fact("mail", "ada@example.net", source="tool", turn=2),
    ]
    ended = []
    for command in commands:
        try:
            ended.append(command().envelope.type)
        except AdmissionRefused as refused:
            ended.append(type(refused).__name__)
    return ended


@pytest.mark.parametrize("wish", [{"facts": ["mail"]}, {"turns": [1, 2, 3]}, {"facts": ["mail", "city"]}], ids=str)
def test_an_extraction_that_runs_again_gives_nothing_back(ledgers: Ledgers, case: Ledger, wish: dict[str, Any]) -> None:
    first = extract(case)
    assert first == ["fact.set", "fact.reaffirmed", "fact.set", "fact.superseded", "contradiction.recorded"]
    case.forget(**wish, reason=REASON)
    last = case.version
    for handle in (case, ledgers.ledger("case")):
        assert extract(handle)[3:] == ["SupersessionMismatch", "AdmissionRefused"]
        assert b"ada@example" not in stored_bytes(ledgers)
    assert {getattr(item.event, "field", None) for item in case.events(last)} <= {"city"}
    with pytest.raises(NothingToForget):
        case.forget(**wish, reason=REASON)
