"""The events of one conversation, in the making: numbers the turns, pairs returns with calls, keeps inline
bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from delivery.importers.blocks import About, is_name
from delivery.importers.comparison import size_of
from delivery.importers.left_out import LeftOut, Skipped
from delivery.importers.spoken import Brought, Spoken
from ledger.codec import encode
from ledger.errors import InvalidInput, LimitExceeded
from ledger.events import ArtifactStored, Role, ToolReturned, TurnRecorded
from ledger.limits import MAX_ARTIFACT_BYTES, MAX_PAYLOAD_BYTES
from ledger.parts import DocumentPart, ImagePart, Part, ReturnPart, ToolCallPart

NO_CALL_ID = "no-call-id"
"""The call id of a return whose message names none."""


_MOST_BYTES_OF_A_CHARACTER: Final = 12
"""In a payload: an astral character of foreign JSON, as two escapes."""


class Transcript:
    """Takes a conversation's messages in order and hands over what they became.

    ``skipped`` says what could not be recorded, and why; ``left_out`` counts what is no turn, by its kind.
    ``has_assistant``: whether an assistant turn was recorded.
    """

    def __init__(self, *, model: str | None = None) -> None:
        self.skipped: list[Skipped] = []
        self.left_out = LeftOut()
        self.model = model
        self._spoken: list[Spoken] = []
        self._turn = 0
        self._waiting: dict[str, list[tuple[int, int]]] = {}  # the turn of each call, and its place among those of the turn
        self._called: dict[str, int] = {}
        self._last_calls: list[str] = []
        self.has_assistant = False
        self._nameless: list[ToolCallPart] = []
        self._pending: dict[str, Brought] = {}

    def take(self) -> list[Spoken]:
        """What was recorded since it was last asked for, which ends a message."""
        spoken, self._spoken = self._spoken, []
        self._pending.clear()
        return spoken

    @property
    def next_turn(self) -> int:
        """The number of the turn that would be recorded next."""
        return self._turn + 1

    @property
    def unanswered(self) -> list[str]:
        """The ids of the calls of the last turn that wait for a return, in order."""
        return [call for call in self._last_calls if any(turn == self._turn for turn, _ in self._waiting.get(call, ()))]

    def store(self, data: bytes, *, media_type: str | None, name: str | None = None) -> str:
        """Keep inline bytes as an artifact of the message at hand and return their SHA-256."""
        if len(data) > MAX_ARTIFACT_BYTES:
            raise LimitExceeded(f"inline bytes: {len(data):,}, over MAX_ARTIFACT_BYTES ({MAX_ARTIFACT_BYTES:,})", path="$")
        sha256 = hashlib.sha256(data).hexdigest()
        event = ArtifactStored(sha256=sha256, size_bytes=len(data), media_type=media_type, name=name)
        self._pending.setdefault(sha256, Brought(event, data))
        return sha256

    def record_turn(self, role: Role, parts: Sequence[Part], about: About) -> None:
        """Record a message as a turn, even if it is empty. The request's model is taken for that of its
        assistant turns.
        """
        number = None if role == "system" else self._turn + 1
        self._add(
            TurnRecorded(
                turn=number,
                role=role,
                parts=tuple(parts),
                name=about.name,
                model=about.model or (self.model if role == "assistant" else None),
                usage=about.usage,
                external_id=about.external_id,
                said_at=about.said_at,
            )
        )
        self._turn = number or self._turn
        self.has_assistant = self.has_assistant or role == "assistant"
        calls = [part for part in parts if isinstance(part, ToolCallPart)]
        self._last_calls = self._last_calls if number is None else [call.call_id for call in calls]
        for place, call in enumerate(calls):
            self._waiting.setdefault(call.call_id, []).append((self._turn, place))
            self._called[call.call_id] = self._turn

    def record_return(
        self,
        call_id: str | None,
        parts: Sequence[ReturnPart],
        about: About,
        *,
        is_error: bool = False,
        tool: str | None = None,
    ) -> None:
        """Record what a tool returned, for the latest turn in which its call still waits.

        A return that no call waits for is an orphan; it bears the turn of a call of its id that was answered
        before, if any.
        """
        given = call_id if call_id is not None and is_name(call_id) else NO_CALL_ID
        waiting = self._waiting.get(given)
        turn, answers = waiting[-1] if waiting else (None, None)
        self._add(
            ToolReturned(
                turn=turn or self._called.get(given),
                call_id=given,
                parts=tuple(parts),
                is_error=is_error,
                orphan=turn is None,
                tool=tool,
                external_id=about.external_id,
                said_at=about.said_at,
            ),
            answers,
        )
        self._nameless = [call for call in self._nameless if call.call_id != given]
        if waiting:
            waiting.pop()

    def note_nameless(self, call: ToolCallPart) -> None:
        """A call that came without an id and got one here: returns without an id may answer it."""
        self._nameless.append(call)

    def nameless_call(self, tool: str | None) -> str | None:
        """The id of the oldest call without an id of its own that waits for a return, of the given tool if
        one is given.
        """
        calls = (call.call_id for call in self._nameless if tool is None or call.tool == tool)
        return next(calls, None)

    @contextmanager
    def reporting(self, line: int) -> Iterator[None]:
        """Report a message that cannot be recorded (``InvalidInput``) instead of ending the import."""
        try:
            yield
        except InvalidInput as error:
            self.skip(line, str(error))

    def skip(self, line: int, reason: str) -> None:
        """Report a message that could not be recorded, by the line of the file (from 1) at which it begins."""
        self.skipped.append(Skipped(line, reason))

    def leave_out(self, kind: str, line: int) -> None:
        """Count something that is neither a turn nor a return."""
        self.left_out.add(kind, line)

    def _add(self, event: TurnRecorded | ToolReturned, answers: int | None = None) -> None:
        if size_of(event) * _MOST_BYTES_OF_A_CHARACTER > MAX_PAYLOAD_BYTES:
            encode(event)  # LimitExceeded costs this message alone; from an append it would end the import
        referred = dict.fromkeys(part.sha256 for part in event.parts if isinstance(part, ImagePart | DocumentPart))
        artifacts = tuple(self._pending[sha256] for sha256 in referred if sha256 in self._pending)
        self._spoken.append(Spoken(event, artifacts, answers))
