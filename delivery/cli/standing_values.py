"""What stands in a field before a person changes it: a value of the user's is replaced only if it is named."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Final

from delivery.cli.printing import one_line, plain_value
from ledger import Ledgers
from ledger.errors import AdmissionRefused, InvalidInput, SupersessionMismatch, nearest
from ledger.json_text import JsonText
from ledger.schema import Schema
from ledger.standing import Claim, as_meant, supersedes_unasked
from projections.escaping import escaped_json
from projections.state import FactNow
from replay.view import View, view

_SPACES: Final = re.compile("(?<= ) ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A field as it was when somebody looked: the ledger's and the field's own names, what stands, and the schema in force."""

    ledger: str
    field: str
    claim: Claim | None
    schema: Schema | None
    held: tuple[str, ...]

    @property
    def value(self) -> JsonText:
        """The value that stands; ``AdmissionRefused`` if there is none."""
        if self.claim is None:
            near = ", ".join(nearest(self.field, self.held)) or ", ".join(self.held[:5]) or "none"
            raise AdmissionRefused(f"{self.field!r} has no value to confirm (fields with one: {near})", field=self.field)
        return self.claim.value

    def meant(self, value: JsonText) -> str:
        """What a value means in the field, in the form in which values are compared."""
        meaning = None if self.schema is None else self.schema.meaning(self.field, value)
        return (value if meaning is None else meaning).canonical


def seen(store: Ledgers, ledger: str, field: str) -> Seen:
    """What stands in a field; ``UnknownLedger`` for a name that is none, which makes no new ledger."""
    return seen_in(view(store, store.head(ledger).name), field)


def seen_in(asked: View, field: str) -> Seen:
    """What stood in a field as of a view."""
    schema, held = asked.schema(), asked.state().entities
    name = asked.history(field).field
    fact = held.get(name)
    return Seen(
        ledger=asked.basis().ledger,
        field=name,
        claim=None if fact is None else _claim(name, fact, schema),
        schema=schema,
        held=tuple(held),
    )


def _claim(name: str, fact: FactNow, schema: Schema | None) -> Claim:
    claim = Claim(fact.version, fact.json, fact.source, fact.turn, fact.json.canonical, fact.valid)
    return claim if schema is None else as_meant(claim, name, schema)


def value_of(text: str, *, is_json: bool) -> JsonText:
    """The value that an argument stands for; ``InvalidInput`` for what is no JSON and should be."""
    if not is_json:
        return JsonText.of(text)
    try:
        return JsonText.parse(text)
    except InvalidInput as error:
        raise InvalidInput(f"VALUE is no JSON, {error}: a text is given without --json-value", path="value") from error


def replaced(stands: Seen, value: JsonText, was: str | None) -> JsonText | None:
    """The standing value that a new one replaces, as it must be named; None where none needs to be.

    ``SupersessionMismatch`` says what stands, and how to name it.
    """
    claim = stands.claim
    if stands.schema is not None and stands.schema.problems(stands.field, value, "interface"):
        return None  # it will be refused, and stands nowhere
    if claim is None:
        if was is not None:
            raise SupersessionMismatch(
                f"{stands.field!r} has no value, so there is none to replace: leave out --was", field=stands.field
            )
        return None
    if stands.meant(value) == claim.canonical:
        return None
    if was is not None and any(stands.meant(named) == claim.canonical for named in _named(was)):
        return claim.value
    if was is None and supersedes_unasked("interface", claim):
        return None
    shown = one_line(apart(claim.value, value), most=200)
    if _look_alike(claim.value, value):
        shown += f", not {one_line(apart(value, claim.value), most=200)}"
    raise SupersessionMismatch(
        f"{stands.field!r} is {shown} {origin(claim)}; nothing was changed: to replace that value, repeat the command with "
        f"--was {_word(claim.value)}",
        field=stands.field,
        standing=claim.value.value,
    )


def apart(value: JsonText, *others: JsonText) -> str:
    """A value in a sentence; as JSON where another one would look like it, as the text "5" and the number do."""
    return _exact(value) if any(_look_alike(value, other) for other in others) else plain_value(value)


def _look_alike(value: JsonText, other: JsonText) -> bool:
    return plain_value(value) == plain_value(other) and value.canonical != other.canonical


def _exact(value: JsonText) -> str:
    """JSON that goes through a shell and through one line unchanged."""
    return _SPACES.sub(r"\\u0020", escaped_json(value))


def origin(claim: Claim | FactNow) -> str:
    """Who stated a value and where, in brackets."""
    turn = "" if claim.turn is None else f", turn {claim.turn}"
    return f"({claim.source}{turn}, version {claim.version})"


def _named(was: str) -> list[JsonText]:
    """What ``--was`` may name: a text, or the JSON that is shown for a value that is none."""
    try:
        return [JsonText.of(was), JsonText.parse(was)]
    except InvalidInput:
        return [JsonText.of(was)]


def _word(value: JsonText) -> str:
    """A value as a word for a shell that ``_named`` takes for it: as it is shown, or as JSON where that would change it."""
    plain = value.value
    if isinstance(plain, str) and one_line(plain) == plain and plain:
        return shlex.quote(plain)
    return shlex.quote(_exact(value))
