"""A schema: the fields and sections of a task's state, as frozen data with a digest; it judges values, and is recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from ledger.errors import nearest
from ledger.events import Section, Source
from ledger.fields import RANK, canonical_field
from ledger.json_text import JsonText, Text
from ledger.limits import MAX_NAME_CHARACTERS
from ledger.parts import Frozen, Name, Problem
from ledger.schema.formats import Format, JsonFormat, compiled
from ledger.schema.refusal import Refused


def digest_of(declared: str) -> str:
    """The SHA-256 of a schema's JSON, hexadecimal."""
    return hashlib.sha256(b"schema/1\0" + declared.encode()).hexdigest()


def _canonical(name: str) -> str:
    canonical = canonical_field(name)
    if not canonical:
        raise ValueError(f"{name!r} has no letters")
    if len(canonical) > MAX_NAME_CHARACTERS:
        raise ValueError(f"{name[:40]!r}… is too long")
    return canonical


CanonicalName = Annotated[Name, AfterValidator(_canonical)]
"""A field's name in its canonical form, whatever form it was written in."""


class FieldSpec(Frozen):
    """A declared field: its name and other names, what its values look like, and the least source that may set it.

    ``rendered``: whether state blocks show it. ``refers_to`` names the check that a value must pass, which is asked once,
    when the value comes in. ``patterns``: regular expressions that find a value in a turn, as their group ``value``, or whole.
    """

    name: CanonicalName
    aliases: tuple[CanonicalName, ...] = ()
    format: Format = JsonFormat()
    least_source: Source = "inferred"
    rendered: bool = True
    refers_to: Name | None = None
    patterns: tuple[str, ...] = ()
    about: Text | None = None

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            compiled(pattern)
        return patterns


class SectionSpec(Frozen):
    """A list section: how many of its entries a state block shows at most, and the least source that may add to it."""

    section: Section
    most_shown: int | None = Field(default=None, ge=1)
    least_source: Source = "inferred"
    rendered: bool = True


class Schema(Frozen):
    """The fields of a task's state. ``free``: whether fields that are not declared are taken, too, as any JSON value."""

    name: Name
    fields: tuple[FieldSpec, ...] = ()
    sections: tuple[SectionSpec, ...] = ()
    free: bool = False

    @model_validator(mode="after")
    def _each_name_once(self) -> Self:
        seen: set[str] = set()
        for name in (name for spec in self.fields for name in (spec.name, *spec.aliases)):
            if name in seen:
                raise ValueError(f"{name!r} is declared twice, as a field or as an alias: every name means one field")
            seen.add(name)
        return self

    @cached_property
    def declared(self) -> JsonText:
        """The schema as JSON, as it is recorded. The order of fields is part of it: it is the order in which they are shown."""
        return JsonText(self.model_dump_json(exclude_none=True))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the recorded JSON, hexadecimal."""
        return digest_of(self.declared)

    @cached_property
    def _by_name(self) -> dict[str, FieldSpec]:
        return {name: spec for spec in self.fields for name in (spec.name, *spec.aliases)}

    def spec(self, name: str) -> FieldSpec | None:
        """The declaration that a canonical name stands for, as a field or as an alias."""
        return self._by_name.get(name)

    def section(self, section: Section) -> SectionSpec:
        """What is declared of a list section."""
        return next((spec for spec in self.sections if spec.section == section), SectionSpec(section=section))

    def resolve(self, name: str) -> str:
        """The field that a canonical name stands for; the name itself where it is not declared."""
        spec = self.spec(name)
        return name if spec is None else spec.name

    def meaning(self, name: str, value: JsonText) -> JsonText | None:
        """What a value means in its field, to be compared; None where it means itself, or where it does not fit."""
        spec = self.spec(name)
        if spec is None or isinstance(spec.format, JsonFormat):
            return None
        try:
            return JsonText.of(spec.format.meaning(value.value))
        except Refused:
            return None

    def problems(self, name: str, value: JsonText, source: Source, *, exists: bool | None = None) -> tuple[Problem, ...]:
        """What keeps a value from being taken; nothing, if it is. ``exists``: what the check that a reference needs said."""
        spec = self.spec(name)
        if spec is None:
            return () if self.free else (Problem(rule="field", why=self._undeclared(name)),)
        return tuple(_problems(spec, value, source, exists=exists))

    def _undeclared(self, name: str) -> str:
        near = ", ".join(nearest(name, self._by_name)) or ", ".join(spec.name for spec in self.fields[:10])
        return f"field {name!r} is not declared in schema {self.name!r} (declared: {near})"


def _problems(spec: FieldSpec, value: JsonText, source: Source, *, exists: bool | None) -> Iterable[Problem]:
    if RANK[source] < RANK[spec.least_source]:
        yield Problem(rule="source", why=f"{spec.name!r} is set by {spec.least_source}, not by {source}")
    try:
        spec.format.meaning(value.value)
    except Refused as refused:
        yield Problem(rule=refused.rule, why=f"{_shown(value)} {refused.why}")
        return
    if spec.refers_to is not None and exists is False:
        yield Problem(rule="reference", why=f"{_shown(value)} is not known to {spec.refers_to}")


def _shown(value: JsonText) -> str:
    return value if len(value) <= 60 else f"{value[:59]}…"
