"""Call ids and tool names as a provider allows them: short, plain, and never two alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from projections.transcript import Turn

_FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9_-]")

Key = TypeVar("Key")

CallKey = tuple[int, str]
"""A call of the ledger: its turn and the id that its provider gave it, which another turn may use again."""


def call_ids(turns: Iterable[Turn], *, longest: int) -> dict[CallKey, str]:
    """An id for every call, the provider's own where it fits and is new: reversible, and the same in every window."""
    given = [(turn.number, call.call_id) for turn in turns for call in turn.calls]
    return _distinct(given, [call_id for _, call_id in given], longest)


def tool_names(turns: Iterable[Turn], *, longest: int) -> dict[str, str]:
    """A name for every tool that is called, its own where it fits."""
    given = dict.fromkeys(call.tool for turn in turns for call in turn.calls)
    plain_first = sorted(given, key=lambda name: not _fits(name, longest))
    return _distinct(plain_first, plain_first, longest)


def _distinct(keys: list[Key], names: list[str], longest: int) -> dict[Key, str]:
    taken: set[str] = set()
    made: dict[Key, str] = {}
    candidates: dict[str, Iterator[str]] = {}
    for key, name in zip(keys, names, strict=True):
        # One iterator a name: what it gave before is taken, so a name that comes a thousand times is not tried from its start.
        found = candidates.setdefault(name, _candidates(name, longest))
        made[key] = next(candidate for candidate in found if candidate not in taken)
        taken.add(made[key])
    return made


def _fits(name: str, longest: int) -> bool:
    return len(name) <= longest and _FORBIDDEN.search(name) is None


def _candidates(name: str, longest: int) -> Iterator[str]:
    allowed = _FORBIDDEN.sub("_", name)
    yield allowed[:longest]
    number = 2
    while True:
        suffix = f"_{number}"
        yield allowed[: longest - len(suffix)] + suffix
        number += 1
