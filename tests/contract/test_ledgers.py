"""Names, heads, blobs, and what is derived."""

from __future__ import annotations

import hashlib

import pytest

from ledger import Ledgers
from ledger.errors import InvalidInput, StoreError, UnknownLedger, VersionConflict
from tests.contract.batches import LEDGER, batch, draft
from tests.contract.stores import OpenStore

NAMES = [
    "case-1",
    'it\'s "quoted" `here`',
    "Robert'); DROP TABLE events;--",
    "100% _like_ [a-z] \\ pattern",
    "zweiundvierzig Äpfel 事件 🧾",
    "e\u0301 is not \u00e9".replace("\u00a0", " "),
    "$1 ?1 :name {0}",
    " leading and trailing ",
    "case-1 ",
    "CASE-1",
    "x" * 512,
]


def test_every_name_is_a_ledger_of_its_own(open_store: OpenStore) -> None:
    ledgers = open_store()
    for number, name in enumerate(NAMES):
        for _ in range(number + 1):
            ledgers.ledger(name).record_turn("user", name)
    heads = open_store().heads()
    assert [head.name for head in heads] == NAMES
    assert [head.version for head in heads] == list(range(1, len(NAMES) + 1))
    assert len({head.ledger for head in heads}) == len(NAMES)
    for number, name in enumerate(NAMES):
        assert open_store().head(name) == heads[number]
        assert open_store().ledger(name).version == number + 1


@pytest.mark.parametrize("name", ["", "x" * 513, "a\0b", "line\nbreak", "\ud800", "tab\t"])
def test_names_that_no_store_could_keep_are_refused(open_store: OpenStore, name: str) -> None:
    ledgers = open_store()
    with pytest.raises(InvalidInput):
        ledgers.ledger(name)
    with pytest.raises((InvalidInput, UnknownLedger)):
        ledgers.head(name)
    assert ledgers.heads() == []


def test_an_unknown_ledger_names_the_nearest(open_store: OpenStore) -> None:
    ledgers = open_store()
    ledgers.ledger("refund-17").record_turn("user", "hello")
    with pytest.raises(UnknownLedger, match="refund-17") as caught:
        ledgers.head("refund-71")
    assert caught.value.nearest == ["refund-17"]
    assert ledgers.store.head("refund-71") is None


def test_a_handle_appends_nothing(open_store: OpenStore) -> None:
    ledgers = open_store()
    handle = ledgers.ledger("case")
    assert (handle.version, list(handle.events())) == (0, [])
    assert ledgers.heads() == []


def test_a_head_follows_its_ledger(open_store: OpenStore) -> None:
    ledgers = open_store(lambda: 4_242)
    ledgers.ledger("other").record_turn("user", "x")
    handle = ledgers.ledger("case")
    for version in (1, 2, 3):
        handle.record_turn("user", "x")
        head = open_store().head("case")
        assert (head.version, head.recorded_at, head.erasures, head.governing) == (version, 4_242, 0, 0)


def test_a_head_tells_of_the_last_event_that_says_what_is_kept(open_store: OpenStore) -> None:
    ledgers = open_store()
    case, other = ledgers.ledger("case"), ledgers.ledger("other")
    case.record_turn("user", "x")
    other.record_turn("user", "x")
    case.set_retention("1 year")
    case.record_turn("user", "y")
    seen = open_store()
    assert [seen.head("case").governing, seen.head("other").governing] == [2, 0]
    case.forget(turns=[1], reason="asked to")
    ledger = seen.head("case").ledger
    found = seen.store.head_of(ledger)
    assert found is not None
    assert found == seen.head("case")
    assert (found.governing, {head.name: head.governing for head in seen.heads()}) == (4, {"case": 4, "other": 0})


