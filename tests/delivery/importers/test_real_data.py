"""Public transcripts import whole: every text, argument and result is found again, byte for byte.

The transcripts are not part of the repository. What they hold is compared with what another parser finds in
them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from delivery.importers.importing import import_file
from delivery.importers.reading import TranscriptFile
from delivery.importers.source import decode_utf8, parse
from ledger import Ledgers
from ledger.errors import InvalidInput
from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.parts import OpaquePart, ReasoningPart, TextPart, ToolCallPart, Unparsed
from tests.delivery.importers.conftest import held


@pytest.fixture(scope="session")
def airline(real_data: Path) -> Path:
    """Conversations of an airline's agent with tools, as OpenAI chat messages under ``traj``."""
    return real_data / "a_customer_service" / "tau_bench" / "gpt-4o-airline.json"


@pytest.fixture(scope="session")
def bodies(real_data: Path) -> list[tuple[str, dict[str, Any]]]:
    """Request bodies with messages that were sent to OpenAI chat or Anthropic, each with the format it was
    written in.
    """
    found = []
    for path in sorted((real_data / "e_formats").rglob("*.yaml")):
        for request in _requests(path):
            body = _body(request)
            if isinstance(body, dict) and "messages" in body and _format(request["uri"]):
                found.append((_format(request["uri"]), body))
    return found


def _requests(path: Path) -> Iterator[dict[str, Any]]:
    cassette = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for interaction in (cassette.get("interactions") if isinstance(cassette, dict) else None) or []:
        if "request" in interaction:
            yield interaction["request"]


def _body(request: dict[str, Any]) -> object:
    body = request.get("parsed_body") or request.get("body")
    if not isinstance(body, str | bytes):
        return body
    try:
        return json.loads(body)
    except ValueError:
        return None


def _format(uri: str) -> str:
    if uri.startswith("https://api.anthropic.com/"):
        return "anthropic"
    return "openai" if "/chat/completions" in uri else ""


def _strings(content: object) -> Iterator[str]:
    """The texts that a message's content says, as another parser sees them."""
    if isinstance(content, str):
        yield from [content] if content else []
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "tool_result":
            yield from _strings(block.get("content"))


def _said(messages: list[dict[str, Any]], system: object = None) -> Counter[str]:
    return Counter([*_strings(system), *(text for message in messages for text in _strings(message.get("content")))])


def _recorded_texts(events: tuple[Event, ...]) -> Counter[str]:
    spoken = [event for event in events if isinstance(event, TurnRecorded | ToolReturned)]
    return Counter(part.text for event in spoken for part in event.parts if isinstance(part, TextPart))


def _calls(events: tuple[Event, ...]) -> list[ToolCallPart]:
    turns = [event for event in events if isinstance(event, TurnRecorded)]
    return [part for turn in turns for part in turn.parts if isinstance(part, ToolCallPart)]


def _arguments(messages: list[dict[str, Any]]) -> list[str]:
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    return [call["function"]["arguments"] for call in calls]


def _as_written(part: ToolCallPart) -> str:
    return part.arguments.unparsed if isinstance(part.arguments, Unparsed) else part.arguments


def test_every_text_argument_and_result_of_the_airline_is_found_again(airline: Path) -> None:
    given = json.loads(airline.read_bytes())
    file = TranscriptFile(airline)
    conversations = [held(found) for found in file]
    assert (len(conversations), file.skipped) == (len(given), [])
    for conversation, source in zip(conversations, given, strict=True):
        messages = source["traj"]
        assert conversation.source_id is None
        assert _recorded_texts(conversation.events) == _said(messages)
        assert [_as_written(part) for part in _calls(conversation.events)] == _arguments(messages)
        roles = Counter("tool" if isinstance(event, ToolReturned) else event.role for event in conversation.events)  # type: ignore[union-attr]
        assert roles == Counter(message["role"] for message in messages)
        returns = [event for event in conversation.events if isinstance(event, ToolReturned)]
        assert [event.call_id for event in returns] == [
            message["tool_call_id"] for message in messages if message["role"] == "tool"
        ]


def test_the_airline_is_imported_once(airline: Path, store: Ledgers) -> None:
    first = import_file(store, airline)
    assert len(set(first.ledgers)) == 25
    assert import_file(store, airline).events == 0


