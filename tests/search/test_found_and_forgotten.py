"""Every word of what lives is found, no word of what was forgotten is, and none of it stands in a file of the store."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import get_args

from hypothesis import given, settings

from ledger import Ledgers, connect
from ledger import events as e
from ledger.erased import Erased
from projections.search.query import MOST_CHARACTERS
from projections.search.searchable import documents
from projections.search.words import words
from replay import view
from replay.search import search
from tests.forgetting.needles import SHORTEST_BYTES, Needles
from tests.forgetting.shelves import Shelf
from tests.forgetting.telling import WAYS, Told, synthetic, tell
from tests.projections.histories import HISTORIES, Step, recorded
from tests.replay.real_conversations import import_conversations
from tests.replay.test_forgotten_everywhere import CASES, MARK, Wanted, forgetful
from tests.search.naive import scanned, searched

SEARCHED = {
    e.LedgerOpened, e.LedgerClosed, e.TurnRecorded, e.ToolReturned, e.FactSet, e.FactReaffirmed, e.FactSuperseded,
    e.FactRetracted, e.FactRejected, e.EntryAdded, e.EntryClosed, e.ArtifactStored, e.EvidenceRecorded,
    e.ContradictionRecorded, e.ContradictionResolved, e.OutcomeRecorded,
}  # fmt: skip
NOT_SEARCHED = {
    e.SchemaSet, e.ExtractionRecorded, e.TurnClassified, e.SummaryRecorded, e.PolicyRecorded, e.WindowRecorded,
    *get_args(e.Governing),
}  # fmt: skip
"""What repeats others, or says how things are kept and shown."""


def test_every_event_is_searched_or_known_not_to_be() -> None:
    assert set(get_args(get_args(e.Event)[0])) == SEARCHED | NOT_SEARCHED
    assert not SEARCHED & NOT_SEARCHED


@settings(deadline=None, max_examples=25)
@given(HISTORIES)
def test_every_word_is_found_where_it_stands(steps: list[Step]) -> None:
    with recorded(steps) as store:
        if not store.store.heads():
            return
        for item in store.ledger("case").events():
            for document in documents(item):
                for word in words(document.text)[:6]:
                    said = document.text[word.start : word.end]
                    if len(said) > MOST_CHARACTERS:  # a number of thousands of digits
                        continue
                    answer = view(store, "case", at=item.version).search(said, limit=1_000)
                    assert answer.matched == "all"
                    assert (item.version, document.kind) in {(hit.version, hit.kind) for hit in answer.hits}


@settings(deadline=None, max_examples=25)
@given(CASES)
def test_no_word_of_what_was_forgotten_is_found(case: tuple[list[Step], Wanted]) -> None:
    with forgetful(*case) as (store, known, gone):
        before = {word for seen in known.values() for turn in seen.turns.values() for word in marked_words(turn.text)}
        for word in before:
            is_gone = not gone.isdisjoint(MARK.findall(word))
            for version in (max(known), max(known) // 2):
                answer = view(store, "case", at=version).search(word, limit=1_000)
                assert all(gone.isdisjoint(MARK.findall(hit.snippet)) for hit in answer.hits)
                assert not is_gone or answer.hits == ()
            assert bool(search(store, word).hits) is not is_gone
        erased = {item.version for item in store.ledger("case").events() if isinstance(item.event, Erased)}
        for item in store.ledger("case").events():
            for word in {word for document in documents(item) for word in marked_words(document.text)}:
                versions = {hit.version for hit in view(store, "case").search(word, limit=1_000).hits}
                assert item.version in versions
                assert not versions & erased


def marked_words(text: str) -> set[str]:
    """The words of a text that no other text has."""
    return {found for found in re.findall(r"\w+", text) if MARK.search(found)}


def test_real_conversations_are_found_like_a_scan_finds_them(real_data: Path) -> None:
    with connect(":memory:") as store:
        import_conversations(store, real_data)
        chance = random.Random(5)
        for head in chance.sample(store.heads(), 12):
            texts = [one.text for item in store.ledger(head.name).events() for one in documents(item)]
            said = [token for text in texts for token in re.findall(r"\S+", text) if any(map(str.isalnum, token))]
            for query in [*chance.sample(said, 12), " ".join(chance.sample(said, 3)), "what is the reservation id?"]:
                at = chance.randrange(1, head.version + 1)
                assert searched(store, head.name, query, at=at) == scanned(store, head.name, query, at=at), query


def without(told: list[Told], kept: list[Told]) -> Needles:
    """The words of what is gone, folded as the index has them, that nothing kept has."""
    left = {word.text for one in kept for text in one.texts for word in words(text.text)}
    mine = {word.text for one in told for text in one.texts for value in text.values for word in words(value)}
    return Needles(sorted(word for word in mine - left if len(word.encode()) >= SHORTEST_BYTES))


def test_no_word_of_what_was_forgotten_stands_in_a_file(shelf: Shelf, real_data: Path) -> None:
    texts = [
        text for text in synthetic(real_data) if any(len(word.text) >= SHORTEST_BYTES for word in words("\n".join(text.values)))
    ]
    with shelf() as store:
        told = list(tell(store, texts[: 3 * len(WAYS)]))
        for number in range(90):  # so that pieces of the index are joined, too
            store.ledger("case").record_turn("user", f"more of this and that {number}")
        everywhere(store)
        needles = without(told, [])
        assert set().union(*needles.found_in(index_of(shelf)).values()) >= set(needles.texts[::9]), "the index holds words"
        chance = random.Random(3)
        chance.shuffle(told)
        gone: list[Told] = []
        for _ in range(3):
            some, told = told[: len(WAYS)], told[len(WAYS) :]
            for one in some:
                assert store.forget(reason="asked", **one.forget).state == "complete"
            gone += some
            assert without(gone, told).found_in(shelf.contents()) == {}
            everywhere(store)
            assert without(gone, told).found_in(shelf.contents()) == {}


def index_of(shelf: Shelf) -> list[tuple[str, bytes]]:
    """The rows of the index."""
    return [(place, content) for place, content in shelf.contents() if place == "rows of derived"]


def everywhere(store: Ledgers) -> None:
    """Let the index of every ledger be made."""
    assert search(store, "more").matched in ("all", "any")
