"""Public annotated dialogues read into one form. Turns of both sides count from 1; each set numbers them in its own way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ledger.events import Role
from tests.state.conversation import Change, Conversation, Kind, Spellings

_NOTHING: Final = {"", "not mentioned", "none"}
"""How MultiWOZ says that a slot holds no value."""


def multiwoz(folder: Path) -> list[Conversation]:
    """MultiWOZ 2.1: the answer at index n (from 0) bears the state after the user turn with the number n."""
    changes = _changes(folder / "multiwoz21", turn=lambda row: row["log_index"])
    return [
        Conversation(
            name=f"multiwoz/{name}",
            turns=tuple((_side(index), turn["text"]) for index, turn in enumerate(dialogue["log"])),
            states={index: _multiwoz_state(turn["metadata"]) for index, turn in enumerate(dialogue["log"]) if index % 2},
            changes=changes.get(name, ()),
            listed=frozenset[Kind]({"superseded", "retracted"}),
        )
        for name, dialogue in _read(folder / "multiwoz21" / "val_sample.json").items()
    ]


def _multiwoz_state(metadata: dict[str, Any]) -> dict[str, Spellings]:
    slots = (
        (f"{domain}-{slot}", value)
        for domain, kinds in metadata.items()
        for kind in kinds.values()
        for slot, value in kind.items()
    )
    return {slot: (value,) for slot, value in slots if not slot.endswith("-booked") and value not in _NOTHING}


def schema_guided(folder: Path) -> list[Conversation]:
    """SGD: the user turn at index n (from 0) bears the state of the services that it is about; the others keep theirs."""
    changes = _changes(folder / "sgd", turn=lambda row: row["turn"] + 1)
    return [
        Conversation(
            name=f"sgd/{dialogue['dialogue_id']}",
            turns=tuple((_side(index), turn["utterance"]) for index, turn in enumerate(dialogue["turns"])),
            states=dict(_service_states(dialogue["turns"])),
            changes=changes.get(dialogue["dialogue_id"], ()),
            listed=frozenset[Kind]({"superseded", "retracted"}),
        )
        for dialogue in _read(folder / "sgd" / "dialogues.json")
    ]


def _service_states(turns: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Spellings]]]:
    services: dict[str, dict[str, Spellings]] = {}
    for number, turn in enumerate(turns, start=1):
        stated = [frame for frame in turn["frames"] if "state" in frame]
        for frame in stated:
            values = frame["state"]["slot_values"]
            services[frame["service"]] = {f"{frame['service']}/{slot}": tuple(spelt) for slot, spelt in values.items()}
        if stated:
            yield number, {slot: spelt for service in services.values() for slot, spelt in service.items()}


def crosswoz(folder: Path) -> list[Conversation]:
    """CrossWOZ (Chinese): as MultiWOZ. Its oracle passes over the turns at which a slot is empty."""
    changes = _changes(folder / "crosswoz_zh", turn=lambda row: row["msg_index"])
    return [
        Conversation(
            name=f"crosswoz/{name}",
            turns=tuple((_side(index), message["content"]) for index, message in enumerate(dialogue["messages"])),
            states={index: _slots(message["sys_state"]) for index, message in enumerate(dialogue["messages"]) if index % 2},
            changes=changes.get(name, ()),
            listed=frozenset[Kind]({"superseded", "set again"}),
        )
        for name, dialogue in _read(folder / "crosswoz_zh" / "val_sample.json").items()
    ]


def _slots(state: dict[str, dict[str, Any]]) -> dict[str, Spellings]:
    slots = ((f"{domain}-{slot}", value) for domain, kind in state.items() for slot, value in kind.items())
    return {slot: (value,) for slot, value in slots if value and not slot.endswith("-selectedResults")}


def woz_english(folder: Path) -> list[Conversation]:
    """WOZ 2.0."""
    return _woz(folder, "en")


def woz_german(folder: Path) -> list[Conversation]:
    """WOZ 2.0 with German user turns and slots."""
    return _woz(folder, "de")


def _woz(folder: Path, language: str) -> list[Conversation]:
    """The user turn n (from 0) follows the answer that stands beside it. Its oracle is the annotation of single turns."""
    return [
        Conversation(
            name=f"woz-{language}/{dialogue['dialogue_idx']}",
            turns=tuple(_woz_turns(dialogue["dialogue"])),
            states={2 * turn["turn_idx"] + 1: _belief(turn["belief_state"]) for turn in dialogue["dialogue"]},
            changes=tuple(_labelled_changes(dialogue["dialogue"])),
            listed=frozenset[Kind]({"superseded", "retracted"}),
        )
        for dialogue in _read(folder / "woz2" / f"woz_validate_{language}.json")
    ]


def _woz_turns(turns: list[dict[str, Any]]) -> Iterator[tuple[Role, str]]:
    for turn in turns:
        if turn["turn_idx"] > 0:
            yield "assistant", turn["system_transcript"]
        yield "user", turn["transcript"]


def _belief(state: list[dict[str, Any]]) -> dict[str, Spellings]:
    return {slot: (value,) for part in state if part["act"] == "inform" for slot, value in part["slots"]}


def _labelled_changes(turns: list[dict[str, Any]]) -> Iterator[Change]:
    known: dict[str, str] = {}
    for turn in turns:
        for slot, value in turn["turn_label"]:
            if slot != "request" and known.get(slot, value) != value:
                yield Change(2 * turn["turn_idx"] + 1, slot, (known[slot],), (value,))
            known[slot] = value


def _changes(folder: Path, *, turn: Callable[[dict[str, Any]], int]) -> dict[str, tuple[Change, ...]]:
    """The changes that were derived from a set, by dialogue."""
    found: dict[str, tuple[Change, ...]] = {}
    for line in (folder / "derived_changes.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        change = Change(turn(row), row["slot"], _spelt(row["old"]), _spelt(row["new"]))
        found[row["dialogue"]] = (*found.get(row["dialogue"], ()), change)
    return found


def _spelt(value: str | list[str]) -> Spellings:
    return tuple(value) if isinstance(value, list) else (value,) if value else ()


def _side(index: int) -> Role:
    return "assistant" if index % 2 else "user"


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


SETS: Final[dict[str, Callable[[Path], list[Conversation]]]] = {
    "multiwoz": multiwoz,
    "sgd": schema_guided,
    "crosswoz": crosswoz,
    "woz-en": woz_english,
    "woz-de": woz_german,
}
"""How each set is read from the folder of all."""
