"""What holds, as a model would see it, and what gave way to the caps of its block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any, Final

import typer

from delivery.app import open_existing_store
from delivery.cli.answers import marked, print_places
from delivery.cli.arguments import AsJson, JudgedAt, LedgerName, Moment, instant, judgement, moment
from delivery.cli.printing import counted, one_line, print_basis, print_json, print_text
from ledger.errors import InvalidInput
from projections.state import State
from projections.state_block import Block, BlockOptions, GivenWay
from projections.wire import to_json
from replay.view import view

_MOST_OF_TASK: Final = 280
_FORMS: Final = ("lines", "compact", "markdown")


def state(
    context: typer.Context,
    ledger: LedgerName,
    *,
    at: Moment = None,
    valid_at: Annotated[
        str | None,
        typer.Option("--valid-at", metavar="TIME", help="Facts that held in the world at this time, as far as known."),
    ] = None,
    judged_at: JudgedAt = None,
    form: Annotated[str, typer.Option(metavar="FORM", help=f"Form of the block: {', '.join(_FORMS)}.")] = "lines",
    no_provenance: Annotated[bool, typer.Option("--no-provenance", help="Leave out who said it in which turn.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what holds: task, facts, decisions, what is open.

    Also constraints, and what was rejected; all of it as the block that a window shows to a model.
    """
    if form not in _FORMS:
        raise InvalidInput(f"--form {form!r} is not known: give one of {', '.join(_FORMS)}", path="form")
    moment_of_world = instant(valid_at, "--valid-at")
    options = BlockOptions.model_validate({"form": form, "provenance": not no_provenance})
    with open_existing_store(context.obj) as store:
        found = view(store, ledger, at=moment(at), judged_at=judgement(judged_at)).state(valid_at=moment_of_world)
        block = found.shown(options)
    if as_json:
        print_json(state_json(found, block, valid_at=moment_of_world))
        return
    print_basis(found.basis)
    if moment_of_world is not None:
        print_text(f"what held in the world at {moment_of_world.isoformat()}\n")
    print_state(found, block)


def state_json(found: State, block: Block, *, valid_at: datetime | None = None) -> bytes:
    """The state with its block, in whatever form that is, and what gave way."""
    known: dict[str, Any] = {
        "basis": found.basis,
        "task": found.task if found.task_forgotten is None else found.task_forgotten,
        "task_turn": found.task_turn,
        "sections": found.sections,
        "block": block.text,
        "tokens": block.tokens,
        "gave_way": list(block.gave_way),
    }
    known |= {"forgotten": [place.row for place in found.forgotten]} if found.forgotten else {}
    return to_json(known | ({} if valid_at is None else {"valid_at": valid_at}))


def print_state(found: State, block: Block) -> None:
    """The task, the block as a model sees it, then what is not in it: what gave way, and what was forgotten."""
    if found.task_forgotten is not None:
        print_text(f"task: {marked(found.task_forgotten)}\n")
    elif found.task is not None:
        said = "" if found.task_turn is None else f" (turn {found.task_turn})"
        print_text(f"task{said}: {one_line(found.task, most=_MOST_OF_TASK)}\n")
    print_text(block.text.rstrip("\n"))
    print_text(counted(block.tokens, "token"))
    for line in _gave_way(block.gave_way):
        print_text(one_line(line))
    print_places(found.forgotten)


def _gave_way(gave_way: tuple[GivenWay, ...]) -> Iterator[str]:
    for (part, rule), given in _grouped(gave_way, key=lambda one: (one.part, one.rule)):
        what = _PARTS[part]
        sections = _grouped(given, key=lambda one: (one.section,))
        names = "; ".join(f"{section} {', '.join(one.name for one in of_section)}" for (section,), of_section in sections)
        yield f"{what}, {_RULES[rule]}: {names}"


def _grouped(
    given: Iterable[GivenWay], *, key: Callable[[GivenWay], tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Iterator[GivenWay]]]:
    return groupby(sorted(given, key=key), key=key)


_PARTS: Final = {"line": "not shown", "why": "shown without its reason", "tail": "cut"}
_RULES: Final = {"cap": "over its cap", "tokens": "over the tokens of the block"}
