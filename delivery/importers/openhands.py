"""Runs of OpenHands: a flat list of actions and observations, of pairs of both, or an object that holds such a list as its
``history`` (one a line in the output of an evaluation).

An action of the agent is a turn that calls a tool. Where the event keeps the model's answer (``tool_call_metadata``), text,
calls, model and usage are the model's own, one turn an answer even if it led to several actions; else the text is the
action's ``thought`` and the call the action itself. An observation is what the call returned that it names or that it is
caused by, else that of the last turn; one that no call of the agent caused answers none. Messages are turns of whoever wrote
them, the action ``system`` is system text.

Left out on purpose: what repeats or describes the rest (``message``, ``extras``, ``llm_metrics``, ``timeout`` and flags of a
run), and times, which say no zone. Events of other kinds and members beside the history are counted as left out. What a judge
said of the run (``success``) is its outcome.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from delivery.importers.blocks import About, is_name, members_text, name_or_none, opaque, text_parts, tool_call, usage
from delivery.importers.openai import calls_of, content_parts, image_at
from delivery.importers.source import Node, is_true, objects_in, string_or_none
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from ledger.errors import InvalidInput
from ledger.events import OutcomeRecorded, Role
from ledger.parts import Part, ReturnPart, ToolCallPart

_PROVIDER: Final = "openhands"
_JUDGE: Final = "openhands"
_TOLD: Final = frozenset({"history", "success", "result_explanation"})
_FLAGS: Final = frozenset(
    {"id", "timestamp", "source", "message", "action", "thought", "timeout", "llm_metrics", "action_risk", "security_risk"}
    | {"is_confirmed", "confirmation_state", "keep_prompt", "kernel_init_code", "hidden", "blocking"}
)
_STATES: Final = frozenset({"agent_state_changed", "null"})
_BESIDE: Final = frozenset({"recall", "change_agent_state", "null", "condensation", "condensation_request", "loop_recovery"})


class OpenHands:
    """The format ``openhands``."""

    name = "openhands"

    def claims(self, value: Node) -> bool:
        """Whether a value is a list of actions and observations, or has one as its history."""
        events = _events(value)
        return any(_kind(event, "action") for event in events) and all(
            _kind(event, "action") or _kind(event, "observation") for event in events
        )

    def conversations(self, value: Node) -> Iterator[Told]:
        """The one conversation of a run."""

        def steps(transcript: Transcript) -> Iterator[None]:
            run = _Run(transcript)
            for event in _events(value):
                with transcript.reporting(event.line):
                    run.record(event)
                yield
            for name, member in value.members.items() if value.kind == "object" else ():
                if name not in _TOLD:
                    transcript.leave_out(f"member {name}", member.line)

        yield Told(source_id=None, line=value.line, steps=steps, outcome=_outcome(value))


def _events(value: Node) -> list[Node]:
    """The events of a run; pairs of them are told one after the other."""
    listed = value if value.kind == "array" else value.get("history") if value.kind == "object" else None
    elements = listed.elements if listed is not None and listed.kind == "array" else []
    return [event for element in elements for event in (element.elements if element.kind == "array" else [element])]


def _kind(event: Node, name: str) -> str | None:
    """The kind of an action or an observation; a message of another format has a role."""
    return string_or_none(event.get(name)) if event.kind == "object" and event.get("role") is None else None


def _outcome(value: Node) -> OutcomeRecorded | None:
    success = value.get("success") if value.kind == "object" else None
    if success is None or success.kind != "boolean":
        return None
    detail = string_or_none(value.get("result_explanation"))
    return OutcomeRecorded(status="completed" if is_true(success) else "failed", judge=_JUDGE, detail=detail)


class _Run:
    """Records the events of one run in order, each answer of a model once, and knows which call an event made."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._answers: set[str] = set()
        self._calls: dict[str, str] = {}  # the call of each action, by its event's id

    def record(self, event: Node) -> None:
        """Record one event; ``InvalidInput`` says why it cannot be."""
        action, observation = _kind(event, "action"), _kind(event, "observation")
        if action is not None:
            self._record_action(event, action)
        elif observation in _STATES:
            self._transcript.leave_out(f"observation {observation}", event.line)
        elif observation is not None:
            self._record_observation(event, observation)
        else:
            raise InvalidInput(f"neither an action nor an observation at {event.path}", path=event.path)

    def _record_action(self, event: Node, action: str) -> None:
        source, given = string_or_none(event.get("source")), _given(event)
        if action == "system":
            self._record_said(event, "system", given)
        elif action == "message":
            waits = is_true(given.get("wait_for_response"))
            self._record_said(event, "assistant" if source == "agent" or (source is None and waits) else "user", given)
        elif source in ("user", "environment") or action in _BESIDE:
            self._transcript.leave_out(f"action {action}", event.line)
        elif (answer := _answer(event)) is not None:
            self._record_answer(event, answer)
        else:
            self._record_own(event, action, given)

    def _record_said(self, event: Node, role: Role, given: Node) -> None:
        """A message, or system text."""
        answer = _answer(event) if role == "assistant" else None
        if answer is not None:
            self._record_answer(event, answer)
            return
        parts: list[Part] = [*content_parts(given.get("content"), self._transcript), *_images(given, self._transcript)]
        self._transcript.record_turn(role, parts, About(external_id=_id(event)))

    def _record_answer(self, event: Node, answer: Node) -> None:
        """The answer of a model, once, even if it led to several actions."""
        metadata = event.members["tool_call_metadata"]
        own = string_or_none(metadata.get("tool_call_id"))
        self._remember(event, own)
        message, same = _message(answer), name_or_none(answer.get("id")) or answer.text
        if same in self._answers:
            return
        self._answers.add(same)
        parts: list[Part] = [*content_parts(message.get("content"), self._transcript)]
        parts += calls_of(message, self._transcript)[0]
        counts, model = answer.get("usage"), name_or_none(answer.get("model"))
        said = About(model=model, usage=usage(counts) if counts else None, external_id=_id(event))
        self._transcript.record_turn("assistant", parts, said)

    def _record_own(self, event: Node, action: str, given: Node) -> None:
        """An action whose model's answer is not kept."""
        metadata = _object(event, "tool_call_metadata")
        call_id, tool = f"action_{self._transcript.next_turn}", action
        if metadata is not None:
            call_id = name_or_none(metadata.get("tool_call_id")) or call_id
            tool = name_or_none(metadata.get("function_name")) or tool
        parts: list[Part] = [*text_parts(string_or_none(given.get("thought")) or "")]
        if action != "finish" or metadata is not None:
            arguments = {name: value for name, value in given.members.items() if name not in _FLAGS}
            call = tool_call(call_id, tool, members_text(arguments))
            parts += [call] if call is not None else []
        self._transcript.record_turn("assistant", parts, About(external_id=_id(event)))
        self._remember(event, next((part.call_id for part in parts if isinstance(part, ToolCallPart)), None))

    def _remember(self, event: Node, call_id: str | None) -> None:
        own = _id(event)
        if own is not None and call_id is not None:
            self._calls[own] = call_id

    def _record_observation(self, event: Node, observation: str) -> None:
        parts: list[ReturnPart] = [*content_parts(event.get("content"), self._transcript)]
        tool = name_or_none(event.get("observation"))
        said = About(external_id=_id(event))
        self._transcript.record_return(self._answered(event), parts, said, is_error=_failed(event, observation), tool=tool)

    def _answered(self, event: Node) -> str | None:
        """The call that an observation answers."""
        metadata = _object(event, "tool_call_metadata")
        named = name_or_none(metadata.get("tool_call_id")) if metadata is not None else None
        cause = event.get("cause")
        if named is None and cause is not None:
            return self._calls.get(cause.text)
        return named or next(iter(self._transcript.unanswered), None)


