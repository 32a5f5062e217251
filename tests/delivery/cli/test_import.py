"""Importing from the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ledger
from delivery.importers import NAMES
from tests.delivery.cli.conftest import Command


def _written(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value), encoding="utf-8")
    return str(path)


def _messages(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


def test_the_same_file_twice_adds_nothing_and_a_grown_file_its_growth(command: Command, tmp_path: Path) -> None:
    """The ledger's name follows from the beginning of the conversation, which does not change."""
    file = tmp_path / "talk.json"
    first = command("import", _written(file, _messages("where is my parcel?", "which one?")), "--json").answer
    assert first["events"] == 2
    assert first["skipped"] == []
    again = command("import", str(file), "--json").answer
    assert again == {"ledgers": first["ledgers"], "events": 0, "skipped": [], "left_out": {}}
    grown = _messages("where is my parcel?", "which one?", "PRC-5521")
    assert command("import", _written(file, grown), "--json").answer == {**first, "events": 1}


def test_another_story_under_the_same_name_is_refused_with_its_turn(command: Command, tmp_path: Path) -> None:
    """Nothing is added."""
    file = tmp_path / "talk.json"
    command("import", _written(file, _messages("a", "b", "c")), "--ledger", "talk")
    outcome = command("import", _written(file, _messages("a", "other", "c")), "--ledger", "talk")
    assert outcome.code == 2
    assert "turn 2" in outcome.err
    assert command("ledgers", "--json").answer[0]["version"] == 3


def test_a_malformed_line_is_reported_and_the_rest_imported(command: Command, tmp_path: Path) -> None:
    """By its number, with the reason."""
    file = tmp_path / "talks.jsonl"
    lines = [json.dumps({"id": f"talk-{number}", "messages": _messages("hello", "hi")}) for number in range(3)]
    lines[1] = '{"id": "talk-1", "mess'
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = command("import", str(file), "--json").answer
    assert answer["ledgers"] == ["talk-0", "talk-2"]
    assert answer["events"] == 4
    assert [skipped["line"] for skipped in answer["skipped"]] == [2]
    assert answer["skipped"][0]["reason"]


def test_nothing_recognised_is_an_error(command: Command, tmp_path: Path) -> None:
    """A file of something else is not an empty success."""
    outcome = command("import", _written(tmp_path / "other.json", {"temperature": 21}))
    assert outcome.code == 2
    assert "openai" in outcome.err


@pytest.mark.parametrize("form", ["auto", "anthropic"])
def test_an_anthropic_body_is_imported_with_its_system_text(command: Command, tmp_path: Path, form: str) -> None:
    """The window gives back what came in."""
    body: dict[str, Any] = {
        "system": "Answer in Welsh.",
        "messages": [
            {"role": "user", "content": "Beth yw'r tywydd?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "weather", "input": {"at": "Bala"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"}]},
        ],
    }
    file = _written(tmp_path / "body.json", body)
    command("import", file, "--format", form, "--ledger", "welsh")
    answer = command("window", "welsh", "--render", "anthropic", "--json").answer
    request = answer["request"]
    assert [block["text"] for block in request["system"]] == [body["system"]]
    assert [(message["role"], _blocks(message)) for message in request["messages"]] == [
        (message["role"], _blocks(message)) for message in body["messages"]
    ]


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a message, without the marks that say what to cache, which no transcript has."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [{name: value for name, value in block.items() if name != "cache_control"} for block in blocks]


