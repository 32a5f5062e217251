"""What is worked out when it is first asked for is worked out once an object."""

from __future__ import annotations

from dataclasses import dataclass, field

from projections.lazily import lazily


@dataclass(frozen=True)
class Berth:
    """Where a ship lies."""

    number: int
    sounded: list[int] = field(default_factory=list, compare=False)

    @lazily
    def fathoms(self) -> int:
        """How deep it is."""
        self.sounded.append(self.number)
        return self.number * 2


def test_it_is_worked_out_once_an_object() -> None:
    one, other = Berth(1), Berth(2)
    assert not one.sounded
    assert (one.fathoms, other.fathoms, one.fathoms) == (2, 4, 2)
    assert (one.sounded, other.sounded) == ([1], [2])
    assert one == Berth(1)


def test_of_the_class_it_says_what_it_is() -> None:
    assert isinstance(Berth.fathoms, lazily)
    assert Berth.fathoms.__doc__ == "How deep it is."
