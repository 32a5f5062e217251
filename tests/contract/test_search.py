"""Search on every store: the same hits in the same order, as of any version, and never what was forgotten."""

from __future__ import annotations

import pytest

from ledger import JsonText, Ledgers, connect
from ledger import events as e
from ledger.errors import InvalidInput
from ledger.parts import TextPart, ToolCallPart
from projections.search.searchable import KINDS
from replay import Turn, view
from replay.search import SearchAnswer, search
from tests.contract.stores import OpenStore
from tests.projections.histories import ticking
from tests.replay.long_ledgers import reads_only
from tests.search.naive import scanned, searched
from tests.search.records import QUERIES, random_record, rows_of

DEADLINE_SECONDS = 120.0
OWN = (
    *("task", "system", "turn", "call", "answer", "result", "fact", "entry", "why", "closed", "artifact", "claim", "quote"),
    *("side", "dispute", "outcome"),
)


def full(store: Ledgers, name: str = "case") -> None:
    """A ledger with a text of every kind; each has a word of its own beside the word common."""
    case = store.ledger(name, task="common taskword")
    case.record_turn("system", "common systemword")
    case.record_turn("user", "common turnword")
    call = ToolCallPart(call_id="c1", tool="look", arguments=JsonText.of({"query": "common callword"}))
    case.record_turn("assistant", [TextPart(text="common answerword"), call])
    case.record_return("c1", {"found": "common resultword\nin lines", "n": "caf\u00e9"})
    case.set_fact("owner", "common factword", source="user", turn=1)
    entry = case.add_entry("decisions", "common entryword", source="user", why="whyword")
    case.close_entry(entry, because="common closedword", source="user")
    sha256 = case.store_artifact(b"common quoteword", name="common artifactword.txt")
    evidence = case.record_evidence("common claimword", quote="common quoteword", artifact=sha256)
    sides = e.Side(value=JsonText.of("common sideword"), source="tool")
    case.record_contradiction("common disputeword", [evidence, sides])
    case.record_outcome("completed", judge="user", detail="common outcomeword")


def hits(answer: SearchAnswer) -> list[tuple[int, str, str]]:
    """Version, kind and id of every hit."""
    return [(hit.version, hit.kind, hit.id) for hit in answer.hits]


def test_every_kind_of_text_is_found(open_store: OpenStore) -> None:
    store = open_store()
    full(store)
    found = view(store, "case").search("common", limit=100)
    assert found.matched == "all"
    assert {hit.kind for hit in found.hits} == set(KINDS)
    assert [word for word in OWN if not view(store, "case").search(f"{word}word").hits] == []


def test_a_hit_says_what_it_is_and_shows_the_place(open_store: OpenStore) -> None:
    store = open_store(ticking())
    full(store)
    (hit,) = view(store, "case").search("RESULTWORD").hits
    assert (hit.ledger, hit.version, hit.turn, hit.kind, hit.role, hit.id) == ("case", 5, 2, "result", None, "r_5")
    assert hit.snippet == "found: common resultword in lines n: café"
    assert [hit.snippet[start:end] for start, end in hit.places] == ["resultword"]
    ids = {word: view(store, "case").search(f"{word}word").hits[0].id for word in ("turn", "entry", "closed", "claim", "side")}
    assert ids == {"turn": "v_3", "entry": "en_7", "closed": "en_7", "claim": "ev_10", "side": "con_11"}


