"""Run the benchmarks that are named, or all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from bench import bulk_import, extraction, field_history, opening, postgres_append, presets, search, sqlite_append, window

BENCHMARKS: Final[dict[str, Callable[[], None]]] = {
    "append": sqlite_append.main,
    "extract": extraction.main,
    "field": field_history.main,
    "import": bulk_import.main,
    "opening": opening.main,
    "postgres": postgres_append.main,
    "presets": presets.main,
    "search": search.main,
    "window": window.main,
}
"""One line a benchmark."""


def main() -> None:
    """Run and print, one after the other."""
    names = sys.argv[1:] or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        raise SystemExit(f"no benchmark {unknown[0]!r}: choose from {', '.join(BENCHMARKS)}")
    for name in names:
        BENCHMARKS[name]()


if __name__ == "__main__":
    main()
