"""What the turns of a ledger cost, kept in blocks, so that a process that only reads needs no tokenizer.

Numbers, and the names of tools and models; nothing of what was said. A card is kept with the versions that it counts: those of
the turn and its returns. It is used only where these are the same, or a beginning of them; whatever else is found in a row, it
is counted anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from ledger.errors import StoreError
from ledger.store import Store
from projections.basis import ENGINE
from projections.cards import Card
from replay.facts.rows import numbered
from replay.kept.derived_rows import purges
from replay.turns.blocks import BLOCK_TURNS, first_of_block

KIND: Final = "cards/2"
_SYSTEM: Final = "system"
_WORTH_KEEPING: Final = BLOCK_TURNS
_BLOCKS_IN_MEMORY: Final = 256

Counted = tuple[tuple[int, ...], Card]
"""The versions that a card counts, and the card."""


class TurnCards:
    """The cards of one ledger in one encoding; ``forgettings`` is how many forgettings were taken into account."""

    def __init__(self, store: Store, ledger: bytes, *, forgettings: int, encoding: str) -> None:
        self._store = store
        self._ledger = ledger
        self.encoding = encoding
        self._prefix = f"{ENGINE}/{encoding}/{forgettings}/"
        self._erasures = purges(store, ledger)
        self._blocks: OrderedDict[int, dict[int, Counted]] = OrderedDict()
        self._system: dict[int, int] | None = None
        self._new: dict[int, dict[int, Counted]] = {}
        self._new_system = False

    def load(self, turns: list[int]) -> None:
        """Read what is kept of some turns, in order."""
        wanted = [block for block in dict.fromkeys(map(first_of_block, turns)) if block not in self._blocks]
        while wanted:
            first = last = wanted.pop(0)
            while wanted and wanted[0] == last + BLOCK_TURNS:
                last = wanted.pop(0)
            self._read(first, last)
        while len(self._blocks) > _BLOCKS_IN_MEMORY:
            self._blocks.popitem(last=False)

    def card(self, turn: int, versions: tuple[int, ...]) -> Card | None:
        """The card of a turn that counts these versions; None if it has to be made."""
        found = self._blocks.get(first_of_block(turn), {}).get(turn)
        if found is None or found[0][: len(versions)] != versions:
            return None
        return found[1].as_of(versions[-1])

    def put(self, versions: tuple[int, ...], card: Card) -> None:
        """Take a card that was made."""
        block = first_of_block(card.number)
        known = self._blocks.setdefault(block, {}).get(card.number)
        if known is None or len(known[0]) < len(versions):
            self._blocks[block][card.number] = self._new.setdefault(block, {})[card.number] = (versions, card)

    def system(self, version: int, count: Callable[[], int]) -> int:
        """The tokens of a system text; ``count`` counts them where they are not known."""
        if self._system is None:
            self._system = _unpacked(_systems(), self._store.derived_get(self._ledger, KIND, self._prefix + _SYSTEM)) or {}
        if version not in self._system:
            self._system[version] = count()
            self._new_system = True
        return self._system[version]

    def is_worth_keeping(self) -> bool:
        """Whether so much was counted that it should be written."""
        return sum(map(len, self._new.values())) >= _WORTH_KEEPING

    def keep(self) -> None:
        """Write what is new, with what is known beside it, unless rows were purged since, or nothing can be written here."""
        rows = {self._prefix + numbered("", block): self._packed(block) for block in self._new}
        if self._new_system and self._system is not None:
            rows[self._prefix + _SYSTEM] = _systems().dump_json(self._system)
        self._new, self._new_system = {}, False
        if not rows:
            return
        try:
            self._store.derived_put_many(self._ledger, KIND, rows, erasures=self._erasures)
        except StoreError:  # what cannot be kept is no less true
            return

    def _read(self, first: int, last: int) -> None:
        after, before = numbered(self._prefix, first - 1), numbered(self._prefix, last + 1)
        scan = self._store.derived_scan(KIND, self._prefix, ledger=self._ledger, after=after, before=before)
        self._blocks |= {block: {} for block in range(first, last + 1, BLOCK_TURNS)}
        for row in scan.rows:
            cards: list[Counted] = _unpacked(_cards(), row.value) or []
            self._blocks[int(row.key.rpartition("/")[2], 16)] = {card.number: (versions, card) for versions, card in cards}

    def _packed(self, block: int) -> bytes:
        """All that is known of a block, which may have been put out of memory meanwhile."""
        if block not in self._blocks:
            self._read(block, block)
        known = self._blocks[block] | self._new[block]
        return _cards().dump_json([known[turn] for turn in sorted(known)])


def _unpacked(adapter: TypeAdapter[Any], row: bytes | None) -> Any:
    """What a row holds; None where there is none, or one of another form: it is made anew."""
    try:
        return None if row is None else adapter.validate_json(row)
    except ValidationError:
        return None


@cache
def _cards() -> TypeAdapter[list[Counted]]:
    return TypeAdapter(list[Counted])


@cache
def _systems() -> TypeAdapter[dict[int, int]]:
    return TypeAdapter(dict[int, int])
