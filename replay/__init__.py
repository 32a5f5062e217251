"""Folds over history: a store joined with the projections. ``view`` answers what a ledger was at any version,
``diff`` how two of its states differ, ``extract`` lets an extractor read what was said, ``find_facts`` says which ledgers ever
held a value.
"""

from replay.extraction import extract
from replay.facts.index import rebuild_facts
from replay.finding import FoundFact, find_facts
from replay.view import Turn, View, diff, view

__all__ = ["FoundFact", "Turn", "View", "diff", "extract", "find_facts", "rebuild_facts", "view"]
