"""From what the index finds to hits: ranked, then read from the record in that order, as far as they are asked for."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

from ledger.erased import Erased
from ledger.errors import UnknownVersion
from ledger.events import Role
from ledger.reading import Reader
from ledger.record import Recorded, timestamp
from ledger.store import Selection
from projections.search.query import Clause, Query
from projections.search.ranking import BEGINNING_WEIGHT, matching, rarity, snippet, weight
from projections.search.searchable import Document, Kind, documents
from replay.kept.overtaken import Overtaken
from replay.loading import Loaded, last_governing
from replay.moment import Turn, version_at
from replay.searching.index import LedgerIndex
from replay.searching.segments import Segment, first_of, kind_and_role, place_of

_OF_TURNS: Final = ("turn", "call")
_ID: Final = re.compile(r"(v|r|ev|con|en|turn)_([1-9][0-9]{0,17})")


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
    score: float = 0.0


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

    def is_current(self) -> bool:
        """Whether nothing was forgotten since."""
        known = self.reader.governing
        return last_governing(self.loaded.store, self.loaded.head) == (known[-1].version if known else 0)

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
    """The hits, as many as are wanted and one more; and whether they have "all" or "any" of what is asked for.

    Where an id is asked for and nothing else, what it names comes first, and then what speaks of it.
    """
    named = [hit for one in searched if (hit := _named(one, asked)) is not None]
    if not named:
        return _matching(searched, asked)
    hits, matched = _matching(searched, asked)
    known = {(hit.ledger, hit.version, hit.kind) for hit in named}
    others = [] if matched == "any" else [hit for hit in hits if (hit.ledger, hit.version, hit.kind) not in known]
    best = round(1 + max((hit.score for hit in others), default=0.0), 4)
    return [*(replace(hit, score=best) for hit in named), *others], "all"


def _named(one: Searched, asked: Asked) -> Hit | None:
    """What has the id that is the whole query, if that may be a hit."""
    named = _ID.fullmatch(asked.query.text.strip())
    if named is None or not 1 <= int(named[2]) <= one.loaded.version:
        return None
    selection = Selection(versions=(int(named[2]),))
    if named[1] == "turn":
        selection = Selection(turn=int(named[2]), kind="numbered", upto=one.loaded.version)
    item = next(one.reader.read(selection), None)
    if item is None or item.version in one.gone:
        return None
    if isinstance(item.event, Erased):
        raise Overtaken
    for document in documents(item):
        is_meant = named[1] == "turn" or _id_of(item, document) == named[0]
        if is_meant and asked.kind in (None, document.kind) and asked.role in (None, document.role):
            return _shown(one.name, item, document, {}) if _is_of_turns(item, asked) else None
    return None


def _matching(searched: Sequence[Searched], asked: Asked) -> tuple[list[Hit], str]:
    """The hits that have the words that are asked for."""
    wanted = asked.offset + asked.limit + 1
    exact = asked.query.clauses
    weighed = {clause: _weigh(searched, clause) for clause in exact}
    candidates = _ranked(searched, list(weighed.values()), asked, least=len(exact))
    hits = list(islice(_hits(searched, candidates, asked, exact, least=len(exact)), wanted))
    loose = asked.query.loosened()
    if hits or (loose == exact and len(exact) == 1):
        return hits, "all"
    for clause in loose:
        if clause not in weighed:
            weighed[clause] = _weigh(searched, clause)
    candidates = _ranked(searched, [weighed[clause] for clause in loose], asked, least=1)
    return list(islice(_hits(searched, candidates, asked, loose, least=1), wanted)), "any"


_Weighed = list[dict[int, tuple[float, int]]]
"""By ledger: what a clause counts in each text (before its rarity), and a posting of the text."""

_Candidate = tuple[float, int, int]
"""A text that may be a hit: its score below zero, in which of the ledgers, and twice its version and its slot, below zero too.

In their order, the best comes first; of equals the newest.
"""


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


def _ranked(searched: Sequence[Searched], weighed: Sequence[_Weighed], asked: Asked, *, least: int) -> list[_Candidate]:
    """The texts that have so many of the clauses at least, as far as they may be what is asked for, in their order."""
    total = sum(one.loaded.version for one in searched)
    rarities = [rarity(holding=sum(map(len, by_ledger)), of=total) for by_ledger in weighed]
    candidates: list[_Candidate] = []
    for ledger, one in enumerate(searched):
        scores: dict[int, float] = {}
        clauses: dict[int, int] = {}
        samples: dict[int, int] = {}
        for by_ledger, counts in zip(weighed, rarities, strict=True):
            for place, (value, sample) in by_ledger[ledger].items():
                scores[place] = scores.get(place, 0.0) + value * counts
                clauses[place] = clauses.get(place, 0) + 1
                samples[place] = sample
        fitting = _fitting(one, samples, asked)
        candidates += [(-scores[place], ledger, -place) for place in fitting if clauses[place] >= least]
    return sorted(candidates)


def _fitting(one: Searched, samples: dict[int, int], asked: Asked) -> Iterable[int]:
    """The places that may be what is asked for, as far as can be told without reading them."""
    if asked.kind is None and asked.role is None and asked.turns is None:
        return samples
    bounds = None if asked.turns is None else one.bounds(asked.turns)
    return (place for place, sample in samples.items() if _fits(place, sample, asked, bounds))


def _fits(place: int, sample: int, asked: Asked, bounds: tuple[int, int] | None) -> bool:
    kind, role = kind_and_role(sample)
    if (asked.kind is not None and kind != asked.kind) or (asked.role is not None and role != asked.role):
        return False
    return bounds is None or (place >= bounds[0] and (kind not in _OF_TURNS or place <= bounds[1]))


def _hits(
    searched: Sequence[Searched], candidates: Sequence[_Candidate], asked: Asked, clauses: Sequence[Clause], *, least: int
) -> Iterator[Hit]:
    """The candidates that are hits, read a few at a time."""
    at_once = asked.offset + asked.limit + 1
    for first in range(0, len(candidates), at_once):
        some = candidates[first : first + at_once]
        events: dict[tuple[int, int], Recorded] = {}
        for wanted in sorted({ledger for _, ledger, _ in some}):
            versions = sorted({-place >> 1 for _, ledger, place in some if ledger == wanted})
            events |= {(wanted, version): item for version, item in searched[wanted].events(versions).items()}
        for score, ledger, place in some:
            hit = _hit(
                searched[ledger].name, events[ledger, -place >> 1], -place & 1, asked=asked, clauses=clauses, least=least
            )
            if hit is not None:
                yield replace(hit, score=round(-score, 4))


def _hit(name: str, item: Recorded, slot: int, *, asked: Asked, clauses: Sequence[Clause], least: int) -> Hit | None:
    if not _is_of_turns(item, asked):
        return None
    document = next(document for document in documents(item) if document.slot == slot)
    found = matching(document.text, clauses)
    return _shown(name, item, document, found) if len(found) >= least else None


def _is_of_turns(item: Recorded, asked: Asked) -> bool:
    return asked.turns is None or (item.turn is not None and asked.turns[0] <= item.turn <= asked.turns[1])


def _id_of(item: Recorded, document: Document) -> str:
    return document.id or f"v_{item.version}"


def _shown(name: str, item: Recorded, document: Document, found: dict[Clause, list[tuple[int, int]]]) -> Hit:
    shown = snippet(document.text, found)
    return Hit(
        ledger=name,
        version=item.version,
        recorded_at=timestamp(item.envelope.recorded_at),
        turn=item.turn,
        kind=document.kind,
        role=document.role,
        id=_id_of(item, document),
        snippet=shown.text,
        places=shown.places,
    )
