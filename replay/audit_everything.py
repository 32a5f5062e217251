"""What a conversation would have cost, had every request held all that was said before it.

Each turn is rendered once and counted alone, so the work grows with the conversation and not with its square. Neighbours of one
role share a message, as they do in a request; the line ends that join their texts may count a token more or less. What a call
returned counts from its turn on, however late it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from projections.auditing.audit import Sent
from projections.framing import MESSAGE_TOKENS, REQUEST_TOKENS
from projections.pieces import TurnPiece, media_of
from projections.policy import Policy
from projections.render.media import Media
from projections.render.openai import OpenAIRenderer
from projections.render.renderer import measure
from projections.state_block import Count
from projections.told import Turns
from projections.transcript import SystemText, Turn

NAME: Final = "everything"
"""What is compared with the policies."""

Blobs = Callable[[set[str]], Mapping[str, bytes]]
"""Gives the bytes of artifacts by their hashes."""

_CHUNK: Final = 64


def everything_sent(turns: Turns, policy: Policy, *, count: Count, blobs: Blobs) -> Sent:
    """All requests of a conversation, in OpenAI's form: one for every assistant turn after a user's, with all before it.

    ``policy`` says what pictures and documents cost.
    """
    talk = _Talk(policy, count, blobs)
    system = list(turns.system)
    given: tuple[SystemText, ...] = ()
    decisions = prompt = cached = 0
    head = talk.head(given)
    has_user = False
    for turn in _in_order(turns):
        if turn.role == "assistant" and has_user:
            shared = head + talk.shared
            while system and system[0][0].version < turn.version:
                given += (system.pop(0)[0],)
                shared = head  # it stands before all that was said
                head = talk.head(given)
            cached += shared if decisions else 0
            decisions += 1
            prompt += head + talk.ask()
        has_user = has_user or turn.role == "user"
        talk.add(turn)
    return Sent(NAME, None, decisions, 0, prompt, cached)


def _in_order(turns: Turns) -> Iterator[Turn]:
    for first in range(1, turns.last + 1, _CHUNK):
        yield from (told.turn for told in turns.between(first, first + _CHUNK - 1))


class _Talk:
    """The messages of a growing request, as numbers: those that stay as they are, and the last one, which may still grow.

    ``shared``: what the request of the last ``ask`` has in common with the one that would be asked now: all of it, since
    a message that grew begins as it did.
    """

    def __init__(self, policy: Policy, count: Count, blobs: Blobs) -> None:
        self._policy = policy
        self._count = count
        self._blobs = blobs
        self._closed = 0
        self._open = 0
        self._open_role: str | None = None
        self.shared = 0

    def head(self, system: tuple[SystemText, ...]) -> int:
        """What a request costs beside what was said."""
        return measure(OpenAIRenderer(system, (), self._policy, Media({}, complete=True)).request, self._count)

    def ask(self) -> int:
        """What all that was said costs in a request that is made now."""
        self.shared = self._closed + self._open
        return self.shared

    def add(self, turn: Turn) -> None:
        """One turn more."""
        for message in self._messages(turn):
            tokens = measure({"messages": [message]}, self._count) - REQUEST_TOKENS
            if message["role"] == self._open_role:
                self._open += tokens - MESSAGE_TOKENS - self._count(message["role"])
            else:
                self._closed += self._open
                self._open = tokens
            self._open_role = message["role"] if message["role"] != "tool" else None

    def _messages(self, turn: Turn) -> list[dict[str, Any]]:
        pieces = (TurnPiece(turn),)
        media = Media(self._blobs(media_of(pieces)), complete=True)
        messages: list[dict[str, Any]] = OpenAIRenderer((), pieces, self._policy, media).request["messages"]
        return messages
