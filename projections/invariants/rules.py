"""What providers demand of a conversation, whatever their form: one small class a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from projections.invariants.shapes import Block, Shape, Violation

_TALK: Final = frozenset({"messages", "system", "input", "instructions", "contents", "systemInstruction"})


@dataclass(frozen=True, slots=True)
class HasMessages:
    """There is something to answer."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        if not any(message.role != "system" for message in shape.messages):
            yield Violation("HasMessages", "$", "no message")


@dataclass(frozen=True, slots=True)
class NothingOfAnotherForm:
    """What was said and the system text stand where this form has them, and nowhere else."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for name in shape.beside:
            if name in _TALK:
                yield Violation("NothingOfAnotherForm", name, "of another form")


@dataclass(frozen=True, slots=True)
class KnownRoles:
    """Every role is one that the form has; system messages stand first."""

    roles: frozenset[str]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        begun = False
        for message in shape.messages:
            if message.role not in self.roles:
                yield Violation("KnownRoles", message.path, f"role {message.role!r}")
            elif message.role == "system" and begun:
                yield Violation("KnownRoles", message.path, "system text after the talk began")
            begun = begun or message.role != "system"


@dataclass(frozen=True, slots=True)
class BlocksFitRoles:
    """Assistants alone call and reason; results stand in messages of ``results``, pictures in those of users and results."""

    results: str

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for message in shape.messages:
            for block in message.blocks:
                if message.role not in self._roles(block):
                    yield Violation("BlocksFitRoles", block.path, f"{block.kind} in a message of {message.role}")

    def _roles(self, block: Block) -> tuple[str, ...]:
        match block.kind:
            case "call" | "reasoning":
                return ("assistant",)
            case "result":
                return (self.results,)
            case "media":
                return ("user",)
            case _:
                return ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class UserSpeaks:
    """Some message is a user's."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        if not any(message.role == "user" for message in shape.messages):
            yield Violation("UserSpeaks", "$", "no message of the user")


@dataclass(frozen=True, slots=True)
class UserBeginsAndEnds:
    """The first message is the user's, the last the user's or a tool's."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for message in shape.messages:
            ends_well = message is not shape.messages[-1] or message.role in ("user", "tool")
            begins_well = message is not shape.messages[0] or message.role == "user"
            if not (begins_well and ends_well):
                yield Violation("UserBeginsAndEnds", message.path, f"the {message.role}'s")


@dataclass(frozen=True, slots=True)
class RolesAlternate:
    """No two messages of one of ``roles`` stand side by side."""

    roles: frozenset[str]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for message, after in pairwise(shape.messages):
            if message.role == after.role and message.role in self.roles:
                yield Violation("RolesAlternate", after.path, f"{after.role} twice")


@dataclass(frozen=True, slots=True)
class CallsAreAnswered:
    """Every call is answered exactly once, all calls of a turn together, before anything else is said.

    ``assistant_may_go_on``: calls are items of their own, and more of the same turn may stand behind one.
    """

    assistant_may_go_on: bool = False

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        waiting: list[str | None] = []
        is_answering = False
        for message in shape.messages:
            goes_on = self.assistant_may_go_on and not is_answering
            if waiting and message.role == "assistant" and not goes_on:
                yield Violation("CallsAreAnswered", message.path, f"calls {waiting} wait still")
                waiting = []
            for block in message.blocks:
                if block.kind == "call":
                    waiting.append(block.id)
                    is_answering = False
                elif block.kind == "result" and block.id in waiting:
                    waiting.remove(block.id)
                    is_answering = True
                elif block.kind == "result":
                    yield Violation("CallsAreAnswered", block.path, f"{block.id!r} is no call that waits")
                elif waiting and message.role != "assistant":
                    yield Violation("CallsAreAnswered", block.path, f"calls {waiting} wait still")
                    waiting = []
        if waiting:
            yield Violation("CallsAreAnswered", "$", f"calls {waiting} are never answered")


@dataclass(frozen=True, slots=True)
class ResultsStandFirst:
    """In a message that holds results, they stand before all else."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for message in shape.messages:
            for before, block in pairwise(message.blocks):
                if block.kind == "result" and before.kind != "result":
                    yield Violation("ResultsStandFirst", block.path, f"a result behind a {before.kind}")


