"""Exact strings in public conversations: what the tools' own results call an identifier, and what people write as paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from projections.exact.strings import identifying_strings

NAMES = {"reservation_id", "user_id", "flight_number"}
PATH = re.compile(r"(?:@|~|\.{1,2})?(?:/[\w.\-]+){2,}|[\w\-]+(?:/[\w.\-]+)+\.[a-z]{1,5}", re.ASCII)


def conversations(real_data: Path) -> list[list[dict[str, Any]]]:
    """The messages of each conversation with an airline's agent."""
    text = (real_data / "a_customer_service" / "tau_bench" / "gpt-4o-airline.json").read_text("utf-8")
    return [found["traj"] for found in json.loads(text)]


def identifiers(value: Any, name: str = "") -> Iterator[str]:
    """What a result calls the id of a reservation or of a user, or the number of a flight."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from identifiers(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from identifiers(item, "reservation_id" if name == "reservations" else name)
    elif name in NAMES and isinstance(value, str):
        yield value


def said_by_users(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


def test_every_identifier_that_a_user_states_is_found(real_data: Path) -> None:
    known = set()
    for messages in conversations(real_data):
        for message in messages:
            if message["role"] == "tool" and message["content"].startswith(("{", "[")):
                known |= set(identifiers(json.loads(message["content"])))
    assert len(known) > 200
    stated, missed = 0, []
    for said in (said for messages in conversations(real_data) for said in said_by_users(messages)):
        found = identifying_strings(said)
        for word in set(re.findall(r"\w+", said)) & known:
            stated += 1
            if word not in found:
                missed.append((word, said))
    assert missed == []
    assert stated >= 40


def test_every_identifier_in_a_result_is_found(real_data: Path) -> None:
    missed = []
    for message in (message for messages in conversations(real_data) for message in messages if message["role"] == "tool"):
        if message["content"].startswith(("{", "[")):
            found = set(identifying_strings(message["content"]))
            missed += [known for known in identifiers(json.loads(message["content"])) if known not in found]
    assert missed == []


def said_to_coding_agents(real_data: Path) -> Iterator[str]:
    """What people and environments said to agents that write code."""
    for path in sorted((real_data / "b_coding_agents" / "swe_agent").glob("*.traj")):
        for message in json.loads(path.read_text("utf-8")).get("history", []):
            if message["role"] == "user" and isinstance(message["content"], str):
                yield message["content"]
    for path in sorted((real_data / "b_coding_agents" / "specstory").glob("*.md")):
        for part in re.split(r"^_\*\*", path.read_text("utf-8"), flags=re.MULTILINE):
            if part.startswith("User"):
                yield part.partition("\n")[2].partition("\n---\n")[0]


def test_every_path_that_is_said_to_a_coding_agent_is_found(real_data: Path) -> None:
    stated, missed = 0, []
    for said in said_to_coding_agents(real_data):
        found = set(identifying_strings(said))
        for word in re.split(r"[\s'\"`()\[\]{}<>,;|=]+", said):
            path = word.rstrip(".:")
            if PATH.fullmatch(path) and len(path) <= 200:
                stated += 1
                if not found & {path, path.removeprefix("@")}:
                    missed.append((path, said[:80]))
    assert missed == []
    assert stated >= 60