def _id(event: Node) -> str | None:
    """The id of an event, which is a number."""
    given = event.get("id")
    return given.text if given is not None and given.kind == "number" and is_name(given.text) else None


def _given(event: Node) -> Node:
    """The object with what an action was given: in an older form the event itself."""
    return _object(event, "args") or event


def _object(node: Node, name: str) -> Node | None:
    found = node.get(name)
    return found if found is not None and found.kind == "object" else None


def _answer(event: Node) -> Node | None:
    """The answer of the model that an event came from, if it is kept and holds a message."""
    metadata = _object(event, "tool_call_metadata")
    answer = _object(metadata, "model_response") if metadata is not None else None
    return answer if answer is not None and any(_object(one, "message") for one in objects_in(answer, "choices")) else None


def _message(answer: Node) -> Node:
    return next(found for one in objects_in(answer, "choices") if (found := _object(one, "message")) is not None)


def _images(given: Node, transcript: Transcript) -> Iterator[Part]:
    for name in ("image_urls", "images_urls"):
        listed = given.get(name)
        for url in listed.elements if listed is not None and listed.kind == "array" else ():
            image = image_at(url.string(), transcript) if url.kind == "string" else None
            yield image or opaque(url, provider=_PROVIDER, block=name)


def _failed(event: Node, observation: str) -> bool:
    success, code = event.get("success"), event.get("exit_code")
    return (
        observation == "error"
        or (success is not None and success.text == "false")
        or (code is not None and code.text not in ("0", "-1"))
    )
