"""An event of a later release: refused by its name by everything that reads, and nothing is guessed or written after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from delivery.cli.application import run
from ledger import Ledgers
from ledger.errors import LedgerError, UnknownEventType
from ledger.store import Batch
from ledger.verify import verify_store
from replay import Turn, view
from tests.contract.batches import batch, draft
from tests.contract.stores import OpenStore

LATER = [("mood.sensed", 1), ("turn.recorded", 2)]

READ: list[Callable[[Ledgers], object]] = [
    lambda store: list(store.ledger("case").events()),
    lambda store: list(store.follow(idle_seconds=0)),
    lambda store: view(store, "case").state(),
    lambda store: view(store, "case", at=3).transcript(),
    lambda store: view(store, "case", at=4).state(),
]
WRITE: list[Callable[[Ledgers], object]] = [
    lambda store: store.ledger("case").record_turn("user", "x"),
    lambda store: store.ledger("case").set_fact("a", 1, source="user", idempotency_key="k"),
    lambda store: store.ledger("case").record_return("c1", "x", turn=1),
    lambda store: store.ledger("case").close(),
]


def later(store: Ledgers, kind: str, version: int) -> Batch:
    """What a later release appends to a ledger of two turns: an event that we do not know, and a turn."""
    unknown = draft(b'{"role":"user","parts":[],"feeling":"calm"}', kind=kind)
    object.__setattr__(unknown, "type_version", version)
    known = draft(turn=3)
    return batch([unknown, known], expected=2, ledger=store.head("case").ledger)


@pytest.fixture(params=LATER, ids=lambda given: f"{given[0]}.{given[1]}")
def store(request: pytest.FixtureRequest, open_store: OpenStore) -> Ledgers:
    """Two turns, the unknown event, and a turn after it; beside it a ledger that we know."""
    opened = open_store()
    opened.ledger("other").record_turn("user", "x")
    opened.ledger("case").record_turn("user", "first")
    opened.ledger("case").record_turn("assistant", "second")
    opened.store.append(later(opened, *request.param))
    return opened


def named(store: Ledgers) -> tuple[str, int]:
    """The type that is not known, as it is stored."""
    envelope = store.store.feed(after=0, limit=9)[3].envelope
    return envelope.type, envelope.type_version


@pytest.mark.parametrize("attempt", READ)
def test_reading_refuses_it_by_name(store: Ledgers, attempt: Callable[[Ledgers], object]) -> None:
    with pytest.raises(UnknownEventType, match="upgrade context-ledger") as refused:
        attempt(store)
    assert (refused.value.type, refused.value.type_version) == named(store)
    assert repr(named(store)[0]) in str(refused.value)
    assert refused.value.version == 3
    assert refused.value.position == store.store.feed(after=0, limit=9)[3].envelope.position


@pytest.mark.parametrize("attempt", WRITE)
def test_nothing_is_written_after_it(store: Ledgers, attempt: Callable[[Ledgers], object]) -> None:
    """Whether an event may follow cannot be judged without knowing what went before."""
    with pytest.raises(UnknownEventType) as refused:
        attempt(store)
    assert (refused.value.type, refused.value.type_version) == named(store)
    assert store.head("case").version == 4


def test_what_came_before_it_is_seen_as_ever(store: Ledgers) -> None:
    before = view(store, "case", at=2)
    assert [turn.role for turn in before.transcript().transcript.turns] == ["user", "assistant"]
    assert before.window().request["messages"][-1]["content"] == "second"
    assert [one.version for one in store.ledger("case").events(upto=2)] == [1, 2]


def test_a_moment_that_must_be_looked_up_is_refused(store: Ledgers) -> None:
    """The unknown event may be a turn: where turn 2 ends is not known."""
    with pytest.raises(UnknownEventType):
        view(store, "case", at=Turn(2)).transcript()


def test_other_ledgers_go_on(store: Ledgers) -> None:
    assert store.ledger("other").record_turn("user", "y") == 2
    assert view(store, "other").version == 2
    assert [head.version for head in store.heads()] == [2, 4]


def test_a_follower_gets_what_came_before_it(store: Ledgers) -> None:
    seen: list[tuple[int, Any]] = []
    following = store.follow(idle_seconds=0)
    with pytest.raises(UnknownEventType):
        seen.extend((one.version, one.turn) for one in following)
    assert seen == [(1, 1), (1, 1), (2, 2)]


def test_a_handle_that_was_open_before_stops_too(open_store: OpenStore) -> None:
    opened = open_store()
    handle = opened.ledger("case")
    handle.record_turn("user", "first")
    handle.record_turn("assistant", "second")
    opened.store.append(later(opened, "mood.sensed", 1))
    for _ in range(2):
        with pytest.raises(UnknownEventType, match=r"mood\.sensed"):
            handle.record_turn("user", "third")
    assert handle.version == 4


def test_the_check_of_the_record_names_it(store: Ledgers) -> None:
    """Its bytes are what was recorded; that is all that can be said of it, and of whether what follows may follow."""
    found = verify_store(store)
    [problem] = found.problems
    assert (found.events, problem.ledger, problem.version) == (5, "case", 3)
    assert repr(named(store)[0]) in problem.problem


def test_the_command_line_says_so(open_shared: OpenStore, capsys: pytest.CaptureFixture[str]) -> None:
    with open_shared() as opened:
        opened.ledger("case").record_turn("user", "first")
        opened.ledger("case").record_turn("assistant", "second")
        opened.store.append(later(opened, "mood.sensed", 3))
    for command in ("show", "state", "window", "handoff"):
        assert run(["--store", open_shared.address, command, "case"]) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "'mood.sensed' version 3" in printed.err
        assert run(["--store", open_shared.address, command, "case", "--at", "2"]) == 0
        assert capsys.readouterr().err == ""
    assert run(["--store", open_shared.address, "verify"]) == 1
    assert "version 3" in capsys.readouterr().out


def test_it_is_an_error_of_the_ledger() -> None:
    assert issubclass(UnknownEventType, LedgerError)
