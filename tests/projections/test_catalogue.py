"""Every kind of event means something to a projection, or is said to be for the record alone."""

from __future__ import annotations

from typing import Any, get_args

from ledger.erased import Erased
from ledger.events import Event
from projections.catalogue import FOLDS, RECORD_ONLY


def models() -> set[type[Any]]:
    return set(get_args(get_args(Event)[0]))


def test_every_event_is_read_or_for_the_record_alone() -> None:
    """``Erased`` stands for an event of any kind whose content was forgotten."""
    read = frozenset[type[Any]]().union(*(fold.reads for fold in FOLDS))
    assert read | RECORD_ONLY == models() | {Erased}
    assert read & RECORD_ONLY == set()


def test_no_projection_stands_twice_in_the_catalogue() -> None:
    assert len(set(FOLDS)) == len(FOLDS)
