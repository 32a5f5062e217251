"""The doors: command line, importers, what else carries projections to people and programs. Nothing imports this package."""
