"""The commands by which a ledger is told what is so: the schema in force, and the values of fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Unpack

from ledger import events as e
from ledger import requests as r
from ledger.errors import InvalidInput
from ledger.given import Options, built, command_of
from ledger.json_text import JsonText
from ledger.keeping import Forgets, Keeping
from ledger.parts import Problem
from ledger.record import Recorded
from ledger.schema import Schema, StateModel, schema_of
from ledger.writer import Writer


class Stating(Keeping):
    """What is so."""

    def __init__(self, writer: Writer, forgets: Forgets) -> None:
        super().__init__(writer, forgets)
        self._references: Mapping[str, Callable[[Any], bool]] = {}

    def declare(
        self,
        schema: type[StateModel] | Schema | Mapping[str, Any],
        *,
        references: Mapping[str, Callable[[Any], bool]] | None = None,
    ) -> None:
        """Put a schema in force: a ``StateModel``, a ``Schema`` or a JSON Schema; the same again appends nothing.

        It replaces the one before; values that stand go on standing. ``references``: the checks that fields with ``refers_to``
        name, each a function of what a value means that says whether it exists; a model brings its own.
        """
        declared = schema_of(schema)
        known = schema.references if isinstance(schema, type) and issubclass(schema, StateModel) else {}
        self._references = {**known, **(references or {})}
        request = built(
            r.DeclareSchema,
            name=declared.name,
            digest=declared.digest,
            declared=JsonText(declared.model_dump_json(exclude_none=True)),
        )
        self._execute(request, {})

    def set_fact(
        self,
        name: str,
        value: object,
        *,
        source: e.Source,
        turn: int | None = None,
        supersedes: object = None,
        because: str | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        based_on: int | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """State the value of a field; returns the event that it led to, whose ``event.type`` says what happened.

        ``fact.set`` (it had none), ``fact.reaffirmed`` (the same value again), ``fact.superseded`` (the new value stands),
        ``contradiction.recorded``: a value of the user's (``user`` or ``interface``) is not overwritten by a claim that does
        not name it in ``supersedes``; the claim is recorded, the old value stands; or ``fact.rejected``: it does not fit the
        schema, and stands nowhere. ``supersedes`` that is not the standing value raises ``SupersessionMismatch``. Values are
        plain JSON values, ``Decimal``, or ``JsonText``. ``valid_from`` and ``valid_to`` (aware) say when it holds in the world.
        ``based_on`` is the version of the ledger that the claim rests on, for agents that work side by side: what was stated
        since is not replaced unless ``supersedes`` names it; a contradiction opens instead.
        """
        request = built(
            r.SetFact,
            field=name,
            value=JsonText.of(value),
            source=source,
            turn=turn,
            supersedes=None if supersedes is None else JsonText.of(supersedes),
            because=because,
            valid_from=valid_from,
            valid_to=valid_to,
            based_on=based_on,
        )
        return self._execute(self._asked(request, options.get("idempotency_key")), options)[0]

    def set_facts(
        self,
        values: Mapping[str, object],
        *,
        source: e.Source,
        turn: int | None = None,
        supersedes: Mapping[str, object] | None = None,
        because: str | None = None,
        **options: Unpack[Options],
    ) -> list[Recorded]:
        """State or correct several fields in one step: all of it happens, or nothing. Returns the events that it led to.

        ``supersedes`` holds the values that are corrected, by the same names. See ``set_fact``.
        """
        corrected = supersedes or {}
        unknown = sorted(set(corrected) - set(values))
        if unknown:
            raise InvalidInput(f"supersedes names {unknown[0]!r}, which gets no value: give both", path="supersedes")
        facts = [
            built(
                r.SetFact,
                field=name,
                value=JsonText.of(value),
                source=source,
                turn=turn,
                supersedes=JsonText.of(corrected[name]) if corrected.get(name) is not None else None,
                because=because if name in corrected else None,
            )
            for name, value in values.items()
        ]
        asked = tuple(self._asked(fact, options.get("idempotency_key")) for fact in facts)
        return self._execute(built(r.SetFacts, facts=asked), options)

    def reject_fact(
        self,
        name: str,
        value: object,
        *,
        source: e.Source,
        problems: Sequence[Problem],
        turn: int | None = None,
        quote: str | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Record that a value was claimed and is not taken, and why: what was found wrong with it before the schema saw it."""
        request = built(
            r.SetFact,
            field=name,
            value=JsonText.of(value),
            source=source,
            turn=turn,
            problems=tuple(problems),
            quote=quote,
        )
        return self._execute(request, options)[0]

    def _asked(self, request: r.SetFact, key: str | None) -> r.SetFact:
        """The request with what was said of that to which its value refers."""
        exists = self._exists(request, key)
        return request if exists is None else request.model_copy(update={"exists": exists})

    def _exists(self, request: r.SetFact, key: str | None) -> bool | None:
        """Whether what a value refers to exists, asked of the check that its field names; None if there is nothing to ask.

        A value that is refused anyway is not asked about, nor is one again whose command was carried out already.
        """
        referring = self._writer.referring(request)
        if referring is None or (key is not None and self._writer.has_carried_out(key)):
            return None
        refers_to, meant = referring
        check = self._references.get(refers_to)
        return None if check is None else bool(check(meant))

    def retract_fact(
        self,
        name: str,
        *,
        source: e.Source,
        turn: int | None = None,
        because: str | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Say that a field has no value any more; refused where the source does not outweigh who stated it."""
        return self._execute(built(r.RetractFact, field=name, source=source, turn=turn, because=because), options)[0]

    def _execute(self, request: r.Request, options: Options, blobs: Mapping[str, bytes] | None = None) -> list[Recorded]:
        return self._writer.execute(request, command_of(options), blobs)
