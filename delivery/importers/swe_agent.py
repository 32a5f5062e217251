"""Trajectories of SWE-agent (``.traj``): an object with a ``history`` of messages, a ``trajectory`` of steps, or both.

An assistant's message is a turn that calls a tool: what its ``tool_calls`` say, else its ``action`` as a call of ``shell``.
What comes after it is what that call returned, whatever its role says: once the agent acts, nothing is the user's word.
Demonstrations (``is_demo``) are system text. Where the run has ended, what its last action showed stands in the last step
alone, and is taken from there.

Left out on purpose: ``agent``, ``message_type``, ``tags`` and ``cache_control``, and the ``thought`` and ``action`` of a
message, which repeat its content and its call (a thought that does not is kept raw). Other members beside the history are
counted as left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import About, leftovers, members_text, name_or_none, tool_call
from delivery.importers.openai import calls_of, content_parts
from delivery.importers.source import Node, elements_in, has_members, is_true, objects_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput
from ledger.parts import Part, ReturnPart, TextPart, ToolCallPart

_PROVIDER: Final = "swe_agent"
_SHELL: Final = "shell"
_MEMBERS: Final = frozenset(
    {"role", "content", "agent", "message_type", "tags", "cache_control", "thought", "action", "is_demo", "tool_calls"}
)
_LISTS: Final = frozenset({"history", "trajectory"})


class SweAgent:
    """The format ``swe_agent``."""

    name = "swe_agent"

    def claims(self, value: Node) -> bool:
        """Whether a value has a history whose messages name their agent and its actions, or steps with what they showed."""
        return any(_is_own(message) for message in objects_in(value, "history")) or any(
            has_members(step, "action", "observation", "response") for step in objects_in(value, "trajectory")
        )

    def conversations(self, value: Node) -> Iterator[Told]:
        """The one conversation of a trajectory."""

        def steps(transcript: Transcript) -> Iterator[None]:
            history, taken = elements_in(value, "history"), elements_in(value, "trajectory")
            for message in history or taken:
                with transcript.reporting(message.line):
                    _record(message, transcript) if history else _record_step(message, transcript)
                yield
            with transcript.reporting(value.line):
                if history and taken and _has_ended(value):
                    _record_observed(taken[-1], transcript)
            for name, member in value.members.items():
                if name not in _LISTS:
                    transcript.leave_out(f"member {name}", member.line)

        yield Told(source_id=None, line=value.line, steps=steps)


def _is_own(message: Node) -> bool:
    return message.get("agent") is not None and any(
        message.get(name) is not None for name in ("message_type", "action", "thought")
    )


def _has_ended(value: Node) -> bool:
    info = value.get("info")
    return info is not None and info.kind == "object" and info.get("exit_status") is not None


def _record(message: Node, transcript: Transcript) -> None:
    role, is_demo = string_or_none(message.get("role")), is_true(message.get("is_demo"))
    if role == "assistant" and not is_demo:
        _record_assistant(message, transcript)
    elif role == "tool" or (role == "user" and transcript.has_assistant and not is_demo):
        _record_return(message, transcript)
    elif role in ("system", "user", "assistant"):
        parts: list[Part] = [*content_parts(message.get("content"), transcript)]
        parts += leftovers(message, _MEMBERS, provider=_PROVIDER, owner="message")
        transcript.record_turn("user" if role == "user" and not is_demo else "system", parts, About())
    else:
        known = "system, user, assistant, tool"
        raise InvalidInput(f"unknown role {role!r} at {message.path} (known: {known})", path=message.path)


def _record_assistant(message: Node, transcript: Transcript) -> None:
    parts: list[Part] = [*content_parts(message.get("content"), transcript)]
    called, _nameless = calls_of(message, transcript)
    action = _action(message, transcript)
    said = "".join(part.text for part in parts if isinstance(part, TextPart))
    repeats = (string_or_none(message.get("thought")) or "") in said
    parts += called or ([action] if action else [])
    parts += leftovers(message, _MEMBERS if repeats else _MEMBERS - {"thought"}, provider=_PROVIDER, owner="message")
    transcript.record_turn("assistant", parts, About())


def _record_return(message: Node, transcript: Transcript) -> None:
    """The return of the call that the message names, else of the first that waits."""
    given = message.get("tool_call_ids")
    named = [name_or_none(call) for call in given.elements] if given is not None and given.kind == "array" else []
    known = _MEMBERS | ({"tool_call_ids"} if len(named) == 1 else set())
    parts: list[ReturnPart] = [*content_parts(message.get("content"), transcript)]
    parts += leftovers(message, known, provider=_PROVIDER, owner="message")
    transcript.record_return(next(iter(named or transcript.unanswered), None), parts, About())


def _record_step(step: Node, transcript: Transcript) -> None:
    """A step of a trajectory without a history."""
    parts: list[Part] = [*content_parts(step.get("response") or step.get("thought"), transcript)]
    action = _action(step, transcript)
    transcript.record_turn("assistant", [*parts, *([action] if action else [])], About())
    _record_observed(step, transcript)


def _record_observed(step: Node, transcript: Transcript) -> None:
    """What the last action of a run showed, unless it is recorded."""
    for call_id in transcript.unanswered[:1]:
        transcript.record_return(call_id, [*content_parts(step.get("observation"), transcript)], About())


def _action(message: Node, transcript: Transcript) -> ToolCallPart | None:
    action = message.get("action")
    if not string_or_none(action):
        return None
    return tool_call(f"action_{transcript.next_turn}", _SHELL, members_text({"command": message.members["action"]}))
