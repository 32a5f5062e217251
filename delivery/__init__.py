"""The doors: command line, importers, and what else carries projections to people and programs. Nothing imports this package."""
