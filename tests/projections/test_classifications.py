"""Which classification of a turn stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ledger import Ledger, connect
from projections.classifications import ClassificationsFold
from projections.fold import run


@pytest.fixture
def case() -> Iterator[Ledger]:
    """A ledger with two turns."""
    with connect(":memory:") as ledgers:
        handle = ledgers.ledger("case")
        handle.record_turn("user", "Hi")
        handle.record_turn("assistant", "Hello")
        yield handle


def standing(case: Ledger) -> dict[int, tuple[int, str]]:
    """The version and the verdict of what stands, by turn."""
    fold = ClassificationsFold()
    run([fold], case.events())
    assert [fold.of_turn(turn) for turn in fold.by_turn] == list(fold.by_turn.values())
    return {turn: (found.version, found.event.verdict) for turn, found in fold.by_turn.items()}


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ([], None),
        (["model drop"], (3, "drop")),
        (["model drop", "model stub"], (4, "stub")),
        (["model drop", "person keep"], (4, "keep")),
        (["person keep", "model drop"], (3, "keep")),
        (["person keep", "model drop", "person stub"], (5, "stub")),
        (["person keep", "person drop", "model keep"], (4, "drop")),
    ],
)
def test_the_latest_word_counts_and_a_person_is_not_overruled_by_a_model(
    case: Ledger, said: list[str], stands: tuple[int, str] | None
) -> None:
    for one in said:
        by, verdict = one.split()
        told: dict[str, Any] = {"by": by, "verdict": verdict}
        case.classify(2, **told)
    assert standing(case) == ({} if stands is None else {2: stands})


def test_each_turn_has_its_own(case: Ledger) -> None:
    case.classify(2, "drop")
    case.classify(1, "keep", by="model")
    case.classify(2, "stub", by="model")
    assert standing(case) == {1: (4, "keep"), 2: (3, "drop")}


def test_what_was_forgotten_brings_no_models_word_back_and_takes_no_persons_away(case: Ledger) -> None:
    case.classify(1, "drop", by="model")
    case.classify(1, "keep", by="model", because="it tells of Ada")
    case.classify(2, "keep")
    case.classify(2, "drop", by="model", because="it tells of Ada")
    case.forget(ids=["v_4", "v_6"], reason="asked for")
    assert standing(case) == {2: (5, "keep")}