def _from_standard_input(store_path: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from delivery.cli import main; main()", "--store", str(store_path), "import", "-"]
    return subprocess.run([*command, *arguments], input=text, capture_output=True, encoding="utf-8", check=False)


def test_standard_input_is_read_like_a_file(command: Command, store_path: Path, tmp_path: Path) -> None:
    """A dash is its name; the ledger's name follows from the content, as ever."""
    lines = [json.dumps(message) for message in _messages("where is my parcel?", "which one?", "PRC-5521")]
    done = _from_standard_input(store_path, "\n".join(lines), "--json")
    assert json.loads(done.stdout)["events"] == 3, done.stderr
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert command("import", str(file), "--json").answer == {**json.loads(done.stdout), "events": 0}


def test_a_mistake_in_standard_input_is_called_that(store_path: Path) -> None:
    """No name of a file that nobody knows."""
    done = _from_standard_input(store_path, '{"temperature": 21}')
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("context-ledger: standard input: ")


def test_one_is_said_in_the_singular(command: Command, tmp_path: Path) -> None:
    """And none in the plural."""
    file = _written(tmp_path / "talk.json", _messages("hello"))
    assert "1 event recorded in 1 ledger\n" in command("import", file).out
    assert "0 events recorded in 1 ledger\n" in command("import", file).out
    assert command("verify").out == "1 event, 0 problems\n"


def test_what_is_neither_turn_nor_return_is_counted_by_its_kind(command: Command, tmp_path: Path) -> None:
    """The report tells each kind once, with its line; for programs also how many there were."""
    step = {"role": "user", "content": "How deep is the lock?", "agent": "main", "message_type": "observation"}
    answer = {"role": "assistant", "content": "I measure it.", "action": "sound lock", "agent": "main"}
    file = _written(tmp_path / "run.traj", {"history": [step, answer], "environment": "lab", "info": {"cost": 3}})
    answer = command("import", file, "--ledger", "lock", "--json").answer
    assert answer["left_out"] == {"member environment": 1, "member info": 1}


def test_people_see_what_is_lost_apart_from_what_is_left_out(command: Command, tmp_path: Path) -> None:
    """A line for each kind of fault, and one for all that is of no conversation; programs are told of each."""
    said = [{"type": "human", "content": "How deep is the lock?"}, *[{"type": "chat", "role": "pilot", "content": "x"}] * 3]
    state = {"values": {"messages": [*said, {"type": "ai", "content": "Four fathoms."}]}, "checkpoint_id": "1f0", "tasks": []}
    file = _written(tmp_path / "thread.json", state)
    unknown = "unknown role 'pilot' at $.values.messages[1] (known: human, ai, system, user, assistant, developer)"
    shown = command("import", file, "--ledger", "lock").out.splitlines()
    assert shown[1:] == [
        "2 events recorded in 1 ledger",
        f"NOT imported, 3 times, line 1; the first: {unknown}",
        "left out, being neither a turn nor a return: member checkpoint_id, member tasks",
    ]
    skipped = command("import", file, "--ledger", "lock", "--json").answer["skipped"]
    assert [one["kind"] for one in skipped] == [None, None, None, "member checkpoint_id", "member tasks"]


def test_many_of_a_kind_take_one_line(command: Command, tmp_path: Path) -> None:
    good = json.dumps({"messages": _messages("hello")})
    runs = [json.dumps({"history": [{"action": "message", "content": f"Lock {n}?"}], f"note {n}": n}) for n in range(20)]
    file = tmp_path / "talks.jsonl"
    file.write_text("\n".join([good, *["{torn"] * 9, *runs, *runs]), encoding="utf-8")
    broken, left_out = command("import", str(file)).out.splitlines()[-2:]
    assert broken.startswith("NOT imported, 9 times, lines 2, 3, 4, 5, 6 and 4 more; the first: not JSON")
    assert left_out.startswith(
        "left out, being neither a turn nor a return: member note 0 (2 times), member note 1 (2 times), "
    )
    assert left_out.endswith(" and 8 more kinds, which --json has")


def test_the_help_names_every_format(command: Command) -> None:
    """From the catalogue, so that no format is known to the code alone."""
    shown = re.sub(r"\s+", " ", command("import", "--help").out)
    assert all(f"{name}," in shown or f"{name}." in shown for name in NAMES)
    assert len(NAMES) > 2


LONG = [f"Sentence {number} about the ferry FRY-{number:03} and what it carries to the quay." * 9 for number in range(1, 200)]


def _cold(store_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which says at its end whether it knows the tokenizer."""
    program = (
        "import sys; from delivery.cli.application import run; code = run(sys.argv[1:]);"
        " sys.stderr.write('tokenizer' if 'tiktoken' in sys.modules else 'none'); sys.exit(code)"
    )
    command = [sys.executable, "-c", program, "--store", str(store_path), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True)


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_after_an_import_a_window_needs_no_tokenizer(command: Command, store_path: Path, tmp_path: Path, form: str) -> None:
    """What it is made of was counted by the import, notes and stand-ins of ours included."""
    command("import", _written(tmp_path / "talk.json", _messages(*LONG)), "--ledger", "talk")
    done = _cold(store_path, "window", "talk", "--render", form, "--json")
    assert json.loads(done.stdout)["receipt"]["through"] > 0
    assert done.stderr == "none"


def test_without_an_import_it_is_needed(command: Command, store_path: Path) -> None:
    """So the test above can fail."""
    command("init")
    with ledger.connect(str(store_path)) as store:
        for place, text in enumerate(LONG[:9]):
            store.ledger("talk").record_turn("assistant" if place % 2 else "user", text)
    assert _cold(store_path, "window", "talk", "--json").stderr == "tokenizer"


def test_an_import_that_adds_nothing_counts_nothing(command: Command, store_path: Path, tmp_path: Path) -> None:
    """And one that grew counts what came."""
    file = tmp_path / "talk.json"
    first = _cold(store_path, "import", _written(file, _messages(*LONG[:5])), "--ledger", "talk", "--json")
    again = _cold(store_path, "import", str(file), "--ledger", "talk", "--json")
    grown = _cold(store_path, "import", _written(file, _messages(*LONG[:7])), "--ledger", "talk", "--json")
    assert [done.stderr for done in (first, again, grown)] == ["tokenizer", "none", "tokenizer"]


def test_what_was_imported_before_a_refusal_is_made_ready_too(command: Command, store_path: Path, tmp_path: Path) -> None:
    """The refusal is told, as ever."""
    talks = [{"id": "left", "messages": _messages("a", "b")}]
    command("import", _written(tmp_path / "talks.json", talks))
    talks = [{"id": "left", "messages": _messages("a", "other")}, {"id": "right", "messages": _messages(*LONG)}]
    outcome = command("import", _written(tmp_path / "talks.json", talks))
    assert (outcome.code, "turn 2" in outcome.err) == (2, True)
    assert _cold(store_path, "window", "right", "--json").stderr == "none"
