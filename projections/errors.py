"""Why a window cannot be made, or a policy not be followed."""

from __future__ import annotations

from ledger.errors import InvalidInput, LedgerError


class BudgetExceeded(LedgerError):
    """What is never left out is larger than the budget: ``pins`` holds the tokens of each, ``budget_tokens`` what there is."""


class NothingToSend(LedgerError):
    """There is no user turn yet, so there is nothing that a model could answer."""


class PolicyUnavailable(LedgerError):
    """A policy needs what this program does not have: the rule ``name`` in ``version``. Nothing is guessed in its place."""


class UnknownEncoding(LedgerError, ValueError):
    """A name that is neither an encoding carried here nor a model that uses one.

    ``name`` is what was asked for, ``nearest`` a list of the most similar encodings and models, best first.
    """


class UnknownLanguage(InvalidInput, ValueError):
    """The provided rules do not speak this ``language``; ``known`` are those that they do."""
