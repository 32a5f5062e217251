"""Whatever the links between records, a session is told in full or reported, the same each time, and nothing else is raised."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from delivery.importers.importing import import_file
from delivery.importers.recognition import NothingRecognised
from ledger import connect
from ledger.events import ToolReturned, TurnRecorded

NAMES = st.sampled_from(["a", "b", "c", "d", "e", None])
CALLS = st.sampled_from(["t1", "t2", "t3"])
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(["x", "y"])),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}, st.sampled_from(["x", "y"])),
    st.builds(lambda call: {"type": "tool_use", "id": call, "name": "Task", "input": {"prompt": "x"}}, CALLS),
    st.builds(lambda call: {"type": "tool_result", "tool_use_id": call, "content": "x"}, CALLS),
)
CONTENTS = st.one_of(st.sampled_from(["x", "y", "[Request interrupted by user]"]), st.lists(BLOCKS, min_size=1, max_size=3))


@st.composite
def records(draw: Any) -> dict[str, Any]:
    """A record, linked to any other or to itself."""
    kind = draw(st.sampled_from(["user", "assistant", "user", "assistant", "system"]))
    record = {
        "type": kind,
        "uuid": draw(NAMES),
        "parentUuid": draw(NAMES),
        "sessionId": draw(st.sampled_from(["s", "s", "z", None])),
    }
    record["isSidechain"], record["isMeta"] = draw(st.booleans()), draw(st.booleans())
    record["timestamp"] = f"2026-01-01T00:00:0{draw(st.integers(0, 3))}Z"
    if draw(st.booleans()):
        record["agentId"] = draw(st.sampled_from(["g", "h"]))
    if kind != "system":
        record["message"] = {"role": kind, "id": draw(st.sampled_from(["m1", "m2", None])), "content": draw(CONTENTS)}
    return record


@given(st.lists(records(), min_size=1, max_size=12))
def test_any_tree_is_told_once_or_reported(given_records: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder, connect(":memory:") as store:
        path = Path(folder) / "session.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in given_records), encoding="utf-8")
        try:
            result = import_file(store, path)
        except NothingRecognised:
            return
        assert import_file(store, path).events == 0
        events = [item.event for name in result.ledgers for item in store.ledger(name).events()]
        spoken = [event for event in events if isinstance(event, TurnRecorded | ToolReturned)]
        asked = {call for event in spoken for call in _calls(event)}
        returned = [event for event in spoken if isinstance(event, ToolReturned)]
        assert {event.call_id for event in returned if not event.orphan} <= asked
        said = [record for record in given_records if record["type"] != "system"]
        assert len(said) <= len(spoken) + _not_told(result) + _merged(said)


def _calls(event: TurnRecorded | ToolReturned) -> list[str]:
    return [part.call_id for part in event.parts if part.type == "tool_call"] if isinstance(event, TurnRecorded) else []


def _not_told(result: Any) -> int:
    """How many records were reported as copies, conflicts, branches or as not ended (with all that belongs to it)."""
    copies = sum(count for kind, count in result.left_out.items() if kind.startswith("a copy"))
    conflicts = sum("says something else" in skip.reason for skip in result.skipped)
    branches = sum(int(skip.reason.partition("(")[2].split()[0]) for skip in result.skipped if "another branch" in skip.reason)
    unfinished = sum("has not ended" in skip.reason for skip in result.skipped)
    return int(copies + conflicts + branches + 12 * unfinished)


def _merged(said: list[dict[str, Any]]) -> int:
    """How many records at most became part of another one's message."""
    answers = [record for record in said if record["type"] == "assistant" and record["message"]["id"] is not None]
    return len(answers)
