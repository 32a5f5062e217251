"""Folds over history: a store joined with the projections. ``view`` answers what a ledger was at any version."""

from replay.view import Turn, View, view

__all__ = ["Turn", "View", "view"]
