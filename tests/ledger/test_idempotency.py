"""A command with a key is carried out once, whoever repeats it, when, and whatever happened in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledger import JsonText, Ledger, Ledgers, connect
from ledger import events as e
from ledger.clock import system_clock
from ledger.errors import AdmissionRefused, IdempotencyConflict, StoreError, VersionConflict
from ledger.parts import TextPart, ToolCallPart
from ledger.record import Envelope
from ledger.sqlite import SqliteStore
from ledger.store import Batch
from tests.contract.at_once import at_once

CALL = ToolCallPart(call_id="c1", tool="look", arguments=JsonText("{}"))
PAGE = b"a page that says $29"

Command = Callable[..., Any]

COMMANDS: dict[str, Command] = {
    "record_turn": lambda ledger, **key: ledger.record_turn("assistant", [CALL, TextPart(text="wait")], **key),
    "record_system": lambda ledger, **key: ledger.record_turn("system", "Be brief.", **key),
    "record_return": lambda ledger, **key: ledger.record_return("waiting", {"a": 1}, **key),
    "set_fact": lambda ledger, **key: ledger.set_fact("day", "Tue", source="user", turn=1, **key),
    "supersede": lambda ledger, **key: ledger.set_fact("amount", 4050, source="user", supersedes=4180, **key),
    "reaffirm": lambda ledger, **key: ledger.set_fact("amount", 4180, source="tool", **key),
    "contradict": lambda ledger, **key: ledger.set_fact("amount", 4050, source="tool", **key),
    "retract": lambda ledger, **key: ledger.retract_fact("amount", source="user", **key),
    "add_entry": lambda ledger, **key: ledger.add_entry("open", "which depot?", source="user", **key),
    "close_entry": lambda ledger, **key: ledger.close_entry("en_4", source="interface", because="answered", **key),
    "store_artifact": lambda ledger, **key: ledger.store_artifact(PAGE, name="page", **key),
    "record_evidence": lambda ledger, **key: ledger.record_evidence("29", quote="$29", artifact=page(ledger), **key),
    "resolve": lambda ledger, **key: ledger.resolve_contradiction("con_6", because="asked", source="user", value=2, **key),
    "record_outcome": lambda ledger, **key: ledger.record_outcome("partial", judge="reviewer", **key),
    "append": lambda ledger, **key: ledger.append([e.FactSet(field="n", value=JsonText("1"), source="user")] * 1, **key),
    "append_expecting": lambda ledger, **key: ledger.append(
        [e.EntryAdded(section="open", what="x", source="user")] * 2, expected_version=7, **key
    ),
    "close": lambda ledger, **key: ledger.close("done", **key),
}


def page(ledger: Ledger) -> str:
    return next(one.event.sha256 for one in ledger.events() if isinstance(one.event, e.ArtifactStored))


def prepare(ledger: Ledger) -> None:
    """Seven events on which each of the commands can be carried out once."""
    ledger.record_turn("user", "charged twice")
    ledger.record_turn("assistant", [CALL.model_copy(update={"call_id": "waiting"})])
    ledger.set_fact("amount", 4180, source="user", turn=1)
    assert ledger.add_entry("open", "why?", source="user") == "en_4"
    ledger.set_fact("count", 1, source="user")
    assert ledger.set_fact("count", 2, source="tool").version == 6
    ledger.store_artifact(PAGE)


class LosesTheAnswer:
    """A store of which an append is committed, but the answer is lost on the way as often as asked for."""

    def __init__(self, store: SqliteStore, times: int) -> None:
        self.store, self.times = store, times

    def append(self, batch: Batch) -> list[Envelope]:
        envelopes = self.store.append(batch)
        if self.times:
            self.times -= 1
            raise StoreError("the connection was lost after the commit")
        return envelopes

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A prepared store."""
    found = str(tmp_path / "record.db")
    with connect(found) as ledgers:
        prepare(ledgers.ledger("case"))
    return found


@pytest.fixture
def ledgers(path: str) -> Iterator[Ledgers]:
    """The prepared store, opened."""
    with connect(path) as opened:
        yield opened


@pytest.mark.parametrize("name", COMMANDS)
def test_a_repeat_returns_the_first_result(ledgers: Ledgers, path: str, name: str) -> None:
    command = COMMANDS[name]
    warm, idle = ledgers.ledger("case"), ledgers.ledger("case")
    idle.set_fact("day before", 1, source="user", idempotency_key="other") if name != "append_expecting" else idle.version
    first = command(warm, idempotency_key="k")
    version = warm.version
    assert command(warm, idempotency_key="k") == first
    assert command(idle, idempotency_key="k") == first
    assert command(ledgers.ledger("case"), idempotency_key="k") == first
    with connect(path) as others:
        assert command(others.ledger("case"), idempotency_key="k") == first
    assert warm.version == version


