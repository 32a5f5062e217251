"""The tree of a session of Claude Code: branches, copies, subagents."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from delivery.importers.importing import TranscriptDiverged, import_file
from ledger import Ledgers
from ledger.events import LedgerOpened, TurnRecorded
from tests.delivery.importers.test_claude_code import SESSION, Session, one, told


def lines(records: list[dict[str, Any]]) -> str:
    """Records as a file has them."""
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_the_branch_that_leads_to_the_last_record_is_the_conversation(read: Any) -> None:
    session = Session()
    session.user("u1", "plan")
    session.text("a1", "msg_1", "a plan")
    session.user("u2", "do it in Perl")
    session.text("a2", "msg_2", "use strict;")
    session.text("a2b", "msg_2b", "done")
    session.user("u3", "do it in Python", parentUuid="a1")
    session.text("a3", "msg_3", "import this")
    conversation, reported = one(read, str(session))
    assert told(conversation) == ["user: plan", "assistant: a plan", "user: do it in Python", "assistant: import this"]
    [report] = reported
    assert report.startswith("3: another branch")
    assert "3 in all" in report


def test_an_edited_first_prompt_takes_the_place_of_the_first(read: Any) -> None:
    session = Session()
    session.user("u1", "plan A")
    session.text("a1", "msg_1", "A it is")
    session.user("u2", "plan B", parentUuid=None)
    session.text("a2", "msg_2", "B it is")
    conversation, reported = one(read, str(session))
    assert told(conversation) == ["user: plan B", "assistant: B it is"]
    assert [report.split(":")[0] for report in reported] == ["1"]


def test_an_edit_after_an_import_is_refused_by_its_turn(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "plan")
    session.text("a1", "msg_1", "a plan")
    session.user("u2", "do it in Perl")
    import_file(store, write(str(session)))
    session.user("u3", "do it in Python", parentUuid="a1")
    with pytest.raises(TranscriptDiverged) as raised:
        import_file(store, write(str(session)))
    assert raised.value.turn == 3


def test_calls_side_by_side_keep_all_their_results(read: Any) -> None:
    """Each result follows its own call, and only one of them leads on."""
    session = Session()
    session.user("u1", "both")
    session.call("a1", "msg_1", "t1")
    session.call("a2", "msg_1", "t2")
    session.result("r1", "t1", "first", parentUuid="a1")
    session.add("progress", "p1", parentUuid="a2")
    session.result("r2", "t2", "second", parentUuid="a2")
    session.text("a3", "msg_2", "both done", parentUuid="p1")
    conversation, reported = one(read, str(session))
    assert told(conversation) == ["user: both", "assistant:  t1() t2()", "t1 -> first", "t2 -> second", "assistant: both done"]
    assert reported == []


def test_a_late_result_does_not_end_the_conversation_before_it(read: Any) -> None:
    session = Session()
    session.user("u1", "both")
    session.call("a1", "msg_1", "slow")
    session.call("a2", "msg_1", "fast")
    session.result("r2", "fast", "quick", parentUuid="a2")
    session.text("a3", "msg_2", "the slow one still runs", parentUuid="r2")
    session.result("r1", "slow", "at last", parentUuid="a1")
    conversation, reported = one(read, str(session))
    assert told(conversation)[2:] == ["fast -> quick", "assistant: the slow one still runs", "slow -> at last"]
    assert reported == []


def test_copies_under_other_uuids_are_told_once_and_counted(write: Any, store: Ledgers) -> None:
    """As resuming a session writes its history again, and goes on."""
    session = Session()
    session.user("u1", "yes")
    session.text("a", "msg_1", "first")
    first = import_file(store, write(str(session)))
    for name in ("b", "c"):
        session.records.append({**session.records[0], "uuid": f"u1{name}"})
        session.records.append({**session.records[1], "uuid": name, "parentUuid": f"u1{name}"})
    session.user("u2", "yes")
    session.text("d", "msg_2", "second")
    result = import_file(store, write(str(session)))
    assert (first.events, result.events) == (2, 2)
    assert result.left_out == {
        "a copy of a record under another uuid (prompt)": 2,
        "a copy of a record under another uuid (answer)": 2,
    }
    turns = [item.event for item in store.ledger(SESSION).events()]
    assert [turn.external_id for turn in turns if isinstance(turn, TurnRecorded)] == ["u1", "msg_1", "u2", "msg_2"]


def test_of_records_with_one_uuid_the_first_stands(read: Any) -> None:
    session = Session()
    session.user("u1", "hello")
    session.user("u7", "as it was")
    session.records.append(dict(session.records[1]))
    session.records.append({**session.records[1], "message": {"role": "user", "content": "as it was changed"}})
    session.text("a1", "msg_1", "well", parentUuid="u7")
    conversation, reported = one(read, str(session))
    assert told(conversation) == ["user: hello", "user: as it was", "assistant: well"]
    assert reported == ["4: its uuid 'u7' is that of line 2, which says something else: the first stands"]


def with_subagents() -> Session:
    """A session that starts two subagents side by side, whose records stand one among the other."""
    session = Session()
    session.user("u1", "ask two")
    for number in (1, 2):
        given = {"description": "d", "prompt": f"task {number}", "subagent_type": "general-purpose"}
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Task", "input": given}
        session.block(f"m{number}", "msg_1", block)
    for number in (1, 2):
        session.user(f"c{number}-u", f"task {number}", isSidechain=True, parentUuid=None)
    for number in (1, 2):
        session.call(f"c{number}-a", f"msg_c{number}", f"t{number}", isSidechain=True, parentUuid=f"c{number}-u")
    for number in (2, 1):
        session.result(f"c{number}-r", f"t{number}", f"seen {number}", isSidechain=True, parentUuid=f"c{number}-a")
    for number in (1, 2):
        session.text(f"c{number}-b", f"msg_d{number}", f"answer {number}", isSidechain=True, parentUuid=f"c{number}-r")
    session.result("r1", "toolu_1", "answer 1", parentUuid="m2")
    session.result("r2", "toolu_2", "answer 2")
    session.text("a9", "msg_9", "both said something")
    return session


def test_subagents_are_child_ledgers_named_after_their_calls(write: Any, store: Ledgers) -> None:
    result = import_file(store, write(str(with_subagents())))
    assert result.skipped == []
    assert result.ledgers == [SESSION, f"{SESSION}/toolu_1", f"{SESSION}/toolu_2"]
    for number in (1, 2):
        opened, *events = [item.event for item in store.ledger(f"{SESSION}/toolu_{number}").events()]
        assert opened == LedgerOpened(parent=SESSION, task=f"task {number}")
        assert told_events(events) == [
            f"user: task {number}",
            f"assistant:  t{number}()",
            f"t{number} -> seen {number}",
            f"assistant: answer {number}",
        ]
    assert told_events([item.event for item in store.ledger(SESSION).events()]) == [
        "user: ask two",
        "assistant:  toolu_1() toolu_2()",
        "toolu_1 -> answer 1",
        "toolu_2 -> answer 2",
        "assistant: both said something",
    ]
    assert import_file(store, write(str(with_subagents()))).events == 0


def told_events(events: list[Any]) -> list[str]:
    """Events in a few words each."""
    return told(type("Events", (), {"events": tuple(events)})())


def test_the_tree_says_the_order_and_not_the_file(read: Any) -> None:
    in_order, _ = read.all(str(with_subagents()))
    for seed in range(10):
        records = list(with_subagents().records)
        # What the tool wrote side by side, results and blocks of one message, is told as the file has it.
        fixed = [record for record in records if record["uuid"] in ("m1", "m2", "r1", "r2")]
        random.Random(seed).shuffle(records)
        places = sorted(records.index(record) for record in fixed)
        for place, record in zip(places, fixed, strict=True):
            records[place] = record
        shuffled, skipped = read.all(lines(records))
        assert skipped == []
        assert {one.source_id: told(one) for one in shuffled} == {one.source_id: told(one) for one in in_order}


def test_a_subagent_with_an_id_is_named_after_it(write: Any, store: Ledgers) -> None:
    session = with_subagents()
    for record in session.records:
        if record["isSidechain"]:
            record["agentId"] = f"agent-{record['uuid'][1]}"
    assert import_file(store, write(str(session))).ledgers == [SESSION, f"{SESSION}/agent-1", f"{SESSION}/agent-2"]
    own = [record for record in session.records if record.get("agentId") == "agent-1"]
    alone = import_file(store, write(lines(own)))
    assert (alone.ledgers, alone.events) == ([f"{SESSION}/agent-1"], 0), "its own file is the same conversation"


def test_a_subagent_of_a_subagent_is_the_child_of_that(write: Any, store: Ledgers) -> None:
    session = Session()
    session.user("u1", "go")
    for call, prompt in (("outer", "task 1"), ("inner", "task 2")):
        is_side = call == "inner"
        block = {"type": "tool_use", "id": call, "name": "Agent", "input": {"prompt": prompt}}
        session.block(f"a-{call}", f"msg_{call}", block, isSidechain=is_side, stop="tool_use")
        session.user(f"c-{call}", prompt, isSidechain=True, parentUuid=None)
    session.text("d", "msg_d", "deep", isSidechain=True)
    result = import_file(store, write(str(session)))
    assert result.ledgers == [SESSION, f"{SESSION}/outer", f"{SESSION}/outer/inner"]
    [opened] = [item.event for item in store.ledger(f"{SESSION}/outer/inner").events() if isinstance(item.event, LedgerOpened)]
    assert opened == LedgerOpened(parent=f"{SESSION}/outer", task="task 2")


def test_records_that_follow_each_other_in_a_circle_are_told(read: Any) -> None:
    session = Session()
    session.user("u1", "one", parentUuid="a1")
    session.text("a1", "msg_1", "two", parentUuid="u1")
    session.user("u2", "self", parentUuid="u2")
    conversation, _ = one(read, str(session))
    assert sorted(told(conversation)) == ["assistant: two", "user: one", "user: self"]


def test_a_file_may_hold_several_sessions(write: Any, store: Ledgers) -> None:
    first, second = Session("s-1"), Session("s-2")
    first.user("u1", "one")
    first.call("a1", "msg_1", "never-answered")
    second.user("u9", "nine")
    result = import_file(store, write(f"{first}{second}"))
    assert (result.ledgers, result.events) == (["s-1", "s-2"], 3)
