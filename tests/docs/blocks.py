"""Documents as tests: every fenced block of Python or of a console is run, and what it shows must be true.

- ``python`` blocks of one document share one namespace, like one long program; an exception fails.
- ``console`` blocks hold commands, each after ``$ `` (a line that ends in a backslash goes on in the next),
  and below each command everything that it prints, standard output and standard error together. ``...``
  stands for any text within a line and, alone on a line, for any lines. A command that fails must say so
  itself: ``$ command; echo "exit code $?"``.
- Blocks of any other language are only shown.

Everything runs in one temporary folder a document, which holds a copy of the checkout's ``examples``, so that
typing the same at the checkout's top gives the same. No block can ask not to be run.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ledger.connect import Ledgers

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
COMMAND_TIMEOUT_SECONDS = 120


class WrongDocument(AssertionError):
    """A document that says what is not so; the message begins with the file and the line."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block: its language, the line of its fence (from 1), and its text without indentation."""

    language: str
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command of a console block, the line on which it stands, and what it prints by the document."""

    line: int
    shell: str
    expected: str


def blocks(document: str) -> Iterator[Block]:
    """The fenced blocks of a document in Markdown, in order; one that never ends is a ``WrongDocument``."""
    lines = enumerate(document.splitlines(), start=1)
    for number, line in lines:
        if not (opening := FENCE.match(line)):
            continue
        body = []
        for _, inner in lines:
            if inner.strip() == opening["fence"]:
                break
            body.append(inner.removeprefix(opening["indent"]))
        else:
            raise WrongDocument(f"line {number}: this block never ends")
        language, *_ = opening["info"].split() or [""]
        yield Block(language=language, line=number, text="".join(f"{inner}\n" for inner in body))


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block; text before the first is a ``WrongDocument``."""
    lines = list(enumerate(block.text.splitlines(), start=block.line + 1))
    while lines:
        number, line = lines.pop(0)
        if not line.startswith("$ "):
            raise WrongDocument(f"line {number}: a console block begins with a command, after '$ '")
        shell, expected = line[2:], []
        while shell.endswith("\\") and lines:
            shell += "\n" + lines.pop(0)[1]
        while lines and not lines[0][1].startswith("$ "):
            expected.append(lines.pop(0)[1])
        yield Command(line=number, shell=shell, expected="\n".join(expected))


def matches(expected: str, printed: str) -> bool:
    """Whether the output is as shown, ``...`` being any; white space at the ends of lines is ignored."""
    pattern = ""
    for line in expected.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(map(re.escape, line.rstrip().split("..."))) + r"\n"
    shown = "".join(f"{line.rstrip()}\n" for line in printed.rstrip().splitlines())
    return re.fullmatch(pattern, shown) is not None


def run_document(document: str, *, name: str, folder: Path) -> int:
    """Run the blocks in ``folder`` and return their number; the first untrue one is a ``WrongDocument``."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    try:
        for block in blocks(document):
            if block.language == "python":
                run_python(block, namespace=namespace, name=name, folder=folder)
            elif block.language == "console":
                run_console(block, folder=folder)
            else:
                continue
            ran += 1
    except WrongDocument as wrong:
        raise WrongDocument(f"{name}, {wrong}") from wrong.__cause__
    finally:
        for value in namespace.values():  # what a document leaves open would be found during another test
            if isinstance(value, Ledgers):
                value.close()
    return ran


def run_python(block: Block, *, namespace: dict[str, object], name: str, folder: Path) -> None:
    """Run one block in the document's namespace; its line numbers are those of the document."""
    program = "\n" * block.line + block.text
    with contextlib.chdir(folder):
        try:
            exec(compile(program, name, "exec", dont_inherit=True), namespace)
        except Exception as error:
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            line = lines[-1] if lines else getattr(error, "lineno", None) or block.line
            raise WrongDocument(f"line {line}: {type(error).__name__}: {error}") from error


def run_console(block: Block, *, folder: Path) -> None:
    """Run the commands of one block, each in a shell of its own, and compare what they print."""
    for command in commands(block):
        done = subprocess.run(
            ["bash", "-c", command.shell],
            cwd=folder,
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
        if done.returncode:
            raise WrongDocument(f"line {command.line}: exit code {done.returncode}, it printed:\n{done.stdout}")
        if not matches(command.expected, done.stdout):
            raise WrongDocument(f"line {command.line}: the document shows\n{command.expected}\nbut it printed\n{done.stdout}")


def surroundings() -> dict[str, str]:
    """This environment with our programs first, a plain terminal of 100 columns and none of our settings."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CONTEXT_LEDGER_", "LEDGER_"))}
    programs = str(Path(sys.executable).parent)
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "TERM": "dumb"}
    return {**kept, **plain, "PATH": os.pathsep.join((programs, kept.get("PATH", os.defpath)))}
