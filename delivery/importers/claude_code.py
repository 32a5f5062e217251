"""Claude Code sessions: JSON lines, each a record of a tree.

A user's record becomes a turn, its results become returns; the records that hold blocks of one assistant's message become
one turn, with the usage that the last of them gives. What the tool itself put in the user's place is no word of the user's:
a turn of the assistant's whose ``name`` says what it is (``compact_summary``, ``interrupted``, ``inserted``). What stands
before a compaction stays. A subagent's records become a child ledger.

Records of other types are counted. Left out on purpose: the circumstances of a record (folder, branch, version, ...), a second
form of each result for the screen (``toolUseResult``), why and how a message stopped, and that a call has no other ``caller``
than the model; members of records that are not known are counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from delivery.importers.anthropic import AnthropicMessages
from delivery.importers.blocks import block_type
from delivery.importers.claude_code_branches import Spoken, conversation
from delivery.importers.claude_code_records import (
    INSERTED,
    Noted,
    content_of,
    is_bookkeeping,
    is_record,
    is_synthetic,
    noted,
    plain_text,
)
from delivery.importers.claude_code_tree import Stream, streams
from delivery.importers.records import Records
from delivery.importers.source import Node, parse
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput

_CIRCUMSTANCES: Final = frozenset(
    {
        "type",
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "isSidechain",
        "agentId",
        "sessionId",
        "session_id",
        "timestamp",
        "message",
    }
    | {"isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "attachment", "requestId", "userType"}
    | {"cwd", "version", "gitBranch", "slug", "entrypoint", "toolUseResult", "todos", "thinkingMetadata", "permissionMode"}
    | {
        "promptId",
        "promptSource",
        "origin",
        "effort",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "imagePasteIds",
        "sessionKind",
    }
)
_MESSAGE: Final = frozenset(
    {"id", "type", "role", "model", "content", "usage", "stop_reason", "stop_sequence", "stop_details"}
    | {"container", "context_management", "diagnostics"}
)
_ANTHROPIC: Final = AnthropicMessages()


class ClaudeCode:
    """The format ``claude_code``."""

    name = "claude_code"

    def claims(self, beginning: Sequence[Node]) -> bool:
        """Whether one of the first records is a user's or an assistant's as only Claude Code writes it, or all are of other
        types, and one is of its tree.
        """
        return any(map(is_record, beginning)) or (any(map(is_bookkeeping, beginning)) and not any(map(_is_spoken, beginning)))

    def conversations(self, records: Records) -> Iterator[Told]:
        """The sessions of a file, each followed by those of its subagents."""
        for stream in streams(_noted(records), records):
            told = conversation(stream, records)
            if told:
                yield _told(stream, told, records)


def _is_spoken(node: Node) -> bool:
    try:
        return node.kind == "object" and not node.members.keys().isdisjoint(("message", "messages", "role"))
    except InvalidInput:
        return False


def _noted(records: Records) -> Iterator[Noted]:
    for record in records:
        try:
            found = noted(record.node, record.place)
        except InvalidInput as error:
            records.skip(record.place.number, str(error))
            continue
        if found.is_said:
            for name in record.node.members.keys() - _CIRCUMSTANCES:
                records.leave_out(f"the member {name} of a record", found.line)
        else:
            records.leave_out(f"a record of type {found.label}", found.line)
        yield found


def _told(stream: Stream, spoken: list[Spoken], records: Records) -> Told:
    nodes = records.gathered(record.place for message in spoken for record in message.records)

    def steps(transcript: Transcript) -> Iterator[None]:
        left = iter(nodes)
        for message in spoken:
            held = list(islice(left, len(message.records)))
            with transcript.reporting(message.first.line):
                _ANTHROPIC.record(_message(message, held), transcript)
            yield

    task = None if stream.name is None else _task(spoken, records)
    return Told(source_id=stream.source_id, line=spoken[0].first.line, steps=steps, parent=stream.parent, task=task)


def _task(spoken: list[Spoken], records: Records) -> str | None:
    """What a subagent was asked: its first prompt."""
    first = next((message.first for message in spoken if message.first.kind == "prompt"), None)
    contents = [] if first is None else [content_of(node) for node in records.gathered([first.place])]
    return next((plain_text(content) for content in contents if content is not None), None)


def _message(spoken: Spoken, held: list[Node]) -> Node:
    """The message as the provider would have it. Its members are slices of the records, so that all stays as it was written."""
    first, last = held[0], held[-1]
    role = "user" if spoken.first.kind in ("prompt", "returns") else "assistant"
    members = {"role": json.dumps(role)}
    name = INSERTED.get(spoken.first.kind, "inserted" if spoken.first.kind == "answer" and is_synthetic(first) else None)
    if name is not None:
        members["name"] = json.dumps(name)
    if spoken.first.kind == "answer":
        message = last.members["message"]
        members |= {key: node.text for key, node in message.members.items() if key in ("id", "model", "usage")}
        members |= {key: node.text for key, node in message.members.items() if key not in _MESSAGE}
    if "id" not in members and first.get("uuid") is not None:
        members["id"] = first.members["uuid"].text
    if first.get("timestamp") is not None:
        members["timestamp"] = first.members["timestamp"].text
    contents = [content for node in held if (content := content_of(node)) is not None]
    members["content"] = contents[0].text if len(contents) == 1 and contents[0].kind == "string" else _blocks(contents)
    text = ", ".join(f"{json.dumps(key)}: {value}" for key, value in members.items())
    return parse(f"{{{text}}}", line=spoken.first.line)


def _blocks(contents: list[Node]) -> str:
    """The blocks of several records as one list."""
    texts: list[str] = []
    for content in contents:
        if content.kind == "string":
            texts.append(f'{{"type": "text", "text": {content.text}}}')
        else:
            texts += [_block(block) for block in content.elements]
    return f"[{', '.join(texts)}]"


def _block(block: Node) -> str:
    """A block as it was written; a call without the remark that nobody but the model made it."""
    if block_type(block) != "tool_use" or "caller" not in block.members or block_type(block.members["caller"]) != "direct":
        return block.text
    left = (f"{json.dumps(key)}: {node.text}" for key, node in block.members.items() if key != "caller")
    return f"{{{', '.join(left)}}}"
