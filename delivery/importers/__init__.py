"""Transcripts that others wrote, read into the ledger: one file a format, one line in this catalogue."""

from __future__ import annotations

from typing import Final, Protocol

from delivery.importers.anthropic import AnthropicMessages
from delivery.importers.openai import OpenAIChat
from delivery.importers.source import Node
from delivery.importers.transcript import Transcript


class Format(Protocol):
    """How one vendor writes a conversation. Formats are told apart by what they contain, never by the name of
    a file.
    """

    @property
    def name(self) -> str:
        """The name by which the format is asked for."""
        ...

    def reads(self, message: Node) -> bool:
        """Whether the format knows the role and the shape of the content of a message (an object)."""
        ...

    def marks(self, message: Node) -> bool:
        """Whether a message (an object) has what only this format writes."""
        ...

    def marks_body(self, body: Node) -> bool:
        """Whether a request (an object) has what only requests of this format have."""
        ...

    def record_system(self, system: Node, transcript: Transcript) -> None:
        """Record system text that stands beside the messages."""
        ...

    def record(self, message: Node, transcript: Transcript) -> None:
        """Record one message; ``InvalidInput`` says why it cannot be."""
        ...


FORMATS: Final[dict[str, Format]] = {
    known.name: known
    for known in (
        OpenAIChat(),
        AnthropicMessages(),
    )
}
"""Every format, by name; where a conversation fits several equally well, the first of them reads it."""
