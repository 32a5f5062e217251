"""How the lines of a state block are written: JSON objects, compact text, or Markdown. No value can end a line or the block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, get_args

from ledger.events import Section, Source
from ledger.fields import RANK, SPOKEN_RANK
from projections.escaping import escaped, escaped_json

if TYPE_CHECKING:
    from projections.contradictions import Contradiction
    from projections.entries import Entry
    from projections.state import FactNow

_SOURCED: Final = (
    "Established facts of this conversation. User and interface lines hold where the summary {place} differs; tool and "
    "inferred are unconfirmed."
)
_UNSOURCED: Final = (
    "Established facts of this conversation. They hold where the summary {place} differs; ? marks what is unconfirmed."
)

_OURS: Final = frozenset(
    {
        "about",
        "task",
        "entity",
        "value",
        "why",
        "id",
        "turns",
        "source",
        "problem",
        "not_shown",
        *get_args(Section),
        *get_args(Source),
    }
)
"""Keys that have a meaning of their own in a line: a field of such a name is written so that it is not taken for one."""

_BACKTICK: Final = "\\u0060"
_ABOUT_CHARACTERS: Final = 120
"""How much is said of what a contradiction is about: its line never gives way."""

_PLAIN_NAME: Final = re.compile("[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")


class BlockForm(Protocol):
    """Writes the lines of a block, which stand between ``opening`` and ``closing``."""

    opening: str
    closing: str

    def label(self, place: str) -> str:
        """What the block is, and what holds where something else says otherwise."""
        ...

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        ...

    def fact(self, name: str, fact: FactNow) -> str:
        """The value that stands in a field."""
        ...

    def entry(self, section: str, entry: Entry, *, why: bool) -> str:
        """An entry of a list section."""
        ...

    def contradiction(self, found: Contradiction) -> str:
        """What is disputed and where, without the unconfirmed value."""
        ...

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines of each section gave way."""
        ...


def is_confirmed(source: Source) -> bool:
    """Whether the user said it, or chose it."""
    return RANK[source] >= SPOKEN_RANK


class JsonLines:
    """One JSON object a line; provenance as ``"user":11``, the source with its turn.

    A field whose name could be read as one of our keys, or as one of our marks, stands as ``"entity"`` with its ``"value"``.
    """

    opening = "<state>\n"
    closing = "</state>\n"

    def __init__(self, *, provenance: bool) -> None:
        self._provenance = provenance

    def label(self, place: str) -> str:
        """What the block is."""
        return _object({"about": escaped((_SOURCED if self._provenance else _UNSOURCED).format(place=place))})

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        return _object({"task": escaped(task), **self._origin(turn, source)})

    def fact(self, name: str, fact: FactNow) -> str:
        """The value that stands in a field."""
        value = escaped_json(fact.json)
        mark = "" if self._provenance or is_confirmed(fact.source) else "?"
        written_out = name in _OURS or name.endswith("?")
        said = {f"entity{mark}": escaped(name), "value": value} if written_out else {f"{name}{mark}": value}
        problem = {"problem": escaped(fact.problems[0].rule)} if fact.problems else {}
        return _object({**said, **problem, **self._origin(fact.turn, fact.source)})

    def entry(self, section: str, entry: Entry, *, why: bool) -> str:
        """An entry of a list section."""
        key = section if self._provenance or is_confirmed(entry.source) else f"{section}?"
        reason = {"why": escaped(entry.why)} if self._provenance and why and entry.why is not None else {}
        known = {"id": escaped(entry.id)} if self._provenance else {}
        return _object({key: escaped(entry.what), **reason, **known, **self._origin(entry.turn, entry.source)})

    def contradiction(self, found: Contradiction) -> str:
        """What is disputed."""
        turns = "[" + ",".join(map(str, found.turns)) + "]"
        return _object({"open": escaped(f"{_short(found.about)} is disputed"), "id": escaped(found.id), "turns": turns})

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines gave way."""
        return _object({"not_shown": _object({section: str(number) for section, number in counts.items()})})

    def _origin(self, turn: int | None, source: str | None) -> dict[str, str]:
        if not self._provenance or source is None:
            return {}
        return {"source": escaped(source)} if turn is None else {source: str(turn)}


class CompactText:
    """One ``name: value`` a line, values as JSON; provenance as ``(user 11)``, the source with its turn.

    A name stands in quotes unless it is a plain word and none of our keys.
    """

    opening = "<state>\n"
    closing = "</state>\n"
    bullet = ""

    def __init__(self, *, provenance: bool) -> None:
        self._provenance = provenance

    def label(self, place: str) -> str:
        """What the block is."""
        return (_SOURCED if self._provenance else _UNSOURCED).format(place=place)

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        return self._line("task", self._text(task), self._origin(turn, source))

    def fact(self, name: str, fact: FactNow) -> str:
        """The value that stands in a field."""
        mark = "" if self._provenance or is_confirmed(fact.source) else "?"
        shown = name if _PLAIN_NAME.fullmatch(name) and name not in _OURS else self._text(name)
        problem = f" [problem: {self._text(fact.problems[0].rule)}]" if fact.problems else ""
        return self._line(
            f"{shown}{mark}", f"{self._literal(escaped_json(fact.json))}{problem}", self._origin(fact.turn, fact.source)
        )

    def entry(self, section: str, entry: Entry, *, why: bool) -> str:
        """An entry of a list section."""
        mark = "" if self._provenance or is_confirmed(entry.source) else "?"
        reason = f" because {self._text(entry.why)}" if self._provenance and why and entry.why is not None else ""
        known = f"{entry.id}, " if self._provenance else ""
        origin = self._origin(entry.turn, entry.source)
        return self._line(f"{section}{mark}", f"{self._text(entry.what)}{reason}", f"{known}{origin}".strip(", "))

    def contradiction(self, found: Contradiction) -> str:
        """What is disputed."""
        turns = ", ".join(map(str, found.turns))
        where = f"{found.id}, turns {turns}" if turns else found.id
        return self._line("open", self._text(f"{_short(found.about)} is disputed"), where)

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines gave way."""
        return self._line("not shown", ", ".join(f"{number} {section}" for section, number in counts.items()), "")

    def _line(self, name: str, said: str, origin: str) -> str:
        return f"{self.bullet}{name}: {said}{f' ({origin})' if origin else ''}"

    def _origin(self, turn: int | None, source: str | None) -> str:
        if not self._provenance or source is None:
            return ""
        return source if turn is None else f"{source} {turn}"

    def _text(self, text: str) -> str:
        return self._literal(escaped(text))

    def _literal(self, json: str) -> str:
        return json


class Markdown(CompactText):
    """A list. Values stand in code spans, as JSON without a backtick, so that nothing in them marks anything up.

    The tags have blank lines around them: else all between them would be HTML to a renderer, and no list.
    """

    opening = "<state>\n\n"
    closing = "\n</state>\n"
    bullet = "- "

    def _literal(self, json: str) -> str:
        return f"`{json.replace('`', _BACKTICK)}`"


def _short(about: str) -> str:
    return about if len(about) <= _ABOUT_CHARACTERS else f"{about[: _ABOUT_CHARACTERS - 1]}…"


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{escaped(name)}:{value}" for name, value in members.items()) + "}"
