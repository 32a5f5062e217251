"""Which room may import which, and what an import of the rooms may cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.tidy.tree import ROOMS, ROOT

LIGHT = {
    "annotated_doc",
    "annotated_types",
    "orjson",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}
"""The only libraries that the bare import of the rooms may load."""

LOADED_LIBRARIES = f"""
import sys
before = set(sys.modules)
import {", ".join(ROOMS)}
new = {{name.partition(".")[0]: None for name in sys.modules if name not in before}}
files = {{name: getattr(sys.modules[name], "__file__", None) or "" for name in new}}
print(*sorted(name for name, file in files.items() if "site-packages" in file))
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_import_directions() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = run(str(linter), "--no-cache")
    assert done.returncode == 0, done.stdout + done.stderr


def test_importing_the_rooms_is_light() -> None:
    """Libraries for a database, a terminal, the web or a tokenizer are loaded by the call that needs them."""
    done = run(sys.executable, "-c", LOADED_LIBRARIES)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= LIGHT
