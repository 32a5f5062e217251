"""What a turn or a tool's return is made of: provider-neutral parts.

A part that the ledger understands has fields; a part that only its provider understands (signed reasoning, server tools) keeps
the provider's own JSON, byte for byte, and is handed back unchanged.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from pydantic_core import CoreSchema, TzInfo, core_schema

from ledger.json_text import JsonText, Text
from ledger.limits import MAX_NAME_CHARACTERS, MAX_TURN

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
"""A content hash in lower-case hexadecimal."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARACTERS)]
"""A short name or an id from elsewhere."""


TurnNumber = Annotated[int, Field(ge=1, le=MAX_TURN)]
"""A turn, counted from 1."""

_MINUTE: Final = timedelta(minutes=1)


def _offset_fixed(moment: datetime) -> datetime:
    """The same instant at a fixed offset of whole minutes, which is what its stored form can hold."""
    offset = moment.utcoffset()
    if type(moment.tzinfo) is TzInfo or offset is None:
        return moment
    try:
        return moment.astimezone(timezone(offset // _MINUTE * _MINUTE))
    except OverflowError:
        raise ValueError("the time is out of range") from None


def _no_number(value: object) -> object:
    """Whether a number counts seconds or milliseconds would have to be guessed."""
    if isinstance(value, datetime) or (isinstance(value, str) and "-" in value.strip("-")):
        return value
    raise ValueError("a time is a datetime with a timezone")


Moment = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_offset_fixed)]
"""An instant with the offset from UTC at which it was told; a number, or a time without a zone, is refused."""


class Frozen(BaseModel):
    """Base of all recorded values: immutable, and no field is ever ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TextPart(Frozen):
    """Text as it was said."""

    type: Literal["text"] = "text"
    text: Text


class JsonPart(Frozen):
    """A structured value, kept as its source text."""

    type: Literal["json"] = "json"
    value: JsonText


class Unparsed(Frozen):
    """Tool arguments that the model wrote and that are not JSON: kept as they were, so that the failure can be seen."""

    unparsed: Text

    def __str__(self) -> str:
        """What the model wrote."""
        return self.unparsed


class _ArgumentsSchema:
    """JSON arguments are stored as a string, unparsable ones as an object: never mistaken for each other."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            _arguments_from, serialization=core_schema.plain_serializer_function_ser_schema(_arguments_to)
        )


def _arguments_from(value: object, info: core_schema.ValidationInfo[Any]) -> JsonText | Unparsed:
    if isinstance(value, Unparsed | JsonText):
        return value
    if info.mode != "json":
        return JsonText.of(value)
    if isinstance(value, str):
        return JsonText.stored(value)
    return Unparsed.model_validate_json(json.dumps(value))


def _arguments_to(value: JsonText | Unparsed) -> Any:
    return str(value) if isinstance(value, str) else value.model_dump()


class ToolCallPart(Frozen):
    """An assistant's request to run a tool; ``call_id`` is the provider's, unique inside its turn."""

    type: Literal["tool_call"] = "tool_call"
    call_id: Name
    tool: Name
    arguments: Annotated[JsonText | Unparsed, _ArgumentsSchema]


class _Reference(Frozen):
    """Bytes that stand elsewhere: in the ledger's artifacts (``sha256``) or behind a ``url``, exactly one of them."""

    sha256: Sha256 | None = None
    url: Text | None = None
    media_type: Name | None = None
    size_bytes: int | None = Field(default=None, ge=0)
    name: Text | None = None

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.sha256 is None) == (self.url is None):
            raise ValueError("give either sha256 (store the bytes with store_artifact first) or url")
        return self


class ImagePart(_Reference):
    """A picture. Its encoded bytes are never text and never counted as text."""

    type: Literal["image"] = "image"


class DocumentPart(_Reference):
    """A document such as a PDF or a text file."""

    type: Literal["document"] = "document"


class ReasoningPart(Frozen):
    """A model's reasoning as its provider returned it, with its signature if it has one; ``raw`` is never edited."""

    type: Literal["reasoning"] = "reasoning"
    provider: Name
    raw: JsonText


class OpaquePart(Frozen):
    """A block that only its provider understands, of the provider's type ``block``; ``raw`` is never edited."""

    type: Literal["opaque"] = "opaque"
    provider: Name
    block: Name
    raw: JsonText


Part = Annotated[
    TextPart | JsonPart | ToolCallPart | ImagePart | DocumentPart | ReasoningPart | OpaquePart,
    Field(discriminator="type"),
]
"""One piece of a turn."""

ReturnPart = Annotated[TextPart | JsonPart | ImagePart | DocumentPart | OpaquePart, Field(discriminator="type")]
"""One piece of what a tool returned."""


class Usage(Frozen):
    """Tokens as the provider counted them; ``raw`` keeps whatever else it said."""

    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    raw: JsonText | None = None


class Problem(Frozen):
    """Why a value is not taken: the rule that it breaks, and how."""

    rule: Name
    why: Text
