"""An old export does not bring back what was forgotten, and everything else of it is imported as ever."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from delivery.importers import importing
from delivery.importers.importing import TranscriptDiverged, bring_up_to_date, import_file
from delivery.importers.reading import TranscriptFile
from ledger import Ledgers, connect
from ledger.erased import Erased
from ledger.errors import ForgottenLedger, InvalidInput, SubjectForgotten
from ledger.events import ArtifactStored, ToolReturned
from ledger.record import Recorded, Tags
from ledger.verify import verify_store

SECRET = "Zarathustra-4417"
PICTURE = b"\x89PNG of Zarathustra-4417"


def call(*names: str) -> dict[str, Any]:
    """An assistant message that calls."""
    calls = [{"id": name, "type": "function", "function": {"name": "find", "arguments": '{"n": 1.50}'}} for name in names]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def back(name: str, content: Any) -> dict[str, Any]:
    """What a call returned."""
    return {"role": "tool", "tool_call_id": name, "content": content}


def said(role: str, content: Any) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": content}


def picture(content: bytes = PICTURE) -> dict[str, Any]:
    """An inline picture."""
    url = "data:image/png;base64," + base64.b64encode(content).decode()
    return {"type": "image_url", "image_url": {"url": url}}


OPENAI: list[dict[str, Any]] = [
    said("system", "Be brief."),
    said("user", f"I am {SECRET}"),
    call("a", "b"),
    back("a", "in Pune"),
    back("b", f"owned by {SECRET}"),
    said("assistant", "In Pune."),
    said("user", "Thanks"),
]
MORE: list[dict[str, Any]] = [call("c"), back("c", "done"), said("assistant", "You are welcome.")]


def use(call_id: str) -> dict[str, Any]:
    """A call as Anthropic writes it."""
    return {"type": "tool_use", "id": call_id, "name": "find", "input": {"n": 1.50}}


def result(call_id: str, content: Any) -> dict[str, Any]:
    """What it returned."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def image(content: bytes) -> dict[str, Any]:
    """A picture as Anthropic writes it."""
    data = base64.b64encode(content).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


ANTHROPIC: list[dict[str, Any]] = [
    said("user", f"I am {SECRET}"),
    said("assistant", [use("a"), use("b")]),
    said("user", [result("a", "in Pune"), result("b", f"owned by {SECRET}")]),
    said("assistant", "In Pune."),
    said("user", "Thanks"),
]
MORE_OF_ANTHROPIC = [
    said("assistant", [use("c")]),
    said("user", [result("c", "done")]),
    said("assistant", "You are welcome."),
]


def as_body(messages: list[dict[str, Any]]) -> str:
    """One JSON value."""
    return json.dumps({"id": "case", "messages": messages})


def as_lines(messages: list[dict[str, Any]]) -> str:
    """A message a line."""
    return "".join(json.dumps(message | {"session_id": "case"}) + "\n" for message in messages)


