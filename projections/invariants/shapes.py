"""A request of any form as the rules see it: messages with a role, and blocks of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

BlockKind = Literal["text", "media", "call", "result", "reasoning", "opaque"]
"""What a block is: said text, a picture or document, a call, its result, reasoning, or what only the provider knows."""

MessageRole = str
"""``user``, ``assistant``, ``tool`` (a message that holds nothing but results) or ``system``; others are a violation."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A place that a provider would refuse: the rule, the place in the request, and why."""

    rule: str
    path: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a message.

    ``text`` of a text; ``id`` of a call and of the call that a result answers; ``name`` of a tool; ``arguments`` of a call, and
    what a result holds where a form wants an object; ``value`` is the block as the request has it; ``inner`` has the blocks of
    a result.
    """

    kind: BlockKind
    path: str
    value: Any
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None
    inner: tuple[Block, ...] = ()
    is_error: bool = False
    is_marked: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A message, or an item of a request that has items."""

    role: MessageRole
    path: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A request: its system texts, where they stand beside the messages, its messages, and what else has a name in it."""

    system: tuple[Block, ...]
    messages: tuple[Message, ...]
    beside: tuple[str, ...] = ()

    @property
    def blocks(self) -> Iterator[tuple[Message, Block]]:
        """Every block with its message, those inside results too."""
        for message in self.messages:
            for block in message.blocks:
                yield message, block
                yield from ((message, inner) for inner in block.inner)


class Rule(Protocol):
    """One thing that a provider demands."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """Each place that breaks the rule."""
        ...
