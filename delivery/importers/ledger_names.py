"""Which ledger each conversation of a file goes into."""

from __future__ import annotations

from collections.abc import Iterator

from delivery.importers.naming import Names
from delivery.importers.reading import Conversation, TranscriptFile
from ledger.errors import LedgerError


class SeveralConversations(LedgerError):
    """One ledger was named for a file that holds ``count`` conversations."""


def named(file: TranscriptFile, ledger: str | None) -> Iterator[tuple[str, Conversation]]:
    """The conversations of a file, each with the name of its ledger; ``ledger`` names that of the only one.

    The names of children begin with that of their ledger. ``SeveralConversations`` where one name is given for several.
    """
    if ledger is not None:
        yield from _under(ledger, file)
        return
    names = Names()
    for conversation in file:
        yield names.name(conversation.source_id, conversation.events), conversation


def _under(ledger: str, file: TranscriptFile) -> Iterator[tuple[str, Conversation]]:
    first, children, count = None, [], 0
    for conversation in file:
        if first is None:
            first = conversation
        elif conversation.parent is not None:
            children.append(conversation)
            continue
        count += 1
    if count > 1:
        raise SeveralConversations(
            f"{file.path} holds {count} conversations, but one ledger was named: leave it out, so that each "
            "gets a ledger of its own, or give a file with one conversation",
            path=str(file.path),
            count=count,
        )
    assert first is not None, "a file without a conversation is refused"
    yield ledger, first
    for child in children:
        child.child_of(_renamed(child.parent, first.source_id, ledger))
        yield _renamed(child.source_id, first.source_id, ledger), child


def _renamed(name: str | None, root: str | None, ledger: str) -> str:
    """The name of a child's ledger, or of its parent's, where the topmost has another name than in the source."""
    own = name or ""
    if root is None or own == root:
        return ledger
    return f"{ledger}/{own.removeprefix(f'{root}/')}"
