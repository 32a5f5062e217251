"""Texts that make a careless expression slow: proved by the form of the expressions, and by texts that must come to an end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from projections.exact import patterns
from projections.exact.strings import exact_strings

_PARSER: Any = re._parser  # type: ignore[attr-defined]
SCANNING = [
    *("TOKEN", "PERHAPS_DAY", "MONTH_DATE", "BACKTICKS", "DOUBLE_QUOTES", "SINGLE_QUOTES", "OTHER_QUOTES", "COMMANDS"),
    "FOREIGN_PATH",
]


def repeats(parsed: Any) -> Iterator[tuple[str, Any]]:
    """Every repeat in a parsed expression: its kind, and how often at most."""
    for operator, argument in parsed:
        name = str(operator)
        if name.endswith("REPEAT"):
            yield name, argument[1]
        yield from _inside(argument)


def _inside(argument: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(argument, _PARSER.SubPattern):
        yield from repeats(argument)
    elif isinstance(argument, list | tuple):
        for item in argument:
            yield from _inside(item)


def backtracking(pattern: str) -> list[tuple[str, Any]]:
    """The repeats without a bound that would give back what they took."""
    found = repeats(_PARSER.parse(pattern))
    return [(name, most) for name, most in found if name != "POSSESSIVE_REPEAT" and most == _PARSER.MAXREPEAT]


@pytest.mark.parametrize("name", SCANNING)
def test_no_repeat_without_a_bound_gives_back_what_it_took(name: str) -> None:
    assert backtracking(getattr(patterns, name).pattern) == []


def test_such_a_repeat_is_recognised() -> None:
    assert backtracking("(?:a|b+)c") == [("MAX_REPEAT", _PARSER.MAXREPEAT)]
    assert backtracking("(?:a|b++)c{1,9}") == []


@pytest.mark.parametrize("character", "aA1/._-`\"'@#$ \\:€“订é(\n\u0301+~=")
def test_a_text_of_one_character_comes_to_an_end(character: str) -> None:
    assert exact_strings(character * 400_000) == ()


@pytest.mark.parametrize(
    "unit",
    [
        *("a.", "a/", "1,", "1.", "1'", "A1", "a@", "::", "://", "a://", "$ ", "/数", "a_", "1 ", "12:", "' a", "/a ", "www."),
        *(
            "1:",
            "4-a",
            "--a",
            "v1.",
            "€ ",
            "USD ",
            "\\\\",
            "a//",
            "http:",
            "1\u202f",
            "9,999",
            "June ",
            '"\\',
            "x=y&",
            "[({<",
            "a-1",
        ),
    ],
)
def test_a_text_of_one_unit_comes_to_an_end(unit: str) -> None:
    assert len(exact_strings(unit * (200_000 // len(unit)))) <= 2


def test_a_megabyte_without_any_break_says_nothing_exact() -> None:
    assert exact_strings("QmFzZTY0IGlzIGxvbmc" * 55_000) == ()


def test_many_different_long_tokens_come_to_an_end() -> None:
    text = " ".join(f"{number:06d}{'a_-.b/' * 30}" for number in range(2_000))
    assert len(exact_strings(text)) == 2_000
