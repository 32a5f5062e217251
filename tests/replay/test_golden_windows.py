"""Windows are the same bytes in every release of one engine version. How to write the files anew stands beside them."""

from __future__ import annotations

import json

import pytest

from projections.invariants import violations
from tests.projections.sdk_types import refusals_of
from tests.replay.golden_windows import FOLDER, windows

REASONING = '{"type":"thinking", "thinking":"Dutch\\u2026", "signature":"EqQB+/=="}'
"""All reasoning of these ledgers, as it was recorded."""


@pytest.mark.parametrize(("file", "content"), list(windows()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_window_is_what_it_was(file: str, content: bytes) -> None:
    assert (FOLDER / file).read_bytes() == content


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == {file for file, _ in windows()}


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_the_files_themselves_are_valid(form: str) -> None:
    for path in FOLDER.glob(f"*.{form}.*.json"):
        answer = json.loads(path.read_bytes())
        assert violations(form, answer["request"]) == ()
        assert refusals_of(answer["request"], form) == []


def test_reasoning_stands_in_the_files_as_it_was_recorded() -> None:
    shown = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.anthropic.*.json")]
    assert any(REASONING in content for content in shown)
    assert [content.count('"thinking":') for content in shown] == [content.count(REASONING) for content in shown]
