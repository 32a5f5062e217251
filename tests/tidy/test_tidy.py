"""The limits of style that a machine can check. Each failure names the line."""

from __future__ import annotations

import ast
import re
import statistics
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tidy.tree import ROOMS, ROOT, functions, imported, modules, place, texts, tree

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_MEDIAN_FUNCTION_LINES = 10
BANNED_NAMES = {"base", "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}

# Spelt so that no pattern finds itself.
BANNED_TEXT = {
    "unfinished work": r"\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b",
    "a path of one machine": r"(?<![\w.])/(?:wor[k]|hom[e]|Use[r]s|roo[t]|opt/whee[l]s)/",
    "a package registry": r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|registry[.]yarnpkg|proxy[.]golang"
    r"|static[.]crates|index[.]crates|conda[.]anaconda",
}

# Modules for files, clocks or the process are listed in pyproject.toml; these are the ways around them.
IMPURE_CALLS = {"__import__", "breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}
IMPURE_METHODS = {"now", "today", "utcnow"}
PURE_LEDGER_MODULES = {
    "assembling", "erased", "errors", "events", "fields", "json_text", "limits", "marks", "parts", "pending", "quotes",
    "record", "schema", "served", "standing", "window_events", "wishes",
}  # fmt: skip


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def impure_modules() -> set[str]:
    contracts = project()["tool"]["importlinter"]["contracts"]
    return {name for contract in contracts if contract["type"] == "forbidden" for name in contract["forbidden_modules"]}


def test_there_is_something_to_check() -> None:
    assert all(modules(room) for room in ROOMS)


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert [f"{place(path, 1)} has {n} lines" for path, n in lengths.items() if n >= MAX_FILE_LINES] == []


def test_functions_are_short() -> None:
    long = [
        f"{place(path, node.lineno)} {node.name} has {lines} lines"
        for path in modules()
        for node in functions(path)
        if (lines := last_line(node) - node.lineno + 1) >= MAX_FUNCTION_LINES
    ]
    assert long == []


def test_most_functions_are_very_short() -> None:
    """The median function of the rooms, its docstring not counted."""
    lengths = [lines_of_code(node) for path in modules(*ROOMS) for node in functions(path)]
    assert statistics.median(lengths) < MAX_MEDIAN_FUNCTION_LINES


def last_line(node: ast.stmt) -> int:
    assert node.end_lineno is not None
    return node.end_lineno


def lines_of_code(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    docstring = node.body[0] if ast.get_docstring(node) is not None else None
    return last_line(node) - node.lineno + 1 - (last_line(docstring) - docstring.lineno + 1 if docstring else 0)


def test_modules_are_named_after_what_they_hold() -> None:
    parts = ((path, part) for path in modules() for part in path.relative_to(ROOT).with_suffix("").parts)
    assert [f"{place(path, 1)}: {part}" for path, part in parts if part in BANNED_NAMES] == []


@pytest.mark.parametrize("what", BANNED_TEXT)
def test_text_holds_no(what: str) -> None:
    banned = re.compile(BANNED_TEXT[what])
    found = [
        f"{place(path, number)}: {line.strip()[:100]}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if banned.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("unfinished work", "# TO" + "DO: later"),
        ("a path of one machine", 'open("/hom' + 'e/someone/file")'),
        ("a path of one machine", "see /wor" + "k/shared"),
        ("a package registry", "https://pypi" + ".org/simple"),
    ],
)
def test_banned_text_is_recognised(what: str, line: str) -> None:
    assert re.search(BANNED_TEXT[what], line)


def test_projections_are_pure() -> None:
    assert [fault for path in modules("projections") for fault in impurities(path, tree(path))] == []


def impurities(path: Path, module: ast.Module) -> Iterator[str]:
    """What in a module could make one fold differ from the next."""
    stored = {path.stem for path in modules("ledger")} - PURE_LEDGER_MODULES - {"__init__"}
    impure = impure_modules() | {f"ledger.{name}" for name in stored}
    for node in ast.walk(module):
        names = [name for name in imported(node) if name in impure or name.partition(".")[0] in impure]
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                names.append(f"{name}()")
            case ast.Call(func=ast.Attribute(attr=name)) if name in IMPURE_METHODS:
                names.append(f".{name}()")
        yield from (f"{place(path, getattr(node, 'lineno', 1))}: {name}" for name in names)


@pytest.mark.parametrize(
    "line",
    [
        "import time",
        "import os.path",
        "from urllib.request import urlopen",
        "from ledger import sqlite",
        "from ledger.sqlite import Store",
        "import ledger.connect",
        "def f():\n    import random",
        "datetime.now(UTC)",
        "open('state.json')",
        "hash('the seed decides')",
    ],
)
def test_impurity_is_recognised(line: str) -> None:
    assert list(impurities(ROOT / "projections" / "planted.py", ast.parse(line)))


@pytest.mark.parametrize("line", ["from ledger.events import TurnRecorded", "import json", "view.hash", "re.compile('x')"])
def test_pure_code_is_accepted(line: str) -> None:
    assert not list(impurities(ROOT / "projections" / "planted.py", ast.parse(line)))


def test_public_names_have_docstrings() -> None:
    missing = [
        f"{place(path, line)} {name}"
        for path in modules(*ROOMS)
        if not path.stem.startswith("_") or path.stem == "__init__"
        for name, line in undocumented(tree(path), prefix="")
    ]
    assert missing == []


def undocumented(node: ast.Module | ast.ClassDef, *, prefix: str) -> Iterator[tuple[str, int]]:
    """Public classes, functions and methods without a docstring; also the module, unless empty."""
    if isinstance(node, ast.Module) and node.body and ast.get_docstring(node) is None:
        yield "the module", 1
    for child in node.body:
        if not isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) or not is_public(child):
            continue
        if ast.get_docstring(child) is None:
            yield prefix + child.name, child.lineno
        if isinstance(child, ast.ClassDef):
            yield from undocumented(child, prefix=f"{child.name}.")


def is_public(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Neither private nor one more form of a name explained before: an overload, a setter, an override."""
    again = {"overload", "override", "setter", "deleter", "register"}
    marks = {ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in node.decorator_list}
    return not node.name.startswith("_") and not marks & again


def test_missing_docstring_is_recognised() -> None:
    module = ast.parse('"""Doc."""\nclass A:\n    """Doc."""\n    def b(self): ...\n    def _c(self): ...\ndef d(): ...')
    assert [name for name, _ in undocumented(module, prefix="")] == ["A.b", "d"]


def test_the_dev_extra_and_the_dev_group_are_the_same() -> None:
    content = project()
    assert content["project"]["optional-dependencies"]["dev"] == content["dependency-groups"]["dev"]
