"""Search over the whole record of a ledger, or of all ledgers of a store, whether a window shows it or not.

What the index finds is read from the record before it is shown: so nothing that was forgotten is ever shown, and a snippet is
what was said.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ledger import Ledgers
from ledger.errors import InvalidInput
from ledger.events import Role
from projections.basis import Basis
from projections.search.query import parsed
from projections.search.searchable import KINDS, ROLES, Kind
from projections.wire import to_json
from replay.kept.overtaken import Overtaken, attempts
from replay.loading import Loaded, load
from replay.searching.candidates import Asked, Hit, Searched, found_in

MOST_HITS: Final = 1_000
"""At most so many in one answer."""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What was found, the best first; of equals the newest. ``basis`` is None where all ledgers were searched.

    ``matched``: "all" where every hit has all words that matter of the query; "any" where nothing has, so that hits have some.
    ``more``: whether there are hits after these.
    """

    basis: Basis | None
    query: str
    matched: str
    hits: tuple[Hit, ...]
    more: bool

    def to_json(self) -> bytes:
        """The answer as JSON: basis, query, matched, hits, more."""
        return to_json(self)


def asked_for(
    text: str,
    *,
    kind: Kind | None = None,
    role: Role | None = None,
    turns: tuple[int, int] | None = None,
    limit: int = 10,
    offset: int = 0,
) -> Asked:
    """What to search for; ``InvalidInput`` names what is wrong with it."""
    if kind is not None and kind not in KINDS:
        raise InvalidInput(f"kind {kind!r} is not known: give one of {', '.join(KINDS)}", path="kind")
    if role is not None and role not in ROLES:
        raise InvalidInput(f"role {role!r} is not known: give one of {', '.join(ROLES)}", path="role")
    if turns is not None and not (all(map(_is_number, turns)) and 1 <= turns[0] <= turns[1]):
        raise InvalidInput(f"turns {turns!r}: give the first and the last turn, such as (3, 9)", path="turns")
    if not _is_number(limit) or not 1 <= limit <= MOST_HITS:
        raise InvalidInput(f"limit {limit!r}: give a number of hits from 1 to {MOST_HITS:,}", path="limit")
    if not _is_number(offset) or offset < 0:
        raise InvalidInput(f"offset {offset!r}: give a number of hits to pass by, from 0", path="offset")
    return Asked(parsed(text), kind, role, turns, limit, offset)


def search_ledger(current: Callable[[], Loaded], basis: Callable[[], Basis], asked: Asked) -> SearchAnswer:
    """What is found in a ledger as of a version. It is looked again where something is forgotten meanwhile."""
    for _ in attempts():
        loaded, known = current(), basis()
        try:
            hits, matched = found_in([Searched(loaded)], asked)
        except Overtaken:
            continue
        if current() is loaded:
            return _answer(known, asked, hits, matched)
    raise AssertionError("the attempts end in an error")


def search(
    store: Ledgers,
    text: str,
    *,
    kind: Kind | None = None,
    role: Role | None = None,
    turns: tuple[int, int] | None = None,
    limit: int = 10,
    offset: int = 0,
    judged_at: datetime | None = None,
) -> SearchAnswer:
    """What is found in all ledgers as they are now; see ``View.search``. For who may see all of them: it asks for no name.

    Takes time with the number of ledgers.
    """
    asked = asked_for(text, kind=kind, role=role, turns=turns, limit=limit, offset=offset)
    for _ in attempts():
        try:
            searched = [Searched(load(store, head, None, judged_at)) for head in store.heads() if head.version]
            hits, matched = found_in(searched, asked)
        except Overtaken:
            continue
        found = {hit.ledger for hit in hits}
        if all(one.is_current() for one in searched if one.name in found):
            return _answer(None, asked, hits, matched)
    raise AssertionError("the attempts end in an error")


def _answer(basis: Basis | None, asked: Asked, hits: list[Hit], matched: str) -> SearchAnswer:
    shown = hits[asked.offset : asked.offset + asked.limit]
    return SearchAnswer(basis, asked.query.text, matched, tuple(shown), len(hits) > asked.offset + asked.limit)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
