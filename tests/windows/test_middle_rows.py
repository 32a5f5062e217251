"""What is kept of compacted segments is small, is read as it was made, and is made anew where it cannot be read."""

from __future__ import annotations

import sqlite3
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from ledger import JsonText, Ledgers, connect
from ledger.parts import ToolCallPart
from projections.policy import Policy
from replay import view
from replay.windows.middle_rows import written_against
from replay.windows.middles import KIND

POLICY = Policy(budget_tokens=2_000)
TURNS = 240


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A store with one long ledger, of which a window was built."""
    place = str(tmp_path / "store.db")
    with connect(place) as store:
        case = store.ledger("case")
        for number in range(1, TURNS + 1):
            if number % 3 == 2:
                call = ToolCallPart(call_id=f"c{number}", tool="weigh", arguments=JsonText.of({"crate": f"CR-{number:04}"}))
                case.record_turn("assistant", [call])
                found = (
                    f"crate CR-{number:04}: layer {row}, {row * number % 97} kg, seal {row * 7919 % 997}" for row in range(40)
                )
                case.record_return(f"c{number}", "\n".join(found))
            else:
                said = f"Crate CR-{number:04} goes to quay {number % 7}. Do not stack it above {number % 5 + 1} layers."
                case.record_turn("user" if number % 3 else "assistant", said)
        view(store, "case").window(POLICY)
    return place


def _windows(store: Ledgers) -> list[bytes]:
    last = store.head("case").version
    return [view(store, "case", at=version).window(POLICY).to_json() for version in range(last, 40, -23)]


def _rows(store: Ledgers) -> dict[str, bytes]:
    rows = store.store.derived_scan(KIND, "", ledger=store.head("case").ledger).rows
    return {row.key: row.value for row in rows}


def _overwrite(store: Ledgers, rows: dict[str, bytes]) -> None:
    head = store.head("case")
    assert store.store.derived_put_many(head.ledger, KIND, rows, erasures=head.erasures)


def test_every_segment_is_kept(address: str) -> None:
    with connect(address) as store:
        through = view(store, "case").window(POLICY).receipt.through
        assert through > TURNS // 2
        assert len(_rows(store)) == through // 8


def test_it_is_small_beside_the_record(address: str) -> None:
    raw = sqlite3.connect(address)
    (recorded,) = raw.execute("SELECT sum(length(payload)) FROM payloads").fetchone()
    raw.close()
    with connect(address) as store:
        assert sum(map(len, _rows(store).values())) < recorded * 15 // 100


@pytest.mark.parametrize("damaged", ["all", "every third", "cut short", "as an earlier release wrote them"])
def test_what_cannot_be_read_is_made_anew(address: str, damaged: str) -> None:
    with connect(address) as store:
        expected = _windows(store)
        rows = _rows(store)
    with connect(address) as store:
        step = 3 if damaged == "every third" else 1
        broken = {key: value[: len(value) // 2 if damaged == "cut short" else 0] for key, value in list(rows.items())[::step]}
        if damaged == "as an earlier release wrote them":
            broken = dict.fromkeys(rows, zlib.compress(b'{"through":8,"kept":[],"chapters":[],"exact":[],"results":[]}'))
        _overwrite(store, broken)
        assert _windows(store) == expected


def test_every_single_one_can_be_missing(address: str) -> None:
    """None is written against one that is not there when it is made anew."""
    with connect(address) as store:
        expected, rows = view(store, "case").window(POLICY).to_json(), _rows(store)
    for key in rows:
        with connect(address) as store:
            _overwrite(store, {key: b""})
            versions = [store.head("case").version, *range(40, store.head("case").version, 37)]
            assert view(store, "case").window(POLICY).to_json() == expected
            for version in versions:
                view(store, "case", at=version).window(POLICY)
            again = _rows(store)
            assert {other for other in again if again[other] != rows[other]} <= {key}
            _overwrite(store, rows)


def test_few_have_to_be_read_for_one() -> None:
    for segments in range(1, 100):
        read = {segments}
        against = written_against(segments)
        while against is not None:
            read.add(against)
            against = written_against(against)
        assert len(read) <= 4
        assert min(read) % 8 == 1
        assert written_against(segments + 1) in {None, *read}


def test_what_belongs_to_another_segment_is_not_taken(address: str) -> None:
    with connect(address) as store:
        expected = _windows(store)
        rows = _rows(store)
    with connect(address) as store:
        _overwrite(store, {key: rows[other] for key, other in pairwise(rows)})
        assert _windows(store) == expected
