"""Derived rows may be purged while they are read: then it is looked for again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from ledger.errors import StoreError

Result = TypeVar("Result")

_ATTEMPTS: Final = 50


class Overtaken(Exception):
    """What was found is no longer all: rows were purged meanwhile, or another kind is in force. It is looked for again."""


def undisturbed(answer: Callable[[], Result]) -> Result:
    """What ``answer`` says once it is not overtaken: so many times it is asked; ``StoreError`` when it never ends."""
    for _ in attempts():
        try:
            return answer()
        except Overtaken:
            continue
    raise AssertionError("the attempts end in an error")


def attempts() -> Iterator[None]:
    """So many times is looked again after being overtaken; ``StoreError`` when it never ends."""
    for _ in range(_ATTEMPTS):
        yield
    raise StoreError("the ledgers are forgotten faster than they can be read: ask again when it is quieter")
