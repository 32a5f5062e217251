"""Logs of single completions, as LiteLLM and the SDK of OpenHands write them: a request's ``messages`` and the ``response``.

The answer is the last turn, with its model and its usage. The log of the next request holds the same answer among its
messages, so logs of one conversation, in any number of files, are one ledger that grows. An answer with members that a
request does not repeat as they are (reasoning, audio) is counted as left out, because it could not be known again.

Members of the log beside these two are counted as left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import About, name_or_none, usage
from delivery.importers.openai import OpenAIChat, calls_of, content_parts
from delivery.importers.source import Node, elements_in, is_empty, objects_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.parts import Part

_REPEATED: Final = frozenset({"role", "content", "tool_calls"})
_TOLD: Final = frozenset({"messages", "response"})


class LiteLlm:
    """The format ``litellm``."""

    name = "litellm"

    def claims(self, value: Node) -> bool:
        """Whether a value has messages with roles, and a response with a message of the assistant."""
        has_roles = any(string_or_none(message.get("role")) for message in objects_in(value, "messages"))
        return has_roles and _answer(value) is not None

    def conversations(self, value: Node) -> Iterator[Told]:
        """The one conversation of a log."""

        def steps(transcript: Transcript) -> Iterator[None]:
            for message in elements_in(value, "messages"):
                with transcript.reporting(message.line):
                    OpenAIChat().record(message, transcript)
                yield
            with transcript.reporting(value.line):
                _record_answer(value, transcript)
            for name, member in value.members.items():
                if name not in _TOLD:
                    transcript.leave_out(f"member {name}", member.line)

        yield Told(source_id=None, line=value.line, steps=steps)


def _answer(value: Node) -> Node | None:
    """The one message of the response."""
    response = value.get("response")
    choices = objects_in(response, "choices") if response is not None else []
    message = choices[0].get("message") if len(choices) == 1 else None
    is_said = message is not None and message.kind == "object" and string_or_none(message.get("role")) == "assistant"
    return message if is_said else None


def _record_answer(value: Node, transcript: Transcript) -> None:
    message, response = _answer(value), value.members["response"]
    assert message is not None, "only what has an answer is claimed"
    if any(name not in _REPEATED and not is_empty(member) for name, member in message.members.items()):
        transcript.leave_out("response with members that a request does not repeat", message.line)
        return
    parts: list[Part] = [*content_parts(message.get("content"), transcript), *calls_of(message, transcript)[0]]
    counts = response.get("usage")
    said = About(
        model=name_or_none(response.get("model")),
        usage=usage(counts) if counts is not None else None,
        external_id=name_or_none(response.get("id")),
    )
    transcript.record_turn("assistant", parts, said)
