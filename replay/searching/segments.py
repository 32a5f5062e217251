"""A piece of the index of searches: which texts have a term, and how often, for a range of versions of one ledger.

A posting is a number of 64 bits: the version (39) and slot (1) of a text, how often it has the term (8), its length (8) and its
kind and role (8). Postings stand in the order of versions, so pieces of the index are joined by putting them one after another.
Terms stand in order, in blocks that are compressed; the head of a piece says with which term each block begins. Blocks of a
small piece stand in its head.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

import orjson

from ledger.record import Recorded
from projections.search.ranking import length_step
from projections.search.searchable import KINDS, ROLES, Document, documents
from projections.search.words import terms

_CODE: Final = "Q"
_MOST: Final = 255
_KIND_BITS: Final = 5
_BLOCK_BYTES: Final = 65_536
_INLINE_BYTES: Final = 131_072
_LEVEL: Final = 6

GetBlock = Callable[[int], bytes]
"""The stored block of a number."""


class Segment(Protocol):
    """Postings by term."""

    def find(self, term: str) -> array[int]:
        """The postings of a term."""
        ...

    def beginning(self, prefix: str) -> Iterator[tuple[str, array[int]]]:
        """All terms that begin with a prefix, with their postings."""
        ...

    def items(self) -> Iterator[tuple[str, array[int]]]:
        """All terms with their postings."""
        ...


def posting(version: int, document: Document, often: int, words: int) -> int:
    """The number that says what a text has of a term."""
    role = 0 if document.role is None else 1 + ROLES.index(document.role)
    what = KINDS.index(document.kind) | role << _KIND_BITS
    return version << 25 | document.slot << 24 | min(often, _MOST) << 16 | length_step(words) << 8 | what


def place_of(found: int) -> int:
    """Version and slot of a posting, as one number: twice the version, and the slot."""
    return found >> 24


def first_of(version: int) -> int:
    """The lowest posting that a version may have."""
    return version << 25


def kind_and_role(found: int) -> tuple[str, str | None]:
    """What the text of a posting is, and whose."""
    role = (found & 0xFF) >> _KIND_BITS
    return KINDS[found & (1 << _KIND_BITS) - 1], ROLES[role - 1] if role else None


@dataclass
class Gathered:
    """Postings in memory."""

    postings: dict[str, array[int]] = field(default_factory=dict)
    characters: int = 0

    def add(self, events: Iterable[Recorded]) -> None:
        """Take in events, which come after all that were taken in."""
        postings = self.postings
        for recorded in events:
            for document in documents(recorded):
                counts, number = terms(document.text)
                self.characters += len(document.text)
                usual = posting(recorded.version, document, 0, number)
                for term, often in counts.items():
                    found = postings.get(term)
                    if found is None:  # not by a call: this is done for every word of the record
                        found = postings[term] = array(_CODE)
                    found.append(usual | min(_MOST, often) << 16)

    def join(self, segment: Segment) -> None:
        """Take in another piece, which comes after all that was taken in."""
        for term, found in segment.items():
            self._of(term).extend(found)

    def find(self, term: str) -> array[int]:
        """The postings of a term."""
        return self.postings.get(term) or array(_CODE)

    def beginning(self, prefix: str) -> Iterator[tuple[str, array[int]]]:
        """All terms that begin with a prefix, with their postings, in order."""
        for term in self._sorted()[bisect_left(self._sorted(), prefix) :]:
            if not term.startswith(prefix):
                return
            yield term, self.postings[term]

    def items(self) -> Iterator[tuple[str, array[int]]]:
        """All terms with their postings."""
        yield from self.postings.items()

    def _of(self, term: str) -> array[int]:
        found = self.postings.get(term)
        if found is None:
            found = self.postings[term] = array(_CODE)
        return found

    def _sorted(self) -> list[str]:
        if len(self._order) != len(self.postings):
            self._order = sorted(self.postings)
        return self._order

    _order: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Head:
    """What is stored of a piece beside its blocks: the last version in it, and with which terms the blocks begin.

    ``inline`` has the blocks themselves where they are small.
    """

    through: int
    begins: tuple[str, ...]
    inline: tuple[bytes, ...]

    def encoded(self) -> bytes:
        """The stored form."""
        rest = orjson.dumps([self.through, len(self.inline), *map(len, self.inline), "\n".join(self.begins)])
        packed = zlib.compress(rest, _LEVEL)
        return b"".join((len(packed).to_bytes(4, "little"), packed, *self.inline))

    @classmethod
    def decoded(cls, stored: bytes) -> Head:
        """The head of a stored form."""
        end = 4 + int.from_bytes(stored[:4], "little")
        through, number, *rest = orjson.loads(zlib.decompress(stored[4:end]))
        blocks = []
        for size in rest[:number]:
            blocks.append(stored[end : end + size])
            end += size
        return cls(through, tuple(rest[number].split("\n")) if rest[number] else (), tuple(blocks))


@dataclass(frozen=True)
class StoredSegment:
    """A piece that is read from its blocks, as far as it is asked."""

    head: Head
    get: GetBlock

    def find(self, term: str) -> array[int]:
        """The postings of a term."""
        number = bisect_right(self.head.begins, term) - 1
        return array(_CODE) if number < 0 else self._block(number).find(term)

    def beginning(self, prefix: str) -> Iterator[tuple[str, array[int]]]:
        """All terms that begin with a prefix, with their postings, in order."""
        for number in range(max(0, bisect_right(self.head.begins, prefix) - 1), len(self.head.begins)):
            if self.head.begins[number] > prefix and not self.head.begins[number].startswith(prefix):
                return
            yield from self._block(number).beginning(prefix)

    def items(self) -> Iterator[tuple[str, array[int]]]:
        """All terms with their postings, in order."""
        for number in range(len(self.head.begins)):
            yield from self._block(number).beginning("")

    def _block(self, number: int) -> _Block:
        return _Block(zlib.decompress(self.head.inline[number] if self.head.inline else self.get(number)))


def pieces(gathered: Gathered, through: int) -> tuple[Head, list[bytes]]:
    """The stored form of postings that go through a version: the head, and the blocks that do not stand in it."""
    begins: list[str] = []
    blocks: list[bytes] = []
    size = 0
    for listed in _blocks(sorted(gathered.postings.items())):
        raw = _raw(listed)
        size += len(raw)
        begins.append(listed[0][0])
        blocks.append(zlib.compress(raw, _LEVEL))
    is_small = size <= _INLINE_BYTES
    return Head(through, tuple(begins), tuple(blocks) if is_small else ()), [] if is_small else blocks


def _blocks(ordered: list[tuple[str, array[int]]]) -> Iterator[list[tuple[str, array[int]]]]:
    listed: list[tuple[str, array[int]]] = []
    size = 0
    for term, found in ordered:
        listed.append((term, found))
        size += len(term) + 8 * len(found)
        if size >= _BLOCK_BYTES:
            yield listed
            listed, size = [], 0
    if listed:
        yield listed


def _raw(listed: list[tuple[str, array[int]]]) -> bytes:
    names = "\n".join(term for term, _ in listed).encode()
    numbers = array(_CODE, [len(names), len(listed), *(len(found) for _, found in listed)])
    for _, found in listed:
        numbers.extend(found)
    return _portable(numbers).tobytes() + names


def _portable(numbers: array[int]) -> array[int]:
    """The same numbers in the order of bytes in which they are stored."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


class _Block:
    """Some terms with their postings, as they were stored."""

    def __init__(self, raw: bytes) -> None:
        size = int.from_bytes(raw[:8], "little")
        self._numbers = array(_CODE)
        self._numbers.frombytes(raw[: len(raw) - size])
        _portable(self._numbers)
        self._names = raw[len(raw) - size :].decode().split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [2 + len(self._names)]
        for number in self._numbers[2 : 2 + len(self._names)]:
            starts.append(starts[-1] + number)
        return starts

    def find(self, term: str) -> array[int]:
        """The postings of a term."""
        place = bisect_left(self._names, term)
        if place == len(self._names) or self._names[place] != term:
            return array(_CODE)
        return self._numbers[self._starts[place] : self._starts[place + 1]]

    def beginning(self, prefix: str) -> Iterator[tuple[str, array[int]]]:
        """The terms that begin with a prefix, with their postings."""
        for place in range(bisect_left(self._names, prefix), len(self._names)):
            if not self._names[place].startswith(prefix):
                return
            yield self._names[place], self._numbers[self._starts[place] : self._starts[place + 1]]
