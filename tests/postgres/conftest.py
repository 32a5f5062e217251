"""A new store for every test of PostgreSQL alone."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from ledger.postgres import PostgresStore, open_postgres
from tests.postgres.server import Databases


@pytest.fixture
def url(postgres: Databases) -> Iterator[str]:
    """The address of a new, empty database."""
    with postgres.lent() as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """A store in that database."""
    made = open_postgres(url)
    yield made
    made.close()


@pytest.fixture
def sql(url: str, store: PostgresStore) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of our own to the store's database, with all rights."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
