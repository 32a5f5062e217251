"""What every provider's form shares: its interface, its leaves, and what a request costs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self

import orjson

from ledger.erased import Forgotten
from ledger.json_text import JsonText
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, TextPart, Unparsed
from projections.framing import MESSAGE_TOKENS, REQUEST_TOKENS, Framing
from projections.pieces import Pieces, TurnPiece, media_note
from projections.policy import Policy
from projections.sendable import is_said, sendable, unparsed_object, well_formed_json
from projections.transcript import Return, SystemText

if TYPE_CHECKING:
    from projections.render.identifiers import CallKey
    from projections.render.media import Media
    from projections.render.taking_on import Made

Count = Callable[[str], int]
"""How many tokens a text has."""

Request = dict[str, Any]
"""A provider's request: dicts, lists and texts; foreign JSON as ``JsonText``, encoded bytes as ``Encoded``."""

Message = dict[str, Any]
"""A message of a request, in its provider's form."""

INTERRUPTED: Final = "[interrupted: no result was recorded for this call]"
EMPTY_RESULT: Final = "[empty result]"
EMPTY_TURN: Final = "[empty message]"
OPENED_BY_ASSISTANT: Final = "[the assistant spoke first]"
NO_USER_MESSAGE: Final = "[no new user message yet]"
ONLY_REASONING: Final = "[nothing was said after this reasoning]"

TALK: Final = ("messages", "input", "contents")
"""Where the messages of a request stand, by form."""

_BESIDE: Final = ("system", "instructions", "systemInstruction")
"""Where its system text stands, if that is no message."""

_MOST_DIGITS: Final = 4_000  # Python converts no more than 4,300


class Encoded(str):
    """Encoded bytes or the address of a picture or document: costs what the policy says, never what its text would cost."""

    __slots__ = ("tokens",)
    tokens: int

    def __new__(cls, text: str, tokens: int) -> Self:
        """``text`` as it goes out, ``tokens`` as it is counted."""
        made = super().__new__(cls, text)
        made.tokens = tokens
        return made


class Reasoning(JsonText):
    """Reasoning as it was recorded, to be told from other blocks."""

    __slots__ = ()


class Renderer(Protocol):
    """Puts the pieces of a window into a provider's form. Pure: the same pieces give the same request.

    It sees nothing but the pieces, so that a window costs what it holds and not what its ledger holds. ``media`` has the bytes
    of the artifacts that they show. After the pieces at ``breakpoints`` (indices) a block ends that later windows begin with
    too: a form whose provider has to be told where to cache says so there, all others ignore it. ``tools``: the provider's own
    list of tool definitions, which stands in the request as it is. ``before``: what was made of another window, as a rule
    of the one before: what both begin with may be taken on from it, so that only what is new is made. Whatever it is, the same
    request comes of it.
    """

    provider: ClassVar[str]
    """Whose reasoning and opaque blocks pass byte for byte; empty where those of nobody do."""

    framing: ClassVar[Framing]
    """What the form adds to the texts."""

    def __init__(
        self,
        system: tuple[SystemText, ...],
        pieces: Pieces,
        policy: Policy,
        media: Media,
        *,
        breakpoints: tuple[int, ...] = (),
        tools: JsonText | None = None,
        before: Made | None = None,
    ) -> None: ...

    @property
    def made(self) -> Made | None:
        """What the renderer of a later window may take on; None where the form makes all anew."""
        ...

    @property
    def request(self) -> Request:
        """The request, system text included: valid for the provider, whatever the pieces are."""
        ...

    @property
    def call_ids(self) -> Mapping[CallKey, str]:
        """The id that each call of the pieces has in this form, no two alike."""
        ...

    @property
    def tool_names(self) -> Mapping[str, str]:
        """The name that each tool of the pieces has in this form, no two alike."""
        ...


def measure(request: Request, count: Count) -> int:
    """What a request costs: every text in it, the fixed price of each picture and document, and the framing of its messages.

    It is counted in the finished request, whatever its form, and knows nothing of how the pieces were priced.
    """
    messages = sum(len(request.get(name, ())) for name in TALK) + sum(1 for name in _BESIDE if request.get(name))
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


def system_texts(system: tuple[SystemText, ...]) -> list[str]:
    """Every system text that says something, each once, in the order in which it first came."""
    return list(dict.fromkeys(sendable(text) for text in (part.text for part in system) if is_said(text)))


def plain_text(part: Any) -> str:
    """A part as text, where a form takes nothing else; empty where there is nothing to say."""
    match part:
        case TextPart(text=text):
            return sendable(text)
        case JsonPart(value=value):
            return str(value)
        case ImagePart() | DocumentPart():
            return sendable(media_note(part))
        case OpaquePart(block=block):
            return sendable(f"[unsupported block: {block}]")
        case Forgotten():
            return str(part)
        case _:
            return ""


def result_text(piece: TurnPiece, found: Return) -> str:
    """A result as text: what stands in its place, else its parts, else a mark that it is empty."""
    replaced = piece.replaced.get(found.version)
    if replaced is not None:
        return sendable(replaced)
    text = "\n".join(map(plain_text, found.parts))
    return text if is_said(text) else EMPTY_RESULT


def arguments_text(arguments: JsonText | Unparsed) -> str:
    """The arguments of a call, where a form takes them as a text."""
    return sendable(arguments.unparsed) if isinstance(arguments, Unparsed) else str(arguments)


def arguments_object(arguments: JsonText | Unparsed) -> dict[str, Any] | JsonText:
    """The arguments of a call, where a form takes an object only; what is none is passed on inside one, marked."""
    if isinstance(arguments, Unparsed):
        return unparsed_object(arguments.unparsed)
    source = well_formed_json(arguments)
    return source if source.startswith("{") else {"arguments": source}


def between_users(messages: list[Message], said: Callable[[str], Message]) -> list[Message]:
    """The messages, where a form wants a user's first and last: a marked one of ours, as ``said`` makes it, stands for such."""
    if not messages:
        return []
    first = [] if messages[0]["role"] == "user" else [said(OPENED_BY_ASSISTANT)]
    last = [] if messages[-1]["role"] == "user" else [said(NO_USER_MESSAGE)]
    return [*first, *messages, *last]


def request_bytes(request: Request) -> bytes:
    """The request as JSON bytes; what came from others stands in it as it came."""
    return orjson.dumps(request, default=_as_written, option=orjson.OPT_PASSTHROUGH_SUBCLASS)


def _as_written(value: Any) -> Any:
    return orjson.Fragment(str(value)) if isinstance(value, JsonText) else str(value)


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
