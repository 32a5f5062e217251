"""Which dialogues the everyday run looks at: a few of each set, always the same; the slow run looks at all."""

from __future__ import annotations

from typing import Final

from tests.state.conversation import Conversation

MOST_EVERY_DAY: Final = 8


def sample(conversations: list[Conversation], most: int) -> list[Conversation]:
    """At most so many of them, spread evenly, from the first on."""
    return conversations[:: -(-len(conversations) // most)]
