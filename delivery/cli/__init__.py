"""The command line, ``context-ledger``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and leave with its exit code."""
    from delivery.cli.application import run

    raise SystemExit(run())
