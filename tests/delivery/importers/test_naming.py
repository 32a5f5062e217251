"""Names of imported conversations."""

from __future__ import annotations

import hashlib
from typing import Any

from delivery.importers.naming import Names


def encoded(*fields: str) -> bytes:
    """Fields as the documentation of the name says."""
    encodings = [field.encode("utf-8", "surrogatepass") for field in fields]
    return b"".join(len(data).to_bytes(8, "big") + data for data in encodings)


def digest(*fields: str) -> str:
    """The name that fields lead to."""
    return "conv-" + hashlib.sha256(encoded("context-ledger/import-name/1", *fields)).hexdigest()[:16]


def user(text: object) -> dict[str, object]:
    """A user message."""
    return {"role": "user", "content": text}


def test_the_sources_id_is_the_name() -> None:
    assert Names().name("session-7", ()) == "session-7"


def test_a_name_is_a_digest_of_how_the_conversation_begins(read: Any) -> None:
    events = read.events(
        '[{"role":"system","content":"Sei knapp."},{"role":"assistant","content":"Hallo"},'
        '{"role":"user","content":"Wo \\ud83d?"},{"role":"user","content":"b"}]'
    )
    expected = ("1", "text", "Sei knapp.", "1", "text", "Wo \ud83d?")
    names = Names()
    assert names.name(None, events) == digest(*expected, "0")
    assert names.name(None, events) == digest(*expected, "1")


def test_growth_does_not_change_the_name_and_a_moved_border_does(read: Any) -> None:
    short = read.events([user("a")])
    grown = read.events([user("a"), {"role": "assistant", "content": "b"}, user("c")])
    moved = read.events([{"role": "system", "content": "a"}, user("")])
    parted = read.events([user([{"type": "text", "text": "a"}, {"type": "text", "text": ""}])])
    first, *others = [Names().name(None, events) for events in (short, grown, moved, parted)]
    assert first == others[0]
    assert len({first, *others}) == 3


def test_the_name_does_not_depend_on_the_format(read: Any) -> None:
    openai = read.events([{"role": "system", "content": "s"}, user("a")])
    anthropic = read.events({"system": "s", "messages": [user([{"type": "text", "text": "a"}])]})
    assert Names().name(None, openai) == Names().name(None, anthropic)


def test_an_image_alone_names_a_conversation_by_its_bytes(read: Any) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    events = read.events([user([image])])
    sha256 = hashlib.sha256(b"\0\0\0").hexdigest()
    assert Names().name(None, events) == digest("0", "1", "image", sha256, "0")


def test_where_no_user_speaks_the_assistants_first_turn_tells_conversations_apart(read: Any) -> None:
    said = [[{"role": "system", "content": "s"}, {"role": "assistant", "content": text}] for text in ("a", "b")]
    first, second = [Names().name(None, read.events(messages)) for messages in said]
    assert first == digest("1", "text", "s", "0", "1", "text", "a", "0")
    assert first != second
    grown = read.events([*said[0], {"role": "assistant", "content": "c"}])
    assert Names().name(None, grown) == first
