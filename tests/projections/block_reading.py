"""State blocks read back: each form has a reader that knows nothing but the lines, and says what each of them says."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final, Literal, get_args

from markdown_it import MarkdownIt

from ledger.events import Section, Source
from projections.contradictions import Contradiction
from projections.state import SECTIONS, State

Form = Literal["lines", "compact", "markdown"]
FORMS: Final[tuple[Form, ...]] = get_args(Form)

# Marks of Arabic, Syriac and Kaithi numbers and verses: Unicode calls them formats, but they are seen.
_SEEN = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")


# Letters and symbols to Unicode, but nothing is seen of them: fillers of Hangul, Khmer and Khitan, blanks of Braille and music.
_BLANK = set("\u115f\u1160\u3164\uffa0\u17b4\u17b5\U00016fe4\u2800\U0001d159")


@dataclass(frozen=True)
class Said:
    """What one line says; ``section`` is "entities" for a fact. ``is_confirmed`` is None where the line names a source.

    ``is_cut``: whether the line says that a text in it was cut.
    """

    section: str
    name: str
    value: Any
    is_confirmed: bool | None = None
    source: str | None = None
    turn: int | None = None
    why: str | None = None
    problem: str | None = None
    valid: tuple[str | None, str | None] = (None, None)
    is_cut: bool = False


@dataclass(frozen=True)
class Disputed:
    """A line that says what is disputed."""

    about: str
    name: str
    turns: tuple[int, ...]
    more: int = 0


Line = Said | Disputed | dict[str, int]
"""A line of a block; the numbers of what is not shown are the last kind."""


def read(block: str, *, form: Form, provenance: bool) -> list[Line]:
    """What the lines after the label say; fails if the block holds anything but its label and lines of their one shape."""
    label, *lines = _READERS[form](block)
    assert "Established facts" in label
    return [(_of_json if form == "lines" else _of_text)(line, provenance) for line in lines]


def inside(block: str) -> list[str]:
    """The lines between the tags; fails if another tag, another end of a line, or a hidden character is there."""
    assert block.startswith("<state>\n")
    assert block.endswith("\n</state>\n")
    assert (block.count("<"), block.count(">"), block.count("&")) == (2, 2, 0)
    text = block.removeprefix("<state>\n").removesuffix("</state>\n")
    assert text.splitlines() == text.removesuffix("\n").split("\n"), "no character but ours ends a line"
    assert [one for one in text.replace("\n", "") if hides(one)] == []
    return text.splitlines()


def hides(character: str) -> bool:
    """Whether a character shows nothing and is no space, or changes what others show, going by its Unicode category."""
    is_control = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    return (is_control and character not in _SEEN) or character in _BLANK


def _rendered(block: str) -> Iterator[str]:
    """The lines of a Markdown block as a renderer sees them: the label, then a tight list of texts and code spans."""
    inside(block)
    kinds = []
    for token in MarkdownIt("commonmark").parse(block):
        kinds.append(token.type)
        if token.type == "inline":
            assert {child.type for child in token.children or ()} <= {"text", "code_inline"}
            yield "".join(child.content for child in token.children or ())
    item = ["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"]
    opening, closing = ["html_block", "paragraph_open", "inline", "paragraph_close"], ["html_block"]
    number = kinds.count("inline") - 1
    listed = ["bullet_list_open", *item * number, "bullet_list_close"] if number else []
    assert kinds == [*opening, *listed, *closing]


_READERS: Final[dict[Form, Callable[[str], Any]]] = {"lines": inside, "compact": inside, "markdown": _rendered}


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, in which no key stands twice."""
    assert all(one != other for one, other in pairwise(sorted(key for key, _ in pairs)))
    return dict(pairs)


_DECODER: Final = json.JSONDecoder(parse_float=Decimal, object_pairs_hook=once)


def of_json(text: str) -> Any:
    """The value of a JSON text, with all of its digits."""
    return _DECODER.decode(text)


def _of_json(line: str, provenance: bool) -> Line:
    said = of_json(line)
    key, first = next(iter(said.items()))
    if key == "not_shown":
        assert list(said) == ["not_shown"]
        return {section: int(number) for section, number in first.items()}
    if "turns" in said:
        assert list(said) in (["open", "id", "turns"], ["open", "id", "turns", "more"])
        return Disputed(_disputed(first), said["id"], tuple(said["turns"]), said.get("more", 0))
    del said[key]
    mark = key.endswith("?")
    name = key.removesuffix("?")
    value = said.pop("value") if name == "entity" else first
    named = {"entity": first}.get(name, name)
    section = "entities"
    if name in SECTIONS:
        section, named = name, said.pop("id", "")
    why, problem = said.pop("why", None), said.pop("problem", None)
    valid = (said.pop("from", None), said.pop("until", None))
    is_cut = said.pop("cut", False)
    source, turn = _json_origin(said)
    return Said(section, named, value, None if provenance else not mark, source, turn, why, problem, valid, is_cut)


