"""From what the index finds to hits: ranked, then read from the record in that order, as far as they are asked for."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final

from ledger.erased import Erased
from ledger.errors import UnknownVersion
from ledger.events import Role
from ledger.reading import Reader
from ledger.record import Recorded, timestamp
from ledger.store import Selection
from projections.search_query import Clause, Query
from projections.search_ranking import BEGINNING_WEIGHT, matching, rarity, snippet, weight
from projections.searchable import Kind, documents
from replay.fact_index import Overtaken
from replay.loading import Loaded
from replay.moment import Turn, version_at
from replay.search_index import LedgerIndex
from replay.search_segments import Segment, first_of, kind_and_role, place_of

_OF_TURNS: Final = ("turn", "call")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, what hits may be, from which to which turn (both included), and how many of them are wanted from which on."""

    query: Query
    kind: Kind | None
    role: Role | None
    turns: tuple[int, int] | None
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found. ``id`` names it (``r_12``, ``ev_31``, ``en_5``, ``con_9``), or its event (``v_7``).

    ``places`` (start, end) say where in the ``snippet`` it matches; ``score`` is comparable inside one answer only.
    """

    ledger: str
    version: int
    recorded_at: str
    turn: int | None
    kind: Kind
    role: Role | None
    id: str
    snippet: str
    places: tuple[tuple[int, int], ...]
    score: float


@dataclass
class _Candidate:
    """A text that may be a hit: in which of the ledgers, twice its version and its slot, its score, how many clauses it has."""

    ledger: int
    place: int
    score: float
    clauses: int = 1


class Searched:
    """A ledger that is searched as of a version, with what the index says of it now."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        store = loaded.store.store
        head = store.head_of(loaded.head.ledger)
        if head is None:
            raise Overtaken
        self.name = head.name
        self.reader = Reader(store, head.ledger)
        self._index = LedgerIndex(store, head, self.reader)

    @cached_property
    def segments(self) -> list[Segment]:
        """The pieces of the index that hold the version and all before it."""
        return self._index.segments(self.loaded.version)

    @cached_property
    def gone(self) -> frozenset[int]:
        """The versions whose content is forgotten, or past its retention."""
        gone = set(self.reader.marks)
        if not self.loaded.nothing_is_due:
            gone |= {item.version for item in self.loaded.events if isinstance(item.event, Erased)}
        return frozenset(gone)

    def living(self, postings: array[int]) -> Iterable[int]:
        """The postings up to the version, without what is gone."""
        upto = postings[: bisect_left(postings, first_of(self.loaded.version + 1))]
        if not self.gone:
            return upto
        return (found for found in upto if place_of(found) >> 1 not in self.gone)

    def bounds(self, turns: tuple[int, int]) -> tuple[int, int]:
        """The lowest place that may bear one of the turns, and the highest of one of these turns themselves."""
        first = 0 if turns[0] == 1 else self._ended(turns[0] - 1)
        return first << 1, self._ended(turns[1]) << 1 | 1

    def _ended(self, turn: int) -> int:
        """The last version before the turn after this one; where there is none, the last of the ledger."""
        head = self.loaded.head
        try:
            return version_at(self.loaded.store.store, head, Turn(turn))
        except UnknownVersion:
            return head.version

    def events(self, versions: Sequence[int]) -> dict[int, Recorded]:
        """The events of some versions; ``Overtaken`` if one of them was forgotten meanwhile."""
        found = {item.version: item for item in self.reader.read(Selection(versions=tuple(versions)))}
        if any(isinstance(item.event, Erased) for item in found.values()):
            raise Overtaken
        return found


def found_in(searched: Sequence[Searched], asked: Asked) -> tuple[list[Hit], str]:
    """The hits, as many as are wanted and one more; and whether they have "all" or "any" of what is asked for."""
    wanted = asked.offset + asked.limit + 1
    weighed = {clause: _weigh(searched, clause) for clause in asked.query.clauses}
    number = len(weighed)
    candidates = _ranked(searched, weighed, asked, least=number)
    hits = list(islice(_hits(searched, candidates, asked, asked.query.clauses, least=number), wanted))
    if hits:
        return hits, "all"
    loose = asked.query.loosened()
    if loose == asked.query.clauses and number == 1:
        return [], "all"
    weighed = {clause: weighed[clause] if clause in weighed else _weigh(searched, clause) for clause in loose}
    candidates = _ranked(searched, weighed, asked, least=1)
    return list(islice(_hits(searched, candidates, asked, loose, least=1), wanted)), "any"


_Weighed = list[dict[int, tuple[float, int]]]
"""By ledger: what a clause counts in each text (before its rarity), and a posting of the text."""


def _weigh(searched: Sequence[Searched], clause: Clause) -> _Weighed:
    return [_weigh_in(one, clause) for one in searched]


