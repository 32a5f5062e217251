"""What can go wrong before a model has said anything, or because it said nothing that can be read."""

from __future__ import annotations

from ledger.errors import LedgerError


class ExtraMissing(LedgerError):
    """A library is not installed that only some need; ``extra`` names what to install it with."""


class EndpointFailed(LedgerError):
    """An endpoint could not be asked, or gave no answer that can be read: nothing was found, and nothing is lost.

    ``status`` is that of HTTP, None where there was no answer; ``url`` is the address, and ``model`` the model that was asked.
    """
