"""Stubs of all results in public conversations: how large they are, and that each reads back."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledger import JsonText
from ledger.parts import ReturnPart, TextPart, ToolCallPart
from projections.compacting.stubs import stub_frame
from projections.compacting.used_strings import said_of, used_strings
from projections.exact.finding import Quoting
from projections.transcript import Return
from replay.tokens import counter

ID = re.compile(r"; whole result: result_id=r_\d+\]$")
Answered = tuple[ToolCallPart, Return, list[str]]
"""A call, what it returned, and the texts that came later."""


def answered(call_id: str, tool: str, arguments: str, text: str, version: int) -> tuple[ToolCallPart, Return]:
    parts: tuple[ReturnPart, ...] = (TextPart(text=text),)
    call = ToolCallPart(call_id=call_id, tool=tool, arguments=JsonText.parse(arguments))
    return call, Return(version, call_id, parts, is_error=False, orphan=False, tool=tool)


def airline(real_data: Path) -> Iterator[Answered]:
    """The calls of an airline's agent."""
    text = (real_data / "a_customer_service" / "tau_bench" / "gpt-4o-airline.json").read_text("utf-8")
    for messages in (found["traj"] for found in json.loads(text)):
        said = [json.dumps([message.get("content"), message.get("tool_calls")]) for message in messages]
        for place, message in enumerate(messages):
            for call in message.get("tool_calls") or ():
                result = next((after for after in messages[place:] if after.get("tool_call_id") == call["id"]), None)
                if result is not None:
                    function = call["function"]
                    pair = answered(call["id"], function["name"], function["arguments"], result["content"], place + 1)
                    yield *pair, [text for text, after in zip(said, messages, strict=True) if after["role"] != "tool"][place:]


def coding(real_data: Path) -> Iterator[Answered]:
    """The calls of agents that write code, of sessions that are lines of JSON; later texts are the next blocks."""
    for path in sorted((real_data / "b_coding_agents" / "claude_code_viewer").glob("*.jsonl")):
        found = list(blocks(path))
        calls = {block["id"]: block for block in found if block.get("type") == "tool_use"}
        for number, block in enumerate(found, start=1):
            if block.get("type") == "tool_result" and block.get("tool_use_id") in calls:
                call = calls[block["tool_use_id"]]
                content = block.get("content")
                text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
                later = [
                    json.dumps(after) for after in found[number : number + 30] if after.get("type") in ("text", "tool_use")
                ]
                yield *answered(call["id"], call["name"], json.dumps(call["input"]), text, number), later


def blocks(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").split("\n"):
        message = json.loads(line).get("message") if line.strip() else None
        content = message.get("content") if isinstance(message, dict) else None
        yield from (block for block in (content if isinstance(content, list) else ()) if isinstance(block, dict))


def test_stubs_of_real_results_have_about_thirty_tokens(real_data: Path) -> None:
    count = counter("o200k_base")
    sizes = []
    for call, returned, later in (*airline(real_data), *coding(real_data)):
        used = used_strings(Quoting(returned.text), [said_of(text) for text in later], asked=str(call.arguments))
        stub = stub_frame(returned, call).naming(used)
        assert stub.startswith(f"[{call.tool}"), stub
        assert ID.search(stub), stub
        assert "\n" not in stub
        assert stub.count("[") == stub.count("]") == 1
        sizes.append(count(stub))
    assert len(sizes) >= 150
    assert 24 <= statistics.median(sizes) <= 34
    assert max(sizes) <= 48
