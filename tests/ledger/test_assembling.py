"""What is made of values in a hurry is what the model itself would have made of them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from ledger.assembling import assembler, told_values_of, values_of
from ledger.record import Envelope, Recorded, Tags
from ledger.store import Stored
from projections.cards import Card, Contents, ResultCard
from projections.compacting.middle import Chapter, Exact, KeptTurn, Line, Middle, Stub
from projections.transcript import Return, Turn


@dataclass(frozen=True, slots=True)
class Berth:
    """Where a ship lies."""

    number: int
    ships: tuple[str, ...] = ()
    depth: float = 4.5
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def is_free(self) -> bool:
        """Whether no ship is there."""
        return not self.ships


berth = assembler(Berth)


def test_it_is_the_same() -> None:
    made, same = berth(3, ("Anna",), depth=2.5), Berth(3, ("Anna",), depth=2.5)
    assert (made, type(made), repr(made)) == (same, Berth, repr(same))
    assert not made.is_free
    assert replace(made, number=4) == Berth(4, ("Anna",), depth=2.5)
    assert hash(assembler(Line)(1, 2, "said", 3)) == hash(Line(1, 2, "said", 3))


def test_it_has_the_defaults_each_time_anew() -> None:
    one, other = berth(1), berth(2)
    assert (one, other) == (Berth(1), Berth(2))
    assert one.notes is not other.notes


def test_it_stays_as_it_is() -> None:
    made = berth(1)
    with pytest.raises(FrozenInstanceError):
        made.number = 2  # type: ignore[misc]
    assert not hasattr(made, "__dict__")


def test_what_does_not_fit_is_refused() -> None:
    made: Any = berth
    cases: list[list[Any]] = [[], [1, (), 2.5, {}, 9]]
    for given in cases:
        with pytest.raises(TypeError):
            made(*given)


def test_the_values_tell_it_all() -> None:
    made = Berth(1, ("Anna",))
    assert values_of(Berth)(made) == (1, ("Anna",), 4.5, {})
    assert berth(*values_of(Berth)(made)) == made
    line = Line(1, 2, "said", 3)
    assert told_values_of(Line)(line) == [1, 2, "said", 3]
    assert told_values_of(Contents)(Contents()) == []
    assert told_values_of(Line)(replace(line, summary="sum_4")) == [1, 2, "said", 3, "extract", "sum_4"]


@pytest.mark.parametrize(
    "model",
    [Envelope, Stored, Recorded, Tags, Turn, Return, Card, Contents, ResultCard, Middle, KeptTurn, Chapter, Line, Exact, Stub],
)
def test_every_model_that_is_made_so_can_be(model: type) -> None:
    assert not hasattr(model, "__post_init__"), "it would be skipped"
    values = [*range(len(fields(model)))]
    assert values_of(model)(assembler(model)(*values)) == tuple(values)
