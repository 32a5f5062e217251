"""Call ids and tool names as a provider allows them: short, plain, and never two alike."""

from __future__ import annotations

import re
from bisect import bisect_left
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
    """The ids of the calls of some pieces, and the names of their tools: each its own where the provider allows it.

    ``before``: the names of pieces that are the same up to the place ``since``, and are taken on for those.
    """

    __slots__ = ("_firsts", "_places", "_taken", "calls", "tools")

    def __init__(self, pieces: Pieces, limits: Limits, *, before: Names | None = None, since: int = 0) -> None:
        self.calls: dict[CallKey, str] = {}
        self._taken: set[str] = set()  # the ids that calls have by now
        self._places: list[int] = []  # of each call, which piece holds it
        self._firsts: dict[str, int] = {}  # of each tool, which piece calls it first
        first = since if before is not None and self._take_on(before, since) else 0
        for place, piece in enumerate(pieces[first:], first):
            if isinstance(piece, TurnPiece) and piece.turn.role == "assistant":
                for call in piece.calls:
                    self._name((piece.turn.number, call.call_id), limits.call_id)
                    self._places.append(place)
                    self._firsts.setdefault(call.tool, place)
        are_same = before is not None and self._calls_same_tools(before)
        self.tools: dict[str, str] = before.tools if before is not None and are_same else tool_names(self._firsts, limits)

    def agree(self, before: Names) -> bool:
        """Whether what both name has one name in both, wherever it stands."""
        if not self._are_distinct or not before._are_distinct:
            return False
        known = before.tools
        return self.tools is known or all(known.get(tool, name) == name for tool, name in self.tools.items())

    @property
    def _are_distinct(self) -> bool:
        """Whether no call stands there twice: its name is that of the last."""
        return len(self.calls) == len(self._places)

    def _calls_same_tools(self, before: Names) -> bool:
        """In the same order, too: names depend on it."""
        return [*self._firsts] == [*before._firsts]

    def _take_on(self, before: Names, since: int) -> bool:
        """Begin with what was named before a place: the calls from there on are the last ones that were named."""
        if not before._are_distinct:
            return False
        self._places = before._places[: bisect_left(before._places, since)]
        self._firsts = {tool: place for tool, place in before._firsts.items() if place < since}
        self.calls, self._taken = before.calls.copy(), before._taken.copy()
        for _ in range(len(before._places) - len(self._places)):
            self._taken.remove(self.calls.popitem()[1])
        return True

    def _name(self, key: CallKey, longest: int) -> None:
        """Its provider's own where it fits and no earlier call has it.

        It depends on earlier calls only: in a window that has grown, a call is called what it was called before.
        """
        number, call_id = key
        given = _plain(call_id, longest)
        if given in self._taken:
            given = next(found for found in _numbered(call_id, number, longest) if found not in self._taken)
        self._taken.add(given)
        self.calls[key] = given


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
