"""Public runs of agents, and what another reader finds in them: who says what, in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.events import Event, ToolReturned, TurnRecorded
from ledger.parts import TextPart

Said = tuple[str, str]
"""A role, or "return", and the text."""

Document = Any
"""The JSON value of one run."""


@dataclass(frozen=True)
class Runs:
    """The runs of one format. ``said`` reads one; ``cut`` gives its beginning with so many messages."""

    format: str
    pattern: str
    said: Callable[[Document], list[Said]]
    messages: Callable[[Document], list[Any]]
    cut: Callable[[Document, int], Document]

    def documents(self, data: Path) -> Iterator[tuple[str, Document]]:
        """Every run of every file, with the name of its file."""
        paths = sorted(data.glob(self.pattern))
        assert paths, f"no file {self.pattern}"
        for path in paths:
            text = path.read_text(encoding="utf-8")
            for part in text.splitlines() if path.suffix == ".jsonl" else [text]:
                yield path.name, json.loads(part)


def said_by(events: tuple[Event, ...]) -> list[Said]:
    """The same of recorded events."""
    spoken = [event for event in events if isinstance(event, TurnRecorded | ToolReturned)]
    return [(event.role if isinstance(event, TurnRecorded) else "return", _text(event)) for event in spoken]


def _text(event: TurnRecorded | ToolReturned) -> str:
    return "".join(part.text for part in event.parts if isinstance(part, TextPart))


def _swe_agent(document: Document) -> list[Said]:
    found, before = [], ""
    for message in document["history"]:
        role = "return" if before == "assistant" and message["role"] in ("user", "tool") else message["role"]
        found.append((role, message["content"]))
        before = message["role"]
    if before == "assistant" and document["info"]["exit_status"]:
        found.append(("return", document["trajectory"][-1]["observation"]))
    return found


def _mini_swe_agent(document: Document) -> list[Said]:
    return [("return" if n > 1 and m["role"] == "user" else m["role"], m["content"]) for n, m in enumerate(document)]


def _openhands(document: Document) -> list[Said]:
    events = document["history"] if isinstance(document, dict) else document
    return [said for event in events if (said := _openhands_event(event)) is not None]


def _openhands_event(event: dict[str, Any]) -> Said | None:
    given = event.get("args", event)
    match event.get("action"):
        case None:
            return "return", event["content"]
        case "recall":
            return None
        case "system":
            return "system", given["content"]
        case "message":
            return ("assistant" if event.get("source") == "agent" else "user"), given["content"]
    metadata = event.get("tool_call_metadata")
    if metadata is None:
        return "assistant", given["thought"]
    return "assistant", metadata["model_response"]["choices"][0]["message"]["content"] or ""


def _langchain(document: Document) -> list[Said]:
    roles = {"human": "user", "ai": "assistant", "tool": "return", "system": "system"}
    return [(roles[message["type"]], _content(message["content"])) for message in document["values"]["messages"]]


def _content(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def _who_and_when(document: Document) -> list[Said]:
    found = [("system", prompt) for prompt in document.get("system_prompt", {}).values() if prompt]
    if document["history"][0]["role"] != "human":
        found.append(("user", document["question"]))
    for message in document["history"]:
        role = {"human": "user"}.get(message["role"], "assistant")
        found.append(("return" if message.get("name") == "Computer_terminal" else role, message["content"]))
    return found


def _cut_history(document: Document, count: int) -> Document:
    return {name: value for name, value in document.items() if name != "info"} | {"history": document["history"][:count]}


def _cut_events(document: Document, count: int) -> Document:
    return document[:count] if isinstance(document, list) else _cut_history(document, count)


def _cut_values(document: Document, count: int) -> Document:
    return document | {"values": document["values"] | {"messages": document["values"]["messages"][:count]}}


def _history(document: Document) -> list[Any]:
    found: list[Any] = document if isinstance(document, list) else document["history"]
    return found


RUNS = (
    Runs("swe_agent", "b_coding_agents/swe_agent/*.traj", _swe_agent, _history, _cut_history),
    Runs("mini_swe_agent", "b_coding_agents/mini_swe_agent/*.json", _mini_swe_agent, _history, _cut_events),
    Runs("openhands", "b_coding_agents/openhands/*.json*", _openhands, _history, _cut_events),
    Runs("langchain", "d_research/deerflow/*.json", _langchain, lambda document: document["values"]["messages"], _cut_values),
    Runs("who_and_when", "d_research/who_and_when/*/*.json", _who_and_when, _history, _cut_history),
)
