"""Call ids and tool names as a provider allows them: short, plain, and never two alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count
from typing import Final

from projections.pieces import Pieces, TurnPiece

_FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9_-]")
_LIMITS: Final = (40, 64)  # characters of an id or a name, in the forms that there are

CallKey = tuple[int, str]
"""A call of the ledger: its turn and the id that its provider gave it, which another turn may use again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The longest call id and the longest tool name that a provider takes, in characters, and how a name has to begin."""

    call_id: int
    tool_name: int
    tool_begins_with_letter: bool = False


class Names:
    """The ids of the calls of some pieces, and the names of their tools: each its own where the provider allows it."""

    __slots__ = ("calls", "tools")

    def __init__(self, pieces: Pieces, limits: Limits) -> None:
        turns = [piece for piece in pieces if isinstance(piece, TurnPiece) and piece.turn.role == "assistant"]
        keys = [(piece.turn.number, call.call_id, call.tool) for piece in turns for call in piece.calls]
        self.calls = call_ids(((number, call_id) for number, call_id, _ in keys), longest=limits.call_id)
        self.tools = tool_names((tool for _, _, tool in keys), limits)


def call_ids(calls: Iterable[CallKey], *, longest: int) -> dict[CallKey, str]:
    """An id for every call, no two alike: the provider's own where it fits and no earlier call has it.

    It depends on earlier calls only: in a window that has grown, a call is called what it was called before.
    """
    made: dict[CallKey, str] = {}
    taken: set[str] = set()
    for number, call_id in calls:
        given = _plain(call_id, longest)
        if given in taken:
            given = next(found for found in _numbered(call_id, number, longest) if found not in taken)
        taken.add(given)
        made[number, call_id] = given
    return made


def tool_names(tools: Iterable[str], limits: Limits) -> dict[str, str]:
    """A name for every tool that is called, its own where it fits."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    longest = limits.tool_name
    begun = {name: _begun(name) if limits.tool_begins_with_letter else name for name in tools}
    for name in sorted(begun, key=lambda name: not _fits(name, begun[name], longest)):
        candidates = chain([_plain(begun[name], longest)], _numbered(begun[name], 2, longest))
        made[name] = next(found for found in candidates if found not in taken)
        taken.add(made[name])
    return made


def id_spellings(call_id: str, number: int) -> Sequence[str]:
    """How the forms may write the id of a call of turn ``number``: its price is that of the dearest."""
    behind = f"_{number}_9"
    return list(dict.fromkeys([*name_spellings(call_id), *(_plain(call_id, most - len(behind)) + behind for most in _LIMITS)]))


def name_spellings(name: str) -> Sequence[str]:
    """How the forms may write the name of a tool."""
    begun = _begun(name)
    return list(dict.fromkeys([name, begun, *(_plain(begun, longest) for longest in _LIMITS)]))


def _begun(name: str) -> str:
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def _fits(name: str, written: str, longest: int) -> bool:
    return name == written and len(name) <= longest and _FORBIDDEN.search(name) is None


@lru_cache(maxsize=4_096)  # a window names the same calls as the one before it
def _plain(name: str, longest: int) -> str:
    return _FORBIDDEN.sub("_", name)[:longest]


def _numbered(name: str, number: int, longest: int) -> Iterator[str]:
    """With a number behind it, and another behind that where it must be."""
    for behind in chain([f"_{number}"], (f"_{number}_{again}" for again in count(2))):
        yield _plain(name, longest - len(behind)) + behind