@dataclass(frozen=True, slots=True)
class ResultsNameTheirTool:
    """A result has the name of the tool that its call asked for."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        names = {block.id: block.name for _, block in shape.blocks if block.kind == "call"}
        for _, block in shape.blocks:
            if block.kind == "result" and names.get(block.id, block.name) != block.name:
                yield Violation("ResultsNameTheirTool", block.path, f"{block.name!r} for a call of {names[block.id]!r}")


@dataclass(frozen=True, slots=True)
class CallsAreNamed:
    """Ids are distinct and of ``ids``, names of tools of ``tools``."""

    ids: re.Pattern[str]
    tools: re.Pattern[str]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        seen: set[str | None] = set()
        for _, block in shape.blocks:
            if block.kind != "call":
                continue
            if block.id in seen:
                yield Violation("CallsAreNamed", block.path, f"id {block.id!r} twice")
            seen.add(block.id)
            if not self.ids.fullmatch(block.id or ""):
                yield Violation("CallsAreNamed", block.path, f"id {block.id!r}")
            if not self.tools.fullmatch(block.name or ""):
                yield Violation("CallsAreNamed", block.path, f"tool {block.name!r}")


@dataclass(frozen=True, slots=True)
class ArgumentsAre:
    """Arguments of calls are of one type: an object, or its text."""

    type: type[object]

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for _, block in shape.blocks:
            is_object = self.type is dict and block.kind == "result" and block.arguments is not None
            if (block.kind == "call" or is_object) and not isinstance(block.arguments, self.type):
                yield Violation("ArgumentsAre", block.path, f"{type(block.arguments).__name__} and no {self.type.__name__}")


@dataclass(frozen=True, slots=True)
class NothingIsEmpty:
    """No message, result or text is empty or white space."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        yield from (_empty(message.path) for message in shape.messages if not message.blocks)
        for block in shape.system:
            if not (block.text or "").strip():
                yield _empty(block.path)
        for _, block in shape.blocks:
            if block.kind == "text" and not (block.text or "").strip():
                yield _empty(block.path)
            if block.kind == "result" and not block.inner:
                yield _empty(block.path)


@dataclass(frozen=True, slots=True)
class FailuresAreText:
    """The result of a failed call holds text alone."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for _, block in shape.blocks:
            if block.is_error and any(inner.kind != "text" for inner in block.inner):
                yield Violation("FailuresAreText", block.path, "a failed call returned more than text")


@dataclass(frozen=True, slots=True)
class ReasoningIsFollowed:
    """Reasoning is followed by what it was for: by more of its message, or by an item of the assistant."""

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        for at, message in enumerate(shape.messages):
            if message.role == "assistant" and message.blocks and message.blocks[-1].kind == "reasoning":
                after = shape.messages[at + 1 : at + 2]
                if len(message.blocks) > 1 or not after or after[0].role != "assistant":
                    yield Violation("ReasoningIsFollowed", message.blocks[-1].path, "nothing follows it")


@dataclass(frozen=True, slots=True)
class CacheMarks:
    """At most ``most`` blocks are marked for the cache, none of them reasoning or an empty text."""

    most: int

    def violations(self, shape: Shape) -> Iterator[Violation]:
        """See ``Rule``."""
        marked = [block for block in (*shape.system, *(block for _, block in shape.blocks)) if block.is_marked]
        yield from (Violation("CacheMarks", block.path, f"more than {self.most}") for block in marked[self.most :])
        for block in marked:
            if block.kind == "reasoning" or (block.kind == "text" and not (block.text or "").strip()):
                yield Violation("CacheMarks", block.path, f"a mark on {block.kind}")


def _empty(path: str) -> Violation:
    return Violation("NothingIsEmpty", path, "empty or white space")
