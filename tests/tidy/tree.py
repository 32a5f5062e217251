"""The checkout as the tidy tests see it: its files, its modules and its functions."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("ledger", "projections", "replay", "delivery")
SEEN_HIDDEN = {".ci", ".editorconfig", ".github", ".gitignore"}
MADE = {"build", "dist", "__pycache__", "node_modules"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def files() -> tuple[Path, ...]:
    """Every file that is kept, sorted: walked, not asked of git, so an unpacked archive can be tested."""
    return tuple(sorted(_walk(ROOT)))


def _walk(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name in MADE or (entry.name.startswith(".") and entry.name not in SEEN_HIDDEN):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        elif entry.is_file():
            yield Path(entry.path)


def texts() -> Iterator[tuple[Path, str]]:
    """Every kept file that is text, with its text."""
    for path in files():
        content = path.read_bytes()
        if b"\0" not in content and path.suffix != ".xz":
            yield path, content.decode("utf-8")


def modules(*rooms: str) -> list[Path]:
    """The Python files of these rooms, or of the whole checkout if none is named."""
    python = [path for path in files() if path.suffix == ".py"]
    return [path for path in python if path.relative_to(ROOT).parts[0] in rooms] if rooms else python


@cache
def tree(path: Path) -> ast.Module:
    """The parsed module."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def functions(path: Path) -> Iterator[Function]:
    """Every function of the module, methods and nested ones included."""
    return (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def place(path: Path, line: int) -> str:
    """``room/module.py:7``, for a message that leads to the spot."""
    return f"{path.relative_to(ROOT)}:{line}"


def imported(node: ast.AST) -> list[str]:
    """The dotted names that a node imports: modules, and what is taken from them (``ledger.events.Turn``)."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []
