"""What is kept in memory is bounded, in number and in weight."""

from __future__ import annotations

from replay.warm import Recent


def test_what_was_used_longest_ago_gives_way() -> None:
    kept: Recent[str] = Recent(2)
    kept.put(1, "one")
    kept.put(2, "two")
    assert kept.get(1) == "one"
    kept.put(3, "three")
    assert [kept.get(number) for number in (1, 2, 3)] == ["one", None, "three"]


def test_what_is_heavy_makes_more_give_way() -> None:
    kept: Recent[str] = Recent(100, 10)
    for number in range(1, 6):
        kept.put(number, "two", weight=2)
    kept.put(6, "six", weight=6)
    assert [number for number in range(1, 7) if kept.get(number)] == [4, 5, 6]
    kept.put(6, "less", weight=1)
    kept.put(7, "seven", weight=5)
    assert [number for number in range(1, 8) if kept.get(number)] == [4, 5, 6, 7]
    kept.put(8, "too heavy for all", weight=11)
    assert [number for number in range(1, 9) if kept.get(number)] == [4, 5, 6, 7]
