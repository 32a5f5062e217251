"""The rules that are provided: one line each, in the order in which they are asked by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from projections.verdicts import condensing, dropping, keeping
from projections.verdicts.reading import Reading
from projections.verdicts.verdict import Ruled


class Provided(NamedTuple):
    """A provided rule: its verdict on the turns that ``claims`` is true of; ``needs_later`` if it looks at later turns."""

    name: str
    verdict: Ruled
    claims: Callable[[Reading], bool]
    needs_later: bool = False


CATALOGUE: Final[tuple[Provided, ...]] = (
    Provided("remember", "keep", keeping.asks_to_remember),
    Provided("constraint", "keep", keeping.constrains),
    Provided("correction", "keep", keeping.puts_right),
    Provided("decision", "keep", keeping.decides),
    Provided("refusal", "keep", keeping.refuses),
    Provided("answer", "keep", keeping.answers_briefly),
    Provided("blank", "drop", dropping.is_blank),
    Provided("greeting", "drop", dropping.greets),
    Provided("thanks", "drop", dropping.thanks),
    Provided("acknowledgement", "drop", dropping.acknowledges),
    Provided("apology", "drop", dropping.apologises),
    Provided("restatement", "drop", dropping.restates),
    Provided("failed call", "drop", dropping.failed_and_was_retried, needs_later=True),
    Provided("results", "stub", condensing.is_mostly_results),
    Provided("acted on", "compress", condensing.was_acted_on, needs_later=True),
    Provided("document", "compress", condensing.is_document, needs_later=True),
    Provided("superseded", "compress", condensing.is_superseded, needs_later=True),
    Provided("explanation", "compress", condensing.explains, needs_later=True),
)

PROVIDED: Final[dict[str, Provided]] = {provided.name: provided for provided in CATALOGUE}
"""The provided rules by name."""
