"""Windows are the same bytes in every release of one engine version. How to write the files anew stands beside them."""

from __future__ import annotations

import json

import pytest

from tests.projections.sdk_types import refusals_of
from tests.projections.validity import Sent, faults_of
from tests.replay.golden_windows import FOLDER, windows

REASONING = frozenset({'{"type":"thinking", "thinking":"Dutch\\u2026", "signature":"EqQB+/=="}'})


@pytest.mark.parametrize(("file", "content"), list(windows()), ids=lambda value: value if isinstance(value, str) else "")
def test_a_window_is_what_it_was(file: str, content: bytes) -> None:
    assert (FOLDER / file).read_bytes() == content


def test_no_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == {file for file, _ in windows()}


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_the_files_themselves_are_valid(form: str) -> None:
    for path in FOLDER.glob(f"*.{form}.*.json"):
        answer = json.loads(path.read_bytes())
        assert faults_of(Sent(answer["request"], path.read_bytes(), REASONING), form) == []
        assert refusals_of(answer["request"], form) == []