def _json_origin(said: dict[str, Any]) -> tuple[str | None, int | None]:
    if not said:
        return None, None
    ((key, given),) = said.items()
    if key == "source":
        return given, None
    assert key in get_args(Source)
    return key, given


_NAME: Final = re.compile(r"(not shown|[A-Za-z0-9_]+|(?=\"))")
_ORIGIN: Final = re.compile(r" \((?:((?:en|ev)_\d+)(?:, |(?=\))))?(?:(user|interface|tool|inferred)(?: (\d+))?)?\)")
_DISPUTE: Final = re.compile(r" \((con_\d+)(?:, turns (\d+(?:, \d+)*))?(?:, (\d+) more)?\)")
_MOMENT: Final = r"(\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?)"
_VALID: Final = re.compile(rf"(?: from {_MOMENT})?(?: until {_MOMENT})?")


def _of_text(line: str, provenance: bool) -> Line:
    match = _NAME.match(line)
    assert match is not None
    name, at, is_quoted = match.group(), match.end(), False
    if not name:
        name, at = _DECODER.raw_decode(line, at)
        is_quoted = True
    mark = line[at] == "?"
    at += mark
    assert line[at : at + 2] == ": "
    if name == "not shown" and not is_quoted:
        return {section: int(number) for number, section in (one.split(" ") for one in line[at + 2 :].split(", "))}
    value, at = _DECODER.raw_decode(line, at + 2)
    if dispute := _DISPUTE.fullmatch(line, at):
        assert name == "open"
        assert not is_quoted
        turns = tuple(map(int, filter(None, (dispute[2] or "").split(", "))))
        return Disputed(_disputed(value), dispute[1], turns, int(dispute[3] or 0))
    is_cut, at = _marked(line, at)
    why, at = _after(line, " because ", at)
    is_why_cut, at = _marked(line, at)
    problem, at = _after(line, " [problem: ", at)
    at += problem is not None
    valid = _VALID.match(line, at)
    assert valid is not None
    at = valid.end()
    origin = _ORIGIN.fullmatch(line, at)
    assert (line[at:] == "") if origin is None else provenance
    known, source, turn = (None, None, None) if origin is None else origin.groups()
    is_entry = name in SECTIONS and not is_quoted
    section, named = (name, known or "") if is_entry else ("entities", name)
    confirmed = None if provenance else not mark
    number = None if turn is None else int(turn)
    is_cut = is_cut or is_why_cut
    return Said(section, named, value, confirmed, source, number, why, problem, (valid[1], valid[2]), is_cut)


def _marked(line: str, at: int) -> tuple[bool, int]:
    """Whether it says here that something was cut, and where the line goes on."""
    return (True, at + len(" (cut)")) if line.startswith(" (cut)", at) else (False, at)


def _after(line: str, word: str, at: int) -> tuple[Any, int]:
    if not line.startswith(word, at):
        return None, at
    return _DECODER.raw_decode(line, at + len(word))


def _disputed(text: str) -> str:
    assert text.endswith(" is disputed")
    return text.removesuffix(" is disputed")


def expected(state: State, *, provenance: bool) -> list[Line]:
    """What the lines of a state have to say where nothing gives way."""
    lines: list[Line] = [*_facts(state, provenance=provenance)]
    for section in SECTIONS:
        lines += _entries(state, section, provenance=provenance)
    for place, found in enumerate(state.contradictions):
        later = [other.field for other in state.contradictions[place + 1 :]]
        if found.field is None or found.field not in later:
            same = [other for other in state.contradictions[:place] if found.field is not None and other.field == found.field]
            lines.append(disputed(found, same))
    return lines


def disputed(found: Contradiction, earlier: Sequence[Contradiction] = ()) -> Disputed:
    """What the line of a contradiction has to say, with those before it that are about the same field."""
    about = found.about if len(found.about) <= 120 else found.about[:119] + "…"
    turns = sorted({turn for one in (*earlier, found) for turn in one.turns})
    return Disputed(about, found.id, tuple(turns[-5:]), len(earlier))


def _facts(state: State, *, provenance: bool) -> Iterator[Said]:
    for name, fact in state.entities.items():
        if fact.is_shown:
            said = Said("entities", name, of_json(fact.json), problem=fact.problems[0].rule if fact.problems else None)
            if provenance:
                yield replace(said, source=fact.source, turn=fact.turn)
            else:
                yield replace(said, is_confirmed=fact.source in ("user", "interface"))


def _entries(state: State, section: Section, *, provenance: bool) -> Iterator[Said]:
    for entry in state.entries[section]:
        if provenance:
            yield Said(section, entry.id, entry.what, None, entry.source, entry.turn, entry.why)
        else:
            yield Said(section, "", entry.what, entry.source in ("user", "interface"))
