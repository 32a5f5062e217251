"""After a forgetting no byte of what was forgotten stands in a file of the store, and all else does."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.events import TurnRecorded
from ledger.forgetting import Forgetting
from ledger.parts import TextPart
from ledger.verify import verify_store
from tests.forgetting.needles import Needles, slices, traces_in
from tests.forgetting.shelves import CATALOGUE, Shelf
from tests.forgetting.telling import WAYS, Told, needles_of, synthetic, tell


@pytest.fixture
def ledgers(shelf: Shelf) -> Iterator[Ledgers]:
    """The store, open."""
    with shelf() as opened:
        yield opened


def assert_gone(shelf: Shelf, ledgers: Ledgers, gone: Sequence[Told], kept: Sequence[Told]) -> None:
    """What is gone is nowhere, and what is kept is there."""
    contents = list(shelf.contents())
    assert needles_of(gone, kept).found_in(contents) == {}
    left = Needles(value for told in kept for text in told.texts for value in text.values)
    assert set().union(*left.found_in(contents).values()) == set(left.texts)
    assert verify_store(ledgers).problems == ()
    assert all(job.finished for job in ledgers.forgettings())


def forget_in_turn(shelf: Shelf, ledgers: Ledgers, told: list[Told], *, steps: int) -> None:
    """Forget what was told, some at a time, and look at every byte after each step."""
    gone: list[Told] = []
    step = -(-len(told) // steps)
    while told:
        for one in told[:step]:
            assert ledgers.forget(reason="asked", **one.forget).state == "complete"
        gone, told = gone + told[:step], told[step:]
        for one in told:  # what is derived again of what is left is not held against the forgetting
            head = ledgers.head(one.forget.get("ledger") or "case")
            value = one.texts[0].text.encode()
            assert ledgers.store.derived_put(head.ledger, "window", one.texts[0].text[:20], value, erasures=head.erasures)
        assert_gone(shelf, ledgers, gone, told)


@pytest.mark.parametrize("shelf", CATALOGUE, indirect=True)
def test_what_was_told_in_any_way_is_gone_once_it_is_forgotten(shelf: Shelf, ledgers: Ledgers, real_data: Path) -> None:
    told = list(tell(ledgers, synthetic(real_data)[: len(WAYS)]))
    before = needles_of(told, [])
    found = before.found_in(shelf.contents())
    assert set().union(*found.values()) == set(before.texts), "the checker finds what is there"
    forget_in_turn(shelf, ledgers, told, steps=3)


def test_the_stored_bytes_themselves_are_gone(shelf: Shelf, ledgers: Ledgers, real_data: Path) -> None:
    """Compressed payloads are looked for as they were stored, not only as what they say."""
    told = list(tell(ledgers, synthetic(real_data)[: len(WAYS)]))
    large = next(one for one in told if one.way == "large turn")
    (turn,) = large.forget["turns"]
    handle = ledgers.ledger("case")
    version = next(item.version for item in handle.events() if item.turn == turn)
    traces = {"the payload": slices(stored_payload(shelf, large))}
    assert traces_in(traces, shelf.contents()) != []
    ledgers.forget(reason="asked", **large.forget)
    assert traces_in(traces, shelf.contents()) == []
    assert isinstance(next(iter(handle.events(after=version - 1))).event, Erased)


def stored_payload(shelf: Shelf, told: Told) -> bytes:
    """The compressed payload that holds what was told."""
    rows = next(content for place, content in shelf.contents() if place == "rows of payloads")
    packed = [rows[start:] for start in range(len(rows)) if rows.startswith(b"\xff\x78\x01", start)]
    values = Needles(told.texts[0].values)
    return next(stream[1:6000] for stream in packed if values.found(stream[1:]) and not values.found(stream[1:40]))


@pytest.mark.parametrize("shelf", CATALOGUE, indirect=True)
def test_rows_that_the_database_moved_leave_nothing_behind(shelf: Shelf, ledgers: Ledgers) -> None:
    """With this seed SQLite leaves a copy of a row in the free space of a page, which ``secure_delete`` does not overwrite."""
    append_and_forget(shelf, ledgers, random.Random(17), steps=18)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_rows_that_the_database_moves_for_longer_leave_nothing_behind(shelf: Shelf, ledgers: Ledgers, seed: int) -> None:
    append_and_forget(shelf, ledgers, random.Random(seed), steps=40)


def append_and_forget(shelf: Shelf, ledgers: Ledgers, chance: random.Random, *, steps: int) -> None:
    """Turns come and go, some at a time. Between, a database moves rows from page to page."""
    handle, fences = ledgers.ledger("case"), list[Forgetting]()
    left: list[tuple[int | None, str]] = []
    gone: list[str] = []
    for step in range(steps):
        texts = [
            f"needle {step}/{number}. " + "x" * chance.choice((chance.randrange(100), chance.randrange(3000)))
            for number in range(chance.randrange(1, 12))
        ]
        told = handle.append([said(text, turn) for turn, text in enumerate(texts, start=handle.version - len(fences) + 1)])
        left += [(item.turn, text[:15]) for item, text in zip(told, texts, strict=True)]
        chance.shuffle(left)
        if step % 2:
            some = [left.pop() for _ in range(min(len(left), chance.randrange(1, 20)))]
            gone += [text for _, text in some]
            fences.append(handle.forget(turns=[turn for turn, _ in some if turn], reason="asked"))
            found = [(text, place) for place, content in shelf.contents() for text in gone if text.encode() in content]
            assert found == []
    assert {fence.state for fence in fences} == {"complete"}
    assert verify_store(ledgers).ok


def said(text: str, turn: int) -> TurnRecorded:
    """A turn of the user's."""
    return TurnRecorded(role="user", parts=(TextPart(text=text),), turn=turn)


def test_one_very_long_word_is_planned_in_no_time() -> None:
    """Base64 in a turn, say; the search for what is said elsewhere, too, must not go through it from each of its letters."""
    with connect(":memory:") as opened:
        opened.ledger("case").record_turn("user", "x" * 200_000)
        opened.ledger("case").record_turn("user", "y" * 200_000)
        start = time.monotonic()
        assert opened.forget(ledger="case", turns=[1], reason="asked", dry_run=True).count == 1
        assert time.monotonic() - start < 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_all_texts_are_gone_in_any_order(shelf: Shelf, ledgers: Ledgers, real_data: Path, seed: int) -> None:
    texts = synthetic(real_data)
    told = list(tell(ledgers, texts))
    random.Random(seed).shuffle(told)
    forget_in_turn(shelf, ledgers, told, steps=6)
