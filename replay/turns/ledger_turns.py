"""The turns of a ledger as of a version, with their cards, at the cost of those that are asked for.

Where content may be past its retention, which only the whole ledger tells, all of it is read, and likewise where it was read
already. The answers are the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from ledger import Ledgers
from ledger.events import SummaryRecorded, TurnClassified
from ledger.record import Recorded
from projections.amendments import AmendmentsFold
from projections.cards import Card
from projections.compacting.turn_stubs import make_ready
from projections.encodings import ENCODINGS
from projections.fold import run
from projections.state_block import Count
from projections.told import Told, Turns
from projections.transcript import SystemText, Turn
from replay.kept.overtaken import Overtaken, attempts
from replay.kept.warm import Row, Shelf, shelf_of
from replay.loading import Loaded, load
from replay.tokens import counter
from replay.turns.blocks import BLOCK_TURNS, Versions
from replay.turns.documents import documents_of
from replay.turns.folded import FoldedTurns, system_tokens, told
from replay.turns.latest import MOST_LATEST, NO_END, LatestTurns, One, SameTurns, tokens_of
from replay.turns.reading import TurnReader

Answer = TypeVar("Answer")

_AT_ONCE: Final = 16 * BLOCK_TURNS
_FEW: Final = BLOCK_TURNS
"""So many turns are looked up one by one: more are not kept in one piece, nor when they are counted."""

_FEWEST: Final = 4
"""Fewer are looked up as quickly as they are compared."""


Tell = Callable[[Shelf, Sequence[int]], list[One]]


class _Holds(NamedTuple):
    """The versions of a turn and its returns, as of a version, and the one at which the next return came, if one did."""

    read: Versions
    until: int | None


def turns_of(loaded: Loaded, encoding: str, shelf: Shelf | None = None) -> Turns:
    """The turns of a ledger as it was loaded, counted in an encoding (``projections.encodings.ENCODINGS``).

    ``shelf``: the ledger's, if it is at hand.
    """
    if loaded.is_read or not loaded.nothing_is_due:
        return folded_turns(loaded, counter(encoding))
    return LedgerTurns(loaded, encoding, shelf)


def turns_alone(loaded: Loaded) -> Callable[[int, int], Sequence[Turn]]:
    """A reader of turns without their cards, from one number to another; nothing of them is counted."""
    return LedgerTurns(loaded, ENCODINGS[0]).alone


def said_between(loaded: Loaded, first: int, last: int) -> Sequence[Recorded]:
    """The classifications of the turns from one to another, and the summaries of exactly these, as far as they are known."""
    if loaded.is_read or not loaded.nothing_is_due:
        return [item for item in loaded.events if _is_about(item, first, last)]
    return LedgerTurns(loaded, ENCODINGS[0]).said(first, last)


def amendments_since(loaded: Loaded, version: int, *, most: int) -> list[int]:
    """The versions of what was recorded after a version that changed how earlier turns read, the latest ones, in order."""
    return LedgerTurns(loaded, ENCODINGS[0]).amendments(version, most=most) if loaded.nothing_is_due else []


def folded_turns(loaded: Loaded, count: Count) -> FoldedTurns:
    """The same turns by folding all events."""
    amendments = AmendmentsFold()
    run([amendments], loaded.events)
    return FoldedTurns(loaded.transcript, amendments, count=count, documents=lambda hashes: documents_of(loaded, hashes))


def bring_up_to_date(store: Ledgers, ledger_id: str, *, encoding: str) -> None:
    """Write where the turns of a ledger stand and what they cost, the last ones too, so that the next process finds it so.

    Whoever has recorded turns calls it, such as an importer, or an agent while its model answers: of a few turns, what their
    stubs are made of is made ready in this process, too. It may be called by many processes at once, and where nothing can be
    written it changes nothing. Raises ``UnknownLedger``, and ``UnknownEncoding`` for an encoding that is not known.
    """
    loaded = load(store, store.head(ledger_id), None, None)
    counter(encoding)
    if not loaded.nothing_is_due:
        return
    LedgerTurns(loaded, encoding).count()


class LedgerTurns:
    """The ``Turns`` of a ledger, read one by one as they are asked for."""

    def __init__(self, loaded: Loaded, encoding: str, shelf: Shelf | None = None) -> None:
        self._loaded = loaded
        self._count = counter(encoding)
        self._shelf = shelf or shelf_of(loaded)
        self._cards = self._shelf.cards(encoding)
        self._version = loaded.version
        self._reader = TurnReader(loaded, self._shelf)
        self._missed = False
        # What reads otherwise at another time, for this answer alone.
        self._own: dict[int, Told] = {}
        self._amendments: dict[int, int] = {}
        # No cached properties: in Python 3.11 all instances share their lock, and some are asked who hold the shelf's already.
        self._known_last: int | None = None
        self._known_system: tuple[tuple[SystemText, int], ...] | None = None
        self._known_latest: dict[Row, LatestTurns[Any]] = {}  # as far as they were asked for

    @property
    def last(self) -> int:
        """The number of the last turn; 0 if there is none."""
        if self._known_last is None:
            self._known_last = self._asked(lambda shelf: shelf.index.last_at(self._version))
        return self._known_last

    @property
    def system(self) -> tuple[tuple[SystemText, int], ...]:
        """The system texts in order, each with its tokens."""
        if self._known_system is None:
            self._known_system = self._asked(self._system)
        return self._known_system

    def between(self, first: int, last: int) -> Sequence[Told]:
        """The turns from ``first`` to ``last``, both included, in order; as far as there are any."""
        return self._in_a_row("turns", self._tell, first, last)

    def cards(self, first: int, last: int) -> Sequence[Card]:
        """What the turns from ``first`` to ``last`` cost, likewise."""
        return self._in_a_row("cards", self._tell_cards, first, last)

    def at(self, numbers: Iterable[int]) -> Mapping[int, Told]:
        """The turns of some numbers."""
        given = [*numbers]
        return self._asked(partial(self._known_same, numbers=given)) or self._at(given)

    def _at(self, numbers: list[int]) -> Mapping[int, Told]:
        last = self.last
        wanted = sorted({number for number in numbers if 1 <= number <= last})
        if not wanted:
            return {}
        if not _FEWEST <= len(wanted) <= _FEW:
            return dict(zip(wanted, self._in_parts(wanted, self._tell), strict=True))
        return self._asked(partial(self._tell_same, numbers=wanted))

    def amended(self, through_turn: int) -> int:
        """The version of the last event that changed how a turn up to ``through_turn`` reads after the next one had begun."""
        if through_turn not in self._amendments:
            self._amendments[through_turn] = self._asked(lambda shelf: shelf.index.amended(through_turn, self._version))
        return self._amendments[through_turn]

    def amendments(self, after: int, *, most: int) -> list[int]:
        """The versions of the latest events after a version that ``amended`` may name."""
        return self._asked(lambda shelf: shelf.index.amendments(after, most=most))

    def said(self, first: int, last: int) -> Sequence[Recorded]:
        """What was said of the turns from ``first`` to ``last``, see ``said_between``."""
        found = self._asked(lambda shelf: self._reader.events(shelf.index.said(first, last, self._version)))
        return [item for item in found if _is_about(item, first, last)]

    def alone(self, first: int, last: int) -> Sequence[Turn]:
        """The turns from ``first`` to ``last``, without their cards."""
        numbers = range(max(first, 1), min(last, self.last) + 1)
        return self._asked(lambda shelf: self._alone(shelf, numbers)) if numbers else ()

    def count(self) -> None:
        """Make the cards of turns that have none yet, and write what is known of turns, cards, system texts and what stands."""
        last, left = self.last, set[int]()
        wanted = self._asked(lambda _: sorted(self._cards.left.union(range(self._cards.through + 1, last + 1))))
        for start in range(0, len(wanted), _AT_ONCE):
            left |= self._asked(partial(self._count_missing, numbers=wanted[start : start + _AT_ONCE]))
        assert self.system is not None, "asked for, they are counted"
        with self._shelf.lock:
            self._shelf.live.standing(self._loaded)
            self._shelf.index.keep()
            if self._shelf.is_last(self._version):
                self._cards.keep_through(last, frozenset(left))
            else:
                self._cards.keep()

    def _asked(self, question: Callable[[Shelf], Answer]) -> Answer:
        """An answer from an index that is up to date; again where its rows were purged meanwhile."""
        shelf = self._shelf
        with shelf.lock:
            for _ in attempts():
                try:
                    shelf.catch_up(self._loaded.reader, self._version)
                    return question(shelf)
                except Overtaken:
                    shelf.begin_again()
        raise AssertionError("the attempts end in an error")

    def _in_a_row(self, row: Row, tell: Tell[One], first: int, last: int) -> Sequence[One]:
        first, last = max(first, 1), min(last, self.last)
        if first > last:
            return ()
        latest: LatestTurns[One] = self._known_latest.get(row) or LatestTurns(self._version, self.last + 1, (), 0)
        if first < latest.first <= last + 1 and self.last - first < MOST_LATEST:
            latest = self._asked(lambda shelf: self._reach_back(shelf, row, tell, latest, first))
            self._known_latest[row] = latest
        if latest.first <= first:
            return latest.turns[first - latest.first : last - latest.first + 1]
        return self._in_parts(range(first, last + 1), tell)

    def _in_parts(self, numbers: Sequence[int], tell: Tell[One]) -> list[One]:
        """The longest answers are read in parts, none of them longer than what is kept in memory."""
        found: list[One] = []
        for start in range(0, len(numbers), _AT_ONCE):
            found += self._asked(partial(_asked_of, tell, numbers[start : start + _AT_ONCE]))
        return found

    def _tell(self, shelf: Shelf, numbers: Sequence[int]) -> list[Told]:
        found = shelf.told(self._cards.encoding).at(self._version, numbers)
        if len(found) < len(numbers):
            found |= {number: self._own[number] for number in numbers if number in self._own}
            missing = [number for number in numbers if number not in found]
            found |= self._told_anew(shelf, missing) if missing else {}
            return [found[number] for number in numbers]
        return list(found.values())

    def _tell_cards(self, shelf: Shelf, numbers: Sequence[int]) -> list[Card]:
        found = {number: told.card for number, told in shelf.told(self._cards.encoding).at(self._version, numbers).items()}
        missing = [number for number in numbers if number not in found]
        if missing:
            versions = self._versions(shelf, missing)
            self._cards.load(missing)
            cards = {number: self._cards.card(number, versions[number].read) for number in missing}
            found |= {number: card for number, card in cards.items() if card is not None}
            unknown = [number for number in missing if number not in found]
            found |= {one.number: one.card for one in (self._tell(shelf, unknown) if unknown else ())}
        return [found[number] for number in numbers]

    def _known_same(self, shelf: Shelf, numbers: list[int]) -> Mapping[int, Told] | None:
        """Some turns, if they are those that were asked for before: most often they are."""
        known = shelf.same(self._cards.encoding, self._version)
        return known.told if known is not None and known.numbers == numbers else None

    def _tell_same(self, shelf: Shelf, numbers: list[int]) -> Mapping[int, Told]:
        told = dict(zip(numbers, self._tell(shelf, numbers), strict=True))
        found = SameTurns(self._version, numbers, told, self._until(shelf, numbers))
        if self._own.keys().isdisjoint(numbers):
            shelf.put_same(self._cards.encoding, found)
        return found.told

    def _reach_back(self, shelf: Shelf, row: Row, tell: Tell[One], latest: LatestTurns[One], first: int) -> LatestTurns[One]:
        """The latest turns from one on, most of which were the latest when it was asked before."""
        encoding, version = self._cards.encoding, self._version
        known: LatestTurns[One] | None = None
        if not latest.turns:
            known = shelf.latest(row, encoding, version)
        elif latest.until == NO_END:  # as it was when they were found; later events may have been passed since
            latest = latest._replace(until=self._until(shelf, range(latest.first, latest.end)))
        if known is not None and latest.first - known.end <= _FEW:
            after = range(known.end, latest.first)
            latest = known.joined(version, after=tell(shelf, after), until=self._until(shelf, after))
        if first < latest.first:
            before = range(first, latest.first)
            latest = latest.joined(version, before=tell(shelf, before), until=self._until(shelf, before))
        if latest is not known and not any(latest.first <= number < latest.end for number in self._own):
            shelf.put_latest(row, encoding, latest)
        return latest

    def _until(self, shelf: Shelf, numbers: Sequence[int]) -> int:
        """The first version after this one from which on one of some turns reads otherwise, as far as that is known."""
        if shelf.is_last(self._version):
            return NO_END
        return min((holds.until or NO_END for holds in self._versions(shelf, numbers).values()), default=NO_END)

    def _told_anew(self, shelf: Shelf, missing: Sequence[int]) -> dict[int, Told]:
        found: dict[int, Told] = {}
        versions = self._versions(shelf, missing)
        self._cards.load(list(missing))
        for turn, is_plain in self._reader.turns(versions[number].read for number in missing):
            holds = versions[turn.number]
            made = found[turn.number] = self._card(holds.read, turn, is_plain=is_plain)
            if is_plain and not self._missed:
                self._keep(shelf, holds, made)
            else:
                self._own[turn.number] = made
        if self._cards.is_worth_keeping():
            self._cards.keep()
        return found

    def _keep(self, shelf: Shelf, holds: _Holds, made: Told) -> None:
        kept = shelf.told(self._cards.encoding)
        kept.put(made.turn.number, made, since=holds.read[-1], until=holds.until, weight=tokens_of(made.card))

    def _alone(self, shelf: Shelf, numbers: Sequence[int]) -> list[Turn]:
        found = shelf.turns.at(self._version, numbers)
        missing = [number for number in numbers if number not in found]
        versions = self._versions(shelf, missing)
        for turn, is_plain in self._reader.turns(versions[number].read for number in missing) if missing else ():
            found[turn.number] = turn
            if is_plain:
                holds = versions[turn.number]
                shelf.turns.put(turn.number, turn, since=holds.read[-1], until=holds.until)
        return [found[number] for number in numbers]

    def _count_missing(self, shelf: Shelf, numbers: Sequence[int]) -> set[int]:
        """Those that have none even so, which will be counted again: something is missing that counts."""
        versions = self._versions(shelf, numbers)
        self._cards.load(list(numbers))
        missing = [number for number in numbers if self._cards.card(number, versions[number].read) is None]
        are_few, left = len(missing) <= _FEW, set[int]()
        for turn, is_plain in self._reader.turns(versions[number].read for number in missing) if missing else ():
            made = self._card(versions[turn.number].read, turn, is_plain=is_plain)
            is_kept = is_plain and not self._missed
            left |= set() if is_kept else {turn.number}
            if are_few and is_kept:  # what is counted as it comes is asked for next
                self._keep(shelf, versions[turn.number], made)
                make_ready(made, shelf.notes(self._cards.encoding))
        if self._cards.is_worth_keeping():
            self._cards.keep()
        return left

    def _versions(self, shelf: Shelf, numbers: Sequence[int]) -> dict[int, _Holds]:
        """The versions of turns and returns as of this version."""
        upto = self._version
        found = shelf.index.versions(numbers) if numbers else {}
        return {
            number: _Holds(versions, None) if versions[-1] <= upto else _held_at(versions, upto)
            for number, versions in found.items()
        }

    def _card(self, versions: Versions, turn: Turn, *, is_plain: bool) -> Told:
        self._missed = False
        card = self._cards.card(turn.number, versions) if is_plain else None
        if card is not None:
            return Told(turn, card)
        made = told(turn, self._count, self._documents)
        if is_plain and not self._missed:
            self._cards.put(versions, made.card)
        return made

    def _system(self, shelf: Shelf) -> tuple[tuple[SystemText, int], ...]:
        versions = shelf.index.system(self._version)
        known = shelf.system.get(self._cards.encoding)
        if known is not None and known[0] == versions:
            return known[1]
        texts = self._reader.system(versions)
        counted = [(text, *self._system_tokens(text, is_plain=is_plain)) for text, is_plain in texts]
        found = tuple((text, tokens) for text, tokens, _ in counted)
        if all(is_kept for _, _, is_kept in counted):
            shelf.system[self._cards.encoding] = versions, found
        return found

    def _system_tokens(self, text: SystemText, *, is_plain: bool) -> tuple[int, bool]:
        """What a system text costs, and whether that is kept: not where something that counts is missing."""
        known = self._cards.system(text.version) if is_plain else None
        if known is not None:
            return known, True
        self._missed = False
        tokens = system_tokens(text, self._count, self._documents)
        is_kept = is_plain and not self._missed
        if is_kept:
            self._cards.put_system(text.version, tokens)
        return tokens, is_kept

    def _documents(self, hashes: set[str]) -> dict[str, bytes]:
        found = documents_of(self._loaded, hashes)
        self._missed = len(found) < len(hashes)
        return found


def _asked_of(tell: Tell[One], numbers: Sequence[int], shelf: Shelf) -> list[One]:
    return tell(shelf, numbers)


def _held_at(versions: Versions, version: int) -> _Holds:
    count = bisect_right(versions, version)
    return _Holds(versions[:count], versions[count])


def _is_about(item: Recorded, first: int, last: int) -> bool:
    match item.event:
        case SummaryRecorded(first_turn=begins, last_turn=ends):
            return (begins, ends) == (first, last)
        case TurnClassified(turn=int(turn)):
            return first <= turn <= last
        case _:
            return False
