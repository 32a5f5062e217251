"""The largest event and the largest artifact that the limits let in are kept by every store."""

from __future__ import annotations

import hashlib
import os
import random

import pytest

from ledger import events as e
from ledger.codec import encode
from ledger.limits import MAX_ARTIFACT_BYTES, MAX_PAYLOAD_BYTES
from ledger.parts import TextPart
from ledger.verify import verify_store
from tests.contract.stores import OpenStore


def incompressible(size: int) -> str:
    """A text that stays as large as it is when it is packed, near enough."""
    return random.Random(7).randbytes(size // 2 + 1).hex()[:size]


@pytest.mark.slow
def test_the_largest_event(open_store: OpenStore) -> None:
    frame = len(encode(e.TurnRecorded(role="system", parts=(TextPart(text=""),))))
    event = e.TurnRecorded(role="system", parts=(TextPart(text=incompressible(MAX_PAYLOAD_BYTES - frame)),))
    assert len(encode(event)) == MAX_PAYLOAD_BYTES
    store = open_store()
    store.ledger("case").append([event])
    assert [one.event for one in open_store().ledger("case").events()] == [event]
    assert [one.event for one in store.follow(idle_seconds=0)] == [event]


@pytest.mark.slow
def test_the_largest_artifact(open_store: OpenStore) -> None:
    content = os.urandom(MAX_ARTIFACT_BYTES)
    store = open_store()
    sha256 = store.ledger("case").store_artifact(content)
    assert sha256 == hashlib.sha256(content).hexdigest()
    assert store.store.blob(store.head("case").ledger, sha256) == content
    assert verify_store(store).ok
