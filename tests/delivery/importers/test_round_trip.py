"""What a file says is what is shown; and a damaged file is never half imported without a word."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from delivery.importers.importing import ImportResult, import_file
from ledger import Ledgers, connect
from ledger.erased import Erased, Forgotten
from ledger.errors import LedgerError
from ledger.events import ToolReturned, TurnRecorded
from ledger.parts import Part, ReasoningPart, ReturnPart, TextPart, ToolCallPart, Unparsed
from replay import view

TEXTS = st.text(st.characters(codec=None, exclude_categories=()), min_size=1, max_size=12)
VALUES = st.dictionaries(TEXTS, TEXTS | st.integers() | st.lists(TEXTS, max_size=2), max_size=3)


def as_read(text: str) -> str:
    """A text as a JSON parser gives it: a pair of surrogates is the character that it spells."""
    return str(json.loads(json.dumps(text)))


def spelled(text: str) -> str:
    """A text of JSON as another parser reads it; any other text as it is."""
    try:
        return repr(json.loads(text))
    except ValueError:
        return as_read(text)


@st.composite
def openai_messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A conversation with calls and their results; what it says is ``said``."""
    found: list[dict[str, Any]] = [{"role": "system", "content": draw(TEXTS)}, {"role": "user", "content": draw(TEXTS)}]
    for number in range(draw(st.integers(0, 3))):
        function = {"name": "look", "arguments": draw(TEXTS | VALUES.map(json.dumps))}
        call = {"id": f"c{number}", "type": "function", "function": function}
        found.append({"role": "assistant", "content": draw(st.none() | TEXTS), "tool_calls": [call]})
        found.append({"role": "tool", "tool_call_id": f"c{number}", "content": draw(TEXTS)})
        found.append(
            {"role": "user", "content": [{"type": "text", "text": text} for text in draw(st.lists(TEXTS, max_size=2))]}
        )
    return found


@st.composite
def anthropic_messages(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The same in the other form, with reasoning."""
    found: list[dict[str, Any]] = [{"role": "user", "content": draw(TEXTS)}]
    for number in range(draw(st.integers(1, 3))):
        thinking = {"type": "thinking", "thinking": draw(TEXTS), "signature": draw(TEXTS)}
        use = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": draw(VALUES)}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": draw(TEXTS)}
        found.append({"role": "assistant", "content": [thinking, {"type": "text", "text": draw(TEXTS)}, use]})
        found.append({"role": "user", "content": [result, {"type": "text", "text": draw(TEXTS)}]})
    return found


def said(messages: list[dict[str, Any]]) -> Iterator[str]:
    """What the messages say, in order: texts as texts, arguments and reasoning as another parser reads them."""
    for message in messages:
        content = message["content"] or []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match block["type"]:
                case "text":
                    yield as_read(block["text"])
                case "tool_result":
                    yield as_read(block["content"])
                case "tool_use":
                    yield spelled(json.dumps(block["input"]))
                case _:
                    yield spelled(json.dumps(block))
        for call in message.get("tool_calls", []):
            yield spelled(call["function"]["arguments"])


def shown(store: Ledgers, name: str) -> Iterator[str]:
    """The same of the transcript that is shown: system text, then turns, each with what its calls returned."""
    transcript = view(store, name).transcript().transcript
    assert transcript.orphans == ()
    for system in transcript.system:
        yield from map(content, system.parts)
    for turn in transcript.turns:
        yield from map(content, turn.parts)
        for returned in turn.returns:
            yield from map(content, returned.parts)


def content(part: Part | ReturnPart | Forgotten) -> str:
    """What a part says."""
    match part:
        case TextPart():
            return part.text
        case ToolCallPart(arguments=Unparsed() as written):
            return spelled(written.unparsed)
        case ToolCallPart():
            return spelled(str(part.arguments))
        case ReasoningPart():
            return spelled(part.raw)
        case _:
            raise AssertionError(f"not in these files: {part}")


def written(messages: list[dict[str, Any]], *, as_lines: bool, escaped: bool) -> bytes:
    """The file: one value, or a message a line; with escapes, or with everything that UTF-8 can hold as it is."""
    texts = [json.dumps(message, ensure_ascii=escaped) for message in messages]
    source = "\n".join(texts) if as_lines else f"[{','.join(texts)}]"
    return "".join(f"\\u{ord(one):04x}" if "\ud800" <= one <= "\udfff" else one for one in source).encode()


def imported(store: Ledgers, data: bytes, **options: Any) -> ImportResult:
    """Import a file that holds these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        return import_file(store, path, **options)


def imported_or_refused(store: Ledgers, data: bytes, **options: Any) -> ImportResult | LedgerError:
    """The same, or the error of the ledger that it ends in; any other error is a fault of ours."""
    try:
        return imported(store, data, **options)
    except LedgerError as error:
        return error


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(openai_messages() | anthropic_messages(), st.booleans(), st.booleans())
def test_what_a_file_says_is_shown(messages: list[dict[str, Any]], as_lines: bool, escaped: bool) -> None:
    with connect(":memory:") as store:
        result = imported(store, written(messages, as_lines=as_lines, escaped=escaped), ledger="case")
        assert result.skipped == []
        assert list(shown(store, "case")) == list(said(messages))
        again = imported(store, written(messages, as_lines=not as_lines, escaped=not escaped), ledger="case")
        assert (again.events, again.skipped) == (0, [])


PUT = st.binary(max_size=3) | st.sampled_from([b"\n", b'"', b"}", b"{", b"["])
CUTS = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 6), PUT), min_size=1, max_size=4)
Cuts = list[tuple[int, int, bytes]]