def _weigh_in(one: Searched, clause: Clause) -> dict[int, tuple[float, int]]:
    """What a clause counts in each text of a ledger that has all of its terms."""
    exact, beginning = clause.terms()
    often: dict[int, float] | None = None
    samples: dict[int, int] = {}
    for term in exact:
        counts: dict[int, float] = {}
        for segment in one.segments:
            _count(one.living(segment.find(term)), counts, samples, 1.0)
        often = counts if often is None else _least(often, counts)
    if beginning is not None:
        counts = {}
        for segment in one.segments:
            for term, postings in segment.beginning(beginning):
                _count(one.living(postings), counts, samples, 1.0 if term == beginning else BEGINNING_WEIGHT)
        often = counts if often is None else _least(often, counts)
    return {place: (weight(count, samples[place] >> 8 & 0xFF), samples[place]) for place, count in (often or {}).items()}


def _count(postings: Iterable[int], counts: dict[int, float], samples: dict[int, int], each: float) -> None:
    for found in postings:
        place = found >> 24
        counts[place] = counts.get(place, 0.0) + (found >> 16 & 0xFF) * each
        samples[place] = found


def _least(one: dict[int, float], other: dict[int, float]) -> dict[int, float]:
    """How often both stand in the texts that have both."""
    return {place: min(count, other[place]) for place, count in one.items() if place in other}


def _ranked(searched: Sequence[Searched], weighed: dict[Clause, _Weighed], asked: Asked, *, least: int) -> list[_Candidate]:
    """The texts that have so many of the clauses at least, the best first; of equals the newest."""
    total = sum(one.loaded.version for one in searched)
    candidates: list[_Candidate] = []
    for ledger, one in enumerate(searched):
        known: dict[int, _Candidate] = {}
        for by_ledger in weighed.values():
            counts = rarity(holding=sum(map(len, by_ledger)), of=total)
            for place, (value, _) in by_ledger[ledger].items():
                found = known.get(place)
                if found is None:
                    known[place] = _Candidate(ledger, place, value * counts)
                else:
                    found.score += value * counts
                    found.clauses += 1
        samples = {place: sample for by in weighed.values() for place, (_, sample) in by[ledger].items()}
        enough = (found for found in known.values() if found.clauses >= least)
        candidates += _fitting(one, enough, samples, asked)
    return sorted(candidates, key=lambda found: (-found.score, found.ledger, -found.place))


def _fitting(one: Searched, found: Iterable[_Candidate], samples: dict[int, int], asked: Asked) -> Iterator[_Candidate]:
    """Those that may be what is asked for, as far as can be told without reading them."""
    bounds = None if asked.turns is None else one.bounds(asked.turns)
    for candidate in found:
        kind, role = kind_and_role(samples[candidate.place])
        if (asked.kind is not None and kind != asked.kind) or (asked.role is not None and role != asked.role):
            continue
        if bounds is not None and (candidate.place < bounds[0] or (kind in _OF_TURNS and candidate.place > bounds[1])):
            continue
        yield candidate


def _hits(
    searched: Sequence[Searched], candidates: Sequence[_Candidate], asked: Asked, clauses: Sequence[Clause], *, least: int
) -> Iterator[Hit]:
    """The candidates that are hits, read a few at a time."""
    at_once = asked.offset + asked.limit + 1
    for first in range(0, len(candidates), at_once):
        some = candidates[first : first + at_once]
        events: dict[tuple[int, int], Recorded] = {}
        for ledger in sorted({candidate.ledger for candidate in some}):
            versions = sorted({candidate.place >> 1 for candidate in some if candidate.ledger == ledger})
            events |= {(ledger, version): item for version, item in searched[ledger].events(versions).items()}
        for candidate in some:
            item = events[candidate.ledger, candidate.place >> 1]
            hit = _hit(searched[candidate.ledger].name, item, candidate, asked=asked, clauses=clauses, least=least)
            if hit is not None:
                yield hit


def _hit(
    name: str, item: Recorded, candidate: _Candidate, *, asked: Asked, clauses: Sequence[Clause], least: int
) -> Hit | None:
    if asked.turns is not None and not (item.turn is not None and asked.turns[0] <= item.turn <= asked.turns[1]):
        return None
    document = next(document for document in documents(item) if document.slot == candidate.place & 1)
    found = matching(document.text, clauses)
    if len(found) < least:
        return None
    shown = snippet(document.text, found)
    return Hit(
        ledger=name,
        version=item.version,
        recorded_at=timestamp(item.envelope.recorded_at),
        turn=item.turn,
        kind=document.kind,
        role=document.role,
        id=document.id or f"v_{item.version}",
        snippet=shown.text,
        places=shown.places,
        score=round(candidate.score, 4),
    )
