"""The bytes of the documents that count with a turn."""

from __future__ import annotations

from ledger.errors import CorruptRecord
from replay.loading import Loaded, last_governing


def documents_of(loaded: Loaded, hashes: set[str]) -> dict[str, bytes]:
    """The bytes of artifacts, as far as they are there; ``CorruptRecord`` if they were forgotten since the ledger was loaded.

    Of damaged ones nothing is counted: who shows them finds them missing.
    """
    found = {sha256: loaded.store.store.blob(loaded.head.ledger, sha256) for sha256 in sorted(hashes)}
    missing = [sha256 for sha256, content in found.items() if content is None]
    known = loaded.governing[-1].version if loaded.governing else 0
    if missing and last_governing(loaded.store, loaded.head) != known:
        raise CorruptRecord(
            f"the bytes of artifact {missing[0][:12]}… were forgotten while a turn was read: read it again",
            sha256=missing[0],
            ledger_id=loaded.head.ledger.hex(),
        )
    return {sha256: content for sha256, content in found.items() if content is not None}