def damaged(data: bytes, cuts: Cuts) -> bytes:
    """Some bytes replaced by others, here and there."""
    for place, length, put in cuts:
        at = place % len(data)
        data = data[:at] + put + data[at + length :]
    return data


def markers(data: bytes, count: int) -> dict[str, int]:
    """The marks of messages that the damage left whole, with the line of the file where each stands."""
    found = {f"<{number}>": data.find(b"<%d>" % number) for number in range(count)}
    return {mark: data.count(b"\n", 0, at) + 1 for mark, at in found.items() if at >= 0}


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=200)
@given(openai_messages() | anthropic_messages(), CUTS)
def test_damaged_lines_are_imported_or_reported(messages: list[dict[str, Any]], cuts: Cuts) -> None:
    """Every message whose mark can still be read is recorded, or its line is reported, or the import is refused."""
    marked = [message | {"marker": f"<{number}>"} for number, message in enumerate(messages)]
    data = damaged(written(marked, as_lines=True, escaped=True), cuts)
    with connect(":memory:") as store:
        result = imported_or_refused(store, data)
        if isinstance(result, LedgerError):
            assert [head.name for head in store.heads()] == result.details.get("imported", [])
            return
        events = [one.event for head in store.heads() for one in store.ledger(head.name).events()]
        recorded = "".join(event.model_dump_json() for event in events if not isinstance(event, Erased))
        reported = {skip.line for skip in result.skipped}
        lost = {mark for mark, line in markers(data, len(marked)).items() if mark not in recorded and line not in reported}
        assert lost == set()
        assert sorted(result.ledgers) == sorted(head.name for head in store.heads())
        assert result.events == sum(head.version for head in store.heads())


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(openai_messages() | anthropic_messages(), CUTS)
def test_a_damaged_value_is_imported_whole_or_not_at_all(messages: list[dict[str, Any]], cuts: Cuts) -> None:
    """One JSON value is readable or is not; of one that is, each message is an event, or is reported."""
    data = damaged(written(messages, as_lines=False, escaped=True), cuts)
    with connect(":memory:") as store:
        result = imported_or_refused(store, data, ledger="case")
        if isinstance(result, LedgerError):
            assert store.heads() == []
            return
        kinds = [one.event for one in store.ledger("case").events() if isinstance(one.event, TurnRecorded | ToolReturned)]
        assert len(kinds) + len(result.skipped) >= len(json.loads(data.decode("utf-8", "replace"), strict=False))
