"""Runs of several agents with a judgement of where they failed, as in the Who&When collection: an object with a
``history`` and the ``mistake_agent``, ``mistake_step`` and ``mistake_reason``.

Every agent's message is an assistant turn that bears its name, whatever its role says; only ``human``, or ``user`` without a
name, is the user. Where no human speaks first, the ``question`` stands before as the user's turn. Each agent's
``system_prompt`` is system text under its name. ``Computer_terminal`` runs the code blocks of the message before it: such a
message calls it, and what it prints is what the call returned.

That the run failed, by whose mistake and why, is its outcome. Other members are counted as left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import About, leftovers, text_parts
from delivery.importers.openai import content_parts
from delivery.importers.source import Node, elements_in, has_members, is_true, objects_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput
from ledger.events import OutcomeRecorded
from ledger.json_text import JsonText
from ledger.parts import Part, ReturnPart, TextPart, ToolCallPart

_PROVIDER: Final = "who_and_when"
_JUDGE: Final = "who_and_when"
_TERMINAL: Final = "Computer_terminal"
_HUMAN: Final = "human"
_CODE: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_FAILED: Final = re.compile(r"exitcode: (?!0\b)")
_MEMBERS: Final = frozenset({"role", "content", "name"})
_TOLD: Final = frozenset(
    {
        "history",
        "system_prompt",
        "is_correct",
        "is_corrected",
        "mistake_agent",
        "mistake_step",
        "mistake_reason",
        "mistake_type",
    }
)
_CHAT_ROLES: Final = frozenset({"user", "assistant", "system"})


class WhoAndWhen:
    """The format ``who_and_when``."""

    name = "who_and_when"

    def claims(self, value: Node) -> bool:
        """Whether a value has a history and says whose mistake made it fail."""
        return has_members(value, "history", "mistake_agent", "mistake_step") and bool(objects_in(value, "history"))

    def conversations(self, value: Node) -> Iterator[Told]:
        """The one conversation of a run."""

        def steps(transcript: Transcript) -> Iterator[None]:
            known = _TOLD
            with transcript.reporting(value.line):
                _record_prompts(value, transcript)
                known = _record_question(value, transcript)
            yield
            for message in elements_in(value, "history"):
                with transcript.reporting(message.line):
                    _record(message, transcript)
                yield
            for name, member in value.members.items():
                if name not in known:
                    transcript.leave_out(f"member {name}", member.line)

        yield Told(source_id=None, line=value.line, steps=steps, outcome=_outcome(value))


def _outcome(value: Node) -> OutcomeRecorded | None:
    if is_true(value.get("is_correct")) or is_true(value.get("is_corrected")):
        return None
    given = (value.get(f"mistake_{name}") for name in ("agent", "step", "type", "reason"))
    agent, step, kind, reason = (None if node is None else string_or_none(node) or node.text for node in given)
    detail = (
        f"mistake of {agent} in step {step} of the history (from 0){f', {kind}' if kind else ''}: {reason or 'no reason given'}"
    )
    return OutcomeRecorded(status="failed", judge=_JUDGE, detail=detail)


def _record_prompts(value: Node, transcript: Transcript) -> None:
    prompts = value.get("system_prompt")
    named = prompts.members.items() if prompts is not None and prompts.kind == "object" else ()
    for agent, prompt in named:
        text = string_or_none(prompt)
        if text:
            transcript.record_turn("system", text_parts(text), About(name=agent))


def _record_question(value: Node, transcript: Transcript) -> frozenset[str]:
    """The question as a turn, unless a human speaks it; returns the members of the run that are told."""
    question = string_or_none(value.get("question"))
    first = objects_in(value, "history")[0]
    asked = string_or_none(first.get("content")) if _who(first)[0] == _HUMAN else None
    if asked is None and question:
        transcript.record_turn("user", text_parts(question), About())
    return _TOLD | ({"question"} if asked is None or (question or "") in asked else set())


def _who(message: Node) -> tuple[str | None, str | None]:
    """The role of a message, and the name of the agent that says it: in one half of the collection that is its role."""
    role, name = string_or_none(message.get("role")), string_or_none(message.get("name"))
    return role, name or (role if role not in _CHAT_ROLES else None)


def _record(message: Node, transcript: Transcript) -> None:
    role, name = _who(message)
    if role is None:
        raise InvalidInput(f"no role at {message.path}", path=message.path)
    if name == _TERMINAL:
        _record_printed(message, transcript)
    elif role == _HUMAN or (role in ("user", "system") and name is None):
        transcript.record_turn("system" if role == "system" else "user", _parts(message, transcript), About())
    else:
        transcript.record_turn("assistant", _said(message, transcript), About(name=name))


def _parts(message: Node, transcript: Transcript) -> list[ReturnPart]:
    parts: list[ReturnPart] = [*content_parts(message.get("content"), transcript)]
    return [*parts, *leftovers(message, _MEMBERS, provider=_PROVIDER, owner="message")]


def _said(message: Node, transcript: Transcript) -> list[Part]:
    parts: list[Part] = [*_parts(message, transcript)]
    code = _CODE.findall(_text(parts)) if message.get("name") is not None else []
    if code:
        given = JsonText.of({"code": code})
        parts.append(ToolCallPart(call_id=f"code_{transcript.next_turn}", tool=_TERMINAL, arguments=given))
    return parts


def _record_printed(message: Node, transcript: Transcript) -> None:
    parts = _parts(message, transcript)
    call_id = next(iter(transcript.unanswered), None)
    transcript.record_return(call_id, parts, About(), is_error=_FAILED.match(_text(parts)) is not None, tool=_TERMINAL)


def _text(parts: list[Part] | list[ReturnPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))
