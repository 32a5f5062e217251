"""Texts as a block shows them: whole, or cut where they are long, and then it is said that they are."""

from __future__ import annotations

from typing import NamedTuple

from ledger.json_text import JsonText
from projections.escaping import escaped, escaped_json


class Shown(NamedTuple):
    """The JSON literal of what is shown, and whether that is only the beginning."""

    literal: str
    is_cut: bool


def shortened(text: str, most_characters: int) -> str:
    """The text, or its beginning with … where it has more characters than that; the … is one of them."""
    return text if len(text) <= most_characters else f"{text[: most_characters - 1]}…"


def shown_text(text: str, most_characters: int) -> Shown:
    """A text, of at most so many characters before they are escaped."""
    return Shown(escaped(shortened(text, most_characters)), is_cut=len(text) > most_characters)


def shown_json(source: JsonText, most_characters: int) -> Shown:
    """A value as it was written; where it is too long, its beginning as a text: of a text itself, of all else its JSON."""
    if len(source) > most_characters:  # no text is longer than its JSON
        line = source.one_line
        text = str(source.value) if line.startswith('"') else line
        if len(text) > most_characters:
            return shown_text(text, most_characters)
    return Shown(escaped_json(source), is_cut=False)
