"""Turns that are read one by one are those of the whole ledger, at every version, whatever was recorded and forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger import connect
from tests.contract.stores import CATALOGUE, OpenStore
from tests.index.telling import Clock, play


@pytest.fixture(params=["sqlite-file", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """A store on a disk or a server."""
    made = CATALOGUE[request.param](tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("seed", range(12))
def test_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=3, steps=35, most=4)


@pytest.mark.parametrize("seed", range(50, 54))
def test_with_rules_of_retention(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=2, steps=30, most=4, keeps=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 200))
def test_more_histories_that_a_seed_chooses(seed: int) -> None:
    with connect(":memory:", clock=Clock()) as ledgers:
        play(ledgers, seed, rounds=4, steps=60, most=30, keeps=seed % 2 == 0)


@pytest.mark.parametrize("seed", range(20, 22))
def test_in_both_stores(opened: OpenStore, seed: int) -> None:
    play(opened(Clock()), seed, rounds=2, steps=30, most=5)
