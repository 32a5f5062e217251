"""How the command line runs: options, commands, and errors as one line on standard error.

Exit codes: 0, 1 for a fault of ours or of the store, 2 for a mistake of the caller's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from delivery.app import STORE_VARIABLE, store_place
from delivery.cli.checking import verify
from delivery.cli.demonstration import demo
from delivery.cli.preparing import init
from delivery.cli.printing import one_line
from delivery.cli.reading import explain, handoff, ledgers, show, state, window
from delivery.cli.recording import import_command
from ledger.errors import CorruptRecord, LedgerError, StoreError, UnknownEventType, VersionConflict

OURS: Final = 1
CALLERS: Final = 2

_FAULTS: Final = (StoreError, CorruptRecord, UnknownEventType, VersionConflict)

app = typer.Typer(
    name="context-ledger",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Keep what agents said and did, and rebuild what a model should see of it, at any point in its history.",
)


@app.callback()
def _options(
    context: typer.Context,
    store: Annotated[
        str | None, typer.Option(help=f"Path or URL of the store; else {STORE_VARIABLE}, else ./context-ledger.db.")
    ] = None,
) -> None:
    context.obj = store_place(store)


app.command("demo")(demo)
app.command("import")(import_command)
app.command("init")(init)
for _command in (ledgers, show, state, window, explain, handoff, verify):
    app.command(_command.__name__)(_command)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; nothing is raised."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    command: Any = typer.main.get_command(app)
    assert isinstance(command, TyperGroup), "several commands make a group"
    try:
        code = command.main(args=arguments, prog_name="context-ledger", standalone_mode=False)
    except Exception as error:  # noqa: BLE001 — the last door: every failure leaves as one line and a code
        return _failed(error)
    except KeyboardInterrupt:
        return _complain("interrupted", OURS)
    return code if isinstance(code, int) else 0


def _failed(error: Exception) -> int:
    if isinstance(error, BrokenPipeError):
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 — the reader has gone, so nobody flushes to it
        return 0
    if isinstance(error, LedgerError):
        return _complain(str(error), OURS if isinstance(error, _FAULTS) else CALLERS)
    # By name and not by class: typer carries its own click or uses the installed one, depending on its release.
    if type(error).__name__ == "NoArgsIsHelpError":
        return _complain("no command was given: see context-ledger --help", CALLERS)
    if hasattr(error, "format_message"):
        return _complain(f"{error.format_message()} See context-ledger --help.", CALLERS)
    if isinstance(error, OSError):
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}", CALLERS)
    return _complain(f"internal error: {type(error).__name__}: {error}", OURS)


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"context-ledger: {one_line(message)}\n")
    return code
