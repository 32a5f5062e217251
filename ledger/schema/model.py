"""The state of a task declared as a pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, PydanticUserError, WithJsonSchema

from ledger.errors import InvalidInput
from ledger.events import Source
from ledger.schema.dates import Order
from ledger.schema.document import EXTRA, schema_from
from ledger.schema.numbers import money, plain
from ledger.schema.refusal import Refused
from ledger.schema.schema import Schema


class Amount(BaseModel):
    """An amount of money."""

    model_config = ConfigDict(frozen=True)

    amount: Decimal
    currency: str

    def __str__(self) -> str:
        written = plain(self.amount)
        is_ambiguous = len(written.partition(".")[2]) == 3  # "1.234 KWD" might be more than a thousand
        return f"{written}{'0' if is_ambiguous else ''} {self.currency}"


def _amount(value: object) -> object:
    if isinstance(value, Amount):
        return value
    try:
        amount, currency = money(value, ())
    except Refused as refused:
        raise ValueError(refused.why) from refused
    return Amount(amount=amount, currency=currency)


Money = Annotated[Amount, BeforeValidator(_amount), PlainSerializer(str), WithJsonSchema({"type": "string", "format": "money"})]
"""A field that is an amount with its currency, such as "4,180 INR"."""

Entries = tuple[str, ...]
"""A list section: constraints, decisions, rejected, open."""


class StateModel(BaseModel):
    """Base of the declared state of a task: every field is one, by its type; ``Entries`` are list sections.

    ``references``: the checks that fields with ``refers_to`` name, each a function of the value that says whether it exists.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", regex_engine="python-re")  # as the ledger has it

    references: ClassVar[Mapping[str, Callable[[Any], bool]]] = {}

    @classmethod
    def ledger_schema(cls) -> Schema:
        """The schema that the model declares; ``InvalidInput`` names the field whose type is not understood."""
        try:
            document = cls.model_json_schema()
        except PydanticUserError as error:
            raise InvalidInput(f"{cls.__name__} has no JSON Schema: {error.message}", path="schema") from error
        return schema_from({**document, "additionalProperties": cls.model_config.get("extra") == "allow"})


def declared(
    *,
    pattern: str | None = None,
    aliases: Sequence[str] = (),
    least_source: Source | None = None,
    rendered: bool | None = None,
    refers_to: str | None = None,
    patterns: Sequence[str] = (),
    currencies: Sequence[str] = (),
    date_order: Order | None = None,
    most_shown: int | None = None,
    about: str | None = None,
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """What a field of a ``StateModel`` is beyond its type; ``ledger.schema.schema.FieldSpec`` says what each word means.

    ``pattern`` must match all of a text; ``least`` and ``most`` bound a number, both inclusive. ``InvalidInput`` for one text
    where several may stand.
    """
    words: dict[str, Any] = {
        "aliases": _texts("aliases", aliases),
        "least_source": least_source,
        "rendered": rendered,
        "refers_to": refers_to,
        "patterns": _texts("patterns", patterns),
        "currencies": _texts("currencies", currencies),
        "date_order": date_order,
        "most_shown": most_shown,
    }
    limits: dict[str, Any] = {"pattern": pattern, "minimum": least, "maximum": most}
    extra = {
        EXTRA: _given(words),
        **_given(limits),
    }  # not pydantic's own: they would be lost where the type is no text or number
    return Field(default=None, description=about, json_schema_extra=extra)


def _texts(word: str, given: Sequence[str]) -> tuple[str, ...] | None:
    """A text is a sequence of texts, too: of its letters."""
    if isinstance(given, str):
        raise InvalidInput(f"{word} is a list of texts, not {given!r}: write [{given!r}]", path=word)
    return tuple(given) or None


def _given(words: Mapping[str, Any]) -> dict[str, Any]:
    return {word: value for word, value in words.items() if value is not None}


def schema_of(given: type[StateModel] | Schema | Mapping[str, Any]) -> Schema:
    """The schema that a ``StateModel``, a ``Schema`` or a JSON Schema stands for; ``InvalidInput`` for anything else."""
    if isinstance(given, Schema):
        return given
    if isinstance(given, type) and issubclass(given, StateModel):
        return given.ledger_schema()
    if isinstance(given, Mapping):
        return schema_from(given)
    raise InvalidInput(f"{given!r} is no schema: give a StateModel, a Schema or a JSON Schema", path="schema")