@pytest.mark.parametrize("name", COMMANDS)
def test_a_repeat_after_others_wrote_returns_the_first_result(ledgers: Ledgers, name: str) -> None:
    warm = ledgers.ledger("case")
    first = COMMANDS[name](warm, idempotency_key="k")
    if name != "close":
        other = ledgers.ledger("case")
        other.record_turn("user", "meanwhile")
        other.set_fact("amount", 99, source="interface", supersedes=_amount(other))
    version = warm.version
    assert COMMANDS[name](warm, idempotency_key="k") == first
    assert warm.version == version


def _amount(ledger: Ledger) -> JsonText | None:
    value: JsonText | None = None
    for one in ledger.events():
        match one.event:
            case e.FactSet(field="amount", value=given) | e.FactSuperseded(field="amount", value=given):
                value = given
            case e.FactRetracted(field="amount"):
                value = None
    return value


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("handles", ["same handle", "new handle"])
def test_a_repeat_after_the_answer_was_lost_returns_the_first_result(path: str, name: str, handles: str) -> None:
    with connect(path) as ledgers:
        assert isinstance(ledgers.store, SqliteStore)
        unsure = Ledgers(LosesTheAnswer(ledgers.store, 1), system_clock)
        handle = unsure.ledger("case")
        handle.events()
        with pytest.raises(StoreError, match="lost after the commit"):
            COMMANDS[name](handle, idempotency_key="k")
        version = handle.version
        assert version > 7
        again = handle if handles == "same handle" else unsure.ledger("case")
        first = COMMANDS[name](again, idempotency_key="k")
        assert again.version == version
        assert COMMANDS[name](ledgers.ledger("case"), idempotency_key="k") == first


def test_the_first_command_of_a_ledger_whose_answer_was_lost(tmp_path: Path) -> None:
    with connect(str(tmp_path / "record.db")) as ledgers:
        assert isinstance(ledgers.store, SqliteStore)
        handle = Ledgers(LosesTheAnswer(ledgers.store, 1), system_clock).ledger("new")
        with pytest.raises(StoreError):
            handle.record_turn("user", "x", idempotency_key="k")
        assert handle.record_turn("user", "x", idempotency_key="k") == 1
        assert handle.version == 1


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("handles", ["same handle", "new handle"])
def test_the_same_key_for_another_request_is_a_conflict(ledgers: Ledgers, name: str, handles: str) -> None:
    handle = ledgers.ledger("case")
    COMMANDS[name](handle, idempotency_key="k")
    version = handle.version
    other = handle if handles == "same handle" else ledgers.ledger("case")
    for attempt in (
        lambda: other.set_fact("something", "else", source="user", idempotency_key="k"),
        lambda: other.record_turn("user", "other", idempotency_key="k"),
        lambda: other.close_entry("en_999", source="interface", because="would be refused", idempotency_key="k"),
        lambda: other.append([e.OutcomeRecorded(status="failed", judge="x")], expected_version=3, idempotency_key="k"),
    ):
        with pytest.raises(IdempotencyConflict, match="k") as caught:
            attempt()
        assert caught.value.version == 8
    assert handle.version == version
    first = COMMANDS[name](other, idempotency_key="k")
    assert COMMANDS[name](handle, idempotency_key="k") == first


def test_who_asked_and_why_is_not_part_of_the_request(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    assert handle.record_turn("user", "x", idempotency_key="k", actor="a") == 3
    assert handle.record_turn("user", "x", idempotency_key="k", actor="b", cause="retry") == 3
    assert [one.envelope.actor for one in handle.events(7)] == ["a"]


def test_a_key_belongs_to_its_ledger(ledgers: Ledgers) -> None:
    assert ledgers.ledger("case").record_turn("user", "x", idempotency_key="k") == 3
    assert ledgers.ledger("other").record_turn("user", "y", idempotency_key="k") == 1
    commands = {row.envelope.command for row in ledgers.store.feed(after=7, limit=9)}
    assert len(commands) == 2


def test_a_refused_command_leaves_its_key_free(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    with pytest.raises(AdmissionRefused):
        handle.close_entry("en_9", source="interface", because="x", idempotency_key="k")
    with pytest.raises(VersionConflict):
        handle.append([e.OutcomeRecorded(status="failed", judge="x")], expected_version=3, idempotency_key="k")
    assert handle.record_turn("user", "x", idempotency_key="k") == 3


def test_commands_without_a_key_are_all_carried_out(ledgers: Ledgers) -> None:
    handle = ledgers.ledger("case")
    assert [handle.record_turn("user", "again") for _ in range(3)] == [3, 4, 5]
    commands = {one.envelope.command for one in handle.events(7)}
    assert len(commands) == 3


@pytest.mark.parametrize("name", COMMANDS)
def test_eight_threads_with_one_key_are_one_command(ledgers: Ledgers, name: str) -> None:
    handles = [ledgers.ledger("case") for _ in range(8)]
    results = at_once([partial(COMMANDS[name], handle, idempotency_key="k") for handle in handles])
    assert all(result == results[0] for result in results)
    assert not isinstance(results[0], Exception)
    assert len({one.envelope.command for one in handles[0].events(7)}) == 1
