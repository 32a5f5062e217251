"""Where the messages of a conversation stand in a JSON value, and which format they are written in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from delivery.importers import FORMATS, NAMES, Format
from delivery.importers.blocks import CONVERSATION_IDS, is_name
from delivery.importers.source import Node, parse_inside, string_or_none
from ledger.errors import InvalidInput, LedgerError, nearest

WRAPPERS: Final = ("messages", "traj", "conversation", "history", "body", "parsed_body", "request")
"""Members in which an object may hold its messages, or an object (or a text in JSON) that does, in the order
of asking.
"""

LISTS: Final = ("conversations", "data")
"""Members in which an object may hold many conversations."""

SOURCE_IDS: Final = ("id", *CONVERSATION_IDS)
"""Members that name a conversation. A ``task_id`` does not: several runs of one task are several
conversations.
"""

_MOST_WRAPPERS: Final = 8


class Named(Protocol):
    """What has the name of a format."""

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
        ...


Given = TypeVar("Given")
Known = TypeVar("Known", bound=Named)


class NothingRecognised(LedgerError):
    """A file holds no conversation in any known format; ``formats`` lists those, ``skipped`` what was found
    instead.
    """


class Messages(Protocol):
    """The messages of a conversation, which may be gone through any number of times."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Node]: ...


class Votes:
    """Which format the messages of a conversation speak for, counted one by one."""

    def __init__(self) -> None:
        self._messages = 0
        self._reads: Counter[str] = Counter()
        self._marks: Counter[str] = Counter()

    def add(self, message: Node) -> None:
        """Count one message; what is none has no vote."""
        if not is_message(message):
            return
        self._messages += 1
        for name, known in FORMATS.items():
            self._reads[name] += _says(known.reads, message)
            self._marks[name] += _says(known.marks, message)

    def format(self, asked: str, body: Node | None) -> Format | None:
        """The format that was asked for, or for "auto" the one that the conversation's content speaks for; None if none
        reads it. ``body`` is the object that holds the messages, if one does.
        """
        if asked != "auto":
            return FORMATS.get(asked)
        best: Format | None = None
        most = -1
        for name, known in FORMATS.items():
            if 2 * self._reads[name] < max(self._messages, 1):
                continue
            marks = self._marks[name] + (body is not None and known.marks_body(body))
            if marks > most:
                best, most = known, marks
        return best


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation in its source: its messages, the object that holds them (if one does), the source's id for it, and
    what its messages say of their format.
    """

    messages: Messages
    body: Node | None
    source_id: str | None
    line: int
    votes: Votes


def locate(node: Node) -> Found | None:
    """The one conversation of a JSON value: a list of messages, an object with such a list, or a single
    message.
    """
    if is_lone_message(node):
        return _found([node], None, None, node.line)
    source_id, outer = None, node
    for _depth in range(_MOST_WRAPPERS):
        if node.kind == "string" and node is not outer:
            node = parse_inside(node)
        if node.kind == "array":
            return _found(node.elements, None, source_id, outer.line) if is_message_list(node) else None
        if node.kind != "object":
            return None
        source_id = source_id or id_in(node, SOURCE_IDS)
        inner = next((found for name in WRAPPERS if (found := _holder(node, name)) is not None), None)
        if inner is None:
            return None
        if inner.kind == "array":
            return _found(inner.elements, node, source_id, outer.line)
        node = inner
    return None


def why_none(node: Node) -> str | None:
    """What kept the messages of an object from being known as such: the first refusal of one of them, as for a key that
    stands twice; None if there is none.
    """
    for _depth in range(_MOST_WRAPPERS):
        inner: Node | None = None
        try:
            if node.kind == "array":
                for element in node.elements:
                    _ = element.kind == "object" and element.members
                return None
            if node.kind == "object":
                held = (node.get(name) for name in WRAPPERS)
                inner = next((found for found in held if found is not None and _may_hold(found)), None)
                inner = parse_inside(inner) if inner is not None and inner.kind == "string" else inner
        except InvalidInput as error:
            return str(error)
        if inner is None:
            return None
        node = inner
    return None


def _found(messages: list[Node], body: Node | None, source_id: str | None, line: int) -> Found:
    """Where nothing around the messages names the conversation, the first of them may."""
    if source_id is None and messages and is_message(messages[0]):
        source_id = id_in(messages[0], CONVERSATION_IDS)
    votes = Votes()
    for message in messages:
        votes.add(message)
    return Found(messages, body, source_id, line, votes)


def _holder(node: Node, name: str) -> Node | None:
    """A member that may hold messages. An empty list of messages is a conversation, a list of anything else
    is not.
    """
    found = node.get(name)
    if found is None:
        return None
    if found.kind == "array":
        empty = name == "messages" and not found.elements
        return found if empty or is_message_list(found) else None
    return found if _may_hold(found) else None


def _may_hold(node: Node) -> bool:
    """Whether a value is an object or an array, or a text that looks like one."""
    return node.kind in ("object", "array") or (node.kind == "string" and node.string().lstrip()[:1] in ("{", "["))


def is_message_list(node: Node) -> bool:
    """Whether at least one element of an array is a message."""
    return any(is_message(element) for element in node.elements)


def is_lone_message(node: Node) -> bool:
    """Whether a value is a message and not a conversation that has a role besides."""
    return is_message(node) and node.get("messages") is None


def is_message(node: Node) -> bool:
    """Whether a value is an object with a role."""
    if node.kind != "object":
        return False
    try:
        return string_or_none(node.get("role")) is not None
    except InvalidInput:
        return False


def id_in(node: Node, names: tuple[str, ...]) -> str | None:
    """The first of the members that can name a ledger: a text, or a number as it is written."""
    for name in names:
        found = node.get(name)
        if found is None or found.kind not in ("string", "number"):
            continue
        text = found.string() if found.kind == "string" else found.text
        if is_name(text) and text.isprintable():
            return text
    return None


def check_format(asked: str) -> None:
    """``InvalidInput`` for a name that is neither "auto" nor a format's."""
    if asked != "auto" and asked not in NAMES:
        near = nearest(asked, NAMES)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidInput(f"unknown format {asked!r}{hint}: give auto, {', '.join(NAMES)}", path="format")


def claiming(formats: Iterable[Known], claims: Callable[[Known], bool], asked: str) -> Known | None:
    """The first of some whole formats that claims what a file holds, among those that were asked for."""
    return next((known for known in formats if asked in ("auto", known.name) and _says(claims, known)), None)


def _says(answer: Callable[[Given], bool], given: Given) -> bool:
    """What has a key twice speaks for no format."""
    try:
        return answer(given)
    except InvalidInput:
        return False
