"""What a caller may give as content, and what becomes of bytes that come inside it."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from ledger import JsonText, Ledger
from ledger import events as e
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.parts import DocumentPart, ImagePart, TextPart, ToolCallPart

PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 300
URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
SHA256 = hashlib.sha256(PNG).hexdigest()


def test_bytes_in_a_data_url_become_an_artifact(handle: Ledger) -> None:
    """The event holds the hash; one command records both, and the same bytes once."""
    turn = handle.record_turn("user", ["what is wrong here?", ImagePart(url=URL), ImagePart(url=URL)])
    assert turn == 1
    stored, said = (recorded.event for recorded in handle.events())
    assert isinstance(stored, e.ArtifactStored)
    assert (stored.sha256, stored.size_bytes, stored.media_type) == (SHA256, len(PNG), "image/png")
    assert isinstance(said, e.TurnRecorded)
    assert said.parts[1] == said.parts[2] == ImagePart(sha256=SHA256, media_type="image/png", size_bytes=len(PNG))
    assert handle.artifact(SHA256) == PNG
    assert handle.artifact("0" * 64) is None


def test_what_a_tool_shows_is_kept_too_and_a_repeat_adds_nothing(handle: Ledger) -> None:
    """The key covers the artifacts."""
    handle.record_turn("assistant", [ToolCallPart(call_id="c", tool="shoot", arguments=JsonText("{}"))])
    for _ in range(2):
        assert handle.record_return("c", [ImagePart(url=URL)], idempotency_key="k") == 3
    assert handle.version == 3
    assert handle.artifact(SHA256) == PNG


@pytest.mark.parametrize("url", ["data:image/png;base64,???", "data:text/plain,hello", "data:"])
def test_a_data_url_that_cannot_be_read_is_named(handle: Ledger, url: str) -> None:
    """With its place; nothing is recorded."""
    with pytest.raises(InvalidInput, match="store_artifact") as refused:
        handle.record_turn("user", ["see", DocumentPart(url=url)])
    assert refused.value.path == "parts[1].url"
    assert handle.version == 0


@pytest.mark.parametrize("content", ["hello", TextPart(text="hello"), ["hello"], [TextPart(text="hello")]])
def test_one_part_needs_no_list(handle: Ledger, content: Any) -> None:
    """A text, a part, and a list of either say the same."""
    handle.record_turn("user", content)
    (recorded,) = handle.events()
    assert isinstance(recorded.event, e.TurnRecorded)
    assert recorded.event.parts == (TextPart(text="hello"),)


def test_one_event_needs_no_list(handle: Ledger) -> None:
    """As one part does not."""
    handle.append(e.TurnRecorded(role="user", parts=(), turn=1))
    assert handle.version == 1


def test_a_contradiction_has_two_different_sides(handle: Ledger) -> None:
    """Nothing contradicts itself."""
    page = handle.store_artifact(b"29 EUR")
    evidence = handle.record_evidence("29", quote="29", artifact=page)
    with pytest.raises(AdmissionRefused, match="twice"):
        handle.record_contradiction("price", [evidence, evidence])
