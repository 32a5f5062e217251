"""Errors of the ledger: one base, few children, details as attributes.

Every message says what was wrong, where, and the way out. The base carries the details as keyword attributes, so that
programs need not read the message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class LedgerError(Exception):
    """Base of everything that this project raises on purpose.

    ``details`` holds what the message names (``error.details["field"]``); each is also an attribute.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.details = details

    def __getattr__(self, name: str) -> Any:
        details = self.__dict__.get("details", {})
        if name in details:
            return details[name]
        raise AttributeError(name)


class InvalidInput(LedgerError):
    """A value that came in cannot be recorded; names the place (``path``) and the way out."""


class LimitExceeded(InvalidInput):
    """A named limit of ``ledger.limits`` was passed; nothing was written."""


class AdmissionRefused(LedgerError):
    """An event may not follow what the ledger already holds; nothing was written."""


class SupersessionMismatch(AdmissionRefused):
    """``supersedes`` does not name the value that stands; ``given`` and ``standing`` show both."""


class ClosedLedger(AdmissionRefused):
    """The ledger was closed; it takes no more events."""


class ForgottenLedger(AdmissionRefused):
    """The ledger was forgotten; it takes events again once it is re-authorised."""


class SubjectForgotten(AdmissionRefused):
    """Whom the events are about was forgotten; they are taken again once the subject is re-authorised."""


class OnHold(AdmissionRefused):
    """A legal hold keeps content from being erased; nothing was."""


class NothingToForget(LedgerError):
    """Nothing in the store is what was named, or it is forgotten already: ``job`` then says by which job."""


class IdempotencyConflict(LedgerError):
    """An idempotency key was used again for a different request; the first result stays."""


class VersionConflict(LedgerError):
    """The ledger is not at the expected version; ``expected`` and ``actual`` show both."""


class UnknownLedger(LedgerError):
    """No ledger of that name is in the store; ``nearest`` lists similar names."""


class UnknownVersion(LedgerError):
    """A version, turn or time that the ledger has not reached."""


class UnknownEventType(LedgerError):
    """A stored event has a type or type version that this release does not know; it is never guessed."""


class CorruptRecord(LedgerError):
    """Stored bytes do not match what the envelope says of them."""


class StoreError(LedgerError):
    """The database could not do what was asked; the message says what to do about it."""


class NotAStore(StoreError):
    """What lies at the given place is not a store, and cannot become one: the caller named the wrong place."""


def sentence(text: str) -> str:
    """What a database said, with a full stop unless it has a mark of its own, so that more may follow."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def nearest(name: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The known names most like ``name``, best first, for messages that show the way out: those that begin so before others."""
    names = list(known)
    begin = [found for found in names if name and found.startswith(name)]
    return list(dict.fromkeys([*begin, *difflib.get_close_matches(name, names, n=most, cutoff=0.4)]))[:most]
