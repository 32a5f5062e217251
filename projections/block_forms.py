"""How the lines of a state block are written: JSON objects, compact text, or Markdown. No value can end a line or the block."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, get_args

from ledger.events import Section, Source
from ledger.fields import RANK, SPOKEN_RANK
from ledger.standing import Validity
from projections.escaping import escaped
from projections.shortening import Shown, shortened, shown_json, shown_text

if TYPE_CHECKING:
    from projections.disputes import Dispute
    from projections.entries import Entry
    from projections.state import FactNow

_SOURCED: Final = (
    "Established facts of this conversation. User and interface hold where older text {place} differs; tool and inferred "
    "are unconfirmed."
)
_UNSOURCED: Final = (
    "Established facts of this conversation. They hold where older text {place} differs; ? marks what is unconfirmed."
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

_KEYS: Final = {name: escaped(name) for name in (*_OURS, "cut", "more", "from", "until")}
"""Literals that stand in almost every line."""

_BACKTICK: Final = "\\u0060"
_ABOUT_CHARACTERS: Final = 120
"""How much is said of what is disputed: its line never gives way."""

_PLAIN_NAME: Final = re.compile("[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*")


class Written(NamedTuple):
    """A line, and whether a text in it was cut."""

    text: str
    is_cut: bool = False


class BlockForm(Protocol):
    """Writes the lines of a block, which stand between ``opening`` and ``closing``.

    No token reaches over the end of a line into the next one (``replay.tokens`` says where that is so): every line begins with
    something else than white space or a slash. So a block costs what its lines cost.
    """

    opening: str
    closing: str

    def label(self, place: str) -> str:
        """What the block is, and what holds where something else says otherwise."""
        ...

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        ...

    def fact(self, name: str, fact: FactNow) -> Written:
        """The value that stands in a field, and when it holds in the world where that was said."""
        ...

    def entry(self, section: str, entry: Entry, *, why: bool) -> Written:
        """An entry of a list section."""
        ...

    def dispute(self, dispute: Dispute) -> str:
        """What is disputed and where, without the unconfirmed values."""
        ...

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines of each section gave way."""
        ...

    def not_shown_parts(self, counts: Mapping[str, int]) -> list[str]:
        """Texts that together cost what that line does, or a token more: the same few ones, whatever the numbers."""
        ...


def is_confirmed(source: Source) -> bool:
    """Whether the user said it, or chose it."""
    return RANK[source] >= SPOKEN_RANK


