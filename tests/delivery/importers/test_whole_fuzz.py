"""Whatever a file in a whole format holds, an import ends in events that are found again, or in an error of the ledger."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delivery.importers import VALUE_FORMATS
from delivery.importers.importing import import_file
from delivery.importers.reading import TranscriptFile
from ledger import connect
from ledger.errors import LedgerError
from ledger.events import ToolReturned, TurnRecorded
from tests.delivery.importers.conftest import held

HISTORIES: dict[str, list[dict[str, Any]]] = {
    "swe_agent": [
        {"role": "user", "content": "a", "agent": "m", "message_type": "observation"},
        {"role": "assistant", "content": "b", "action": "ls", "thought": "b", "agent": "m"},
        {"role": "tool", "content": "c", "tool_call_ids": ["x"], "agent": "m"},
    ],
    "openhands": [
        {"action": "message", "source": "user", "args": {"content": "a"}},
        {"action": "run", "source": "agent", "args": {"command": "ls", "thought": "b"}, "id": 3},
        {"observation": "run", "content": "c", "cause": 3, "success": True},
        {
            "action": "run",
            "source": "agent",
            "tool_call_metadata": {
                "tool_call_id": "t",
                "function_name": "f",
                "model_response": {
                    "id": "r",
                    "choices": [
                        {"message": {"content": "d", "tool_calls": [{"id": "t", "function": {"name": "f", "arguments": "{}"}}]}}
                    ],
                },
            },
        },
    ],
    "langchain": [
        {"type": "human", "content": "a", "id": "1"},
        {
            "type": "ai",
            "content": [{"type": "text", "text": "b"}],
            "tool_calls": [{"name": "f", "args": {}, "id": "t"}],
            "usage_metadata": {"input_tokens": 1},
        },
        {"type": "tool", "content": "c", "tool_call_id": "t", "status": "error", "name": "f"},
    ],
    "who_and_when": [
        {"role": "human", "content": "a"},
        {"role": "user", "name": "Expert", "content": "```py\nb```"},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 1"},
    ],
    "mini_swe_agent": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "```mswea_bash_command\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>"},
    ],
}
HOLDERS: dict[str, dict[str, Any]] = {
    "swe_agent": {"info": {"exit_status": "submitted"}, "trajectory": [{"action": "ls", "observation": "o", "response": "b"}]},
    "openhands": {"success": True},
    "langchain": {"metadata": {"thread_id": "thread"}, "values": {}},
    "who_and_when": {"mistake_agent": "Expert", "mistake_step": 1, "question": "a", "system_prompt": {"Expert": "be"}},
    "mini_swe_agent": {"trajectory_format": "mini-swe-agent-1"},
}
BARE = {"openhands", "langchain", "mini_swe_agent"}
LISTS = {"langchain": "messages", "mini_swe_agent": "messages"}
WORDS = st.sampled_from(["", "a", "\ud800", "user", "assistant", "run", "tool", "ai", "t", "{}", "data:a;base64,AAAA"])
KEYS = st.sampled_from(["content", "id", "name", "type", "args", "role", "data"])
ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A run in one of the formats, some values of which were replaced, left out or doubled."""
    name = draw(st.sampled_from([known.name for known in VALUE_FORMATS if known.name in HISTORIES]))
    messages = [dict(draw(st.sampled_from(HISTORIES[name]))) for _ in range(draw(st.integers(1, 6)))]
    is_bare = name in BARE and draw(st.booleans())
    document = json.loads(json.dumps(messages if is_bare else HOLDERS[name] | {LISTS.get(name, "history"): messages}))
    for _ in range(draw(st.integers(0, 3))):
        _damage(draw, document)
    return document


def _damage(draw: st.DrawFn, value: Any) -> None:
    while True:
        places = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not places:
            return
        place = draw(st.sampled_from(places))
        if not isinstance(value[place], dict | list) or draw(st.booleans()):
            break
        value = value[place]
    if draw(st.booleans()):
        value[place] = draw(ODD)
    elif isinstance(value, list):
        value.insert(place, value[place])
    else:
        del value[place]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(damaged())
def test_a_damaged_run_ends_in_events_that_are_found_again_or_in_an_error(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, connect(":memory:") as store:
        path = Path(folder) / "file"
        path.write_text(json.dumps(document), encoding="utf-8")
        try:
            first = import_file(store, path)
        except LedgerError:
            assert store.heads() == []
            return
        file = TranscriptFile(path)
        conversations = [held(found) for found in file]
        assert sum(len(found.events) for found in conversations) == first.events
        assert any(isinstance(event, TurnRecorded | ToolReturned) for found in conversations for event in found.events)
        assert import_file(store, path).events == 0


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(damaged(), min_size=1, max_size=3), st.data())
def test_a_file_that_was_cut_or_overwritten_ends_in_ledgers_or_in_an_error(documents: list[Any], data: st.DataObject) -> None:
    content = bytearray("\n".join(json.dumps(document) for document in documents).encode())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place : place + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=3))
    with tempfile.TemporaryDirectory() as folder, connect(":memory:") as store:
        path = Path(folder) / "file"
        path.write_bytes(bytes(content))
        try:
            import_file(store, path)
        except LedgerError:
            return
        assert import_file(store, path).events == 0
