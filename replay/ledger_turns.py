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
from ledger.errors import CorruptRecord
from ledger.events import SummaryRecorded, TurnClassified
from ledger.marks import artifact_mark
from ledger.parts import DocumentPart, ImagePart
from ledger.record import Recorded
from ledger.store import Selection
from projections.amendments import AmendmentsFold
from projections.artifacts import ArtifactsFold, without_forgotten
from projections.encodings import ENCODINGS
from projections.fold import run
from projections.pieces import is_text_document
from projections.state_block import Count
from projections.told import Told, Turns
from projections.transcript import SystemText, Transcript, TranscriptFold, Turn
from replay.fact_index import Overtaken, attempts
from replay.folded_turns import FoldedTurns, system_tokens, told
from replay.latest_turns import MOST_LATEST, LatestTurns, SameTurns, tokens_of
from replay.loading import Loaded, last_governing, load
from replay.tokens import counter
from replay.turn_blocks import BLOCK_TURNS, Versions
from replay.warm import Shelf, shelf_of

Answer = TypeVar("Answer")

_AT_ONCE: Final = 16 * BLOCK_TURNS
_FEW: Final = BLOCK_TURNS
"""So many turns are looked up one by one: more are not kept in one piece, nor when they are counted."""

_FEWEST: Final = 4
"""Fewer are looked up as quickly as they are compared."""


class _Holds(NamedTuple):
    """The versions of a turn and its returns, as of a version, and the one at which the next return came, if one did."""

    read: Versions
    until: int | None


def turns_of(loaded: Loaded, encoding: str) -> Turns:
    """The turns of a ledger as it was loaded, counted in an encoding (``projections.encodings.ENCODINGS``)."""
    if loaded.is_read or not loaded.nothing_is_due:
        return folded_turns(loaded, counter(encoding))
    return LedgerTurns(loaded, encoding)


def turns_alone(loaded: Loaded) -> Callable[[int, int], Sequence[Turn]]:
    """A reader of turns without their cards, from one number to another; nothing of them is counted."""
    return LedgerTurns(loaded, ENCODINGS[0]).alone


def said_between(loaded: Loaded, first: int, last: int) -> Sequence[Recorded]:
    """The classifications of the turns from one to another, and the summaries of exactly these, as far as they are known."""
    if loaded.is_read or not loaded.nothing_is_due:
        return [item for item in loaded.events if _is_about(item, first, last)]
    return LedgerTurns(loaded, ENCODINGS[0]).said(first, last)


def folded_turns(loaded: Loaded, count: Count) -> FoldedTurns:
    """The same turns by folding all events."""
    amendments = AmendmentsFold()
    run([amendments], loaded.events)
    return FoldedTurns(loaded.transcript, amendments, count=count, documents=lambda hashes: _documents(loaded, hashes))


def bring_up_to_date(store: Ledgers, ledger_id: str, *, encoding: str) -> None:
    """Write where the turns of a ledger stand and what they cost, the last ones too, so that the next process finds it so.

    Whoever has recorded many turns calls it, such as an importer. It may be called by many processes at once, and where nothing
    can be written it changes nothing. Raises ``UnknownLedger``, and ``UnknownEncoding`` for an encoding that is not known.
    """
    loaded = load(store, store.head(ledger_id), None, None)
    counter(encoding)
    if not loaded.nothing_is_due:
        return
    turns = LedgerTurns(loaded, encoding)
    for first in range(1, turns.last + 1, _AT_ONCE):
        turns.count(first, first + _AT_ONCE - 1)
    turns.keep()


