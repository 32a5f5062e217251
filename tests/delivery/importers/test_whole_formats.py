"""Formats that know a whole file: told by content, counted where they hold what is no turn, reported where they are damaged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from delivery.importers import NAMES
from delivery.importers.blocks import About, text_parts
from delivery.importers.importing import bring_up_to_date, import_file
from delivery.importers.left_out import Skipped
from delivery.importers.reading import Conversation
from delivery.importers.recognition import NothingRecognised
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger import Ledgers
from ledger.erased import Erased
from ledger.errors import InvalidInput
from ledger.events import LedgerOpened, OutcomeRecorded, TurnRecorded
from tests.delivery.importers.agent_files import said_by
from tests.delivery.importers.conftest import Read, Write

RUN: dict[str, Any] = {
    "environment": "lab",
    "history": [
        {"role": "user", "content": "count the beans", "agent": "main", "message_type": "observation"},
        {
            "role": "assistant",
            "content": "so be it\n```\nwc beans\n```",
            "thought": "so be it\n",
            "action": "wc beans",
            "agent": "main",
        },
        {"role": "user", "content": "42 beans", "agent": "main", "message_type": "observation"},
    ],
}
JUDGED = {
    "issue": 1,
    "history": [{"action": "message", "content": "count"}],
    "success": False,
    "result_explanation": "it did not",
}


def types_of(store: Ledgers, name: str) -> list[str]:
    """The types of a ledger's events."""
    return [one.event.type for one in store.ledger(name).events()]


def test_what_is_no_turn_is_counted_by_kind(store: Ledgers, write: Write) -> None:
    lines = [
        json.dumps(JUDGED),
        json.dumps(JUDGED | {"base": "x"}),
        json.dumps({"history": [{"action": "recall"}, {"action": "message", "content": "and now"}]}),
    ]
    result = import_file(store, write("\n".join(lines)))
    assert result.left_out == {"member issue": 2, "member base": 1, "action recall": 1}
    assert result.skipped == [
        Skipped(1, "left out, as it is neither a turn nor a return: member issue (2 in all)", "member issue"),
        Skipped(2, "left out, as it is neither a turn nor a return: member base (1 in all)", "member base"),
        Skipped(3, "left out, as it is neither a turn nor a return: action recall (1 in all)", "action recall"),
    ]


def test_a_broken_line_is_reported_and_the_others_are_imported(store: Ledgers, write: Write) -> None:
    whole, torn = json.dumps(JUDGED), json.dumps(RUN)[:60]
    result = import_file(store, write(f"{whole}\n{{nothing}}\n{whole}\n{torn}"))
    assert len(result.ledgers) == 2
    broken = [skipped for skipped in result.skipped if "left out" not in skipped.reason]
    assert [skipped.line for skipped in broken] == [2, 4]
    assert "torn, the file ends inside it (60 bytes)" in broken[1].reason


def test_repaired_lines_are_all_that_a_second_import_adds(store: Ledgers, write: Write) -> None:
    runs = [json.dumps(JUDGED | {"history": [{"action": "message", "content": f"count field {n}"}]}) for n in range(60)]
    broken = [run[:-9] if n % 20 == 7 else run for n, run in enumerate(runs)]
    first = import_file(store, write("\n".join(broken)))
    assert len(first.ledgers) == 57
    assert [skipped.line for skipped in first.skipped if "not JSON" in skipped.reason] == [8, 28, 48]
    second = import_file(store, write("\n".join(runs)))
    assert (len(second.ledgers), second.events) == (60, 3 * 2)


def test_separators_of_lines_inside_a_text_end_no_line(store: Ledgers, write: Write) -> None:
    text = "first\u2028second\u2029third\u0085fourth"
    lines = [json.dumps({"history": [{"action": "message", "content": text}], "success": True}, ensure_ascii=False)] * 2
    result = import_file(store, write("\n".join(lines)))
    assert result.skipped == []
    for name in result.ledgers:
        events = tuple(one.event for one in store.ledger(name).events() if isinstance(one.event, TurnRecorded))
        assert said_by(events) == [("user", text)]


def test_a_line_that_stands_twice_is_two_runs_that_are_found_again(store: Ledgers, write: Write) -> None:
    path = write(f"{json.dumps(JUDGED)}\n{json.dumps(JUDGED)}\n")
    assert len(set(import_file(store, path).ledgers)) == 2
    assert import_file(store, path).events == 0


