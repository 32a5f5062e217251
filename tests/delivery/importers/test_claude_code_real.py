"""Public sessions of Claude Code import whole: what another parser counts in them is found again.

The sessions are not part of the repository.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from delivery.importers.importing import TranscriptDiverged, import_file
from delivery.importers.recognition import NothingRecognised
from ledger import Ledgers, connect
from ledger.events import Event, LedgerOpened, ToolReturned, TurnRecorded
from ledger.parts import ReasoningPart, ToolCallPart

VIEWER = "claude_code_viewer/5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl"
SESSIONS = [
    VIEWER,
    "claude_code_viewer/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl",
    "claude_code_viewer/agent-test-hash-123.jsonl",
    "claude_code_log/representative_messages.jsonl",
    "claude_code_log/edge_cases.jsonl",
    "simonw_transcripts/sample_session.jsonl",
    "fasthooks/sample_main_transcript.jsonl",
    "agentsview/claude/valid_session.jsonl",
    "agent_sessions/stage0/agents/claude/small.jsonl",
]
"""All of them; the last one and the edge cases are made to be hard, and are counted by hand below."""

PLAIN = [name for name in SESSIONS if "edge_cases" not in name and "stage0" not in name]


@pytest.fixture(scope="session")
def coding(real_data: Path) -> Path:
    """The folder of sessions of coding agents."""
    return real_data / "b_coding_agents"


def records(path: Path) -> list[dict[str, Any]]:
    """The records with messages, as another parser sees them."""
    found = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
    return [record for record in found if isinstance(record.get("message"), dict)]


def blocks(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The blocks of a type in a record."""
    content = record["message"]["content"]
    return [block for block in content if block["type"] == kind] if isinstance(content, list) else []


def messages(found: list[dict[str, Any]]) -> set[Any]:
    """The messages of the assistant, by the provider's id, else one for each record."""
    return {record["message"].get("id") or place for place, record in enumerate(found) if record["type"] == "assistant"}


def events(store: Ledgers) -> list[Event]:
    """All events of a store."""
    found = [item.event for head in store.heads() for item in store.ledger(head.name).events()]
    return [event for event in found if isinstance(event, TurnRecorded | ToolReturned | LedgerOpened)]


@pytest.mark.parametrize("name", PLAIN)
def test_messages_calls_results_and_usage_are_counted_alike(coding: Path, store: Ledgers, name: str) -> None:
    import_file(store, coding / name)
    given = records(coding / name)
    turns = [event for event in events(store) if isinstance(event, TurnRecorded)]
    returns = [event for event in events(store) if isinstance(event, ToolReturned)]
    calls = [part for turn in turns for part in turn.parts if isinstance(part, ToolCallPart)]
    assert len([turn for turn in turns if turn.role == "assistant" and turn.name is None]) == len(messages(given))
    uses = [block for record in given for block in blocks(record, "tool_use")]
    assert Counter((call.call_id, call.tool, json.dumps(json.loads(call.arguments))) for call in calls) == Counter(  # type: ignore[arg-type]
        (use["id"], use["name"], json.dumps(use["input"])) for use in uses
    )
    results = [block for record in given for block in blocks(record, "tool_result")]
    assert Counter((event.call_id, event.is_error) for event in returns) == Counter(
        (result["tool_use_id"], result.get("is_error") or False) for result in results
    )
    assert [event for event in returns if event.orphan] == []
    prompts = [record for record in given if record["type"] == "user" and not blocks(record, "tool_result")]
    assert len([turn for turn in turns if turn.role == "user" or turn.name is not None]) == len(prompts)
    thoughts = [part.raw for turn in turns for part in turn.parts if isinstance(part, ReasoningPart)]
    assert [json.loads(raw) for raw in thoughts] == [block for record in given for block in blocks(record, "thinking")]
    usage = {record["message"].get("id"): record["message"].get("usage") for record in given if record["type"] == "assistant"}
    told = {
        turn.external_id: json.loads(turn.usage.raw) for turn in turns if turn.usage is not None and turn.usage.raw is not None
    }
    assert told == {message: given for message, given in usage.items() if given is not None}


@pytest.mark.parametrize("name", SESSIONS)
def test_importing_again_adds_nothing(coding: Path, store: Ledgers, name: str) -> None:
    first = import_file(store, coding / name)
    again = import_file(store, coding / name)
    assert first.events > 0
    assert (again.events, again.ledgers, again.skipped) == (0, first.ledgers, first.skipped)


@pytest.mark.parametrize("name", [name for name in SESSIONS if "stage0" not in name])
def test_a_beginning_and_then_the_whole_is_the_whole(coding: Path, store: Ledgers, write: Any, name: str) -> None:
    """At every line, save where a message was told up to a text and its call came only later: that is refused."""
    data = (coding / name).read_bytes().splitlines(keepends=True)
    import_file(store, coding / name)
    whole = events(store)
    refused = set()
    for length in range(1, len(data)):
        with connect(":memory:") as other:
            try:
                import_file(other, write(b"".join(data[:length])))
                import_file(other, coding / name)
            except NothingRecognised:
                continue
            except TranscriptDiverged:
                refused.add(length)
                continue
            assert events(other) == whole
    assert refused == goes_on_after_text([json.loads(line) for line in data])


