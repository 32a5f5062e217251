"""Commands that ask: what there is, what was said, what holds, what a model would see."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from delivery.app import open_existing_store
from delivery.cli.arguments import AsJson, LedgerName, Moment, moment
from delivery.cli.printing import one_line, print_basis, print_json, print_table, print_text
from ledger.errors import InvalidInput, nearest
from projections.policy import Policy
from projections.render import RENDERERS
from projections.render.text import part_text
from projections.state import State
from projections.transcript import Turn
from projections.window import Window
from projections.wire import to_json
from replay.listing import listing
from replay.view import FieldHistory, View, view

_DEFAULT = Policy()


def ledgers(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List the ledgers of the store.

    Example: context-ledger ledgers --json
    """
    with open_existing_store(context.obj) as store:
        rows = listing(store)
    if as_json:
        print_json(to_json(rows))
    else:
        print_table(
            ("ledger", "version", "turns", "opened at"), [(row.ledger, row.version, row.turns, row.opened_at) for row in rows]
        )


def show(context: typer.Context, ledger: LedgerName, *, at: Moment = None, as_json: AsJson = False) -> None:
    """Show the transcript: every turn with its parts and what its calls returned.

    Example: context-ledger show refund-ORD-88213 --at turn:4
    """
    with open_existing_store(context.obj) as store:
        shown = view(store, ledger, at=moment(at)).transcript()
    if as_json:
        print_json(shown.to_json())
        return
    print_basis(shown.basis)
    for system in shown.transcript.system:
        print_text(f"system\n{_indented(system.text)}\n")
    for turn in shown.transcript.turns:
        _print_turn(turn)


def state(context: typer.Context, ledger: LedgerName, *, at: Moment = None, as_json: AsJson = False) -> None:
    """Show the state: task, facts, constraints, decisions, what was rejected, what is open.

    Example: context-ledger state refund-ORD-88213 --at 12
    """
    with open_existing_store(context.obj) as store:
        found = view(store, ledger, at=moment(at)).state()
    if as_json:
        print_json(found.to_json())
    else:
        print_basis(found.basis)
        print_state(found)


def window(
    context: typer.Context,
    ledger: LedgerName,
    *,
    at: Moment = None,
    tail: Annotated[int, typer.Option(min=0, help="Turns kept verbatim before the current one.")] = _DEFAULT.tail_turns,
    budget: Annotated[int, typer.Option(min=1, help="Tokens that the request may cost.")] = _DEFAULT.budget_tokens,
    render: Annotated[str, typer.Option(help=f"Form of the request: {', '.join(RENDERERS)}.")] = "openai",
    encoding: Annotated[str, typer.Option(help="Encoding or model by which tokens are counted.")] = _DEFAULT.encoding,
    as_json: AsJson = False,
) -> None:
    """Build the window: what a model call would receive, with a receipt that says why.

    Example: context-ledger window refund-ORD-88213 --at turn:11 --tail 4 --budget 2000 --render anthropic --json
    """
    policy = Policy(tail_turns=tail, budget_tokens=budget, encoding=encoding)
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at))
        found = asked.window(policy, render=render if as_json else "text")
    if as_json:
        print_json(found.to_json())
    else:
        print_window(found)


def explain(
    context: typer.Context,
    ledger: LedgerName,
    field: Annotated[str, typer.Argument(metavar="FIELD", help="Name of the field.")],
    *,
    at: Moment = None,
    as_json: AsJson = False,
) -> None:
    """Explain a field: every value that it held, who set it in which turn, and what disputes it.

    Example: context-ledger explain refund-ORD-88213 amount
    """
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at))
        found = asked.history(field)
        if not found.values and not found.contradictions:
            raise _unknown_field(asked, field)
    if as_json:
        print_json(found.to_json())
    else:
        print_basis(found.basis)
        print_history(found)


def handoff(context: typer.Context, ledger: LedgerName, *, at: Moment = None, as_json: AsJson = False) -> None:
    """Write the brief for a fresh session.

    Example: context-ledger handoff refund-ORD-88213 --json
    """
    with open_existing_store(context.obj) as store:
        found = view(store, ledger, at=moment(at)).handoff()
    if as_json:
        print_json(found.to_json())
    else:
        print_basis(found.basis)
        print_brief(found.brief)


def print_window(found: Window) -> None:
    """A window for people: its text, then its receipt."""
    print_basis(found.basis)
    print_text(found.request["text"])
    print_table(("turn", "verdict", "rule", "tokens"), [(row.turn, row.verdict, row.rule, row.tokens) for row in found.receipt])
    print_text(f"\n{found.tokens:,} tokens ({found.encoding})")


def print_state(found: State) -> None:
    """The state for people: the block, as a model sees it."""
    print_text(found.block.rstrip("\n"))


def print_history(found: FieldHistory) -> None:
    """A field's history for people: values with the versions where they stood, then contradictions."""
    rows = [
        (value.json, value.source, value.turn, f"{value.from_version}–{value.to_version or 'now'}", value.because)
        for value in found.values
    ]
    print_table((found.field, "source", "turn", "versions", "ended because"), rows)
    for dispute in found.contradictions:
        how = "open" if dispute.resolution is None else f"resolved: {dispute.resolution.because}"
        print_text(f"{dispute.id} between turns {', '.join(map(str, dispute.turns))}: {how}")


def print_brief(brief: dict[str, Any]) -> None:
    """A handoff for people: a heading and its items."""
    for name, value in brief.items():
        print_text(name.replace("_", " "))
        items = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            items = [{"what": key, **item} if isinstance(item, dict) else {key: item} for key, item in value.items()]
        for item in items or ["none"]:
            print_text(f"  {_brief_line(item)}")


def _brief_line(item: Any) -> str:
    if not isinstance(item, dict):
        return one_line(str(item))
    return one_line(", ".join(f"{name} {value}" if name != "what" else str(value) for name, value in item.items()))


def _print_turn(turn: Turn) -> None:
    print_text(f"turn {turn.number}, {turn.role}")
    for part in turn.parts:
        print_text(_indented(part_text(part)))
    for found in turn.returns:
        error = ", error" if found.is_error else ""
        print_text(f"  {found.id} for {found.call_id}{error}:")
        print_text(_indented("\n".join(map(part_text, found.parts)), by=4))
    print_text()


def _indented(text: str, *, by: int = 2) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.splitlines())


def _unknown_field(asked: View, field: str) -> InvalidInput:
    known = asked.fields()
    near = nearest(field, known) or known[:5]
    return InvalidInput(
        f"no field {field!r} at version {asked.version} (fields: {', '.join(near) or 'none'}): see context-ledger state",
        path="field",
        nearest=list(near),
    )