class LedgerTurns:
    """The ``Turns`` of a ledger, read one by one as they are asked for."""

    def __init__(self, loaded: Loaded, encoding: str) -> None:
        self._loaded = loaded
        self._count = counter(encoding)
        self._shelf = shelf_of(loaded)
        self._cards = self._shelf.cards(encoding)
        self._version = loaded.version
        self._missed = False
        # What reads otherwise at another time, for this answer alone.
        self._own: dict[int, Told] = {}
        self._amendments: dict[int, int] = {}
        # No cached properties: in Python 3.11 all instances share their lock, and some are asked who hold the shelf's already.
        self._known_last: int | None = None
        self._known_system: tuple[tuple[SystemText, int], ...] | None = None
        self._known_latest: LatestTurns | None = None  # as far as they were asked for

    @property
    def _latest(self) -> LatestTurns:
        if self._known_latest is None:
            self._known_latest = LatestTurns(self._version, self.last + 1, (), 0)
        return self._known_latest

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
        first, last = max(first, 1), min(last, self.last)
        if first > last:
            return ()
        latest = self._latest
        if first < latest.first <= last + 1 and self.last - first < MOST_LATEST:
            latest = self._known_latest = self._asked(partial(self._reach_back, first=first))
        if latest.first <= first:
            return latest.told[first - latest.first : last - latest.first + 1]
        return self._told(range(first, last + 1))

    def at(self, numbers: Iterable[int]) -> Mapping[int, Told]:
        """The turns of some numbers."""
        wanted = sorted({number for number in numbers if 1 <= number <= self.last})
        if not _FEWEST <= len(wanted) <= _FEW:
            return dict(zip(wanted, self._told(wanted), strict=True))
        return self._asked(partial(self._tell_same, numbers=wanted))

    def amended(self, through_turn: int) -> int:
        """The version of the last event that changed how a turn up to ``through_turn`` reads after the next one had begun."""
        if through_turn not in self._amendments:
            self._amendments[through_turn] = self._asked(lambda shelf: shelf.index.amended(through_turn, self._version))
        return self._amendments[through_turn]

    def said(self, first: int, last: int) -> Sequence[Recorded]:
        """What was said of the turns from ``first`` to ``last``, see ``said_between``."""
        found = self._asked(lambda shelf: self._events(shelf.index.said(first, last, self._version)))
        return [item for item in found if _is_about(item, first, last)]

    def alone(self, first: int, last: int) -> Sequence[Turn]:
        """The turns from ``first`` to ``last``, without their cards."""
        numbers = range(max(first, 1), min(last, self.last) + 1)
        return self._asked(lambda shelf: self._alone(shelf, numbers)) if numbers else ()

    def count(self, first: int, last: int) -> None:
        """Make the cards of some turns that have none yet."""
        wanted = list(range(first, min(last, self.last) + 1))
        self._asked(lambda shelf: self._count_missing(shelf, wanted))

    def keep(self) -> None:
        """Write what is known of turns, cards and system texts and is not written yet, and what stands now and then."""
        assert self.system is not None, "asked for, they are counted"
        with self._shelf.lock:
            self._shelf.live.standing(self._loaded)
            self._shelf.index.keep()
            self._cards.keep()

    def _asked(self, question: Callable[[Shelf], Answer]) -> Answer:
        """An answer from an index that is up to date; again where its rows were purged meanwhile."""
        with self._shelf.lock:
            for _ in attempts():
                try:
                    self._shelf.catch_up(self._loaded.reader, self._version)
                    return question(self._shelf)
                except Overtaken:
                    self._shelf.begin_again()
        raise AssertionError("the attempts end in an error")

    def _told(self, numbers: Sequence[int]) -> list[Told]:
        """Turns with their cards. The longest answers are read in parts, none of them longer than what is kept in memory."""
        found: list[Told] = []
        for start in range(0, len(numbers), _AT_ONCE):
            found += self._asked(partial(self._tell, numbers=numbers[start : start + _AT_ONCE]))
        return found

    def _tell(self, shelf: Shelf, numbers: Sequence[int]) -> list[Told]:
        found = shelf.told(self._cards.encoding).at(self._version, numbers)
        if len(found) < len(numbers):
            found |= {number: self._own[number] for number in numbers if number in self._own}
            missing = [number for number in numbers if number not in found]
            found |= self._told_anew(shelf, missing) if missing else {}
            return [found[number] for number in numbers]
        return list(found.values())

    def _tell_same(self, shelf: Shelf, numbers: list[int]) -> Mapping[int, Told]:
        """Some turns, which are most often those that were asked for before."""
        known = shelf.same(self._cards.encoding, self._version)
        if known is not None and known.numbers == numbers:
            return known.told
        found = SameTurns(self._version, numbers, dict(zip(numbers, self._tell(shelf, numbers), strict=True)))
        if self._own.keys().isdisjoint(numbers):
            shelf.put_same(self._cards.encoding, found)
        return found.told

    def _reach_back(self, shelf: Shelf, first: int) -> LatestTurns:
        """The latest turns from one on, most of which were the latest when it was asked before."""
        encoding, version, latest = self._cards.encoding, self._version, self._latest
        known = shelf.latest(encoding, version) if not latest.told else None
        if known is not None and latest.first - known.end <= _FEW:
            latest = known.joined(version, after=self._tell(shelf, range(known.end, latest.first)))
        if first < latest.first:
            latest = latest.joined(version, before=self._tell(shelf, range(first, latest.first)))
        if latest is not known and self._own.keys().isdisjoint(range(latest.first, latest.end)):
            shelf.put_latest(encoding, latest)
        return latest

    def _told_anew(self, shelf: Shelf, missing: Sequence[int]) -> dict[int, Told]:
        found: dict[int, Told] = {}
        versions = self._versions(shelf, missing)
        self._cards.load(list(missing))
        for turn, is_plain in self._read(shelf, versions, missing):
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
        for turn, is_plain in self._read(shelf, versions, missing) if missing else ():
            found[turn.number] = turn
            if is_plain:
                holds = versions[turn.number]
                shelf.turns.put(turn.number, turn, since=holds.read[-1], until=holds.until)
        return [found[number] for number in numbers]

    def _count_missing(self, shelf: Shelf, numbers: Sequence[int]) -> None:
        versions = self._versions(shelf, numbers)
        self._cards.load(list(numbers))
        missing = [number for number in numbers if self._cards.card(number, versions[number].read) is None]
        are_few = len(missing) <= _FEW
        for turn, is_plain in self._read(shelf, versions, missing) if missing else ():
            made = self._card(versions[turn.number].read, turn, is_plain=is_plain)
            if are_few and is_plain and not self._missed:  # what is counted as it comes is asked for next
                self._keep(shelf, versions[turn.number], made)
        if self._cards.is_worth_keeping():
            self._cards.keep()

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

    def _read(self, shelf: Shelf, versions: Mapping[int, _Holds], numbers: Iterable[int]) -> list[tuple[Turn, bool]]:
        """Turns from the record, and whether each reads the same at every version, as far as the same was forgotten.

        Not so if it shows an artifact that was forgotten once, or where something was forgotten while they were read.
        """
        wanted = sorted(version for number in numbers for version in versions[number].read)
        fold = TranscriptFold()
        run([fold], self._events(wanted))
        found = fold.result().turns
        marks = self._forgotten_artifacts()
        shows = [self._shows(marks, turn, *turn.returns) for turn in found]
        if any(shows):
            found = without_forgotten(Transcript((), found, ()), self._artifacts(shelf), self._loaded.key).turns
        is_current = self._loaded.reader.governing is self._loaded.governing
        return [(turn, is_current and not shown) for turn, shown in zip(found, shows, strict=True)]

    def _events(self, versions: Sequence[int]) -> list[Recorded]:
        """The events of some versions, which are given in order; those that were read just now are not read again."""
        reader, news = self._loaded.reader, self._shelf.news(versions)
        rest = [version for version in versions if version not in news] if news else versions
        found = list(reader.read(Selection(versions=rest))) if rest else []
        if not news:
            return found
        return sorted((*found, *map(reader.recorded, news.values())), key=lambda item: item.version)

    def _system(self, shelf: Shelf) -> tuple[tuple[SystemText, int], ...]:
        versions = shelf.index.system(self._version)
        known = shelf.system.get(self._cards.encoding)
        if known is not None and known[0] == versions:
            return known[1]
        fold = TranscriptFold()
        run([fold], shelf.system_events(versions, self._events))
        texts = fold.result().system
        marks = self._forgotten_artifacts()
        shows = [self._shows(marks, text) for text in texts]
        if any(shows):
            texts = without_forgotten(Transcript(texts, (), ()), self._artifacts(shelf), self._loaded.key).system
        plain = [not shown and not _has_documents(text) for text, shown in zip(texts, shows, strict=True)]
        found = tuple((text, self._system_tokens(text, is_plain=kept)) for text, kept in zip(texts, plain, strict=True))
        if all(plain):
            shelf.system[self._cards.encoding] = versions, found
        return found

    def _system_tokens(self, text: SystemText, *, is_plain: bool) -> int:
        def tokens() -> int:
            return system_tokens(text, self._count, self._documents)

        return self._cards.system(text.version, tokens) if is_plain else tokens()

    def _forgotten_artifacts(self) -> frozenset[str]:
        """The marks of the artifacts that were forgotten at some time."""
        return frozenset(erasure.named for erasure, _ in self._loaded.reader.marks.values() if erasure.named is not None)

    def _shows(self, marks: frozenset[str], *holders: Any) -> bool:
        """Whether there is a picture or document among the parts whose artifact has one of these marks."""
        shown = (
            (part for holder in holders for part in holder.parts if isinstance(part, ImagePart | DocumentPart)) if marks else ()
        )
        return any(part.sha256 is not None and artifact_mark(self._loaded.key, part.sha256) in marks for part in shown)

    def _artifacts(self, shelf: Shelf) -> ArtifactsFold:
        named = [version for version, (erasure, _) in self._loaded.reader.marks.items() if erasure.named is not None]
        stored = shelf.index.artifacts(self._version)
        fold = ArtifactsFold()
        run([fold], self._events(sorted({*stored, *(version for version in named if version <= self._version)})))
        return fold

    def _documents(self, hashes: set[str]) -> dict[str, bytes]:
        found = _documents(self._loaded, hashes)
        self._missed = len(found) < len(hashes)
        return found


def _has_documents(text: SystemText) -> bool:
    """Whether documents count with a text: they may be missing, and come back."""
    return any(is_text_document(part) for part in text.parts)


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


def _documents(loaded: Loaded, hashes: set[str]) -> dict[str, bytes]:
    """The bytes of artifacts, as far as they are there; ``CorruptRecord`` if they were forgotten since the ledger was loaded.

    Of damaged ones nothing is counted: who shows them finds them missing.
    """
    found = {sha256: loaded.store.store.blob(loaded.head.ledger, sha256) for sha256 in sorted(hashes)}
    missing = [sha256 for sha256, content in found.items() if content is None]
    known = loaded.governing[-1].version if loaded.governing else 0
    if missing and last_governing(loaded.store, loaded.head) != known:
        raise CorruptRecord(
            f"the bytes of artifact {missing[0][:12]}… were forgotten while a turn was read: read it again",
            sha256=missing[0],
            ledger_id=loaded.head.ledger.hex(),
        )
    return {sha256: content for sha256, content in found.items() if content is not None}
