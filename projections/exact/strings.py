"""What of a text has to be kept to the letter, whoever retells the rest: identifiers, paths, amounts, days, code, quotes."""

from __future__ import annotations

from projections.exact.finding import found_in


def exact_strings(text: str) -> tuple[str, ...]:
    """The exact strings of a text, each once, in the order of their first places; none is longer than 200 characters.

    Identifiers, addresses, paths, numbers with what they count, amounts, days and times, versions, names in code, options,
    and what stands in backticks, in quotes or after a shell's prompt. Each stands in the text as it is given, never cut.
    """
    return tuple(dict.fromkeys(item.string for item in found_in(text)))


def identifying_strings(text: str) -> tuple[str, ...]:
    """Those of them that identify something: identifiers, numbers of orders and flights, hashes, addresses, paths."""
    return tuple(dict.fromkeys(item.string for item in found_in(text) if item.identifies))
