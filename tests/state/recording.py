"""A conversation recorded through the public commands: its turns, and after each user turn its annotated state as facts."""

from __future__ import annotations

from collections.abc import Mapping

from ledger import Ledger, Ledgers
from tests.state.conversation import Conversation, Spellings


def record(store: Ledgers, conversation: Conversation) -> None:
    """Record a conversation as a new ledger of its name."""
    handle = store.ledger(conversation.name)
    standing: dict[str, str] = {}
    users = 0
    for number, (role, text) in enumerate(conversation.turns, start=1):
        handle.record_turn(role, text)
        users = number if role == "user" else users
        if number in conversation.states:
            _state(handle, standing, conversation.states[number], turn=users)


def _state(handle: Ledger, standing: dict[str, str], state: Mapping[str, Spellings], *, turn: int) -> None:
    """State every slot again, changed or not, and retract those that hold nothing any more."""
    for slot in [slot for slot in standing if slot not in state]:
        handle.retract_fact(slot, source="user", turn=turn)
        del standing[slot]
    for slot, spellings in state.items():
        before = standing.get(slot)
        value = before if before in spellings else spellings[0]
        handle.set_fact(slot, value, source="user", turn=turn, supersedes=before)
        standing[slot] = value
