"""JSON source text, read with the place of every value kept.

A transcript's arguments, results and unknown blocks are recorded exactly as they stand in the file. A parser
that builds Python values has lost that text (``4050.10`` is ``4050.1``, duplicate keys are one), so a
``Node`` is a slice of the source instead: its members are found when they are asked for, by the standard
library's C scanner.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from json import decoder
from typing import Any, Final, Literal, NoReturn

from ledger.errors import InvalidInput, LimitExceeded
from ledger.json_text import JsonText
from ledger.limits import MAX_JSON_DEPTH

Kind = Literal["object", "array", "string", "number", "boolean", "null"]

MAX_SOURCE_DEPTH: Final = MAX_JSON_DEPTH + 20
"""Nested arrays and objects in a file: one foreign value, and the lists and messages that it stands in."""

_KINDS: Final[dict[str, Kind]] = {
    "{": "object",
    "[": "array",
    '"': "string",
    "t": "boolean",
    "f": "boolean",
    "n": "null",
}
_space = re.compile(r"[ \t\n\r]*").match
# A string without its closing quote runs to the end: otherwise each of its escaped quotes would start a scan
# of its own.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STRING_OR_STEP = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|NaN|-?Infinity', re.DOTALL)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class _NotJson(Exception):
    """NaN or an infinity, which Python's own parser takes."""


def _not_json(name: str) -> NoReturn:
    raise _NotJson(name)


# Both come from the standard library's C accelerator and are missing from its type stubs. Numbers are only
# skipped, never
# converted: Python refuses integers of more than 4,300 digits.
_scan: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_not_json))[
    "scan_once"
]
_scan_string: Callable[[str, int], tuple[str, int]] = vars(decoder)["scanstring"]


class Source:
    """One JSON text and the line of the file at which it begins. ``counts_lines`` is False for text from
    inside a string.
    """

    def __init__(self, text: str, *, first_line: int = 1, counts_lines: bool = True) -> None:
        self.text = text
        self.first_line = first_line
        self._counts_lines = counts_lines

    def line(self, offset: int) -> int:
        """The line of the file, from 1, in which a character stands."""
        return self.first_line + (bisect_right(self._breaks, offset) if self._counts_lines else 0)

    @cached_property
    def _breaks(self) -> list[int]:
        return [match.end() for match in re.finditer("\n", self.text)]


class Node:
    """One JSON value in its source. ``path`` says where, as in ``$.messages[3].content``."""

    def __init__(self, source: Source, start: int, end: int, path: str) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.path = path

    @property
    def kind(self) -> Kind:
        """Which of the six kinds of JSON value this is."""
        return _KINDS.get(self.source.text[self.start], "number")

    @property
    def text(self) -> str:
        """The exact slice of the source."""
        return self.source.text[self.start : self.end]

    @property
    def line(self) -> int:
        """The line of the file at which the value begins."""
        return self.source.line(self.start)

    @cached_property
    def members(self) -> dict[str, Node]:
        """The members of an object, in order; ``InvalidInput`` for another kind or a key that stands
        twice.
        """
        self._expect("object")
        found: dict[str, Node] = {}
        text, at = self.source.text, _after_space(self.source.text, self.start + 1)
        while text[at] != "}":
            name, at = _scan_string(text, at + 1)
            start = _after_space(text, _after_space(text, at) + 1)
            if name in found:
                self._refuse(f"duplicate key {name!r}: which of the two holds cannot be known")
            found[name] = Node(self.source, start, _end(text, start), _member_path(self.path, name))
            at = _after_comma(text, found[name].end)
        return found

    @cached_property
    def elements(self) -> list[Node]:
        """The elements of an array, in order; ``InvalidInput`` for another kind."""
        self._expect("array")
        found: list[Node] = []
        text, at = self.source.text, _after_space(self.source.text, self.start + 1)
        while text[at] != "]":
            node = Node(self.source, at, _end(text, at), f"{self.path}[{len(found)}]")
            found.append(node)
            at = _after_comma(text, node.end)
        return found

    def get(self, name: str) -> Node | None:
        """A member of an object; None where it is absent or null."""
        node = self.members.get(name)
        return None if node is None or node.kind == "null" else node

    def string(self) -> str:
        """The text of a string, which may hold lone surrogates; ``InvalidInput`` for another kind."""
        self._expect("string")
        return _scan_string(self.source.text, self.start + 1)[0]

    def json(self) -> JsonText:
        """The slice as foreign JSON; ``InvalidInput`` where the ledger would not take it (duplicate keys,
        depth).
        """
        return JsonText.parse(self.text)

    def _expect(self, kind: Kind) -> None:
        if self.kind != kind:
            self._refuse(f"expected {kind}, found {self.kind}")

    def _refuse(self, reason: str) -> NoReturn:
        raise InvalidInput(f"{reason} (at {self.path})", path=self.path, offset=self.start, line=self.line)


def decode_utf8(data: bytes, *, line: int = 1, offset: int = 0) -> str:
    """UTF-8 text without a byte order mark; ``InvalidInput`` names the byte, counted from ``offset`` on."""
    try:
        return data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8") if offset == 0 else data.decode("utf-8")
    except UnicodeDecodeError as error:
        mark = len(_BYTE_ORDER_MARK) if offset == 0 and data.startswith(_BYTE_ORDER_MARK) else 0
        at = offset + mark + error.start
        raise InvalidInput(
            f"not UTF-8 at byte {at} of the file: write the file as UTF-8", path="$", offset=at, line=line
        ) from None


