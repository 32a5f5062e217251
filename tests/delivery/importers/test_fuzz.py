"""Whatever a file holds, an import ends in events, in what was skipped, or in an error of the ledger; never
in silence.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from delivery.importers import NAMES
from delivery.importers.importing import import_file
from delivery.importers.left_out import Skipped
from delivery.importers.reading import TranscriptFile
from ledger import connect
from ledger.errors import LedgerError
from ledger.events import ToolReturned, TurnRecorded
from tests.delivery.importers.conftest import Held, held

TEXTS = st.text(max_size=8) | st.sampled_from(["", "a", "c", "\ud800", "\x00", "{}", '{"a":1,"a":2}', "data:a;base64,AAAA"])
KEYS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "id",
        "name",
        "tool_calls",
        "function_call",
        "function",
        "arguments",
        "tool_call_id",
        "tool_use_id",
        "input",
        "is_error",
        "source",
        "data",
        "media_type",
        "url",
        "image_url",
        "title",
        "usage",
        "model",
        "timestamp",
        "session_id",
        "reasoning_content",
        "system",
        "messages",
        "body",
        "cache_control",
        "custom",
    ]
)
TYPES = st.sampled_from(
    [
        "text",
        "tool_use",
        "tool_result",
        "image",
        "image_url",
        "document",
        "thinking",
        "redacted_thinking",
        "function",
        "custom",
        "base64",
        "url",
        "new",
    ]
)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function", "critic"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS | TYPES | ROLES
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=6),
    max_leaves=25,
)

BLOCKS = st.fixed_dictionaries(
    {"type": TYPES},
    optional={
        "text": TEXTS | JSON,
        "id": TEXTS,
        "name": TEXTS,
        "input": JSON,
        "tool_use_id": TEXTS,
        "content": JSON,
        "is_error": JSON,
        "source": st.fixed_dictionaries({"type": TYPES}, optional={"data": TEXTS, "media_type": TEXTS, "url": TEXTS}),
        "image_url": st.fixed_dictionaries({"url": TEXTS}) | JSON,
        "extra": JSON,
    },
)
CALLS = st.fixed_dictionaries(
    {"function": st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS | JSON}) | JSON},
    optional={"id": TEXTS, "type": TYPES, "custom": JSON},
)
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES | JSON},
    optional={
        "content": TEXTS | st.lists(BLOCKS, max_size=4) | JSON,
        "tool_calls": st.lists(CALLS, max_size=3) | JSON,
        "function_call": st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS}) | JSON,
        "tool_call_id": TEXTS | JSON,
        "name": TEXTS | JSON,
        "usage": JSON,
        "id": JSON,
        "timestamp": JSON,
        "reasoning_content": JSON,
    },
)
FORMAT_NAMES = st.sampled_from(["auto", *NAMES])


def read(content: bytes, asked: str) -> tuple[list[Held], list[Skipped]]:
    """The conversations of a file with the given content; none where the file was refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        file = TranscriptFile(path, format=asked)
        try:
            return [held(found) for found in file], file.skipped
        except LedgerError:
            return [], file.skipped


def source(value: object) -> bytes:
    """JSON, or nearly: NaN and infinities are written too."""
    return json.dumps(value).encode()


@given(JSON, FORMAT_NAMES)
def test_any_json_ends_in_conversations_or_an_error_of_the_ledger(value: object, asked: str) -> None:
    read(source(value), asked)


@given(st.binary(max_size=200), FORMAT_NAMES)
def test_any_bytes_end_in_conversations_or_an_error_of_the_ledger(content: bytes, asked: str) -> None:
    read(content, asked)


@given(st.lists(MESSAGES, min_size=1, max_size=4), st.data())
def test_a_damaged_file_ends_in_conversations_or_an_error_of_the_ledger(messages: list[Any], data: st.DataObject) -> None:
    content = bytearray(b"\n".join(source(message) for message in messages))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    read(bytes(content), "auto")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(MESSAGES, min_size=1, max_size=5), FORMAT_NAMES, st.booleans())
@example([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}], "anthropic", False)
@example([{"role": "tool", "content": None, "tool_call_id": 5}], "openai", True)
def test_every_message_is_an_event_or_reported(messages: list[Any], asked: str, as_lines: bool) -> None:
    marked = [message | {"marker": f"<{place}>"} for place, message in enumerate(messages)]
    content = b"\n".join(source(message) for message in marked) if as_lines else source(marked)
    conversations, skipped = read(content, asked)
    if not conversations:
        return
    recorded = "".join(event.model_dump_json() for found in conversations for event in found.events)
    found = sum(f"<{place}>" in recorded for place in range(len(marked)))
    assert found + len(skipped) == len(marked)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(MESSAGES, min_size=1, max_size=6), FORMAT_NAMES)
def test_whatever_is_read_can_be_recorded_and_is_found_again(messages: list[Any], asked: str) -> None:
    with tempfile.TemporaryDirectory() as folder, connect(":memory:") as store:
        path = Path(folder) / "file"
        path.write_bytes(source({"messages": messages, "id": "case"}))
        try:
            first = import_file(store, path, format=asked)
        except LedgerError:
            assert store.heads() == []
            return
        assert import_file(store, path, format=asked).events == 0
        [conversation] = TranscriptFile(path, format=asked)
        events = [recorded.event for recorded in store.ledger("case").events()]
        assert events == list(conversation.events)
        assert first.events == len(events)
        assert any(isinstance(event, TurnRecorded | ToolReturned) for event in events)
