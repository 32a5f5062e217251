"""Commands about the declared state: put a schema in force, show it, and show what it refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from delivery.app import open_existing_store, open_store
from delivery.cli.arguments import AsJson, LedgerName, Moment, moment
from delivery.cli.printing import counted, one_line, plain_value, print_basis, print_json, print_table, print_text
from ledger.errors import InvalidInput
from ledger.events import SchemaSet
from ledger.json_text import JsonText
from ledger.schema import FieldSpec, Schema, schema_from
from projections.wire import to_json
from replay.view import view

_STANDARD_INPUT: Final = Path("-")
_MOST_OF_VALUE: Final = 200


def declare(
    context: typer.Context,
    ledger: LedgerName,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A JSON Schema of an object; - for standard input.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Declare the state: fields, and what their values look like.

    The ledger need not exist yet. A schema replaces the one before; values that stand go on standing.
    """
    declared = _read(file)
    with open_store(context.obj) as store:
        handle = store.ledger(ledger)
        before = handle.version
        handle.declare(declared)
        asked = view(store, ledger)
        unfitting = {name: fact.problems for name, fact in asked.state().entities.items() if fact.problems}
        is_new = any(isinstance(item.event, SchemaSet) for item in handle.events(before, asked.version))
    if as_json:
        known = {"ledger": ledger, "version": asked.version, "schema": declared.name, "digest": declared.digest}
        print_json(to_json({**known, "recorded": is_new, "unfitting": {name: list(why) for name, why in unfitting.items()}}))
        return
    state = "is in force" if is_new else "was in force already"
    fields = counted(len(declared.fields), "field")
    print_text(f"{one_line(ledger)} at version {asked.version}: schema {one_line(declared.name)} ({fields}) {state}")
    for name, problems in unfitting.items():
        why = "; ".join(problem.why for problem in problems)
        print_text(f"{one_line(name)} has a value that stands, and does not fit: {one_line(why)}")


def _read(file: Path) -> Schema:
    """The schema in a file; ``InvalidInput`` names the file and the place."""
    content = sys.stdin.buffer.read() if file == _STANDARD_INPUT else file.read_bytes()
    try:
        return _schema_of(JsonText.parse(content).value)
    except InvalidInput as error:
        where = "standard input" if file == _STANDARD_INPUT else file
        raise InvalidInput(f"{where}: {error}", **error.details) from error


def _schema_of(document: Any) -> Schema:
    if not isinstance(document, Mapping):
        raise InvalidInput("a schema is a JSON object: give one with a title and properties", path="$")
    return schema_from(document)


def schema(context: typer.Context, ledger: LedgerName, *, at: Moment = None, as_json: AsJson = False) -> None:
    """Show the declared state: fields, formats, aliases, digest."""
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at))
        found, basis = asked.schema(), asked.basis()
    if as_json:
        known = None if found is None else found.declared
        print_json(to_json({"basis": basis, "schema": known, "digest": None if found is None else found.digest}))
        return
    print_basis(basis)
    if found is None:
        print_text("no schema is declared: put one in force with context-ledger declare")
    else:
        _print_schema(found)


def _print_schema(found: Schema) -> None:
    others = "others are taken as they are" if found.free else "no others are taken"
    print_text(f"{one_line(found.name)}: {counted(len(found.fields), 'field')}, {others}")
    print_text(f"digest {found.digest}\n")
    if found.fields:
        rows = [
            (spec.name, _form(spec), ", ".join(spec.aliases), spec.least_source, spec.refers_to, "" if spec.rendered else "no")
            for spec in found.fields
        ]
        print_table(("field", "format", "aliases", "set at least by", "refers to", "shown"), rows)
    for section in found.sections:
        most = "" if section.most_shown is None else f", at most {section.most_shown} are shown"
        shown = most if section.rendered else ", not shown"
        print_text(f"list {section.section}: added to at least by {section.least_source}{shown}")


def _form(spec: FieldSpec) -> str:
    """The kind of a format, and what it is given beyond that."""
    given = spec.format.model_dump(exclude_defaults=True, exclude={"kind"})
    words = (f"{name} {_words(value)}" for name, value in given.items() if value is not True)
    flags = (name for name, value in given.items() if value is True)
    said = ", ".join((*flags, *words))
    return f"{spec.format.kind} ({said})" if said else spec.format.kind


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def rejected(context: typer.Context, ledger: LedgerName, *, at: Moment = None, as_json: AsJson = False) -> None:
    """List the values that were claimed and not taken, and why."""
    with open_existing_store(context.obj) as store:
        asked = view(store, ledger, at=moment(at))
        found, basis = asked.rejected(), asked.basis()
    if as_json:
        rows = [
            {
                "version": one.version,
                "field": one.field,
                "value": one.json,
                "source": one.source,
                "turn": one.turn,
                "problems": list(one.problems),
                "quote": one.quote,
            }
            for one in found
        ]
        print_json(to_json({"basis": basis, "rejected": rows}))
        return
    print_basis(basis)
    if not found:
        print_text("nothing was rejected")
    for one in found:
        turn = "" if one.turn is None else f", turn {one.turn}"
        value = one_line(plain_value(one.json), most=_MOST_OF_VALUE)
        print_text(f"version {one.version}{turn}: {one_line(one.field)} {value}, claimed by {one.source}")
        for problem in one.problems:
            print_text(f"  {one_line(f'{problem.rule}: {problem.why}')}")
