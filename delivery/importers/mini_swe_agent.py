"""Trajectories of mini-swe-agent: a list of chat messages, or an object that holds it as ``messages``.

Its only tool is a shell, and its calls are text: the one fenced block of an assistant's message. The message after it comes
from the environment and has the role ``user``; it is what the call returned (or, where a message had no single block,
a return without a call), and never the user's word. Versions that call tools have ``tool_calls`` and the role ``tool``.

Left out on purpose: ``extra``, the provider's answer from which a message was made. Other members beside the messages are
counted as left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import About, leftovers
from delivery.importers.openai import OpenAIChat, content_parts
from delivery.importers.source import Node, elements_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.json_text import JsonText
from ledger.parts import Part, ReturnPart, TextPart, ToolCallPart

_PROVIDER: Final = "mini_swe_agent"
_SHELL: Final = "bash"
_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
_OWN_BLOCK: Final = "```mswea_bash_command"
_FAILED: Final = re.compile(r"<returncode>(?!0</)")
_MEMBERS: Final = frozenset({"role", "content", "extra"})
_CHAT_ROLES: Final = frozenset({"tool", "system"})


class MiniSweAgent:
    """The format ``mini_swe_agent``."""

    name = "mini_swe_agent"

    def claims(self, value: Node) -> bool:
        """Whether a value says so, or its messages hold this agent's fences or a fence and what its command returned."""
        said = string_or_none(value.get("trajectory_format")) if value.kind == "object" else None
        return (said or "").startswith("mini-swe-agent") or _speaks_it(_messages(value))

    def conversations(self, value: Node) -> Iterator[Told]:
        """The one conversation of a trajectory."""

        def steps(transcript: Transcript) -> Iterator[None]:
            for message in _messages(value):
                with transcript.reporting(message.line):
                    _record(message, transcript)
                yield
            for name, member in value.members.items() if value.kind == "object" else ():
                if name != "messages":
                    transcript.leave_out(f"member {name}", member.line)

        yield Told(source_id=None, line=value.line, steps=steps)


def _messages(value: Node) -> list[Node]:
    return value.elements if value.kind == "array" else elements_in(value, "messages")


def _speaks_it(messages: list[Node]) -> bool:
    last = ""
    for message in (one for one in messages if one.kind == "object"):
        role, content = string_or_none(message.get("role")), string_or_none(message.get("content")) or ""
        if role == "assistant" and _OWN_BLOCK in content:
            return True
        if role == "user" and content.startswith("<returncode>") and _BLOCK.search(last):
            return True
        last = content
    return False


def _record(message: Node, transcript: Transcript) -> None:
    role = string_or_none(message.get("role"))
    if message.get("tool_calls") is not None or role in _CHAT_ROLES:
        OpenAIChat().record(message, transcript)
    elif role == "assistant":
        _record_assistant(message, transcript)
    elif role == "user" and not transcript.has_assistant:
        transcript.record_turn("user", _parts(message, transcript), About())
    else:
        _record_observed(message, transcript)


def _parts(message: Node, transcript: Transcript) -> list[ReturnPart]:
    parts: list[ReturnPart] = [*content_parts(message.get("content"), transcript)]
    return [*parts, *leftovers(message, _MEMBERS, provider=_PROVIDER, owner="message")]


def _record_assistant(message: Node, transcript: Transcript) -> None:
    parts: list[Part] = [*_parts(message, transcript)]
    commands = _BLOCK.findall(_text(parts))
    if len(commands) == 1:
        given = JsonText.of({"command": commands[0]})
        parts.append(ToolCallPart(call_id=f"command_{transcript.next_turn}", tool=_SHELL, arguments=given))
    transcript.record_turn("assistant", parts, About())


def _record_observed(message: Node, transcript: Transcript) -> None:
    parts = _parts(message, transcript)
    call_id = next(iter(transcript.unanswered), None)
    transcript.record_return(call_id, parts, About(), is_error=_FAILED.match(_text(parts)) is not None, tool=_SHELL)


def _text(parts: list[Part] | list[ReturnPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))
