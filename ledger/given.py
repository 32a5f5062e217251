"""From what a caller gave to values that can be recorded; what does not fit is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError

from ledger.codec import check_tags
from ledger.errors import InvalidInput, UnknownLedger, nearest
from ledger.json_text import has_lone_surrogate
from ledger.store import Head, Store
from ledger.writer import Command


class Options(TypedDict, total=False):
    """What every command takes: its idempotency key, who asked and what led to it (opaque ids), and tags.

    ``subjects``: whom the events are about ("customer:c_9912"), so that they can be forgotten in all ledgers at once.
    ``labels``: kinds of content ("payment"), for rules of retention. Both are erased with the events.
    """

    idempotency_key: str | None
    actor: str | None
    cause: str | None
    subjects: Sequence[str]
    labels: Sequence[str]


_MOST_PROBLEMS: Final = 3
Model = TypeVar("Model", bound=BaseModel)


def known_head(store: Store, name: str) -> Head:
    """Where a ledger is; ``UnknownLedger`` names the nearest ones."""
    head = store.head(check_name(name))
    if head is None:
        near = nearest(name, (known.name for known in store.heads()))
        raise UnknownLedger(
            f"no ledger {name!r} in this store (nearest: {', '.join(near) or 'none'})", ledger=name, nearest=near
        )
    return head


def command_of(options: Options, expected_version: int | None = None) -> Command:
    """What accompanies a request, from the options of a command."""
    given: dict[str, Any] = dict(options)
    tags = check_tags(given.pop("subjects", ()), given.pop("labels", ()))
    return Command(expected_version=expected_version, tags=tags, **given)


def built(model: type[Model], /, **fields: Any) -> Model:
    """A model from what a caller gave; what does not fit comes out as ``InvalidInput`` naming each field.

    So does a blank ``because``: it is no reason, and most often a variable that nobody set.
    """
    because = fields.get("because")
    if isinstance(because, str) and not because.strip():
        way_out = "" if model.model_fields["because"].is_required() else ", or leave it out"
        raise InvalidInput(f"because is empty: say why{way_out}", path="because")
    try:
        return model(**fields)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        path = ".".join(map(str, found[0]["loc"]))
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:_MOST_PROBLEMS])
        raise InvalidInput(f"{model.__name__} {problems}", path=path) from error


def check_name(name: object) -> str:
    """A ledger's name: 1 to 512 printable characters that UTF-8 can hold."""
    if not isinstance(name, str) or not 0 < len(name) <= 512 or not name.isprintable() or has_lone_surrogate(name):
        raise InvalidInput(f"ledger name {name!r} is not usable: give 1 to 512 printable characters", path="ledger")
    return name
