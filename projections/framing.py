"""What a form adds to the texts of a window, as numbers, so that a window is priced by adding.

The sum of the prices is never less than what ``measure`` counts in the rendered request, whatever pieces are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from projections.cards import Card, Contents, ResultCard
    from projections.policy import Policy

REQUEST_TOKENS: Final = 3
"""Tokens of framing that a request costs beside its messages."""

MESSAGE_TOKENS: Final = 4
"""Tokens of framing that a message costs beside its texts."""

_MARKED: Final = 4  # what stands for a turn or a result that says nothing
_INTERRUPTED: Final = 12  # what stands for a result that never came
_AFTER_REASONING: Final = 9  # what stands behind reasoning that nothing follows


@dataclass(frozen=True, slots=True)
class Framing:
    """Tokens that a form adds: to a request, a turn's message, a part, a call, a result and a note of ours.

    Each is the most that the form ever adds, in any encoding. ``shows_media``, ``shows_result_media`` and ``shows_reasoning``:
    1 where the form has a place for them, 0 where they are named or left out.
    """

    request: int
    message: int
    part: int
    call: int
    result: int
    note: int
    shows_media: int = 1
    shows_result_media: int = 1
    shows_reasoning: int = 1


def price(card: Card, framing: Framing, policy: Policy, provider: str, replaced: Mapping[int, int]) -> int:
    """What a turn costs in a form, with all that its calls returned.

    ``replaced`` has the tokens of the texts that stand in the place of results, by their versions.
    """
    said = _shown(card.contents, framing, policy, provider, framing.shows_media) + card.calls * framing.call
    results = sum(_result(result, framing, policy, provider, replaced) for result in card.results)
    waiting = card.open_calls * (framing.result + _INTERRUPTED) + card.open_tokens
    return framing.message + said + results + waiting


def note_price(tokens: int, framing: Framing) -> int:
    """What a text of ours costs between the turns."""
    return framing.note + tokens


def system_price(tokens: int, framing: Framing) -> int:
    """What one system text costs."""
    return framing.note + tokens


def request_price(framing: Framing, tools_tokens: int) -> int:
    """What a request costs beside its pieces and its system text; ``tools_tokens`` are those of the tools' definitions."""
    return framing.request + tools_tokens


def _result(result: ResultCard, framing: Framing, policy: Policy, provider: str, replaced: Mapping[int, int]) -> int:
    framed = framing.result + result.call_tokens
    if result.version in replaced:
        return framed + replaced[result.version]
    return framed + _shown(result.contents, framing, policy, provider, framing.shows_result_media)


def _shown(contents: Contents, framing: Framing, policy: Policy, provider: str, shows_media: int) -> int:
    own = sum(tokens for name, tokens in contents.foreign if name == provider)
    reasoning = sum(tokens for name, tokens in contents.reasoning if name == provider) * framing.shows_reasoning
    media = (contents.pictures * policy.image_tokens + contents.documents * policy.document_tokens) * shows_media
    told = max(_MARKED, contents.tokens + contents.parts * framing.part)
    return told + own + media + (reasoning + _AFTER_REASONING if reasoning else 0)
