"""Folds over history: a store joined with the projections. ``view`` answers what a ledger was at any version,
``diff`` how two of its states differ, ``extract`` lets an extractor read what was said.
"""

from replay.extraction import extract
from replay.view import Turn, View, diff, view

__all__ = ["Turn", "View", "diff", "extract", "view"]
