"""What names and sources of fields mean: the one form of a name, and who outranks whom. Pure."""

from __future__ import annotations

import unicodedata
from typing import Final

from ledger.events import Source

RANK: Final[dict[Source, int]] = {"inferred": 0, "tool": 1, "user": 2, "interface": 2}
"""Who outranks whom: what the user said or chose, then what a tool returned, then what was inferred."""

SPOKEN_RANK: Final = RANK["user"]


def canonical_field(name: str) -> str:
    """The one form of a field's name: NFC, case-folded, runs of white space, hyphens and underscores become one ``_``."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return "_".join(word for word in folded.replace("-", " ").replace("_", " ").split() if word)
