"""How the command line runs: options, commands, and errors as one line on standard error, or a line for each mistake.

Exit codes: 0, 1 for a fault of ours or of the store and for what was refused, 2 for a mistake of the caller's.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from delivery.app import STORE_VARIABLE, store_place
from delivery.cli.auditing import audit_command
from delivery.cli.checking import verify
from delivery.cli.claiming import confirm, resolve, retract, set_command
from delivery.cli.classifying import classify
from delivery.cli.compacting import compact
from delivery.cli.comparing import diff_command
from delivery.cli.declaring import declare, rejected, schema
from delivery.cli.demonstration import demo
from delivery.cli.examples import EXAMPLES, START, shown
from delivery.cli.explaining import explain
from delivery.cli.extracting import extract_command
from delivery.cli.fetching import fetch
from delivery.cli.finding import find
from delivery.cli.forgetting import forget
from delivery.cli.keeping import hold, retain
from delivery.cli.policies import policy
from delivery.cli.preparing import init
from delivery.cli.printing import flush, leave_unread, one_line, prepare_streams, print_text
from delivery.cli.reading import handoff, ledgers, show
from delivery.cli.recording import import_command
from delivery.cli.searching import search_command
from delivery.cli.states import state
from delivery.cli.windows import window
from delivery.endpoint_errors import EndpointFailed
from ledger.errors import (
    CorruptRecord,
    LedgerError,
    NotAStore,
    NothingToForget,
    OnHold,
    StoreError,
    SupersessionMismatch,
    UnknownEventType,
    VersionConflict,
)
from ledger.forgetting_commands import ForgettingIncomplete, ForgettingResumed

OURS: Final = 1
CALLERS: Final = 2

_FAULTS: Final = (StoreError, CorruptRecord, UnknownEventType, VersionConflict, EndpointFailed)
_REFUSED: Final = (NothingToForget, OnHold, SupersessionMismatch)

app = typer.Typer(
    name="context-ledger",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Keep what agents said and did, and rebuild what a model should see of it, at any point in its history.",
)


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print_text(f"context-ledger {version('context-ledger')}")
        raise typer.Exit


@app.callback(epilog=shown(START))
def _options(
    context: typer.Context,
    store: Annotated[
        str | None,
        typer.Option(metavar="PATH|URL", help=f"The store; else {STORE_VARIABLE}, else ./context-ledger.db."),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Show the version.")
    ] = False,
) -> None:
    context.obj = store_place(store)


_COMMANDS: Final[dict[str, Callable[..., None]]] = {
    "demo": demo,
    "import": import_command,
    "init": init,
    "ledgers": ledgers,
    "show": show,
    "state": state,
    "window": window,
    "policy": policy,
    "classify": classify,
    "explain": explain,
    "diff": diff_command,
    "find": find,
    "search": search_command,
    "audit": audit_command,
    "fetch": fetch,
    "handoff": handoff,
    "set": set_command,
    "confirm": confirm,
    "retract": retract,
    "resolve": resolve,
    "declare": declare,
    "schema": schema,
    "extract": extract_command,
    "compact": compact,
    "rejected": rejected,
    "verify": verify,
    "forget": forget,
    "retain": retain,
    "hold": hold,
}
for _name, _command in _COMMANDS.items():
    app.command(_name, epilog=shown(EXAMPLES[_name]))(_command)


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code; nothing is raised."""
    prepare_streams()
    command: Any = typer.main.get_command(app)
    assert isinstance(command, TyperGroup), "several commands make a group"
    with warnings.catch_warnings():
        warnings.showwarning = _note
        for category in (ForgettingResumed, ForgettingIncomplete):
            warnings.simplefilter("always", category)
        try:
            code = command.main(args=arguments, prog_name="context-ledger", standalone_mode=False)
            flush()
        except Exception as error:  # noqa: BLE001 — the last door: every failure leaves as one line and a code
            return _failed(error)
        except KeyboardInterrupt:
            return _complain("interrupted", OURS)
        except SystemExit:  # typer's answer where nobody reads its help any more; it raises none besides
            leave_unread()
            return 0
    return code if isinstance(code, int) else 0


def _note(message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: Any, **__: Any) -> None:
    """A warning as a line for people; where in our code it arose is of no use to them."""
    sys.stderr.write(f"context-ledger: note: {one_line(str(message))}\n")


def _failed(error: Exception) -> int:
    if isinstance(error, LedgerError):
        is_ours = isinstance(error, _FAULTS + _REFUSED) and not isinstance(error, NotAStore)
        for mistake in error.details.get("mistakes", (error,)):
            _complain(str(mistake), CALLERS)
        return OURS if is_ours else CALLERS
    # By name and not by class: typer carries its own click or uses the installed one, depending on its release.
    if type(error).__name__ == "NoArgsIsHelpError":
        return _complain("no command was given: see context-ledger --help", CALLERS)
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        asked = "context-ledger" if context is None else context.command_path
        return _complain(f"{_sentence(error.format_message().rstrip('.') + _beside(error))} See {asked} --help.", CALLERS)
    if isinstance(error, OSError) and error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror or error}", CALLERS)
    if isinstance(error, OSError):
        return _complain(error.strerror or str(error), OURS)
    return _complain(f"internal error: {type(error).__name__}: {error}", OURS)


def _beside(error: Exception) -> str:
    """What typer does not say: what was given in the place of what an option takes; of one that is missing, what it means."""
    if isinstance(error.__cause__, ValidationError):
        return f" (it is {error.__cause__.errors(include_url=False)[0]['input']!r:.80})"
    meaning = getattr(getattr(error, "param", None), "help", None)
    return f": {meaning}" if meaning and type(error).__name__ == "MissingParameter" else ""


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"context-ledger: {one_line(message)}\n")
    return code
