"""Commands that prepare a store."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import typer

from delivery.app import open_store
from delivery.cli.arguments import AsJson
from delivery.cli.printing import counted, print_json, print_text
from ledger import Ledgers
from ledger.connect import sqlite_file
from ledger.errors import InvalidInput
from projections.wire import to_json

_IN_POSTGRES: Final = re.compile("postgres(ql)?://", re.IGNORECASE)


def init(
    context: typer.Context,
    raise_epoch: Annotated[
        bool,
        typer.Option(
            "--raise-epoch", help="After a restore into another PostgreSQL cluster: let positions go on above the stored."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the store, or bring its tables up to this release.

    Says what is in it. Done twice, it changes nothing.
    """
    with open_store(context.obj) as store:
        epoch = _raised(store, context.obj) if raise_epoch else None
        found: dict[str, Any] = {
            **shown_place(context.obj),
            "ledgers": len(store.heads()),
            "events": store.lag(0).events,
            "last_position": store.store.last_position(),
        }
    if epoch is not None:
        found["epoch"] = epoch
    if as_json:
        print_json(to_json(found))
        return
    print_text(f"{found['store']} ({found['kind']}, schema {found['schema']}) is ready")
    counts = f"{counted(found['ledgers'], 'ledger')}, {counted(found['events'], 'event')}"
    print_text(f"{counts}, last position {found['last_position']}")
    if epoch is not None:
        print_text(f"epoch {epoch}: new events get positions above those")


def shown_place(address: str) -> dict[str, Any]:
    """Where the store is, without a password, and the version of its tables, which opening it brought up to this release."""
    if not _IN_POSTGRES.match(address):
        from ledger.sqlite_schema import SCHEMA_VERSION as SCHEMA_OF_SQLITE

        return {"store": sqlite_file(address) or address, "kind": "sqlite", "schema": SCHEMA_OF_SQLITE}
    from ledger.postgres_connections import parse
    from ledger.postgres_schema import SCHEMA_VERSION

    return {"store": parse(address).shown, "kind": "postgresql", "schema": SCHEMA_VERSION}


def _raised(store: Ledgers, address: str) -> int:
    if not _IN_POSTGRES.match(address):
        raise InvalidInput(
            "only a PostgreSQL store has an epoch: leave out --raise-epoch, or name one with --store", path="store"
        )
    from ledger.postgres import PostgresStore

    assert isinstance(store.store, PostgresStore), "its address said so"
    return store.store.raise_epoch()
