"""Commands that check the record."""

from __future__ import annotations

from typing import Annotated

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, print_json, print_text
from delivery.cli.rule_modules import RuleModules, register_rules
from ledger import Ledgers
from ledger.errors import InvalidInput
from ledger.reading import Reader
from ledger.verify import verify_store
from projections.wire import to_json
from replay.served import ServedWindow, row_of, verify_windows


def verify(
    context: typer.Context,
    ledger: Annotated[str | None, typer.Argument(metavar="LEDGER", help="One ledger; else all.")] = None,
    windows: Annotated[bool, typer.Option("--windows", help="Build every served window again, and compare.")] = False,
    rules: RuleModules = None,
    as_json: AsJson = False,
) -> None:
    """Check that what is stored is what was recorded.

    Hashes, order, admission and artifacts, and that what was forgotten is gone; exit code 1 where something is wrong. With
    --windows also that every window that was recorded as served comes out again byte for byte.
    """
    if rules and not windows:
        raise InvalidInput("--rules are those of policies of served windows: give --windows, too", path="rules")
    register_rules(rules)
    with open_existing_store(context.obj) as store:
        found = verify_store(store, ledger)
        forgotten = _forgotten(store, ledger) if found.ok else 0  # in a damaged record it cannot be known
        served = _served(store, ledger) if windows and found.ok else []
    is_right = found.ok and not any(window.is_problem for window in served)
    if as_json:
        known = {"ok": is_right, "events": found.events, "problems": found.problems}
        shown = {"windows": [row_of(window) for window in served]} if windows else {}
        print_json(to_json({**known, **({"forgotten": forgotten} if forgotten else {}), **shown}))
    else:
        _print_served(served)
        for problem in found.problems:
            print_text(f"{problem.ledger} version {problem.version}: {problem.problem}")
        gone = f", {forgotten:,} of them forgotten" if forgotten else ""
        print_text(f"{counted(found.events, 'event')}{gone}, {counted(len(found.problems), 'problem')}")
        if windows and found.ok:
            same = sum(window.verdict == "same" for window in served)
            print_text(f"{counted(len(served), 'served window')}, {same:,} the same byte for byte")
    if not is_right:
        raise typer.Exit(1)


def _served(store: Ledgers, ledger: str | None) -> list[ServedWindow]:
    names = [head.name for head in store.heads()] if ledger is None else [ledger]
    return [window for name in names for window in verify_windows(store, name)]


def _print_served(served: list[ServedWindow]) -> None:
    for window in served:
        if window.verdict != "same":
            print_text(f"{window.ledger} {window.id} (of version {window.of_version}): {window.verdict}: {window.detail}")


def _forgotten(store: Ledgers, ledger: str | None) -> int:
    """How many of the events were forgotten; what is past its retention and not erased yet is not among them."""
    heads = store.heads() if ledger is None else [store.head(ledger)]
    return sum(len(Reader(store.store, head.ledger).marks) for head in heads)
