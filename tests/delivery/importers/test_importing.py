"""A store brought up to date with files of transcripts."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from delivery.importers.importing import (
    EVENTS_PER_COMMAND,
    TranscriptDiverged,
    bring_up_to_date,
    import_file,
)
from delivery.importers.ledger_names import SeveralConversations
from delivery.importers.reading import TranscriptFile
from ledger import Ledgers, connect
from ledger.errors import ClosedLedger, LedgerError, StoreError
from ledger.events import ArtifactStored, ToolReturned, TurnRecorded

CALL = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"n": 1.50}'}}
TALK: list[dict[str, object]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Where is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "in Pune"},
    {"role": "assistant", "content": "In Pune."},
    {"role": "user", "content": "Thanks"},
]


def spoken(store: Ledgers, name: str) -> list[Any]:
    """The turns and returns that a ledger holds."""
    events = (recorded.event for recorded in store.ledger(name).events())
    return [event for event in events if isinstance(event, TurnRecorded | ToolReturned)]


def test_what_was_read_is_what_is_recorded(store: Ledgers, write: Any) -> None:
    path = write(TALK)
    result = import_file(store, path)
    [conversation] = TranscriptFile(path)
    assert (result.events, result.skipped) == (6, [])
    assert spoken(store, result.ledgers[0]) == list(conversation.events)


def test_the_same_file_twice_adds_nothing_and_a_grown_one_its_growth(store: Ledgers, write: Any) -> None:
    for length in range(1, len(TALK) + 1):
        messages = {"id": "case", "messages": TALK[:length]}
        assert import_file(store, write(messages)).events == 1
        assert import_file(store, write(messages)).events == 0
    assert store.ledger("case").version == len(TALK)


def test_a_file_laid_out_anew_is_the_same_conversation(store: Ledgers, write: Any) -> None:
    use = {"type": "tool_use", "id": "a", "name": "t", "input": {"b": [1, 2], "a": 1.0}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [use]}]
    import_file(store, write(messages))
    again = json.dumps(messages, indent=4, sort_keys=True)
    assert import_file(store, write(again)).events == 0


def test_other_events_in_the_ledger_do_not_stand_in_the_way(store: Ledgers, write: Any) -> None:
    import_file(store, write(TALK[:2]), ledger="case")
    store.ledger("case").set_fact("place", "Pune", source="tool", turn=1)
    assert import_file(store, write(TALK), ledger="case").events == 4


def test_turns_recorded_otherwise_are_the_beginning_of_a_file(store: Ledgers, write: Any) -> None:
    handle = store.ledger("case")
    handle.record_turn("system", "Be brief.")
    handle.record_turn("user", "Where is it?")
    assert import_file(store, write(TALK), ledger="case").events == 4


@pytest.mark.parametrize(
    ("place", "changed", "turn"),
    [
        (0, {"role": "system", "content": "Be long."}, None),
        (1, {"role": "user", "content": "Where is it!"}, 1),
        (1, {"role": "assistant", "content": "Where is it?"}, 1),
        (3, {"role": "tool", "tool_call_id": "c", "content": "in Delhi"}, 2),
        (4, {"role": "assistant", "content": "In Pune. "}, 3),
    ],
)
def test_another_conversation_is_refused_at_its_first_difference(
    store: Ledgers, write: Any, place: int, changed: dict[str, object], turn: int | None
) -> None:
    import_file(store, write(TALK), ledger="case")
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, write([*TALK[:place], changed, *TALK[place + 1 :]]), ledger="case")
    assert (raised.value.ledger, raised.value.turn) == ("case", turn)
    assert raised.value.recorded != raised.value.given
    assert store.ledger("case").version == len(TALK)


def test_a_difference_far_into_a_text_is_shown(store: Ledgers, write: Any) -> None:
    import_file(store, write([{"role": "user", "content": "x" * 5000 + "4,180 INR"}]), ledger="case")
    with pytest.raises(TranscriptDiverged, match=r"4,180 INR.*4,050 INR"):
        import_file(store, write([{"role": "user", "content": "x" * 5000 + "4,050 INR"}]), ledger="case")


def test_a_shorter_file_is_refused_and_says_so(store: Ledgers, write: Any) -> None:
    import_file(store, write(TALK), ledger="case")
    with pytest.raises(TranscriptDiverged, match="the file ends") as raised:
        import_file(store, write(TALK[:4]), ledger="case")
    assert (raised.value.turn, raised.value.given) == (3, None)
    assert "In Pune." in raised.value.recorded


def test_one_ledger_cannot_take_several_conversations(store: Ledgers, write: Any) -> None:
    with pytest.raises(SeveralConversations, match="holds 3 conversations") as raised:
        import_file(store, write([TALK, TALK, TALK]), ledger="case")
    assert raised.value.count == 3
    assert store.heads() == []


def test_one_that_diverged_does_not_keep_the_others_out(store: Ledgers, write: Any) -> None:
    for name in ("two", "four"):
        store.ledger(name).record_turn("user", "something else")
    path = write([{"id": name, "messages": TALK[1:]} for name in ("one", "two", "three", "four", "five")])
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, path)
    assert str(raised.value).startswith("ledger 'two' holds user turn 1 'something else', the file has user turn 1 'Where")
    assert str(raised.value).endswith(f"(in {path}; refused besides: four; 3 other ledgers were imported: one, three, five)")
    assert (raised.value.ledger, raised.value.turn) == ("two", 1)
    assert raised.value.diverged == [{"ledger": "two", "turn": 1}, {"ledger": "four", "turn": 1}]
    assert (raised.value.imported, raised.value.events) == (["one", "three", "five"], 15)
    assert [head.version for head in store.heads()] == [1, 1, 5, 5, 5]


@pytest.mark.parametrize("others", [0, 1])
def test_what_was_imported_is_counted_in_words(store: Ledgers, write: Any, others: int) -> None:
    store.ledger("case").record_turn("user", "something else")
    path = write([{"id": name, "messages": TALK} for name in ("case", "other")[: 1 + others]])
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, path)
    said = "; 1 other ledger was imported: other" if others else ""
    assert str(raised.value).endswith(f" (in {path}{said})")


def test_any_refusal_of_one_leaves_the_others_alone(store: Ledgers, write: Any) -> None:
    store.ledger("two").close()
    store.ledger("three").record_turn("user", "something else")
    given = [{"id": name, "messages": TALK} for name in ("one", "two", "three", "four")]
    with pytest.raises(ClosedLedger) as raised:
        import_file(store, write(given))
    assert [refused["ledger"] for refused in raised.value.refused] == ["two"]
    assert raised.value.diverged == [{"ledger": "three", "turn": 1}]
    assert raised.value.imported == ["one", "four"]


def test_a_fault_of_the_store_ends_the_import_and_tells_what_came_before(tmp_path: Path, write: Any) -> None:
    """Every other conversation would meet it too."""
    path = tmp_path / "record.db"
    given = [{"id": name, "messages": TALK} for name in ("one", "two", "three")]
    with connect(path) as store, closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON ledgers WHEN NEW.name <> 'one' "
            "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
        with pytest.raises(StoreError, match=r"disk is full.*1 other ledger was imported: one") as raised:
            import_file(store, write(given))
        assert (raised.value.imported, raised.value.events) == (["one"], 6)
        assert len(store.heads()) == 1


@pytest.mark.parametrize("content", ['{"messages": [', "[1, 2", '{"a": 1} x\n  ', b'{"messages": "\xff"\n}'])
def test_what_is_wrong_with_a_file_names_it(store: Ledgers, write: Any, content: object) -> None:
    path = write(content)
    with pytest.raises(LedgerError) as raised:
        import_file(store, path)
    assert str(raised.value).startswith(f"{path}: ")


def test_artifacts_are_stored_once_and_survive_an_interruption(store: Ledgers, write: Any) -> None:
    data = b"\x89PNG picture"
    url = "data:image/png;base64," + base64.b64encode(data).decode()
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    path = write([message, message])
    [conversation] = TranscriptFile(path)
    stored = next(conversation.events)
    assert isinstance(stored, ArtifactStored)
    handle = store.ledger("case")
    handle.append([stored], blobs={stored.sha256: data})
    assert sum(bring_up_to_date(handle, conversation)) == 2
    assert import_file(store, path, ledger="case").events == 0
    head = store.head("case")
    assert store.store.blob(head.ledger, stored.sha256) == data


def test_long_conversations_are_appended_in_commands_of_bounded_size(store: Ledgers, write: Any) -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(2 * EVENTS_PER_COMMAND + 7)]
    result = import_file(store, write(messages), ledger="long")
    commands = {recorded.envelope.command for recorded in store.ledger("long").events()}
    assert (result.events, len(commands)) == (len(messages), 3)


def test_another_writer_in_between_is_seen(store: Ledgers, write: Any) -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(EVENTS_PER_COMMAND + 5)]
    [conversation] = TranscriptFile(write(messages))
    steps = bring_up_to_date(store.ledger("case"), conversation)
    assert next(steps) == EVENTS_PER_COMMAND
    assert import_file(store, write(messages), ledger="case").events == 5
    assert list(steps) == []
    assert store.ledger("case").version == len(messages)


def test_repairing_lines_adds_what_they_hold(store: Ledgers, write: Any) -> None:
    whole = [json.dumps({"id": f"c{number}", "messages": TALK[:2]}) for number in range(200)]
    broken = [line[:-2] if number % 30 == 5 else line for number, line in enumerate(whole)]
    first = import_file(store, write("\n".join(broken)))
    assert (len(first.ledgers), first.events, len(first.skipped)) == (193, 386, 7)
    assert not any("another ledger" in skip.reason for skip in first.skipped)
    second = import_file(store, write("\n".join(whole)))
    assert (len(second.ledgers), second.events, second.skipped) == (200, 14, [])
    assert set(second.ledgers) - set(first.ledgers) == {f"c{number}" for number in range(5, 200, 30)}


def test_a_torn_file_that_was_finished_adds_the_rest(store: Ledgers, write: Any) -> None:
    lines = [json.dumps(message) + "\n" for message in TALK]
    torn = import_file(store, write("".join(lines[:5]) + lines[5][:20]))
    assert (torn.events, len(torn.skipped)) == (5, 1)
    whole = import_file(store, write("".join(lines)))
    assert (whole.ledgers, whole.events, whole.skipped) == (torn.ledgers, 1, [])


def test_conversations_that_begin_alike_get_ledgers_of_their_own(store: Ledgers, write: Any) -> None:
    other = [*TALK[:4], {"role": "assistant", "content": "Lost."}]
    result = import_file(store, write([TALK, other]))
    assert len(set(result.ledgers)) == 2
    assert import_file(store, write([TALK, other])).events == 0


def test_a_store_on_disk_keeps_what_was_imported(tmp_path: Path, write: Any) -> None:
    path, where = write(TALK), str(tmp_path / "kept.db")
    with connect(where) as first:
        [name] = import_file(first, path).ledgers
    with connect(where) as second:
        assert import_file(second, path).events == 0
        assert len(spoken(second, name)) == len(TALK)


def test_what_a_turn_cannot_be_is_an_error_of_the_ledger(store: Ledgers, write: Any) -> None:
    with pytest.raises(LedgerError):
        import_file(store, write(TALK), ledger="line\nbreak")
