"""Transcripts that others wrote, read into the ledger: one file a format, one line in this catalogue.

Formats are told apart by what they contain, never by the name of a file. A *message format* says what one message means,
wherever a list of messages stands. A *whole format* knows more than messages: where the conversations of a file are, how
they belong together, what in them is a call and what a return. It is asked before the message formats, in one of three
shapes: a JSON value, JSON lines, or text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from delivery.importers.anthropic import AnthropicMessages
from delivery.importers.claude_code import ClaudeCode
from delivery.importers.langchain import LangChain
from delivery.importers.litellm import LiteLlm
from delivery.importers.mini_swe_agent import MiniSweAgent
from delivery.importers.openai import OpenAIChat
from delivery.importers.openhands import OpenHands
from delivery.importers.records import Records
from delivery.importers.source import Node
from delivery.importers.specstory import SpecStory
from delivery.importers.swe_agent import SweAgent
from delivery.importers.told import Told
from delivery.importers.transcript import Transcript
from delivery.importers.who_and_when import WhoAndWhen


class Format(Protocol):
    """How one vendor writes a message."""

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


class ValueFormat(Protocol):
    """A whole format whose conversations stand in one JSON value: the file, a line of it, or an element of a list."""

    @property
    def name(self) -> str:
        """The name by which the format is asked for."""
        ...

    def claims(self, value: Node) -> bool:
        """Whether a value has what only this format writes."""
        ...

    def conversations(self, value: Node) -> Iterator[Told]:
        """The conversations of a value that the format claims; ``InvalidInput`` where there can be none."""
        ...


class RecordFormat(Protocol):
    """A whole format whose records stand on lines of their own, as JSON."""

    @property
    def name(self) -> str:
        """The name by which the format is asked for."""
        ...

    def claims(self, beginning: Sequence[Node]) -> bool:
        """Whether the first records of a file (at least one) have what only this format writes."""
        ...

    def conversations(self, records: Records) -> Iterator[Told]:
        """The conversations of a file, whose records are gone through once."""
        ...


class TextFormat(Protocol):
    """A whole format that is text, such as Markdown."""

    @property
    def name(self) -> str:
        """The name by which the format is asked for."""
        ...

    def claims(self, beginning: str) -> bool:
        """Whether the first characters of a file (65,536 bytes at most, cut anywhere) are what only this format writes."""
        ...

    def conversations(self, text: str) -> Iterator[Told]:
        """The conversations of a text; ``InvalidInput`` where there can be none."""
        ...


FORMATS: Final[dict[str, Format]] = {
    known.name: known
    for known in (
        OpenAIChat(),
        AnthropicMessages(),
    )
}
"""Every message format, by name; where a conversation fits several equally well, the first of them reads it."""

VALUE_FORMATS: Final[tuple[ValueFormat, ...]] = (
    SweAgent(),
    OpenHands(),
    WhoAndWhen(),
    LangChain(),
    MiniSweAgent(),
    LiteLlm(),
)
"""Every whole format that is a JSON value; the first that claims a value reads it."""

RECORD_FORMATS: Final[tuple[RecordFormat, ...]] = (ClaudeCode(),)
"""Every whole format of JSON lines; the first that claims a file reads it."""

TEXT_FORMATS: Final[tuple[TextFormat, ...]] = (SpecStory(),)
"""Every whole format that is text; the first that claims a file reads it."""

NAMES: Final[tuple[str, ...]] = tuple(
    dict.fromkeys(
        [
            *FORMATS,
            *(known.name for known in VALUE_FORMATS),
            *(known.name for known in RECORD_FORMATS),
            *(known.name for known in TEXT_FORMATS),
        ]
    )
)
"""The names by which formats are asked for; one format may have several shapes."""
