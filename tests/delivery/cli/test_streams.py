"""The command line between other programs: readers that leave early, and what Python warns of."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ledger import connect
from tests.delivery.cli.conftest import Command

PROGRAM = "from delivery.cli import main; main()"
WARNING = """
import warnings
from delivery.cli import main
from delivery.cli.application import app
app.command("warn")(lambda: warnings.warn("this disk is\\nshared with \\x1b others"))
main()
"""


def unread(arguments: list[str]) -> tuple[int, bytes]:
    """Run a command whose reader has gone before its first word: its exit code and what it complains of."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["ledgers"],
        ["ledgers", "--json"],
        ["show", "refund-ORD-88213"],
        ["show", "refund-ORD-88213", "--json"],
        ["demo"],
        ["verify"],
        ["--help"],
    ],
)
@pytest.mark.usefixtures("refund")
def test_a_reader_that_has_gone_is_no_error(store_path: Path, arguments: list[str]) -> None:
    assert unread(["--store", str(store_path), *arguments]) == (0, b"")


def test_a_reader_of_one_line_gets_it(refund: str, command: Command, store_path: Path) -> None:
    """As with ``head -1``, of an answer that is too long for a pipe."""
    file = store_path.with_name("long.json")
    file.write_text(json.dumps([{"role": "user", "content": "longer than a pipe\n" * 20_000}]), encoding="utf-8")
    assert command("import", str(file), "--ledger", "long").code == 0
    arguments = [sys.executable, "-c", PROGRAM, "--store", str(store_path), "show", "long"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"long at version 1")
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.usefixtures("refund")
def test_a_problem_that_nobody_reads_is_still_told_by_the_exit_code(store_path: Path) -> None:
    with closing(sqlite3.connect(store_path)) as connection, connection:
        connection.execute("DROP TRIGGER payloads_never_change")
        connection.execute("UPDATE payloads SET payload = replace(payload, '4,180', '9,180') WHERE position = 4")
    assert unread(["--store", str(store_path), "verify"]) == (1, b"")


def test_closed_streams_are_no_error(refund: str, store_path: Path) -> None:
    """A job of a scheduler may have none."""
    program = [sys.executable, "-c", PROGRAM, "--store", str(store_path), "show", refund]
    closed = subprocess.run(["bash", "-c", '"$@" >&- 2>&-', "-", *program], capture_output=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_told_in_one_line(refund: str, store_path: Path, form: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        arguments = [sys.executable, "-c", PROGRAM, "--store", str(store_path), "show", refund, *form]
        done = subprocess.run(arguments, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b"context-ledger: No space left on device\n")


def test_a_warning_is_one_line_on_standard_error(tmp_path: Path) -> None:
    """Without the place in our code that Python shows."""
    done = subprocess.run([sys.executable, "-c", WARNING, "warn"], cwd=tmp_path, env={}, capture_output=True, check=True)
    assert done.stdout == b""
    assert done.stderr == b"context-ledger: note: this disk is shared with \\x1b others\n"


HIDDEN = "a\u202e\u200b\u200d\u009b2J\x7f\u2066\u00ad\ufeff\U000e0041\x1b ₹ é <&> 𝒳"


def at_a_terminal(arguments: list[str]) -> bytes:
    """What a command writes to a terminal."""
    reader, writer = os.openpty()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        written = b""
        try:
            while chunk := os.read(reader, 65_536):
                written += chunk
        except OSError:  # how Linux says that nobody writes any more
            pass
        finally:
            os.close(reader)
    assert process.returncode == 0
    return written


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_json_on_a_terminal_moves_and_hides_nothing(command: Command, store_path: Path) -> None:
    """The same JSON, with escapes; a pipe gets the characters as they are."""
    assert command("init").code == 0
    with connect(str(store_path)) as store:
        store.ledger("case").set_fact("note", HIDDEN, source="user")
    arguments = ["--store", str(store_path), "state", "case", "--json"]
    shown = at_a_terminal(arguments).decode()
    piped = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, check=True).stdout.decode()
    assert json.loads(shown) == json.loads(piped)
    assert json.loads(shown)["sections"]["entities"]["note"]["value"] == HIDDEN
    assert all(mark in piped for mark in "\u202e\u200b\u009b\ufeff\U000e0041")
    assert [mark for mark in shown.removesuffix("\r\n") if not mark.isprintable()] == []
    assert "₹ é <&> 𝒳" in shown
