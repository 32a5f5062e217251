"""The conversation as it was recorded: system texts, turns, and what their calls returned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final

from ledger.assembling import assembler, values_of
from ledger.erased import Erased, Forgotten
from ledger.events import Role, ToolReturned, TurnRecorded
from ledger.parts import JsonPart, Part, ReturnPart, TextPart, ToolCallPart, Usage
from ledger.record import Recorded
from ledger.standing import result_id


@dataclass(frozen=True, slots=True)
class Return:
    """What a tool returned for one call; ``orphan`` answers no call that was recorded. Of a forgotten one the mark is left."""

    version: int
    call_id: str
    parts: tuple[ReturnPart | Forgotten, ...]
    is_error: bool
    orphan: bool
    tool: str | None

    @property
    def id(self) -> str:
        """The id by which the whole result can be named (``r_12``)."""
        return result_id(self.version)

    @property
    def text(self) -> str:
        """Its text, as far as it has some."""
        return text_of(self.parts)


@dataclass(frozen=True, slots=True)
class Turn:
    """A user or assistant turn with its number, and what its calls have returned so far, in the order in which it came.

    A forgotten turn keeps its number and role; its only part is the mark, which is also ``forgotten``. ``said_at`` is when it
    was said, where that is known: what it says of "tomorrow" is meant from there. ``usage``: what its provider counted for it.
    """

    number: int
    version: int
    role: Role
    parts: tuple[Part | Forgotten, ...]
    returns: tuple[Return, ...] = ()
    name: str | None = None
    model: str | None = None
    forgotten: Forgotten | None = None
    said_at: datetime | None = None
    usage: Usage | None = None

    @property
    def calls(self) -> tuple[ToolCallPart, ...]:
        """The tools that it calls."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))

    @property
    def text(self) -> str:
        """Its text, without calls, pictures and reasoning."""
        return text_of(self.parts)

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing: no parts at all, or only white space."""
        return not any(not isinstance(part, TextPart) or part.text.strip() for part in self.parts)

    def answer_to(self, call_id: str) -> Return | None:
        """What a call of this turn returned, if it has."""
        for found in self.returns:
            if found.call_id == call_id and not found.orphan:
                return found
        return None


def answered_calls(turn: Turn) -> tuple[tuple[ToolCallPart, Return], ...]:
    """The calls of a turn that were answered, in order, each with what it returned."""
    pairs = ((call, turn.answer_to(call.call_id)) for call in turn.calls)
    return tuple((call, found) for call, found in pairs if found is not None)


@dataclass(frozen=True, slots=True)
class SystemText:
    """System text; it has no turn number."""

    version: int
    parts: tuple[Part | Forgotten, ...]

    @property
    def text(self) -> str:
        """The text."""
        return text_of(self.parts)


@dataclass(frozen=True, slots=True)
class Transcript:
    """All system texts and turns up to a version. ``orphans`` are returns that came before any turn."""

    system: tuple[SystemText, ...]
    turns: tuple[Turn, ...]
    orphans: tuple[Return, ...]


def text_of(parts: tuple[Any, ...]) -> str:
    """The text of parts, one to a line; a JSON value counts as its source text, a forgotten part as its mark."""
    return "\n".join(text for text in map(_text_of, parts) if text is not None)


def _text_of(part: Any) -> str | None:
    match part:
        case TextPart(text=text):
            return text
        case JsonPart(value=value):
            return value
        case Forgotten():
            return str(part)
        case _:
            return None


_turn: Final = assembler(Turn)
_return: Final = assembler(Return)
_values_of_turn: Final = values_of(Turn)
_RETURNS: Final = Turn.__slots__.index("returns")


class TranscriptFold:
    """Folds turns and returns.

    Forgotten system text is left out, and so are forgotten returns that answered no call that is known.
    """

    reads: ClassVar[frozenset[type[Any]]] = frozenset({TurnRecorded, ToolReturned, Erased})

    def __init__(self) -> None:
        self._system: list[SystemText] = []
        self._turns: dict[int, Turn] = {}
        self._returns: dict[int, list[Return]] = {}
        self._orphans: list[Return] = []

    def evolve(self, recorded: Recorded) -> None:
        """Add a turn, or a return to its turn."""
        event = recorded.event
        if isinstance(event, TurnRecorded):
            self._turn(recorded.version, event)
        elif isinstance(event, ToolReturned):
            returned = _return(recorded.version, event.call_id, event.parts, event.is_error, event.orphan, event.tool)
            kept = self._orphans if event.turn is None else self._returns.setdefault(event.turn, [])
            kept.append(returned)
        elif isinstance(event, Erased):
            self._erased(recorded.version, event)

    def _turn(self, version: int, event: TurnRecorded) -> None:
        if event.turn is None:
            self._system.append(SystemText(version, event.parts))
        else:
            self._turns[event.turn] = _turn(
                event.turn,
                version,
                event.role,
                event.parts,
                name=event.name,
                model=event.model,
                said_at=event.said_at,
                usage=event.usage,
            )

    def _erased(self, version: int, event: Erased) -> None:
        if event.turn is None:
            return
        if event.type == "turn.recorded":
            mark = event.forgotten
            self._turns[event.turn] = Turn(event.turn, version, event.role or "user", (mark,), forgotten=mark)
        elif event.type == "tool.returned" and event.answers is not None and event.turn in self._turns:
            for call in self._turns[event.turn].calls[event.answers : event.answers + 1]:
                returned = Return(version, call.call_id, (event.forgotten,), is_error=False, orphan=False, tool=None)
                self._returns.setdefault(event.turn, []).append(returned)

    def result(self) -> Transcript:
        """The transcript up to the last event."""
        turns = self._turns | {number: self._answered(number) for number in self._returns if number in self._turns}
        return Transcript(tuple(self._system), tuple(turns.values()), tuple(self._orphans))

    def _answered(self, number: int) -> Turn:
        values = [*_values_of_turn(self._turns[number])]
        values[_RETURNS] = tuple(self._returns[number])
        return _turn(*values)
