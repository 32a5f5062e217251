"""What a conversation says besides its turns and returns: whose child it is, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from delivery.importers.reading import Conversation
from delivery.importers.spoken import Made
from ledger.erased import Erased
from ledger.errors import InvalidInput
from ledger.events import Event, LedgerOpened


class Around:
    """Compares that with what a ledger holds. What was forgotten is not brought back, and an outcome that stands already is
    not recorded again, even if turns came after it.
    """

    def __init__(self, ledger: str, conversation: Conversation) -> None:
        self._ledger = ledger
        self._opening = conversation.opening
        self._outcome = conversation.outcome

    def see(self, event: Event | Erased) -> None:
        """Look at the next event of the ledger; ``InvalidInput`` where it is the child of another one."""
        if event.type == "ledger.opened":
            self._see_opening(event)
        elif event.type == "outcome.recorded" and (isinstance(event, Erased) or event == self._outcome):
            self._outcome = None

    def _see_opening(self, event: Event | Erased) -> None:
        if isinstance(event, LedgerOpened) and self._opening is not None and event.parent != self._opening.parent:
            was = "without a parent" if event.parent is None else f"as a child of {event.parent!r}"
            raise InvalidInput(
                f"ledger {self._ledger!r} was opened {was}, in the file it is a child of {self._opening.parent!r}: "
                "name another ledger for this conversation",
                path="parent",
                ledger=self._ledger,
            )
        self._opening = None

    def before(self) -> Iterator[Made]:
        """What stands before the turns, and is not recorded yet."""
        if self._opening is not None:
            yield Made(self._opening)

    def after(self) -> Iterator[Made]:
        """What stands after the turns, and is not recorded yet."""
        if self._outcome is not None:
            yield Made(self._outcome)