def test_a_view_of_the_past_finds_what_was_there_then(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    for number in range(80):
        case.record_turn("user", f"parcel {number} is late")
    assert len(view(store, "case").search("parcel", limit=100).hits) == 80
    for at in (1, 31, 32, 33, 64, 79):
        assert len(view(store, "case", at=at).search("parcel", limit=100).hits) == at
    assert hits(view(store, "case", at=Turn(40)).search("39 parcel")) == [(40, "turn", "v_40")]
    assert view(store, "case", at=Turn(39)).search("39").hits == ()
    assert view(store, "case", at=0).search("parcel").hits == ()


@pytest.mark.parametrize("seed", range(3))
def test_an_index_finds_what_a_scan_finds(open_store: OpenStore, seed: int) -> None:
    store = open_store()
    random_record(store, 130, seed)
    for at in (None, 150, 47):
        assert [(q, *searched(store, "case", q, at=at)) for q in QUERIES] == [
            (q, *scanned(store, "case", q, at=at)) for q in QUERIES
        ]


def test_all_stores_give_the_same_answer(open_store: OpenStore) -> None:
    store = open_store(ticking())
    with connect(":memory:", clock=ticking()) as other:
        for each in (store, other):
            random_record(each, 100, 7)
            each.ledger("case").forget(turns=[3, 9], reason="asked to", scrub=False)
        for query in QUERIES:
            assert view(store, "case").search(query).hits == view(other, "case").search(query).hits
            assert search(store, query).hits == search(other, query).hits


def test_of_equals_the_newest_comes_first_and_the_better_before_it(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    for text in ("refund", "about a refund and many other words besides", "refund", "refund refund"):
        case.record_turn("user", text)
    assert [hit.version for hit in view(store, "case").search("refund").hits] == [4, 3, 1, 2]


def test_pages_follow_on_each_other(open_store: OpenStore) -> None:
    store = open_store()
    random_record(store, 60, 3)
    seen = view(store, "case")
    whole = seen.search("refund", limit=1_000)
    pages = [seen.search("refund", limit=4, offset=start) for start in range(0, len(whole.hits) + 4, 4)]
    assert tuple(hit for page in pages for hit in page.hits) == whole.hits
    assert [page.more for page in pages] == [start + 4 < len(whole.hits) for start in range(0, len(whole.hits) + 4, 4)]


def test_hits_can_be_of_a_kind_a_role_or_some_turns(open_store: OpenStore) -> None:
    store = open_store()
    full(store)
    seen = view(store, "case")
    assert [hit.version for hit in seen.search("common", kind="result").hits] == [5]
    assert {hit.role for hit in seen.search("common", role="assistant").hits} == {"assistant"}
    assert {hit.version for hit in seen.search("common", turns=(1, 1)).hits} == {3, 6}
    assert {hit.version for hit in seen.search("common", turns=(2, 9)).hits} == {4, 5}
    assert {hit.version for hit in seen.search("common", turns=(1, 2), kind="turn").hits} == {3, 4}
    assert seen.search("common", turns=(7, 9)).hits == ()


@pytest.mark.parametrize(
    "query",
    [
        *('"', "'", "*", "* *", "NEAR(a b)", "a OR", "a:b:c", "col:x", "-x", "^x", "(", "x)", "x AND (", '"a" "b', "%", "_"),
        *(
            "'; DROP TABLE derived; --",
            "\x00",
            "a\x00b",
            "\ud800",
            "{a}",
            "\\",
            "a" * 2_000,
            "1e999",
            "..",
            "x&!|<->y",
            "\u202e",
        ),
    ],
)
def test_no_query_is_taken_for_more_than_words(open_store: OpenStore, query: str) -> None:
    """Signs of search languages do nothing; a query without a word is refused with its way out."""
    store = open_store()
    store.ledger("case").record_turn("user", "near and or col x a b")
    if any(map(str.isalnum, query)):
        assert view(store, "case").search(query).query == query
    else:
        with pytest.raises(InvalidInput, match="no word"):
            view(store, "case").search(query)
    assert hits(view(store, "case").search("near")) == [(1, "turn", "v_1")]


def test_an_underscore_or_a_percent_sign_is_no_wildcard(open_store: OpenStore) -> None:
    store = open_store()
    for name in ("users/ana_lima/1", "users/ana-lima/1", "users/anaxlima/1"):
        store.ledger(name).record_turn("user", f"I am {name}, a_b at 100%")
    for name in ("users/ana_lima/1", "users/ana-lima/1"):
        assert [hit.ledger for hit in search(store, name).hits] == [name]
    assert [hit.ledger for hit in view(store, "users/ana_lima/1").search("lima").hits] == ["users/ana_lima/1"]
    assert view(store, "users/ana_lima/1").search("ana-lima").hits == ()
    store.ledger("users/anaxlima/1").record_turn("user", "axb")
    assert [hit.version for hit in view(store, "users/anaxlima/1").search("a_b").hits] == [1]


def test_half_a_character_between_letters_keeps_nothing_from_being_found(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    for number in range(40):
        case.record_turn("user", f"the file x\udcb2y.log of berth {number:02}")
    assert rows_of(store, "case") == []
    assert len(view(store, "case").search("berth 07").hits) == 1
    assert rows_of(store, "case")
    assert len(view(store, "case").search("x\udcb2y.log", limit=100).hits) == 40


def test_nothing_of_another_ledger_is_found(open_store: OpenStore) -> None:
    """Two people use the same words, and one of them is wholly forgotten: the other finds only what is theirs."""
    store = open_store()
    for who in ("ana", "bob"):
        for number in range(40):
            store.ledger(f"{who}/s-1").record_turn("user", f"the secret of {who} is {number}")
    assert {hit.ledger for hit in view(store, "bob/s-1").search("secret", limit=100).hits} == {"bob/s-1"}
    assert view(store, "bob/s-1").search("ana").hits == ()
    assert {hit.ledger for hit in search(store, "secret", limit=100).hits} == {"ana/s-1", "bob/s-1"}
    store.forget(ledger="ana/s-1", reason="asked to", scrub=False)
    assert {hit.ledger for hit in search(store, "secret", limit=100).hits} == {"bob/s-1"}
    assert len(view(store, "bob/s-1").search("secret", limit=100).hits) == 40


def test_what_is_forgotten_is_not_found_again(open_store: OpenStore) -> None:
    """Not by a view that is kept, not in the past, not after the index is made again."""
    store = open_store()
    case = store.ledger("case")
    for number in range(50):
        case.record_turn("user", f"iban {number:03} of the supplier")
    case.set_fact("iban", "iban 007", source="user", turn=8)
    kept = view(store, "case")
    past = view(store, "case", at=20)
    assert {hit.version for hit in kept.search("007").hits} == {8, 51}
    case.forget(turns=[8], reason="asked to", scrub=False)
    for seen in (kept, past, view(store, "case"), view(store, "case", at=20)):
        assert seen.search("007").hits == ()
        assert seen.search("iban", limit=100).hits != ()
    assert all(8 not in {hit.version for hit in one.search("iban", limit=100).hits} for one in (kept, past))
    assert {hit.version for hit in kept.search("supplier", limit=100).hits} == set(range(1, 51)) - {8}


def test_what_one_process_forgets_another_does_not_find(open_shared: OpenStore) -> None:
    """Each has a connection of its own, and the other's views are there already."""
    mine, other = open_shared(), open_shared()
    for number in range(40):
        mine.ledger("case").record_turn("user", f"account {number} of the supplier")
    seen = view(other, "case")
    assert [hit.version for hit in seen.search("account 17").hits] == [18]
    mine.ledger("case").forget(turns=[18], reason="asked to", scrub=False)
    assert seen.search("17").hits == ()
    assert view(other, "case", at=30).search("17").hits == ()
    assert search(other, "17").hits == ()
    assert len(seen.search("account", limit=100).hits) == 39


def test_a_sweep_takes_the_index_with_it(open_store: OpenStore) -> None:
    store = open_store()
    case = store.ledger("case")
    for number in range(300):
        case.record_turn("user", f"turn {number} needleword")
    other = store.ledger("other")
    for _ in range(40):
        other.record_turn("user", "needleword")
    search(store, "needleword")
    sizes = {one.name: len(rows_of(store, one.name)) for one in store.heads()}
    assert sizes["case"] > 0
    assert sizes["other"] > 0
    case.forget(turns=[1], reason="asked to", scrub=False)
    assert (len(rows_of(store, "case")), len(rows_of(store, "other"))) == (0, sizes["other"])
    view(store, "case").search("needleword")
    assert len(rows_of(store, "case")) == sizes["case"]


def test_the_index_goes_on_as_a_ledger_grows(open_store: OpenStore) -> None:
    """Small pieces become larger ones, and are kept no longer; a search reads a few events only."""
    store = open_store()
    case = store.ledger("case")
    for first in range(1, 2_200, 50):
        turns = [
            e.TurnRecorded(role="user", parts=(TextPart(text=f"number{n} said"),), turn=n) for n in range(first, first + 50)
        ]
        case.append(turns)
        assert [hit.version for hit in view(store, "case").search(f"number{first + 7}").hits] == [first + 7]
    assert case.version == 2_200
    starts = [row.key for row in rows_of(store, "case") if row.key.startswith("d/")]
    assert len(starts) <= 1 + (2_200 - 2_048) // 32 + 1
    with reads_only(store, 60) as counted:
        assert [hit.version for hit in view(counted, "case").search("number1234").hits] == [1_234]
    assert [hit.version for hit in view(store, "case", at=1_233).search("number1234").hits] == []
