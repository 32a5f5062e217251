"""Token counts of our own texts, such as state lines, stubs and notes, kept with their ledger as digests and numbers.

What was counted once for a ledger, by whatever process, is counted without a tokenizer by the next. A digest is keyed with the
store's secret, so that a short text cannot be guessed from it; like all that is derived, it goes when anything is forgotten.
"""

from __future__ import annotations

import hmac
import struct
from collections import OrderedDict
from threading import RLock
from typing import Final

from ledger.errors import StoreError
from ledger.marks import names_key
from ledger.store import Store
from replay.tokens import counter

KIND: Final = "notes/1"

MOST_NOTES: Final = 2_000
"""So many counts of one ledger are kept, those that were used last."""

_MOST_IN_MEMORY: Final = 4 * MOST_NOTES
_NEW_SHARE: Final = 20  # one of so many
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
        head = self._store.head_of(self._ledger)
        self._erasures = 0 if head is None else head.erasures
        self._known: OrderedDict[bytes, int] = OrderedDict()
        self._is_loaded = False
        self._new = 0

    def __call__(self, text: str) -> int:
        """The tokens of a text."""
        return self.count(text)

    def count(self, text: str) -> int:
        """The tokens of a text: as this process knows them, else as the ledger's notes do, else by the tokenizer."""
        digest = hmac.digest(self._key, b"note\0" + text.encode("utf-8", "surrogatepass"), "sha256")[:_DIGEST_BYTES]
        with self._lock:
            found = self._found(digest)
            if found is None:
                found = self._tokens(text)
                self._new += 1
            self._known[digest] = found
            self._known.move_to_end(digest)
            if len(self._known) > _MOST_IN_MEMORY:
                self._known.popitem(last=False)
            return found

    def keep(self) -> None:
        """Write what was counted since the last time, if anything was; nothing where nothing can be written.

        What was counted before a forgetting is thrown away.
        """
        with self._lock:
            if not self._new:
                return
            self._load()
            newest = list(self._known.items())[-MOST_NOTES:]
            row = b"".join(_NOTE.pack(digest, count) for digest, count in newest)
            try:
                written = self._store.derived_put(self._ledger, KIND, self._encoding, row, erasures=self._erasures)
            except (StoreError, ReferenceError):  # what cannot be kept is no less true
                written = True
            if written:
                self._new = 0
            else:
                self._begin()

    def keep_in_passing(self) -> None:
        """The same for those who count a little for every answer: the first time, and then when a good part of them is new."""
        with self._lock:
            if self._new and (not self._was_kept or self._new * _NEW_SHARE >= len(self._known)):
                self._was_kept = True
                self.keep()

    def _found(self, digest: bytes) -> int | None:
        if digest not in self._known and not self._is_loaded:
            self._load()
        return self._known.get(digest)

    def _load(self) -> None:
        """Read the ledger's notes, as they are now; what this process has used is newer."""
        try:
            row = self._store.derived_get(self._ledger, KIND, self._encoding) or b""
        except (StoreError, ReferenceError):  # of a store that was closed, or is gone, nothing is known: it is counted
            row = b""
        whole = len(row) // _NOTE.size * _NOTE.size
        self._known = OrderedDict([*_NOTE.iter_unpack(row[:whole]), *self._known.items()])
        self._is_loaded = True
