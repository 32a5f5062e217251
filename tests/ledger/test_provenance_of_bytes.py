"""What refers to bytes refers to bytes that are there, and says nothing untrue of them."""

from __future__ import annotations

import hashlib

import pytest

from ledger import JsonText, Ledger
from ledger import events as e
from ledger.errors import AdmissionRefused
from ledger.parts import DocumentPart, ImagePart, JsonPart, TextPart, ToolCallPart

PAGE = b"Pickup at 9:30 in Narvik, ramp 4."
SHA256 = hashlib.sha256(PAGE).hexdigest()


@pytest.mark.parametrize("part", [ImagePart(sha256=SHA256), DocumentPart(sha256=SHA256, media_type="application/pdf")])
def test_a_picture_is_shown_only_once_its_bytes_are_stored(handle: Ledger, part: ImagePart | DocumentPart) -> None:
    """A window has to render them."""
    with pytest.raises(AdmissionRefused, match="store_artifact") as refused:
        handle.record_turn("user", ["see", part])
    assert refused.value.sha256 == SHA256
    assert list(handle.events()) == []
    assert handle.store_artifact(PAGE) == SHA256
    assert handle.record_turn("user", ["see", part]) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"match": "exact", "quote": "ramp 5", "start": 27, "end": 33},
        {"match": "exact", "quote": "ramp 4", "start": 0, "end": 6},
        {"match": "exact", "quote": "ramp 4"},
        {"match": "not_found", "quote": "ramp 4"},
    ],
)
def test_a_raw_event_cannot_claim_a_match_that_is_not_there(handle: Ledger, said: dict[str, object]) -> None:
    """There is no back door past the look-up of a quote."""
    handle.store_artifact(PAGE)
    with pytest.raises(AdmissionRefused, match="record_evidence"):
        handle.append([e.EvidenceRecorded.model_validate({"claim": "c", "sha256": SHA256, **said})])
    assert handle.version == 1


def test_a_raw_event_may_say_what_is_true(handle: Ledger) -> None:
    """In the same command as its artifact, too."""
    artifact = e.ArtifactStored(sha256=SHA256, size_bytes=len(PAGE))
    quote = e.EvidenceRecorded(claim="c", quote="ramp 4", sha256=SHA256, match="exact", start=26, end=32)
    handle.append([artifact, quote], blobs={SHA256: PAGE})
    assert handle.version == 2


def test_a_list_that_a_tool_returned_stays_a_list(handle: Ledger) -> None:
    """Only where parts stand among them are texts parts."""
    handle.append([e.TurnRecorded(role="assistant", turn=1, parts=(call,)) for call in [_call("a")]])
    handle.record_return("a", ["one", "two"])
    handle.record_turn("assistant", [_call("b")])
    handle.record_return("b", ["one", TextPart(text="two")])
    first, second = (recorded.event for recorded in handle.events() if isinstance(recorded.event, e.ToolReturned))
    assert isinstance(first, e.ToolReturned)
    assert isinstance(second, e.ToolReturned)
    assert [part.value.value for part in first.parts if isinstance(part, JsonPart)] == [["one", "two"]]
    assert [part.text for part in second.parts if isinstance(part, TextPart)] == ["one", "two"]


def _call(call_id: str) -> ToolCallPart:
    return ToolCallPart(call_id=call_id, tool="list", arguments=JsonText("{}"))
