"""Public runs of agents import whole: each text in its place, byte for byte, and each return with its call."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from delivery.importers.importing import TranscriptDiverged, import_file
from delivery.importers.recognition import NothingRecognised
from ledger import Ledgers, connect
from ledger.events import Event, OutcomeRecorded, ToolReturned, TurnRecorded
from ledger.parts import ReasoningPart, TextPart, ToolCallPart
from tests.contract.stores import CATALOGUE
from tests.delivery.importers.agent_files import RUNS, Runs, said_by
from tests.delivery.importers.conftest import Read, Write

EACH = pytest.mark.parametrize("runs", RUNS, ids=lambda runs: runs.format)


def recorded(store: Ledgers, name: str) -> list[Event]:
    """The events of a ledger, of which nothing was forgotten."""
    return [one.event for one in store.ledger(name).events()]  # type: ignore[misc]


def spoken(events: Iterable[Event]) -> list[Event]:
    """The turns and returns among events."""
    return [event for event in events if isinstance(event, TurnRecorded | ToolReturned)]


def unanswered(events: Iterable[Event]) -> list[str]:
    """The tools of the calls that nothing came back for."""
    calls: list[tuple[int | None, str, str]] = []
    for event in events:
        if isinstance(event, TurnRecorded):
            calls += [(event.turn, part.call_id, part.tool) for part in event.parts if isinstance(part, ToolCallPart)]
        elif isinstance(event, ToolReturned) and not event.orphan:
            [answered] = [call for call in calls if call[:2] == (event.turn, event.call_id)]
            calls.remove(answered)
    return [tool for _turn, _call_id, tool in calls]


@EACH
def test_every_text_is_found_again_in_its_place(runs: Runs, real_data: Path, read: Read) -> None:
    for name, document in runs.documents(real_data):
        conversations, skipped = read.all(document)
        assert skipped == [], name
        [conversation] = conversations
        assert said_by(conversation.events) == runs.said(document), name


@EACH
def test_every_file_is_read_as_it_stands_and_imported_once(runs: Runs, real_data: Path, store: Ledgers) -> None:
    for path in sorted(real_data.glob(runs.pattern)):
        first = import_file(store, path)
        assert first.ledgers
        assert first.events > 0
        again = import_file(store, path)
        assert (again.events, again.ledgers) == (0, first.ledgers)
        asked = import_file(store, path, format=runs.format)
        assert (asked.events, asked.ledgers) == (0, first.ledgers)


@EACH
def test_a_run_that_grows_adds_its_growth(runs: Runs, real_data: Path, write: Write) -> None:
    for name, document in runs.documents(real_data):
        length = len(runs.messages(document))
        with connect(":memory:") as whole, connect(":memory:") as grown:
            import_file(whole, write(document), ledger=name)
            for count in sorted({3, length // 2, length - 1}):
                import_file(grown, write(runs.cut(document, count)), ledger=name)
            import_file(grown, write(document), ledger=name)
            once, bit_by_bit = recorded(whole, name), recorded(grown, name)
            assert spoken(bit_by_bit) == spoken(once), name
            assert sorted(map(repr, bit_by_bit)) == sorted(map(repr, once)), name


@EACH
def test_a_run_that_went_elsewhere_is_refused_with_its_turn(runs: Runs, real_data: Path, store: Ledgers, write: Write) -> None:
    name, document = next(runs.documents(real_data))
    import_file(store, write(document), ledger=name)
    before = recorded(store, name)
    messages = runs.messages(document)
    other = runs.cut(document, len(messages) - 1)
    with pytest.raises(TranscriptDiverged) as refused:
        import_file(store, write(other), ledger=name)
    last = next(event.turn for event in reversed(spoken(before)) if event.turn is not None)
    assert refused.value.details["turn"] == last
    assert recorded(store, name) == before


@pytest.mark.parametrize("kind", CATALOGUE)
def test_every_store_holds_the_same_run(kind: str, real_data: Path, tmp_path: Path, write: Write) -> None:
    opened = CATALOGUE[kind](tmp_path)
    store = opened()
    for runs in RUNS:
        name, document = next(runs.documents(real_data))
        path = write(document)
        import_file(store, path, ledger=name)
        assert said_by(tuple(recorded(store, name))) == runs.said(document)
        assert import_file(store, path, ledger=name).events == 0
    opened.close()


def test_calls_have_their_returns_where_the_source_has_them(real_data: Path, read: Read) -> None:
    """A finishing call returns nothing, and code of the last file stood in messages that nobody ran."""
    waiting = {
        (runs.format, name): found
        for runs in RUNS
        for name, document in runs.documents(real_data)
        if (found := unanswered(read.all(document)[0][0].events))
    }
    assert waiting == {
        ("openhands", "basic.json"): ["finish"],
        ("openhands", "basic_interactions.json"): ["finish"],
        ("openhands", "multi_swe_output.jsonl"): ["finish"],
        ("who_and_when", "7.json"): ["Computer_terminal", "Computer_terminal"],
    }


def test_returns_without_a_call_are_those_that_nobody_asked_for(real_data: Path, read: Read) -> None:
    orphans = {
        (runs.format, name, part.text[:24])
        for runs in RUNS
        for name, document in runs.documents(real_data)
        for event in read.all(document)[0][0].events
        if isinstance(event, ToolReturned) and event.orphan
        for part in event.parts
        if isinstance(part, TextPart)
    }
    assert orphans == {
        ("openhands", "multi_swe_output.jsonl", "Added workspace context"),
        ("who_and_when", "3.json", "There is no code from th"),
        ("who_and_when", "9.json", "There is no code from th"),
    }


def test_what_a_model_reasoned_and_what_it_cost_is_kept(real_data: Path, read: Read) -> None:
    [langchain] = [runs for runs in RUNS if runs.format == "langchain"]
    for _name, document in langchain.documents(real_data):
        messages = [message for message in document["values"]["messages"] if message["type"] == "ai"]
        turns = [
            event for event in read.all(document)[0][0].events if isinstance(event, TurnRecorded) and event.role == "assistant"
        ]
        reasoning = [part.raw.value for turn in turns for part in turn.parts if isinstance(part, ReasoningPart)]
        kept = [message["additional_kwargs"].get("reasoning_content") for message in messages if "additional_kwargs" in message]
        assert reasoning == [text for text in kept if text is not None]
        assert [turn.model for turn in turns] == [message["response_metadata"].get("model_name") for message in messages]
        counts = [message["usage_metadata"] for message in messages]
        assert [turn.usage and turn.usage.input_tokens for turn in turns] == [one and one["input_tokens"] for one in counts]
        assert [turn.external_id for turn in turns] == [message["id"] for message in messages]


def test_the_outcome_of_a_run_is_recorded_once(real_data: Path, store: Ledgers) -> None:
    outcomes = {}
    for path in [
        real_data / "d_research" / "who_and_when" / "Hand-Crafted" / "11.json",
        real_data / "b_coding_agents" / "openhands" / "resolver_output.jsonl",
    ]:
        names = import_file(store, path).ledgers
        import_file(store, path)
        outcomes[path.name] = [
            [event.status for event in recorded(store, name) if isinstance(event, OutcomeRecorded)] for name in names
        ]
    assert outcomes == {"11.json": [["failed"]], "resolver_output.jsonl": [["completed"], ["completed"]]}


def test_a_file_that_holds_no_thread_is_refused(real_data: Path, store: Ledgers) -> None:
    """Recorded answers of several callers, and the names of events, are no conversation."""
    for path in sorted((real_data / "d_research" / "deerflow" / "replay").iterdir()):
        with pytest.raises(NothingRecognised):
            import_file(store, path)
    assert store.heads() == []