def test_a_message_inside_that_cannot_be_read_is_reported_with_its_line(read: Read) -> None:
    history = [*RUN["history"], {"role": "critic", "content": "no"}, "a text"]
    [conversation], skipped = read.all(json.dumps(RUN | {"history": history}, indent=1))
    assert [role for role, _text in said_by(conversation.events)] == ["user", "assistant", "return"]
    [critic, text] = skipped
    assert "unknown role 'critic' at $.history[3]" in critic.reason
    assert "expected object, found string (at $.history[4])" in text.reason
    assert text.line > critic.line > 20


def test_a_message_format_can_be_asked_for_instead(read: Read) -> None:
    [conversation], _ = read.all(RUN, format="openai")
    assert said_by(conversation.events)[-1] == ("user", "42 beans")
    [conversation], _ = read.all(RUN)
    assert said_by(conversation.events)[-1] == ("return", "42 beans")


@pytest.mark.parametrize("asked", [name for name in NAMES if name not in ("openai", "anthropic", "swe_agent")])
def test_a_whole_format_that_does_not_know_the_file_says_so(asked: str, store: Ledgers, write: Write) -> None:
    with pytest.raises(NothingRecognised, match=f"the format {asked} does not know"):
        import_file(store, write(RUN), format=asked)


def test_a_format_that_does_not_exist_is_refused_with_the_nearest(store: Ledgers, write: Write) -> None:
    with pytest.raises(InvalidInput, match="did you mean 'swe_agent'"):
        import_file(store, write(RUN), format="swe-agent")


def test_a_list_of_runs_is_as_many_ledgers(store: Ledgers, write: Write) -> None:
    other = RUN | {"history": [RUN["history"][0] | {"content": "count the peas"}]}
    assert len(import_file(store, write([RUN, other])).ledgers) == 2


def test_one_run_can_be_given_a_name(store: Ledgers, write: Write) -> None:
    assert import_file(store, write(RUN), ledger="beans").ledgers == ["beans"]


def told(*texts: str, parent: str | None = None, outcome: OutcomeRecorded | None = None) -> Conversation:
    """A conversation in which a user says some texts."""

    def steps(transcript: Transcript) -> Iterator[None]:
        for text in texts:
            transcript.record_turn("user", text_parts(text), About())
            yield

    return Conversation(Told(source_id=None, line=1, steps=steps, parent=parent, outcome=outcome), lambda _transcript: None)


def test_a_child_is_opened_under_its_parent_once(store: Ledgers) -> None:
    child = store.ledger("main/1")
    for texts in (["look"], ["look"], ["look", "again"]):
        list(bring_up_to_date(child, told(*texts, parent="main")))
    assert types_of(store, "main/1") == ["ledger.opened", "turn.recorded", "turn.recorded"]
    [opening] = [one.event for one in child.events() if isinstance(one.event, LedgerOpened)]
    assert opening.parent == "main"


def test_a_child_of_another_parent_is_refused(store: Ledgers) -> None:
    child = store.ledger("main/1", parent="other")
    with pytest.raises(InvalidInput, match="opened as a child of 'other', in the file it is a child of 'main'"):
        list(bring_up_to_date(child, told("look", parent="main")))
    assert types_of(store, "main/1") == ["ledger.opened"]


def test_an_outcome_stands_once_though_turns_come_after_it(store: Ledgers) -> None:
    failed = OutcomeRecorded(status="failed", judge="somebody", detail="it was late")
    handle = store.ledger("run")
    for texts in (["go"], ["go"], ["go", "on"]):
        list(bring_up_to_date(handle, told(*texts, outcome=failed)))
    assert types_of(store, "run") == ["turn.recorded", "outcome.recorded", "turn.recorded"]
    list(bring_up_to_date(handle, told("go", "on", outcome=failed.model_copy(update={"status": "completed"}))))
    assert types_of(store, "run")[-1] == "outcome.recorded"


def test_an_outcome_that_was_forgotten_is_not_brought_back(store: Ledgers) -> None:
    failed = OutcomeRecorded(status="failed", judge="somebody", detail="Zarathustra was late")
    handle = store.ledger("run")
    list(bring_up_to_date(handle, told("go", outcome=failed)))
    store.forget(ledger="run", ids=["v_2"], reason="asked for")
    before = handle.version
    list(bring_up_to_date(handle, told("go", outcome=failed)))
    assert handle.version == before
    assert [type(one.event) for one in handle.events() if one.event.type == "outcome.recorded"] == [Erased]