def as_lines_of_conversations(messages: list[dict[str, Any]]) -> str:
    """A conversation a line."""
    other = {"id": "other", "messages": [said("user", "hello")]}
    return "".join(json.dumps(value) + "\n" for value in (other, {"id": "case", "messages": messages}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store of a test lies."""
    return tmp_path / "record.db"


@pytest.fixture
def store(path: Path) -> Iterator[Ledgers]:
    """A store in a file, whose bytes can be looked at."""
    with connect(path) as opened:
        yield opened


def content_of(store: Ledgers, name: str = "case") -> list[Recorded]:
    """What a ledger holds of its conversation, without the events about forgetting."""
    return [item for item in store.ledger(name).events() if not item.envelope.type.startswith(("content.", "ledger."))]


def is_in_files(path: Path, content: bytes) -> bool:
    """Whether any file of the store has these bytes."""
    return any(content in file.read_bytes() for file in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize("shape", [as_body, as_lines, as_lines_of_conversations])
@pytest.mark.parametrize(("talk", "more"), [(OPENAI, MORE), (ANTHROPIC, MORE_OF_ANTHROPIC)], ids=["openai", "anthropic"])
@pytest.mark.parametrize("turns", [[1], [2], [1, 2], [1, 2, 3, 4]], ids=str)
def test_forgotten_turns_stay_forgotten(
    store: Ledgers, path: Path, write: Any, *, shape: Any, talk: list[Any], more: list[Any], turns: list[int]
) -> None:
    import_file(store, write(shape(talk)))
    store.forget(ledger="case", turns=turns, reason="asked for")
    before = content_of(store)
    assert import_file(store, write(shape(talk))).events == 0
    assert content_of(store) == before
    assert import_file(store, write(shape([*talk, *more]))).events == 3
    after = content_of(store)
    assert after[: len(before)] == before
    assert [(item.turn, item.event.type) for item in after[len(before) :]] == [
        (5, "turn.recorded"),
        (5, "tool.returned"),
        (6, "turn.recorded"),
    ]
    assert [item.turn for item in before if isinstance(item.event, Erased)].count(2) == (3 if 2 in turns else 0)
    if turns[:2] == [1, 2]:
        assert not is_in_files(path, SECRET.encode())
    assert verify_store(store).ok


def test_standard_input_is_no_way_back(store: Ledgers, path: Path, write: Any) -> None:
    import_file(store, write(as_lines(OPENAI)))
    store.forget(ledger="case", turns=[1, 2], reason="asked for")
    program = "from delivery.cli import main; main()"
    command = [sys.executable, "-c", program, "--store", str(path), "import", "-", "--json"]
    done = subprocess.run(command, input=as_lines([*OPENAI, *MORE]), capture_output=True, encoding="utf-8", check=False)
    assert json.loads(done.stdout)["events"] == 3, done.stderr
    assert not is_in_files(path, SECRET.encode())


def test_a_forgotten_system_text_stays_forgotten(store: Ledgers, path: Path, write: Any) -> None:
    talk = [said("system", f"You serve {SECRET}."), said("user", "Hello")]
    import_file(store, write(as_body(talk)))
    store.forget(ledger="case", ids=["v_1"], reason="asked for")
    assert import_file(store, write(as_body([*talk, said("assistant", "Hi")]))).events == 1
    assert not is_in_files(path, SECRET.encode())


def test_what_was_erased_beside_the_turns_does_not_stand_in_the_way(store: Ledgers, write: Any) -> None:
    case = store.ledger("case", task=f"refund {SECRET}")
    import_file(store, write(as_body(OPENAI[:2])))
    case.set_fact("owner", SECRET, source="user", turn=1)
    store.forget(ledger="case", ids=["v_1"], reason="asked for")
    store.forget(ledger="case", facts=["owner"], reason="asked for")
    assert import_file(store, write(as_body(OPENAI))).events == 5


def test_a_forgotten_return_is_known_by_the_call_that_it_answered(store: Ledgers, path: Path, write: Any) -> None:
    import_file(store, write(as_body(OPENAI)))
    store.forget(ledger="case", ids=["r_5"], reason="asked for")
    store.forget(ledger="case", turns=[1], reason="asked for")
    assert import_file(store, write(as_body([*OPENAI, *MORE]))).events == 3
    assert not is_in_files(path, SECRET.encode())
    for other in (back("a", SECRET), back("z", SECRET), said("assistant", SECRET)):
        with pytest.raises(TranscriptDiverged) as raised:
            import_file(store, write(as_body([*OPENAI[:4], other, *OPENAI[5:]])))
        assert raised.value.recorded == "a return of turn 2 (forgotten)"
        assert SECRET not in str(raised.value)


def test_a_forgotten_return_without_a_call(store: Ledgers, path: Path, write: Any) -> None:
    """Both of one that answers nothing at all, and of one that answers a call again."""
    talk = [said("user", "Hello"), back("z", SECRET), call("a"), back("a", "once"), back("a", SECRET), said("user", "So?")]
    import_file(store, write(as_body(talk)))
    store.forget(ledger="case", ids=["r_2", "r_5"], reason="asked for")
    assert import_file(store, write(as_body([*talk, said("assistant", "Yes")]))).events == 1
    assert not is_in_files(path, SECRET.encode())
    with pytest.raises(TranscriptDiverged):
        import_file(store, write(as_body([*talk[:1], *talk[2:]])))


def test_what_a_forgotten_call_returned_late_is_forgotten_too(store: Ledgers, path: Path, write: Any) -> None:
    """It came after the turn was forgotten, or its place among the others is another one now."""
    import_file(store, write(as_body(OPENAI[:4])))
    store.forget(ledger="case", turns=[1, 2], reason="asked for")
    late = [*OPENAI[:3], back("b", f"owned by {SECRET}"), *OPENAI[5:], back("a", "in Pune"), back("b", SECRET)]
    assert import_file(store, write(as_body([*late, said("assistant", "Bye")]))).events == 3
    assert [(item.turn, item.event.type) for item in content_of(store)[4:]] == [
        (3, "turn.recorded"),
        (4, "turn.recorded"),
        (5, "turn.recorded"),
    ]
    assert not is_in_files(path, SECRET.encode())


def test_artifacts_of_forgotten_turns_are_not_stored_again(store: Ledgers, path: Path, write: Any) -> None:
    talk = [said("user", [picture(), said("text", "x") | {"type": "text", "text": "who is this?"}]), said("assistant", "?")]
    import_file(store, write(as_body(talk)))
    assert is_in_files(path, PICTURE)
    store.forget(ledger="case", turns=[1], reason="asked for")
    assert import_file(store, write(as_body([*talk, said("user", "Well?")]))).events == 1
    assert not is_in_files(path, PICTURE)
    assert [item for item in content_of(store) if isinstance(item.event, ArtifactStored)] == []


def test_a_picture_of_a_forgotten_turn_that_is_shown_again_is_stored_again(store: Ledgers, write: Any) -> None:
    """A window has to show what a later turn holds."""
    talk = [said("user", [picture()]), said("assistant", "Nice."), said("user", [picture()])]
    import_file(store, write(as_body(talk[:2])))
    store.forget(ledger="case", turns=[1], reason="asked for")
    assert import_file(store, write(as_body(talk))).events == 2
    [artifact] = [item.event for item in content_of(store) if isinstance(item.event, ArtifactStored)]
    assert store.ledger("case").artifact(artifact.sha256) == PICTURE
    assert import_file(store, write(as_body(talk))).events == 0
    assert verify_store(store).ok


def test_results_of_one_message_of_which_one_was_forgotten(store: Ledgers, path: Path, write: Any) -> None:
    """The other one keeps its picture, and the forgotten one does not get back its own."""
    first, second = image(PICTURE), image(b"another")
    talk = [said("user", "Look"), said("assistant", [use("a"), use("b")])]
    results = said("user", [result("a", [first]), result("b", [first, second])])
    import_file(store, write(as_body([*talk, results])))
    [a, b] = [item for item in content_of(store) if isinstance(item.event, ToolReturned)]
    store.forget(ledger="case", ids=[f"r_{b.version}"], reason="asked for")
    assert import_file(store, write(as_body([*talk, results]))).events == 0
    assert is_in_files(path, PICTURE)
    store.forget(ledger="case", ids=[f"r_{a.version}"], reason="asked for")
    assert import_file(store, write(as_body([*talk, results, said("assistant", "Seen.")]))).events == 1
    assert not is_in_files(path, PICTURE)
    assert verify_store(store).ok


def test_a_late_result_that_shares_its_message_with_a_new_turn(store: Ledgers, path: Path, write: Any) -> None:
    """The turn does not bring the picture of the result."""
    talk = [said("user", "Look"), said("assistant", [use("a")])]
    import_file(store, write(as_body(talk)))
    store.forget(ledger="case", turns=[2], reason="asked for")
    late = said("user", [result("a", [image(PICTURE)]), {"type": "text", "text": "Well?"}])
    assert import_file(store, write(as_body([*talk, late]))).events == 1
    assert content_of(store)[-1].turn == 3
    assert not is_in_files(path, PICTURE)


def test_another_conversation_is_refused_without_showing_what_was_forgotten(store: Ledgers, write: Any) -> None:
    import_file(store, write(as_body(OPENAI)))
    with pytest.raises(
        TranscriptDiverged, match=r"holds assistant turn 3 'In Pune\.', the file has assistant turn 3 'In Delhi"
    ):
        import_file(store, write(as_body([*OPENAI[:5], said("assistant", "In Delhi.")])))
    store.forget(ledger="case", turns=[1], reason="asked for")
    shifted = [OPENAI[0], said("user", "Hello"), said("assistant", "Hi"), *OPENAI[1:]]
    for given in (shifted, OPENAI[1:], [OPENAI[0], said("assistant", SECRET), *OPENAI[2:]]):
        with pytest.raises(TranscriptDiverged) as raised:
            import_file(store, write(as_body(given)))
        assert SECRET not in f"{raised.value} {raised.value.details}"
    with pytest.raises(
        TranscriptDiverged, match=r"holds assistant turn 3 'In Pune\.', the file has assistant turn 3"
    ) as raised:
        import_file(store, write(as_body([*OPENAI[:5], said("assistant", "In Delhi.")])))
    assert (raised.value.turn, "Delhi" in str(raised.value)) == (3, False)


def test_a_file_that_ends_before_a_forgotten_turn_is_refused(store: Ledgers, write: Any) -> None:
    import_file(store, write(as_body(OPENAI)))
    store.forget(ledger="case", turns=[4], reason="asked for")
    with pytest.raises(TranscriptDiverged, match=r"goes on with user turn 4 \(forgotten\), where the file ends") as raised:
        import_file(store, write(as_body(OPENAI[:6])))
    assert (raised.value.turn, raised.value.given) == (4, None)


@pytest.mark.parametrize("length", [2, len(OPENAI), len(OPENAI) + len(MORE)])
def test_a_forgotten_ledger_is_refused_and_the_others_are_imported(store: Ledgers, path: Path, write: Any, length: int) -> None:
    """Whether the file is shorter, longer or the same."""
    import_file(store, write(as_body(OPENAI)))
    report = store.forget(ledger="case", reason="asked for")
    version = store.ledger("case").version
    given = [{"id": name, "messages": [*OPENAI, *MORE][:length]} for name in ("one", "case", "two")]
    with pytest.raises(ForgottenLedger, match=f"was forgotten by job {report.job}") as raised:
        import_file(store, write(given))
    assert (raised.value.imported, raised.value.events, raised.value.diverged) == (["one", "two"], 2 * length, [])
    assert [refused["ledger"] for refused in raised.value.refused] == ["case"]
    assert store.ledger("case").version == version
    for name in ("one", "two"):
        store.forget(ledger=name, reason="asked for")
    assert not is_in_files(path, SECRET.encode())


def test_a_conversation_that_is_named_by_its_beginning_finds_its_forgotten_ledger(store: Ledgers, write: Any) -> None:
    import_file(store, write(OPENAI))
    [head] = store.heads()
    store.forget(ledger=head.name, reason="asked for")
    with pytest.raises(ForgottenLedger):
        import_file(store, write(OPENAI))
    assert len(store.heads()) == 1


def test_a_ledger_that_was_authorised_again_takes_only_what_is_new(store: Ledgers, path: Path, write: Any) -> None:
    import_file(store, write(as_body(OPENAI)))
    store.forget(ledger="case", reason="asked for")
    store.reauthorise(ledger="case", because="they came back")
    assert import_file(store, write(as_body([*OPENAI, *MORE]))).events == 3
    assert not is_in_files(path, SECRET.encode())
    living = [item for item in content_of(store) if not isinstance(item.event, Erased)]
    assert [item.turn for item in living] == [5, 5, 6]


def test_what_is_imported_bears_the_tags_that_were_given(store: Ledgers, path: Path, write: Any) -> None:
    talk = [*OPENAI, said("user", [picture()])]
    import_file(store, write(as_body(talk[:2])))
    import_file(store, write(as_body(talk)), subjects=["user:17", "user:17"], labels=["payment"])
    tags = [item.tags for item in content_of(store)]
    assert tags == [Tags()] * 2 + [Tags(("user:17",), ("payment",))] * 7
    report = store.forget(subject="user:17", reason="asked for")
    assert report.count == 7
    assert not is_in_files(path, PICTURE)
    assert is_in_files(path, SECRET.encode())


def test_tags_that_cannot_be_kept_are_refused_before_anything(store: Ledgers, write: Any) -> None:
    with pytest.raises(InvalidInput, match="labels"):
        import_file(store, write(as_body(OPENAI)), labels=["two\nlines"])
    assert store.heads() == []


def test_a_forgotten_subject_is_refused(store: Ledgers, path: Path, write: Any) -> None:
    """Also where the ledger holds, or forgot, everything that the file has, or does not exist."""
    import_file(store, write(as_body(OPENAI)), subjects=["user:17"])
    report = store.forget(subject="user:17", reason="asked for")
    version = store.ledger("case").version
    given = [{"id": name, "messages": OPENAI} for name in ("case", "new")]
    with pytest.raises(SubjectForgotten, match=f"forgotten by job {report.job}") as raised:
        import_file(store, write(given), subjects=["user:18", "user:17"])
    assert [refused["ledger"] for refused in raised.value.refused] == ["case", "new"]
    assert (raised.value.imported, raised.value.events) == ([], 0)
    assert [(head.name, head.version) for head in store.heads()] == [("case", version)]
    assert import_file(store, write(as_body([*OPENAI, *MORE])), subjects=["user:18"]).events == 3
    assert not is_in_files(path, SECRET.encode())


def test_a_forgetting_between_two_commands_of_an_import(
    store: Ledgers, path: Path, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "EVENTS_PER_COMMAND", 1)
    [conversation] = TranscriptFile(write(as_body(OPENAI)))
    steps = bring_up_to_date(store.ledger("case"), conversation)
    for _ in range(4):
        next(steps)
    store.forget(ledger="case", turns=[1, 2], reason="asked for")
    assert list(steps) == [1, 1]
    assert [item.turn for item in content_of(store)] == [None, 1, 2, 2, 3, 4]
    assert not is_in_files(path, SECRET.encode())
    assert import_file(store, write(as_body(OPENAI))).events == 0


def test_a_command_with_a_key_is_still_known(store: Ledgers, write: Any) -> None:
    case = store.ledger("case")
    case.record_turn("user", f"I am {SECRET}", idempotency_key="first")
    import_file(store, write(as_body(OPENAI[1:])))
    store.forget(ledger="case", turns=[1], reason="asked for")
    import_file(store, write(as_body([*OPENAI[1:], *MORE])))
    version = case.version
    assert case.record_turn("user", f"I am {SECRET}", idempotency_key="first") == 1
    assert case.version == version