def goes_on_after_text(found: list[Any]) -> set[int]:
    """The lines, from 1, whose record is a text of a message that goes on in the next record."""
    pairs = pairwise(found)
    return {
        number
        for number, (one, other) in enumerate(pairs, 1)
        if isinstance(one, dict)
        and one.get("type") == "assistant"
        and one["message"]["content"][-1]["type"] == "text"
        and one["message"].get("id") is not None
        and isinstance(other, dict)
        and other.get("type") == "assistant"
        and other["message"].get("id") == one["message"]["id"]
    }


def test_records_of_subagents_end_in_child_ledgers(coding: Path, store: Ledgers) -> None:
    result = import_file(store, coding / VIEWER)
    given = records(coding / VIEWER)
    side = [record for record in given if record["isSidechain"]]
    starts = [record["message"]["content"] for record in side if record["parentUuid"] is None]
    uses = [use for record in given for use in blocks(record, "tool_use") if use["name"] == "Task"]
    calls = [next(use["id"] for use in uses if use["input"].get("prompt") == prompt) for prompt in starts]
    parent, *children = result.ledgers
    assert children == [f"{parent}/{call}" for call in calls]
    assert [opened.task for opened in events(store) if isinstance(opened, LedgerOpened)] == starts
    assert {opened.parent for opened in events(store) if isinstance(opened, LedgerOpened)} == {parent}
    told = [item.event for child in children for item in store.ledger(child).events()]
    own = [event for event in told if isinstance(event, TurnRecorded | ToolReturned)]
    results = [block for record in side for block in blocks(record, "tool_result")]
    assert len(own) == len(messages(side)) + len(results) + len(starts)
    uuids = {record["uuid"] for record in side} | {record["message"].get("id") for record in side}
    assert {event.external_id for event in own} <= uuids
    above = [item.event for item in store.ledger(parent).events()]
    assert not uuids & {getattr(event, "external_id", None) for event in above} - {None}


def test_the_history_before_a_compaction_stays_and_its_summary_is_marked(coding: Path, store: Ledgers) -> None:
    path = coding / "fasthooks" / "sample_main_transcript.jsonl"
    result = import_file(store, path)
    [summary] = [record for record in records(path) if record.get("isCompactSummary")]
    turns = [event for event in events(store) if isinstance(event, TurnRecorded)]
    [place] = [place for place, turn in enumerate(turns) if turn.name == "compact_summary"]
    assert turns[place].role == "assistant"
    assert turns[place].parts[0].text == summary["message"]["content"]  # type: ignore[union-attr]
    assert place == 17, "all 17 turns before it"
    assert result.left_out == {
        "a record of type file-history-snapshot": 10,
        "a record of type system/stop_hook_summary": 5,
        "a record of type system/compact_boundary": 1,
    }


def test_edge_cases_are_told_or_reported_line_by_line(coding: Path, store: Ledgers) -> None:
    result = import_file(store, coding / "claude_code_log" / "edge_cases.jsonl")
    assert [skip.line for skip in result.skipped] == [10, 11, 13, 14, 15, 16, 19]
    assert result.ledgers == ["edge_cases", "todowrite_session"]
    assert result.events == 19 - len(result.skipped)


def test_the_unknown_is_counted_and_nothing_is_lost_in_silence(coding: Path, store: Ledgers) -> None:
    """A file with a record of every type that its tool is known to write, many of them under one uuid."""
    path = coding / "agent_sessions" / "stage0" / "agents" / "claude" / "small.jsonl"
    result = import_file(store, path)
    given = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    typed = Counter(record["type"] for record in given)
    counted: Counter[str] = Counter()
    for kind, count in result.left_out.items():
        if kind.startswith("a record of type "):
            counted[kind.removeprefix("a record of type ").partition("/")[0]] += count
    for kind, count in typed.items():
        if kind not in ("user", "assistant", "attachment"):
            assert counted[kind] == count
    said = [record for record in given if record["type"] in ("user", "assistant")]
    waited = [record["attachment"]["type"] for record in given if record["type"] == "attachment"].count("queued_command")
    told = [event for event in events(store) if isinstance(event, TurnRecorded | ToolReturned)]
    reasons = [skip.reason for skip in result.skipped]
    branches = sum("another branch" in reason for reason in reasons)
    conflicts = sum("says something else" in reason for reason in reasons)
    copies = sum(count for kind, count in result.left_out.items() if kind.startswith("a copy"))
    assert len(told) + branches + conflicts + copies == len(said) + waited


def test_a_log_of_hooks_is_refused(coding: Path, store: Ledgers) -> None:
    with pytest.raises(NothingRecognised, match="line 1"):
        import_file(store, coding / "fasthooks" / "sample_hook_logs.jsonl")
