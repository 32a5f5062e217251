"""A search as one would write it first: every event of the record is read and every word of it looked at."""

from __future__ import annotations

from ledger import Ledgers
from ledger.erased import Erased
from projections.search.query import parsed
from projections.search.searchable import documents
from projections.search.words import Word, words
from replay import view

Found = set[tuple[int, str]]
"""Versions, each with what was found there."""


def scanned(store: Ledgers, name: str, query: str, *, at: int | None = None) -> tuple[Found, str]:
    """What has all of the query's clauses, or if nothing has, any of them."""
    upto = view(store, name, at=at).version
    events = [item for item in store.ledger(name).events(upto=upto) if not isinstance(item.event, Erased)]
    listed: list[tuple[int, str, list[Word]]] = [
        (item.version, one.kind, words(one.text)) for item in events for one in documents(item)
    ]
    asked = parsed(query)
    have_all = {(version, kind) for version, kind, said in listed if all(any(clause.places(said)) for clause in asked.clauses)}
    if have_all:
        return have_all, "all"
    loose = asked.loosened()
    if loose == asked.clauses and len(loose) == 1:
        return set(), "all"
    return {(version, kind) for version, kind, said in listed if any(any(clause.places(said)) for clause in loose)}, "any"


def searched(store: Ledgers, name: str, query: str, *, at: int | None = None) -> tuple[Found, str]:
    """The same by the index."""
    answer = view(store, name, at=at).search(query, limit=1_000)
    assert not answer.more
    return {(hit.version, hit.kind) for hit in answer.hits}, answer.matched
