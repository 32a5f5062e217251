"""What every provider's form shares: its interface, its leaves, and what a request costs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from ledger.json_text import JsonText, has_lone_surrogate
from ledger.parts import DocumentPart, ImagePart
from projections.pieces import Pieces
from projections.policy import Policy
from projections.transcript import Return, SystemText, Transcript

if TYPE_CHECKING:
    from projections.render.identifiers import CallKey
    from projections.render.media import Media

Count = Callable[[str], int]
"""How many tokens a text has."""

Request = dict[str, Any]
"""A provider's request: dicts, lists and texts; foreign JSON as ``JsonText``, encoded bytes as ``Encoded``."""

MESSAGE_TOKENS: Final = 4
"""Tokens of framing that a message costs beside its texts."""

REQUEST_TOKENS: Final = 3
"""Tokens of framing that a request costs beside its messages."""

INTERRUPTED: Final = "[interrupted: no result was recorded for this call]"
EMPTY_RESULT: Final = "[empty result]"
EMPTY_TURN: Final = "[empty message]"

_MOST_DIGITS: Final = 4_000  # Python converts no more than 4,300
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPE: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.")
_LONE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Encoded(str):
    """Encoded bytes or the address of a picture or document: costs what the policy says, never what its text would cost."""

    __slots__ = ("tokens",)
    tokens: int

    def __new__(cls, text: str, tokens: int) -> Self:
        """``text`` as it goes out, ``tokens`` as it is counted."""
        made = super().__new__(cls, text)
        made.tokens = tokens
        return made


class Renderer(Protocol):
    """Puts pieces of a transcript into a provider's form. Pure: the same pieces give the same request.

    ``media`` holds the bytes of the artifacts that the pieces show; a request never costs more than it was priced at while
    they were not there yet.
    """

    def __init__(self, transcript: Transcript, policy: Policy, media: Media) -> None: ...

    @property
    def call_ids(self) -> Mapping[CallKey, str]:
        """The id that each call of the transcript has in this form, no two alike."""
        ...

    @property
    def tool_names(self) -> Mapping[str, str]:
        """The name that each tool of the transcript has in this form, no two alike."""
        ...

    def messages(self, pieces: Pieces) -> list[Any]:
        """The messages of some pieces, without what only a whole request needs: their cost is what the pieces cost."""
        ...

    def request(self, pieces: Pieces) -> Request:
        """The request, system text included: valid for the provider, whatever the pieces are."""
        ...


def measure(request: Request, count: Count) -> int:
    """What a request costs: every text in it, the fixed price of each picture and document, and the framing of its messages.

    This is the one equation of the budget; the planner and the finished window both use it.
    """
    messages = len(request.get("messages", ())) + (1 if request.get("system") else 0)
    return REQUEST_TOKENS + MESSAGE_TOKENS * messages + sum(_cost(leaf, count) for leaf in _leaves(request))


def _cost(leaf: str, count: Count) -> int:
    return leaf.tokens if isinstance(leaf, Encoded) else count(str(leaf))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def media_tokens(part: ImagePart | DocumentPart, policy: Policy) -> int:
    """What a picture or a document costs that is not text."""
    return policy.image_tokens if isinstance(part, ImagePart) else policy.document_tokens


def media_note(part: ImagePart | DocumentPart) -> str:
    """The marked stand-in for a picture or document that a form has no place for."""
    where = f"sha256={part.sha256}" if part.sha256 is not None else f"url={part.url}"
    return f"[{part.type} {part.media_type or 'of unknown type'}: {where}]"


def stub_of(returned: Return, tool: str) -> str:
    """The short stand-in for a result that is too large for what is left."""
    return f"[{tool}: result of {len(returned.text):,} characters left out; whole result: result_id={returned.id}]"


def system_texts(system: tuple[SystemText, ...]) -> list[str]:
    """Every system text that says something, each once, in the order in which it first came."""
    return list(dict.fromkeys(part.text for part in system if part.text.strip()))


def well_formed(value: Any) -> Any:
    """The same messages with U+FFFD for every lone surrogate in a text, since no provider takes one; foreign JSON stays."""
    if isinstance(value, Encoded):
        return Encoded(_SURROGATE.sub("\ufffd", value), value.tokens)
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if has_lone_surrogate(value) else value
    if isinstance(value, dict):
        return {name: well_formed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [well_formed(item) for item in value]
    return value


def well_formed_json(source: JsonText) -> JsonText:
    """The same JSON with U+FFFD for every escape of a lone surrogate."""
    return JsonText(_ESCAPE.sub(_mended, source)) if "\\u" in source else source


def _mended(match: re.Match[str]) -> str:
    return "\\ufffd" if _LONE_ESCAPE.fullmatch(match.group()) else match.group()


def plain(value: Any) -> Any:
    """A request as plain Python values, for a provider's own library: foreign JSON parsed, encoded bytes as text.

    A number that a library could not write again (thousands of digits, beyond the range of a float) becomes its text.
    """
    if isinstance(value, JsonText):
        return json.loads(value, parse_int=_plain_int, parse_float=_plain_float)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _plain_int(source: str) -> int | str:
    return int(source) if len(source) < _MOST_DIGITS else source


def _plain_float(source: str) -> float | str:
    number = float(source)
    return number if math.isfinite(number) else source