class JsonLines:
    """One JSON object a line; provenance as ``"user":11``, the source with its turn.

    A field whose name could be read as one of our keys, or as one of our marks, stands as ``"entity"`` with its ``"value"``.
    What was cut is marked ``"cut":true``.
    """

    opening = "<state>\n"
    closing = "</state>\n"

    def __init__(self, *, provenance: bool, most_characters: int) -> None:
        self._provenance = provenance
        self._most_characters = most_characters

    def label(self, place: str) -> str:
        """What the block is."""
        return _object({"about": escaped((_SOURCED if self._provenance else _UNSOURCED).format(place=place))})

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        return _object({"task": escaped(task), **self._origin(turn, source)})

    def fact(self, name: str, fact: FactNow) -> Written:
        """The value that stands in a field."""
        value = shown_json(fact.json, self._most_characters)
        mark = "" if self._provenance or is_confirmed(fact.source) else "?"
        problem = {"problem": escaped(fact.problems[0].rule)} if fact.problems else {}
        valid = {word: escaped(moment) for word, moment in _valid(fact.valid)}
        rest = {**_cut(value), **problem, **valid}
        written_out = name in _OURS or name in rest or name.endswith("?")
        said = {f"entity{mark}": escaped(name), "value": value.literal} if written_out else {f"{name}{mark}": value.literal}
        return Written(_object({**said, **rest, **self._origin(fact.turn, fact.source)}), value.is_cut)

    def entry(self, section: str, entry: Entry, *, why: bool) -> Written:
        """An entry of a list section."""
        key = section if self._provenance or is_confirmed(entry.source) else f"{section}?"
        said = {key: shown_text(entry.what, self._most_characters)}
        if self._provenance and why and entry.why is not None:
            said["why"] = shown_text(entry.why, self._most_characters)
        literals = {word: shown.literal for word, shown in said.items()}
        cut = _cut(*said.values())
        known = {"id": escaped(entry.id)} if self._provenance else {}
        return Written(_object({**literals, **cut, **known, **self._origin(entry.turn, entry.source)}), bool(cut))

    def dispute(self, dispute: Dispute) -> str:
        """What is disputed."""
        turns = "[" + ",".join(map(str, dispute.turns)) + "]"
        more = {"more": str(dispute.more)} if dispute.more else {}
        return _object({"open": escaped(_disputed(dispute)), "id": escaped(dispute.id), "turns": turns, **more})

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines gave way."""
        return _object({"not_shown": _object({section: str(number) for section, number in counts.items()})})

    def not_shown_parts(self, counts: Mapping[str, int]) -> list[str]:
        """The line without its sections, and each of these."""
        return ['{"not_shown":{\n', *(f",{escaped(section)}:{_digits(number)}" for section, number in counts.items())]

    def _origin(self, turn: int | None, source: str | None) -> dict[str, str]:
        if not self._provenance or source is None:
            return {}
        return {"source": escaped(source)} if turn is None else {source: str(turn)}


class CompactText:
    """One ``name: value`` a line, values as JSON; provenance as ``(user 11)``, the source with its turn.

    A name stands in quotes unless it is a plain word and none of our keys. After what was cut stands ``(cut)``.
    """

    opening = "<state>\n"
    closing = "</state>\n"
    bullet = ""

    def __init__(self, *, provenance: bool, most_characters: int) -> None:
        self._provenance = provenance
        self._most_characters = most_characters

    def label(self, place: str) -> str:
        """What the block is."""
        return (_SOURCED if self._provenance else _UNSOURCED).format(place=place)

    def task(self, task: str, turn: int | None, source: str | None) -> str:
        """What is asked."""
        return self._line("task", self._text(task), self._origin(turn, source))

    def fact(self, name: str, fact: FactNow) -> Written:
        """The value that stands in a field."""
        value = shown_json(fact.json, self._most_characters)
        mark = "" if self._provenance or is_confirmed(fact.source) else "?"
        shown = name if _PLAIN_NAME.fullmatch(name) and name not in _OURS else self._text(name)
        problem = f" [problem: {self._text(fact.problems[0].rule)}]" if fact.problems else ""
        valid = "".join(f" {word} {moment}" for word, moment in _valid(fact.valid))
        said = f"{self._shown(value)}{problem}{valid}"
        return Written(self._line(f"{shown}{mark}", said, self._origin(fact.turn, fact.source)), value.is_cut)

    def entry(self, section: str, entry: Entry, *, why: bool) -> Written:
        """An entry of a list section."""
        mark = "" if self._provenance or is_confirmed(entry.source) else "?"
        said = [shown_text(entry.what, self._most_characters)]
        if self._provenance and why and entry.why is not None:
            said.append(shown_text(entry.why, self._most_characters))
        known = f"{entry.id}, " if self._provenance else ""
        origin = self._origin(entry.turn, entry.source)
        line = self._line(f"{section}{mark}", " because ".join(map(self._shown, said)), f"{known}{origin}".strip(", "))
        return Written(line, any(shown.is_cut for shown in said))

    def dispute(self, dispute: Dispute) -> str:
        """What is disputed."""
        turns = [f"turns {', '.join(map(str, dispute.turns))}"] if dispute.turns else []
        more = [f"{dispute.more} more"] if dispute.more else []
        return self._line("open", self._text(_disputed(dispute)), ", ".join([dispute.id, *turns, *more]))

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines gave way."""
        return self._line("not shown", ", ".join(f"{number} {section}" for section, number in counts.items()), "")

    def not_shown_parts(self, counts: Mapping[str, int]) -> list[str]:
        """The line without its sections, and each of these."""
        return [f"{self.bullet}not shown:\n", *(f", {_digits(number)} {section}" for section, number in counts.items())]

    def _line(self, name: str, said: str, origin: str) -> str:
        return f"{self.bullet}{name}: {said}{f' ({origin})' if origin else ''}"

    def _origin(self, turn: int | None, source: str | None) -> str:
        if not self._provenance or source is None:
            return ""
        return source if turn is None else f"{source} {turn}"

    def _text(self, text: str) -> str:
        return self._literal(escaped(text))

    def _shown(self, shown: Shown) -> str:
        return f"{self._literal(shown.literal)}{' (cut)' if shown.is_cut else ''}"

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


def _digits(number: int) -> str:
    """A number that costs the same: each three digits are a token, whatever they are."""
    return "0" * len(str(number))


def _disputed(dispute: Dispute) -> str:
    return f"{shortened(dispute.about, _ABOUT_CHARACTERS)} is disputed"


def _cut(*said: Shown) -> dict[str, str]:
    return {"cut": "true"} if any(shown.is_cut for shown in said) else {}


def _valid(valid: Validity) -> list[tuple[str, str]]:
    """From when and until when a value holds, as far as that was said."""
    return [(word, _moment(moment)) for word, moment in zip(("from", "until"), valid, strict=True) if moment is not None]


def _moment(moment: datetime) -> str:
    """A moment in UTC as RFC 3339, of a midnight only the date; at its own offset where UTC would leave the calendar."""
    try:
        text = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return moment.isoformat()
    return text.removesuffix("T00:00:00Z")


def _object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{_KEYS.get(name) or escaped(name)}:{value}" for name, value in members.items()) + "}"
