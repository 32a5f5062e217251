"""Commands that bring something in."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer

from delivery.app import open_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, flush, one_line, print_json, print_text
from delivery.importers import NAMES
from delivery.importers.importing import ImportResult, import_file
from delivery.importers.left_out import Skipped
from ledger import Ledgers
from ledger.errors import LedgerError
from projections.wire import to_json
from replay.freshening import freshen

_STANDARD_INPUT: Final = Path("-")
_PLACE: Final = re.compile(r"\$[^\s:;,()]*|\d+")
_MOST_LINES: Final = 5
_MOST_KINDS: Final = 12


def import_command(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A transcript: JSON, JSON lines, Markdown; - for standard input.")
    ],
    *,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help=f"auto, {', '.join(NAMES)}.")] = "auto",
    ledger: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the ledger, if the file holds one conversation.")
    ] = None,
    subject: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whom it is about (customer:c_9912); may be given again.")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Kind of content, for rules of retention; may be given again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import transcripts from a file or from standard input.

    What a ledger holds already is not recorded again. Ledgers that grew are made ready for windows after that, which takes
    about a millisecond a turn.
    """
    with _readable(file) as path, open_store(context.obj) as store:
        before = _versions(store)
        try:
            result = import_file(store, path, format=form, ledger=ledger, subjects=subject or (), labels=label or ())
        except LedgerError as error:
            _freshen(store, error.details.get("imported", ()), before)
            raise
        _tell(result, as_json=as_json)
        _freshen(store, result.ledgers, before)


def _tell(result: ImportResult, *, as_json: bool) -> None:
    """The report, handed over before anything else is done, since all of it is recorded by now."""
    if as_json:
        found = {"ledgers": result.ledgers, "events": result.events, "skipped": result.skipped}
        print_json(to_json({**found, "left_out": result.left_out}))
        return
    for name in result.ledgers:
        print_text(name)
    print_text(f"{counted(result.events, 'event')} recorded in {counted(len(result.ledgers), 'ledger')}")
    for line in (*_lost([skipped for skipped in result.skipped if skipped.kind is None]), *_left_out(result.left_out)):
        print_text(one_line(line))
    flush()


def _lost(skipped: Sequence[Skipped]) -> Iterator[str]:
    """What could not be imported, and why; what has the same reason, but for the place, on one line with its first."""
    alike: dict[str, list[Skipped]] = defaultdict(list)
    for one in skipped:
        alike[_PLACE.sub("", one.reason)].append(one)
    for group in alike.values():
        numbers = list(dict.fromkeys(str(one.line) for one in group))
        more = len(numbers) - _MOST_LINES
        places = ", ".join(numbers[:_MOST_LINES]) + (f" and {more:,} more" if more > 0 else "")
        on = f"line{'s' * (len(numbers) > 1)} {places}"
        if len(group) == 1:
            yield f"NOT imported, {on}: {group[0].reason}"
        else:
            yield f"NOT imported, {len(group):,} times, {on}; the first: {group[0].reason}"


def _left_out(counts: Mapping[str, int]) -> Iterator[str]:
    """What was left out on purpose, on one line."""
    if counts:
        kinds = [kind if count == 1 else f"{kind} ({count:,} times)" for kind, count in counts.items()]
        more = len(kinds) - _MOST_KINDS
        hidden = f" and {counted(more, 'more kind')}, which --json has" if more > 0 else ""
        yield f"left out, being neither a turn nor a return: {', '.join(kinds[:_MOST_KINDS])}{hidden}"


def _versions(store: Ledgers) -> dict[str, int]:
    return {head.name: head.version for head in store.heads()}


def _freshen(store: Ledgers, names: Sequence[str], before: Mapping[str, int]) -> None:
    """Make the ledgers ready for windows that grew, so that nobody waits for it later; a person is told how far it is."""
    grown = [name for name in names if store.head(name).version != before.get(name)]
    for number, name in enumerate(grown, start=1):
        if sys.stderr.isatty():
            sys.stderr.write(f"\rmaking ready for windows: {number:,} of {counted(len(grown), 'ledger')}")
        try:
            freshen(store, name)
        except LedgerError as error:  # what was imported stays; the next who asks for a window is told of it
            warnings.warn(f"windows of {name!r} are not made ready: {error}", stacklevel=2)
    if grown and sys.stderr.isatty():
        sys.stderr.write("\n")


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """A file that can be gone through twice, as an import does: a stream is kept on disk for that long."""
    if file != _STANDARD_INPUT:
        yield file
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "standard-input"
        with kept.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        try:
            yield kept
        except LedgerError as error:
            error.args = (str(error).replace(str(kept), "standard input"),)
            raise
