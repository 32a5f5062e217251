"""What a turn costs in a form under a policy, and what stubs and cuts of its results save: worked out once a turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from ledger.assembling import assembler
from projections.compacting.middle import Stub
from projections.framing import Framing, note_price, price
from projections.pieces import TurnPiece
from projections.planning.shown import Shown
from projections.planning.tailing import clearable_tokens, cuttable_tokens, is_too_large
from projections.policy import Policy
from projections.told import Told

_shown: Final = assembler(Shown)


class Form(Protocol):
    """What pricing has to know of a provider's form."""

    provider: str
    framing: Framing


class Cost(NamedTuple):
    """What a turn costs ``whole``, and ``said`` without the contents of its results; what stubs and cuts save.

    ``pressing``: what it costs where it is shown, nothing if it is too large for that.
    """

    whole: int
    said: int
    saved: int
    cuttable: int
    pressing: int


class Priced(NamedTuple):
    """A turn whole, and what it costs."""

    shown: Shown
    cost: Cost


@dataclass(frozen=True, slots=True)
class Pricing:
    """Prices in a form under a policy."""

    form: Form
    policy: Policy

    def priced(self, told: Told) -> Priced:
        """A turn whole, and what it costs; the turn remembers it."""
        return told.recall(("priced", self.form, self.policy.settling), self._priced)

    def price(self, told: Told, replaced: Mapping[int, int]) -> int:
        """What a turn costs in the form."""
        return price(told.card, self.form.framing, self.policy, self.form.provider, replaced)

    def stubbed(self, told: Told, stubs: Sequence[Stub]) -> Shown:
        """A turn with stubs in the place of results."""
        tokens = self.price(told, {stub.version: stub.tokens for stub in stubs})
        return _shown(told, tokens, TurnPiece(told.turn, {stub.version: stub.text for stub in stubs}))

    def result_price(self, told: Told, version: int) -> int:
        """What the contents of a result cost in the form; the turn remembers it."""
        key = ("result", version, self.form, self.policy.settling)
        return told.recall(key, lambda told: self.price(told, {}) - self.price(told, {version: 0}))

    def note(self, tokens: int) -> int:
        """What a text of ours costs in the form."""
        return note_price(tokens, self.form.framing)

    def _priced(self, told: Told) -> Priced:
        whole, results = self.price(told, {}), told.card.results
        said = self.price(told, {result.version: 0 for result in results}) if results else whole
        if is_too_large(told.card, self.policy):
            cost = Cost(whole, said, 0, 0, 0)
        else:
            saved, cuttable = clearable_tokens(told.card, self.policy), cuttable_tokens(told.card, self.policy)
            cost = Cost(whole, said, saved, cuttable, whole)
        return Priced(_shown(told, whole, TurnPiece(told.turn)), cost)
