"""What a form adds to the texts of a window, as numbers, so that a window is priced by adding.

The sum of the prices is never less than what ``measure`` counts in the rendered request, whatever pieces are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from projections.cards import Card, Contents
    from projections.policy import Policy

REQUEST_TOKENS: Final = 3
"""Tokens of framing that a request costs beside its messages."""

MESSAGE_TOKENS: Final = 4
"""Tokens of framing that a message costs beside its texts."""

_MARKED: Final = 4  # what stands for a turn or a result that says nothing
_INTERRUPTED: Final = 12  # what stands for a result that never came
_AFTER_REASONING: Final = 9  # what stands behind reasoning that nothing follows
_MEDIA_FIELDS: Final = 8  # the kinds and names that stand beside the bytes of a picture or document


@dataclass(frozen=True, slots=True)
class Framing:
    """Tokens that a form adds, the most that it ever does in any encoding.

    ``request``: to a request; ``message``: to a turn; ``part``: to a part of a turn or a result; ``call``: to a call beside
    that; ``results``: to all results of a turn together; ``result``: to each; ``note``: to a text of ours or a system text.
    ``shows_media``, ``shows_result_media``, ``shows_reasoning``, ``shows_ids``: 1 where the form has a place for them, 0 where
    they are named or left out. ``repeats_tools``: 1 where a result names its tool once more.
    """

    request: int
    message: int
    part: int
    call: int
    result: int
    note: int
    results: int = 0
    shows_media: int = 1
    shows_result_media: int = 1
    shows_reasoning: int = 1
    shows_ids: int = 1
    repeats_tools: int = 1


def price(card: Card, framing: Framing, policy: Policy, provider: str, replaced: Mapping[int, int]) -> int:
    """What a turn costs in a form, with all that its calls returned.

    ``replaced`` has the tokens of the texts that stand in the place of results, by their versions.
    """
    shows_media = framing.shows_media if card.role == "user" else 0  # what an assistant shows is named in every form
    total = framing.message + _shown(card.contents, framing, policy, provider, shows_media)
    if not card.calls:
        return total
    total += card.calls * framing.call + framing.results
    named = card.open_tokens
    for result in card.results:
        named += result.call_tokens
        total += framing.result
        instead = replaced.get(result.version)
        if instead is None:
            total += _shown(result.contents, framing, policy, provider, framing.shows_result_media)
        else:
            total += framing.part + instead
    total += card.open_calls * (framing.result + framing.part + _INTERRUPTED)
    if not framing.shows_ids:
        return total + named - 2 * card.id_tokens
    return total + (named if framing.repeats_tools else card.id_tokens)


def note_price(tokens: int, framing: Framing) -> int:
    """What a text of ours between the turns costs, or one system text."""
    return framing.note + tokens


def request_price(framing: Framing, tools_tokens: int) -> int:
    """What a request costs beside its pieces and its system text; ``tools_tokens`` are those of the tools' definitions."""
    return framing.request + tools_tokens


def _shown(contents: Contents, framing: Framing, policy: Policy, provider: str, shows_media: int) -> int:
    total = max(_MARKED, contents.tokens) + max(1, contents.parts) * framing.part
    if contents.foreign:
        total += _of(provider, contents.foreign)
    if contents.reasoning and framing.shows_reasoning:
        total += _of(provider, contents.reasoning) + _AFTER_REASONING
    if contents.note:
        total += contents.pictures * _media_price(contents.note, policy.picture_price * shows_media)
        total += contents.documents * _media_price(contents.note, policy.document_price * shows_media)
    return total


def _media_price(note: int, shown: int) -> int:
    """A picture or document is shown, or named where there is no place for it or it is gone: the dearer of both."""
    return max(note, shown + _MEDIA_FIELDS)


def _of(provider: str, foreign: tuple[tuple[str, int], ...]) -> int:
    return sum(tokens for name, tokens in foreign if name == provider)