def parse(text: str, *, line: int = 1) -> Node:
    """The one JSON value of a text that begins at ``line`` of its file; ``InvalidInput`` names the line and
    the character.
    """
    return _parse(Source(text, first_line=line), "$")


def parse_inside(node: Node) -> Node:
    """The JSON value that is written inside a string, as in a request that was logged as text."""
    return _parse(Source(node.string(), first_line=node.line, counts_lines=False), node.path)


def _parse(source: Source, path: str) -> Node:
    text = source.text
    _check_depth(source, path)
    start = _after_space(text, 0)
    try:
        end = _end(text, start)
    except json.JSONDecodeError as error:
        _malformed(source, error.pos, reason=error.msg)
    except StopIteration as stop:
        _malformed(source, stop.value, reason="Expecting value")
    except _NotJson as error:
        _refuse_constant(source, path, str(error))
    rest = _after_space(text, end)
    if rest != len(text):
        _malformed(source, rest, reason="Extra data")
    return Node(source, start, end, path)


def _malformed(source: Source, offset: int, *, reason: str) -> NoReturn:
    """A trailing comma is told at the bracket behind it: where and how Python tells it depends on its version."""
    text = source.text
    if text[offset : offset + 1] == ",":
        behind = _after_space(text, offset + 1)
        offset = behind if text[behind : behind + 1] in ("]", "}") else offset
    if text[offset : offset + 1] in ("]", "}") and text[:offset].rstrip(" \t\n\r").endswith(","):
        reason = f"a comma stands before the closing {text[offset]}"
    line = source.line(offset)
    raise InvalidInput(
        f"not JSON at character {offset} (line {line}): {reason}",
        path="$",
        offset=offset,
        line=line,
        ended=offset >= len(source.text.rstrip()),
    )


def _refuse_constant(source: Source, path: str, name: str) -> NoReturn:
    """The parser took all that stands before the first constant, so that its path can be told."""
    found = (match.start() for match in _STRING_OR_CONSTANT.finditer(source.text) if match.group()[0] != '"')
    offset = next(found)
    place, line = _path_at(source.text, offset, path), source.line(offset)
    raise InvalidInput(
        f"{name} is not JSON (at {place}, character {offset}, line {line}): write null or a text",
        path=place,
        offset=offset,
        line=line,
    )


def _path_at(text: str, offset: int, path: str) -> str:
    """The path of the value that begins at an offset; what stands before it must be JSON."""
    steps: list[int | str | None] = []
    for match in _STRING_OR_STEP.finditer(text, 0, offset):
        first = match.group()[0]
        if first in "[{":
            steps.append(0 if first == "[" else None)
        elif first in "]}":
            steps.pop()
        elif first == ",":
            steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else None
        elif steps and steps[-1] is None:
            steps[-1] = _scan_string(text, match.start() + 1)[0]
    for step in steps:
        path = _member_path(path, step) if isinstance(step, str) else f"{path}[{step}]"
    return path


def _check_depth(source: Source, path: str) -> None:
    """Before the recursive scanner sees the text."""
    text = source.text
    if text.count("[") + text.count("{") <= MAX_SOURCE_DEPTH:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        first = text[match.start()]
        if first in "[{":
            depth += 1
            if depth > MAX_SOURCE_DEPTH:
                raise LimitExceeded(
                    f"JSON nests too deep at character {match.start()}: a value may have {MAX_JSON_DEPTH} levels "
                    f"(MAX_JSON_DEPTH), what stands around it {MAX_SOURCE_DEPTH - MAX_JSON_DEPTH}: "
                    "write the inner value as a text",
                    path=path,
                    offset=match.start(),
                    line=source.line(match.start()),
                )
        elif first != '"':
            depth -= 1


def _after_space(text: str, at: int) -> int:
    match = _space(text, at)
    return at if match is None else match.end()


def _after_comma(text: str, at: int) -> int:
    at = _after_space(text, at)
    return _after_space(text, at + 1) if text[at] == "," else at


def _end(text: str, start: int) -> int:
    return _scan(text, start)[1]


def _member_path(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() else f"{path}[{json.dumps(name)}]"


def whole_number(node: Node | None) -> int | None:
    """The value of a non-negative integer of at most 18 digits, as counts of tokens are; None for anything
    else.
    """
    text = "" if node is None else node.text
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else None


def string_or_none(node: Node | None) -> str | None:
    """The text of a string; None for anything else."""
    return node.string() if node is not None and node.kind == "string" else None


def is_empty(node: Node) -> bool:
    """Whether a value says nothing: null, an empty text, list or object."""
    text: Any = node.text
    return text in ("null", '""') or (node.kind in ("array", "object") and not text[1:-1].strip())


def is_true(node: Node | None) -> bool:
    """Whether a value is ``true``."""
    return node is not None and node.text == "true"


def elements_in(node: Node, name: str) -> list[Node]:
    """The elements of a list that an object has as a member; none where there is no such list."""
    found = node.get(name) if node.kind == "object" else None
    return found.elements if found is not None and found.kind == "array" else []


def objects_in(node: Node, name: str) -> list[Node]:
    """The objects among them."""
    return [element for element in elements_in(node, name) if element.kind == "object"]


def has_members(node: Node, *names: str) -> bool:
    """Whether a value is an object with all of the members; null counts as one."""
    return node.kind == "object" and all(name in node.members for name in names)
