"""Say what becomes of a turn in windows."""

from __future__ import annotations

from typing import Annotated, Final, get_args

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, Because, LedgerName
from delivery.cli.printing import one_line, print_json, print_text
from delivery.cli.selecting import By
from ledger.errors import InvalidInput, nearest
from ledger.window_events import Verdict
from projections.wire import to_json

_VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


def classify(
    context: typer.Context,
    ledger: LedgerName,
    turn: Annotated[int, typer.Argument(metavar="TURN", min=1, help="Number of the turn.")],
    verdict: Annotated[str, typer.Argument(metavar="VERDICT", help=f"One of {', '.join(_VERDICTS)}.")],
    *,
    because: Because = None,
    kind: Annotated[str | None, typer.Option(metavar="NAME", help="What the turn is (greeting, constraint).")] = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Say what becomes of a turn in windows, whatever the rules say.

    The latest word counts. It is recorded; windows of earlier versions stay as they were.
    """
    said = _verdict(verdict)
    with open_existing_store(context.obj) as store:
        name = store.head(ledger).name
        recorded = store.ledger(name).classify(turn, said, because=because, kind=kind, actor=by)
    if as_json:
        print_json(to_json({"ledger": name, "version": recorded.version, "turn": turn, "verdict": said, "kind": kind}))
    else:
        print_text(one_line(f"{name} at version {recorded.version}: {said} turn {turn}"))


def _verdict(given: str) -> Verdict:
    for known in _VERDICTS:
        if known == given:
            return known
    near = nearest(given, _VERDICTS)
    hint = f" (did you mean {near[0]}?)" if near else ""
    raise InvalidInput(f"no verdict {given!r}{hint}: give one of {', '.join(_VERDICTS)}", path="verdict")
