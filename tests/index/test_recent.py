"""What is kept in memory is bounded, in number and in weight, and told only where it holds."""

from __future__ import annotations

from replay.kept.recent import Recent


def test_what_was_used_longest_ago_gives_way() -> None:
    kept: Recent[str] = Recent(2)
    kept.put(1, "one", since=1)
    kept.put(2, "two", since=2)
    assert kept.at(9, [1]) == {1: "one"}
    kept.put(3, "three", since=3)
    assert kept.at(9, [1, 2, 3]) == {1: "one", 3: "three"}


def test_what_is_heavy_makes_more_give_way() -> None:
    kept: Recent[str] = Recent(100, 10)
    for number in range(1, 6):
        kept.put(number, "two", since=1, weight=2)
    kept.put(6, "six", since=1, weight=6)
    assert list(kept.at(1, range(1, 7))) == [4, 5, 6]
    kept.put(6, "less", since=1, weight=1)
    kept.put(7, "seven", since=1, weight=5)
    assert list(kept.at(1, range(1, 8))) == [4, 5, 6, 7]
    kept.put(8, "too heavy for all", since=1, weight=11)
    assert list(kept.at(1, range(1, 9))) == [4, 5, 6, 7]


def test_what_changed_is_told_only_of_before() -> None:
    kept: Recent[str] = Recent(100)
    kept.put(1, "one", since=3)
    kept.put(2, "two", since=4, until=7)
    assert [list(kept.at(version, [2, 1])) for version in (2, 3, 4, 6, 7)] == [[], [1], [2, 1], [2, 1], [1]]
    kept.changed(1, 5)
    kept.changed(2, 9)
    kept.changed(3, 9)
    assert [list(kept.at(version, [2, 1])) for version in (4, 5, 6, 7)] == [[2, 1], [2], [2], []]
