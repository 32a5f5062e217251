"""What a store must do for what is derived: rows that can be made again, by ledger, kind and key, and views made of them.

All rows of a ledger go when something of it is forgotten. A view is the rows of one kind over all ledgers, made by following
the feed; of a view there may be several kinds side by side, of which one is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, Protocol

EVERYWHERE: Final = b""
"""Stands for all ledgers where the rows of a kind were purged."""

_SURROGATES: Final = range(0xD800, 0xE000)
_LAST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Derived:
    """A row that was derived from a ledger."""

    ledger: bytes
    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Scan:
    """Rows in the order of their keys, and the ledgers whose rows were purged and are not complete again.

    Both are as of one moment. ``EVERYWHERE`` among the purged says that the kind is not in force any more.
    """

    rows: list[Derived]
    purged: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class FollowedView:
    """A kind of a view: it holds what the feed gave up to ``position``. It is made, in force, or was replaced by another."""

    name: str
    kind: str
    state: Literal["building", "active", "retired"]
    position: int


@dataclass(frozen=True, slots=True)
class News:
    """That an event which is no turn stands at a position of the feed."""

    position: int
    ledger: bytes


class Deriving(Protocol):
    """The part of a store that keeps what is derived."""

    def derived_get(self, ledger: bytes, kind: str, key: str) -> bytes | None:
        """Something derived that was kept, unless anything was forgotten in the ledger since."""
        ...

    def derived_put(self, ledger: bytes, kind: str, key: str, value: bytes, *, erasures: int) -> bool:
        """Keep something derived; False (and nothing kept) if the ledger's count of erasures is not ``erasures`` any more."""
        ...

    def derived_put_many(self, ledger: bytes, kind: str, rows: Mapping[str, bytes], *, erasures: int) -> bool:
        """Keep several rows by their keys, all or none, on the same condition."""
        ...

    def derived_scan(
        self,
        kind: str,
        prefix: str,
        *,
        ledger: bytes | None = None,
        after: str | None = None,
        before: str | None = None,
        newest_first: bool = False,
        limit: int | None = None,
    ) -> Scan:
        """The rows of a kind whose keys begin with ``prefix`` and stand between ``after`` and ``before`` (both excluded).

        Of one ledger, or of all. ``newest_first``: by falling keys.
        """
        ...

    def derived_drop(self, ledger: bytes, kind: str, *, first: str, end: str) -> int:
        """Delete the rows of a ledger whose keys stand from ``first`` up to but not including ``end``; how many."""
        ...

    def views(self, name: str) -> list[FollowedView]:
        """All kinds of a view that there are or were."""
        ...

    def view_begin(self, name: str, kind: str) -> None:
        """Begin a kind of a view, unless it was begun already: in force at once where none is, else beside the one that is."""
        ...

    def view_advance(self, kind: str, position: int) -> None:
        """Say up to which position a view has followed the feed; it never goes back."""
        ...

    def view_switch(self, kind: str) -> None:
        """Put a kind of a view that is being made in force and retire the one that was, at one moment.

        Changes nothing for a kind that is in force or retired.
        """
        ...

    def view_purge(self, kind: str) -> int:
        """Delete the rows of a kind that was retired; how many."""
        ...

    def view_purged(self, kind: str) -> list[bytes]:
        """The ledgers whose rows of a kind were purged by a forgetting, and are not complete again."""
        ...

    def view_restored(self, kind: str, ledger: bytes, *, erasures: int) -> bool:
        """Say that a ledger's rows are complete again; False if anything was forgotten in it since ``erasures``."""
        ...

    def newest_position(self) -> int:
        """The position of the last event that is stored, whether the feed gives it yet or holds it back; 0 if there is none."""
        ...

    def news(self, *, after: int, limit: int) -> list[News]:
        """Up to ``limit`` events that are no turns, above a position; those too that the feed still holds back."""
        ...


def beyond(prefix: str) -> str | None:
    """The first text, in the order of code points, above all that begin with a prefix; None where there is none."""
    stem = prefix.rstrip(_LAST)
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