def test_the_airline_grows_message_by_message(airline: Path, store: Ledgers, write: Any) -> None:
    messages = max((case["traj"] for case in json.loads(airline.read_bytes())), key=len)
    for length in range(1, len(messages) + 1):
        assert import_file(store, write(messages[:length]), ledger="case").events == 1


def test_request_bodies_are_recognised_and_imported_whole(
    bodies: list[tuple[str, dict[str, Any]]], store: Ledgers, write: Any
) -> None:
    assert Counter(written for written, _ in bodies)["anthropic"] >= 10
    for number, (written, body) in enumerate(bodies):
        file = TranscriptFile(write(body))
        [conversation] = map(held, file)
        assert file.skipped == []
        assert _recorded_texts(conversation.events) == _said(body["messages"], body.get("system"))
        if written == "openai":
            assert [_as_written(part) for part in _calls(conversation.events)] == _arguments(body["messages"])
        else:
            _check_anthropic_blocks(conversation.events, body["messages"])
        import_file(store, write(body), ledger=f"body-{number}")


def _check_anthropic_blocks(events: tuple[Event, ...], messages: list[dict[str, Any]]) -> None:
    blocks = [block for message in messages for block in _blocks(message)]
    uses = [block for block in blocks if block["type"] == "tool_use"]
    assert [_as_written(part) for part in _calls(events)] == [json.dumps(block["input"], ensure_ascii=False) for block in uses]
    results = [event for event in events if isinstance(event, ToolReturned)]
    assert [(event.call_id, event.is_error, event.orphan) for event in results] == [
        (block["tool_use_id"], block.get("is_error", False), False) for block in blocks if block["type"] == "tool_result"
    ]
    assert [event.call_id for event in results if event.turn is None] == []
    spoken = [event for event in events if isinstance(event, TurnRecorded)]
    raw = [part.raw for event in spoken for part in event.parts if isinstance(part, OpaquePart | ReasoningPart)]
    for block in blocks:
        if block["type"] not in {"text", "tool_use", "tool_result", "image", "document"}:
            assert json.dumps(block, ensure_ascii=False) in raw


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []


def test_logs_of_one_growing_conversation_are_one_ledger(real_data: Path, store: Ledgers) -> None:
    logs = sorted(
        (real_data / "b_coding_agents" / "openhands_sdk" / "llm-logs").glob("*.json"),
        key=lambda path: len(json.loads(path.read_bytes())["messages"]),
    )
    results = [import_file(store, path) for path in logs]
    assert len({name for result in results for name in result.ledgers}) == 1
    last = json.loads(logs[-1].read_bytes())
    assert sum(result.events for result in results) == len(last["messages"]) + 1
    events = [one.event for one in store.ledger(results[0].ledgers[0]).events()]
    answer = events[-1]
    assert isinstance(answer, TurnRecorded)
    assert [part.text for part in answer.parts if isinstance(part, TextPart)] == [
        last["response"]["choices"][0]["message"]["content"]
    ]
    turns = [event for event in events if isinstance(event, TurnRecorded) and event.role == "assistant"]
    logged = [json.loads(log.read_bytes())["response"]["usage"]["prompt_tokens"] for log in logs]
    assert [turn.usage.input_tokens for turn in turns if turn.usage is not None] == logged
    assert import_file(store, logs[-1]).events == 0


def test_a_message_format_that_is_asked_for_reads_the_messages_of_other_agents(real_data: Path, store: Ledgers) -> None:
    coding = real_data / "b_coding_agents"
    for path in [*(coding / "mini_swe_agent").iterdir(), *(coding / "swe_agent").iterdir()]:
        document = json.loads(path.read_bytes())
        messages = document["history"] if isinstance(document, dict) else document
        if not any("role" in message for message in messages):
            continue
        result = import_file(store, path, format="openai", ledger=path.name)
        spoken = [
            recorded.event
            for recorded in store.ledger(path.name).events()
            if isinstance(recorded.event, TurnRecorded | ToolReturned)
        ]
        assert len(spoken) + len(result.skipped) == len(messages)


def test_a_parsers_test_suite_is_accepted_and_refused_as_it_demands(real_data: Path) -> None:
    for path in sorted((real_data / "f_nasty" / "json_test_suite" / "test_parsing").iterdir()):
        data = path.read_bytes()
        try:
            node = parse(decode_utf8(data))
        except InvalidInput:
            assert path.name[0] in "ni", path.name
        else:
            assert path.name[0] in "yi", path.name
            assert node.text.encode() == data.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n"), path.name
