"""Token counts of our own texts, such as state lines, stubs and notes, kept with their ledger as digests and numbers.

What was counted once for a ledger, by whatever process, is counted without a tokenizer by the next. A digest is keyed with the
store's secret, so that a short text cannot be guessed from it; like all that is derived, it goes when anything is forgotten.

The notes that were used last stand in one row, which is read first and has what windows at the head need. All stand in buckets
by their digests as well; of these, one is read where a note is not known and the tokenizer would have to be loaded for it, or
the text is long. Two who write the same bucket at one moment may lose notes of one of them, which are then counted again.
"""

from __future__ import annotations

import struct
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from threading import RLock
from typing import Final

from ledger.errors import StoreError
from ledger.marks import names_key
from ledger.store import Store
from replay.kept.derived_rows import purges
from replay.tokens import counter, is_loaded

KIND: Final = "notes/2"

MOST_NOTES: Final = 2_000
"""So many counts of one ledger stand in the row that is read first, those that were used last."""

BUCKETS: Final = 64

MOST_IN_BUCKET: Final = 4_096
"""So many stand in a bucket, the newest: about a quarter of a million in all, which are 4 MB for a ledger and an encoding."""

_MOST_IN_MEMORY: Final = 4 * MOST_NOTES
_MOST_UNKEPT: Final = 4 * MOST_NOTES
_NEW_SHARE: Final = 20  # one of so many
_FEWEST_NEW: Final = 16
_LONG_CHARACTERS: Final = 4_000  # to count so many takes longer than to read a bucket
_DIGEST_BYTES: Final = 12
_NOTE: Final = struct.Struct(f">{_DIGEST_BYTES}sI")


class Counted:
    """Counts the tokens of texts for one ledger in one encoding (``projections.encodings.ENCODINGS``). Threads may share it.

    Raises ``UnknownEncoding``. It is a ``Count`` itself. Not meant for the texts of turns, whose counts stand on their cards.
    """

    def __init__(self, store: Store, ledger: bytes, encoding: str) -> None:
        self._store = store
        self._ledger = ledger
        self._encoding = encoding
        self._tokens = counter(encoding)
        self._key = names_key(store.secret, ledger)
        self._lock = RLock()
        self._was_kept = False
        self._begin()

    def _begin(self) -> None:
        self._erasures = purges(self._store, self._ledger)
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._unkept: dict[bytes, int] = {}
        self._buckets: dict[int, bytes] = {}
        self._is_loaded = False

    def __call__(self, text: str) -> int:
        """The tokens of a text: as this process knows them, else as the ledger's notes do, else by the tokenizer."""
        written = text.encode("utf-8", "surrogatepass")
        digest = blake2b(written, key=self._key, digest_size=_DIGEST_BYTES, person=b"note").digest()
        with self._lock:
            found = self._found(digest, text)
            if found is None:
                found = self._unkept[digest] = self._tokens(text)
            self._known[digest] = found
            self._known.move_to_end(digest)
            if len(self._known) > _MOST_IN_MEMORY:
                self._known.popitem(last=False)
            if len(self._unkept) > _MOST_UNKEPT:
                self.keep()
            return found

    def keep(self) -> bool:
        """Write what was counted since the last time, if anything was; False where it could not be written.

        What was counted before a forgetting is thrown away.
        """
        with self._lock:
            if not self._unkept:
                return True
            self._load()
            rows = {self._encoding: _packed(list(self._known.items())[-MOST_NOTES:]), **self._filled()}
            try:
                written = self._store.derived_put_many(self._ledger, KIND, rows, erasures=self._erasures)
            except (StoreError, ReferenceError):  # what cannot be kept is no less true
                self._unkept.clear()
                return False
            if written:
                self._unkept.clear()
            else:
                self._begin()
            return written

    def keep_in_passing(self) -> None:
        """The same for those who count a little for every answer: the first time, then when some, and a good part, are new."""
        if not self._unkept:
            return
        with self._lock:
            if not self._was_kept or len(self._unkept) >= max(_FEWEST_NEW, len(self._known) // _NEW_SHARE):
                self._was_kept = True
                self.keep()

    def _found(self, digest: bytes, text: str) -> int | None:
        found = self._known.get(digest)
        if found is None and not self._is_loaded:
            self._load()
            found = self._known.get(digest)
        if found is None and (len(text) > _LONG_CHARACTERS or not is_loaded(self._encoding)):
            number = digest[0] % BUCKETS
            if number not in self._buckets:
                self._buckets[number] = self._row(self._bucket_key(number))
            found = _noted(self._buckets[number], digest)
        return found

    def _load(self) -> None:
        """Read the ledger's notes, as they are now; what this process has used is newer."""
        self._known = OrderedDict([*_NOTE.iter_unpack(self._row(self._encoding)), *self._known.items()])
        self._is_loaded = True

    def _row(self, key: str) -> bytes:
        try:
            row = self._store.derived_get(self._ledger, KIND, key) or b""
        except (StoreError, ReferenceError):  # of a store that was closed, or is gone, nothing is known: it is counted
            row = b""
        return row[: len(row) // _NOTE.size * _NOTE.size]

    def _bucket_key(self, number: int) -> str:
        return f"{self._encoding}/{number:02}"

    def _filled(self) -> dict[str, bytes]:
        """The buckets as they are now, with what is new in them."""
        new: dict[int, list[tuple[bytes, int]]] = {}
        for digest, count in self._unkept.items():
            new.setdefault(digest[0] % BUCKETS, []).append((digest, count))
        rows = {}
        for number, notes in new.items():
            row = self._row(self._bucket_key(number))
            row += _packed([note for note in notes if _noted(row, note[0]) is None])
            rows[self._bucket_key(number)] = self._buckets[number] = row[-MOST_IN_BUCKET * _NOTE.size :]
        return rows


def _packed(notes: Sequence[tuple[bytes, int]]) -> bytes:
    return b"".join(_NOTE.pack(digest, count) for digest, count in notes)


def _noted(row: bytes, digest: bytes) -> int | None:
    """What a row says of a digest, without unpacking it."""
    place = row.find(digest)
    while place % _NOTE.size and place > 0:
        place = row.find(digest, place + 1)
    return None if place < 0 else int(_NOTE.unpack_from(row, place)[1])