def test_a_head_is_never_one_from_before_whoever_wrote(open_store: OpenStore) -> None:
    """Where heads are remembered until something is written, nothing written is overlooked."""
    here, there = open_store(), open_store()
    here.ledger("case").record_turn("user", "x")
    ledger = here.head("case").ledger
    written = 1

    def seen() -> list[int]:
        found = [here.store.head("case"), here.store.head_of(ledger), there.store.head_of(ledger), there.store.head("case")]
        return [0 if head is None else head.version for head in found]

    def keeps(ledgers: Ledgers) -> None:
        assert ledgers.store.derived_put(ledger, "segment", str(written), b"kept", erasures=0)

    for first, second in ((here, here), (here, there), (there, here), (there, there)):
        for looks in (True, False):
            first.ledger("case").record_turn("user", "x")
            keeps(second)  # whether it was looked for in between or not
            written += 1
            if looks:
                assert seen() == [written] * 4
    assert here.store.head("later") is None
    there.ledger("later").record_turn("user", "x")
    assert here.head("later").version == 1
    head = here.head("case")
    with pytest.raises(VersionConflict):
        here.store.append(batch([draft()], ledger=ledger, name="case", expected=head.version - 1, command=b"9" * 16))
    assert seen() == [written] * 4
    there.forget(ledger="later", reason="asked to")
    forgotten = here.head("later")
    assert (forgotten.version, forgotten.name != "later") == (there.head("later").version, True)


def test_the_same_bytes_are_kept_once_in_a_ledger_and_not_seen_by_another(open_store: OpenStore) -> None:
    ledgers = open_store()
    one, two = ledgers.ledger("one"), ledgers.ledger("two")
    page = bytes(range(256)) * 100
    sha256 = one.store_artifact(page, name="first")
    assert one.store_artifact(page, name="second") == sha256 == hashlib.sha256(page).hexdigest()
    two.record_turn("user", "x")
    store = ledgers.store
    assert store.blob(ledgers.head("one").ledger, sha256) == page
    assert store.blob(ledgers.head("two").ledger, sha256) is None
    two.store_artifact(page)
    assert store.blob(ledgers.head("two").ledger, sha256) == page


def test_an_empty_artifact(open_store: OpenStore) -> None:
    ledgers = open_store()
    sha256 = ledgers.ledger("case").store_artifact(b"")
    assert open_store().store.blob(ledgers.head("case").ledger, sha256) == b""


def test_what_is_derived_is_kept_by_ledger_kind_and_key(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft()]))
    assert store.derived_get(LEDGER, "segment", "1") is None
    assert store.derived_put(LEDGER, "segment", "1", b"\0first", erasures=0)
    assert store.derived_put(LEDGER, "segment", "2", b"", erasures=0)
    assert store.derived_put(LEDGER, "tokens", "1", b"other kind", erasures=0)
    assert store.derived_put(LEDGER, "segment", "1", b"\0again", erasures=0)
    again = open_store().store
    assert again.derived_get(LEDGER, "segment", "1") == b"\0again"
    assert again.derived_get(LEDGER, "segment", "2") == b""
    assert again.derived_get(LEDGER, "tokens", "1") == b"other kind"
    assert again.derived_get(b"?" * 16, "segment", "1") is None


def test_nothing_derived_is_kept_from_before_an_erasure_or_for_no_ledger(open_store: OpenStore) -> None:
    store = open_store().store
    store.append(batch([draft()]))
    assert not store.derived_put(LEDGER, "segment", "1", b"stale", erasures=1)
    assert not store.derived_put(b"?" * 16, "segment", "1", b"nobody's", erasures=0)
    assert store.derived_get(LEDGER, "segment", "1") is None
    assert store.derived_get(b"?" * 16, "segment", "1") is None


def test_the_secret_belongs_to_the_store(open_store: OpenStore) -> None:
    assert open_store().store.secret == open_store().store.secret
    assert len(open_store().store.secret) >= 32


def test_a_closed_store_says_so(open_store: OpenStore) -> None:
    with open_store() as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "x")
    with pytest.raises(StoreError, match="closed"):
        handle.record_turn("user", "y")
    with pytest.raises(StoreError, match="closed"):
        ledgers.heads()
    ledgers.close()


def test_closing_one_handle_leaves_the_others(open_shared: OpenStore) -> None:
    stays = open_shared().ledger("case")
    stays.record_turn("user", "x")
    with open_shared() as goes:
        goes.ledger("case").record_turn("user", "y")
    stays.record_turn("user", "z")
    assert stays.version == 3
