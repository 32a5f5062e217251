"""The page of windows lists every key of a policy with its default, and no other."""

from __future__ import annotations

import re
from typing import Any

from projections.policy import Policy
from projections.policy_toml import MEANINGS
from tests.tidy.tree import ROOT

ROW = re.compile(r"^\| `([a-z_.]+)` \|([^|]*)\| [^|]+ \|$", re.MULTILINE)


def shown(value: Any) -> str:
    """A default as the page shows it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("'", '"')


def test_every_key_stands_with_its_default() -> None:
    page = (ROOT / "docs" / "windows.md").read_text(encoding="utf-8").partition("## Policy")[2].partition("\n## ")[0]
    default: dict[str, Any] = Policy().model_dump(mode="json")
    expected = {}
    for path in MEANINGS:
        value: Any = default
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        expected[path] = "" if isinstance(value, dict) else "all" if path == "rules" else shown(value)
    written = dict(ROW.findall(page))
    assert {path: written[path].strip() for path in written} == {
        path: value for path, value in expected.items() if not path.startswith("compaction.by.") and path != "stubs"
    }
