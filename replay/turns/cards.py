"""What the turns of a ledger cost, kept in blocks, so that a process that only reads needs no tokenizer.

Numbers, and the names of tools and models; nothing of what was said. A card is kept with the versions that it counts: those of
the turn and its returns. It is used only where these are the same, or a beginning of them; whatever else is found in a row, it
is counted anew.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from ledger.errors import StoreError
from ledger.store import Store
from projections.basis import ENGINE
from projections.cards import Card
from replay.facts.rows import numbered
from replay.kept.derived_rows import purges
from replay.turns.blocks import BLOCK_TURNS, first_of_block
from replay.turns.card_rows import (
    Counted,
    card_of_line,
    line_of_card,
    packed_lines,
    packed_tokens,
    unpacked_lines,
    unpacked_tokens,
)

KIND: Final = "cards/3"
_SYSTEM: Final = "system"
_WORTH_KEEPING: Final = BLOCK_TURNS
_BLOCKS_IN_MEMORY: Final = 256


class _Block:
    """The cards of a block: those that were asked for, and the lines of the others, as they are kept."""

    def __init__(self, lines: dict[int, bytes]) -> None:
        self._lines = lines
        self._known: dict[int, Counted] = {}

    def get(self, turn: int) -> Counted | None:
        """The card of a turn."""
        found = self._known.get(turn)
        if found is None and turn in self._lines:
            found = self._known[turn] = card_of_line(self._lines.pop(turn))
        return found

    def put(self, turn: int, counted: Counted) -> None:
        """Take a card in the place of the one that there is."""
        self._lines.pop(turn, None)
        self._known[turn] = counted

    def lines(self) -> dict[int, bytes]:
        """The lines of all cards, by turn."""
        return self._lines | {turn: line_of_card(counted) for turn, counted in self._known.items()}


class TurnCards:
    """The cards of one ledger in one encoding; ``forgettings`` is how many forgettings were taken into account.

    ``through``: all turns up to that one are counted and kept, as they read now, but those in ``left``, of which something is
    missing that counts.
    """

    def __init__(self, store: Store, ledger: bytes, *, forgettings: int, encoding: str) -> None:
        self.through = 0
        self.left: frozenset[int] = frozenset()
        self._lost = False
        self._store = store
        self._ledger = ledger
        self.encoding = encoding
        self._prefix = f"{ENGINE}/{encoding}/{forgettings}/"
        self._erasures = purges(store, ledger)
        self._blocks: OrderedDict[int, _Block] = OrderedDict()
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
        block = self._blocks.get(first_of_block(turn))
        found = None if block is None else block.get(turn)
        if found is None:
            return None
        counted, card = found
        if counted == versions:
            return card
        return card.as_of(versions[-1]) if counted[: len(versions)] == versions else None

    def put(self, versions: tuple[int, ...], card: Card) -> None:
        """Take a card that was made."""
        block = first_of_block(card.number)
        cards = self._blocks.setdefault(block, _Block({}))
        known = cards.get(card.number)
        if known is None or len(known[0]) < len(versions):
            cards.put(card.number, (versions, card))
            self._new.setdefault(block, {})[card.number] = versions, card

    def system(self, version: int) -> int | None:
        """The tokens of a system text; None if they have to be counted."""
        return self._system_texts().get(version)

    def put_system(self, version: int, tokens: int) -> None:
        """Take the tokens of a system text that was counted."""
        self._system_texts()[version] = tokens
        self._new_system = True

    def _system_texts(self) -> dict[int, int]:
        if self._system is None:
            row = self._store.derived_get(self._ledger, KIND, self._prefix + _SYSTEM)
            self._system = {} if row is None else unpacked_tokens(row)
        return self._system

    def is_worth_keeping(self) -> bool:
        """Whether so much was counted that it should be written."""
        return sum(map(len, self._new.values())) >= _WORTH_KEEPING

    def keep(self) -> None:
        """Write what is new, with what is known beside it, unless rows were purged since, or nothing can be written here."""
        rows = {self._prefix + numbered("", block): self._packed(block) for block in self._new}
        if self._new_system and self._system is not None:
            rows[self._prefix + _SYSTEM] = packed_tokens(self._system)
        self._new, self._new_system = {}, False
        try:
            is_kept = not rows or self._store.derived_put_many(self._ledger, KIND, rows, erasures=self._erasures)
        except StoreError:  # what cannot be kept is no less true
            is_kept = False
        self._lost |= not is_kept

    def keep_through(self, turn: int, left: frozenset[int]) -> None:
        """The same, where all turns up to one are counted but those ``left``."""
        self.keep()
        if not self._lost:
            self.through, self.left = max(self.through, turn), left

    def changed(self, turn: int) -> None:
        """A turn reads otherwise by now."""
        self.through = min(self.through, turn - 1)

    def _read(self, first: int, last: int) -> None:
        after, before = numbered(self._prefix, first - 1), numbered(self._prefix, last + 1)
        scan = self._store.derived_scan(KIND, self._prefix, ledger=self._ledger, after=after, before=before)
        rows = {int(row.key.rpartition("/")[2], 16): row.value for row in scan.rows}
        for block in range(first, last + 1, BLOCK_TURNS):
            self._blocks[block] = _Block(unpacked_lines(block, rows[block]) if block in rows else {})

    def _packed(self, block: int) -> bytes:
        """All that is known of a block, which may have been put out of memory meanwhile."""
        if block not in self._blocks:
            self._read(block, block)
        new = {turn: line_of_card(counted) for turn, counted in self._new[block].items()}
        return packed_lines(block, self._blocks[block].lines() | new)
