"""The messages of a SpecStory transcript, cut out of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from delivery.importers.specstory_fences import HEADER, SEPARATOR, TOOL, TOOL_END, Page

_THOUGHT: Final = "<think><details><summary>Thought Process</summary>\n"
_THOUGHT_END: Final = "\n</details></think>\n"
_TIME: Final = re.compile(r"(?:(?P<model>.*) )?(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\S*)")
_ERROR: Final = "**Error:**\n\n"
_RESULT_HEADS: Final = ("**Result:**\n\n", _ERROR)
_TEXT: Final = "text"
_FAILED: Final = "<tool_use_error>"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What the assistant asked of a tool, as it is shown, and what came back; ``result`` is None where nothing is shown."""

    tool: str
    asked: str
    result: str | None
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. ``thoughts`` come before ``text``; ``is_torn`` says that the file ends inside its tool's block."""

    line: int
    role: str
    is_side: bool
    model: str | None
    said_at: datetime | None
    external_id: str | None
    thoughts: tuple[str, ...]
    text: str
    use: ToolUse | None
    is_torn: bool = False


def messages(text: str) -> Iterator[Message]:
    """The messages of a transcript in order."""
    page = Page(text)
    head = HEADER.search(text)
    line, counted = 1, 0
    while head is not None:
        line, counted = line + text.count("\n", counted, head.start()), head.start()
        message, head = _message(page, head, line)
        yield message


def _message(page: Page, head: re.Match[str], line: int) -> tuple[Message, re.Match[str] | None]:
    """A message, and the header of the next one."""
    text, role = page.text, head["role"]
    thoughts, at = _thoughts(text, min(head.end() + 1, len(text)), role)
    opening = TOOL.match(text, at) if role == "Agent" else None
    following = page.next_header(at, role) if opening is None else None
    end = len(text) if following is None else following.start()
    opening = opening or _tool_in(page, at, end, role)
    close = None if opening is None else page.tool_end(opening.end(), role)
    use, is_torn = None, False
    if opening is not None and close is not None:
        use = _use(opening["tool"], text[opening.end() : close], opening[0])
        said = text[at : opening.start()].removesuffix("\n\n")
        following = page.header_behind(close + len(TOOL_END) + 1, role)
    else:
        following = page.next_header(at, role)
        is_torn = opening is not None and following is None
        said = _said(text, at, following, role)
    model, said_at = _about(head["said"])
    message = Message(
        line=line,
        role=role,
        is_side=head["side"] is not None,
        model=model,
        said_at=said_at,
        external_id=head["id"],
        thoughts=tuple(thoughts),
        text=said,
        use=use,
        is_torn=is_torn,
    )
    return message, following


def _thoughts(text: str, at: int, role: str) -> tuple[list[str], int]:
    """The thoughts with which the assistant's message begins, and where they end."""
    found: list[str] = []
    while role == "Agent" and text.startswith(_THOUGHT, at):
        start = at + len(_THOUGHT)
        end = start - 1 if text.startswith(_THOUGHT_END[1:], start) else text.find(_THOUGHT_END, start)
        if end == -1:
            break
        found.append(text[start:end])
        at = min(end + len(_THOUGHT_END) + 1, len(text))
    return found, at


def _tool_in(page: Page, at: int, end: int, role: str) -> re.Match[str] | None:
    """The tool's block with which the assistant's message ends, after some text."""
    found = TOOL.search(page.text, at, end) if role == "Agent" else None
    while found is not None:
        close = page.tool_end(found.end(), role) if page.text.endswith("\n\n", 0, found.start()) else None
        if close is not None and close <= end:
            return found
        found = TOOL.search(page.text, found.end(), end)
    return None


def _said(text: str, at: int, following: re.Match[str] | None, role: str) -> str:
    if following is None:
        return text[at:].removesuffix("\n")
    separator = "" if following["role"] == role else SEPARATOR
    return text[at : following.start() - len(separator)].removesuffix("\n\n")


def _about(said: str | None) -> tuple[str | None, datetime | None]:
    """The model and the time in a header; what is no time with a zone is taken for the model's name."""
    if said is None:
        return None, None
    found = _TIME.fullmatch(said)
    if found is None:
        return said, None
    try:
        moment = datetime.fromisoformat(found["time"])
    except ValueError:
        return said, None
    return found["model"], moment if moment.tzinfo is not None else None


def _use(tool: str, shown: str, opening: str) -> ToolUse:
    """What stands in a tool's block: what was asked, and in the fence at its end what came back."""
    shown = shown.removeprefix(f"<summary>Tool use: **{tool}**</summary>\n")
    fence = _result_fence(shown, is_write='data-tool-type="write"' in opening)
    if fence is None:
        return ToolUse(tool, shown, None, is_error=False)
    result = shown[fence.end() + 1 : len(shown) - len(fence["ticks"]) - 1]
    failed = result.startswith(_FAILED) or shown.endswith(_ERROR, 0, fence.start())
    return ToolUse(tool, shown[: fence.start()], result.removesuffix("\n"), is_error=failed)


def _result_fence(shown: str, *, is_write: bool) -> re.Match[str] | None:
    """The line that opens the fence at the end. What a tool is to write may be fenced too, before it, and may hold anything."""
    last = shown.rstrip("\n").rpartition("\n")[2]
    if not last or last.strip("`"):
        return None
    page = Page(shown)
    found: list[re.Match[str]] = []
    fence = page.fence_from(0)
    while fence is not None:
        if fence["ticks"] == last and _opens_result(shown, fence):
            found.append(fence)
        close = page.close_of(fence) if fence["info"].strip() and fence["info"] != _TEXT else None
        fence = page.fence_from(fence.end() if close is None else close.end())
    return next(iter(found[::-1] if is_write else found), None)


def _opens_result(shown: str, fence: re.Match[str]) -> bool:
    if fence["info"] == _TEXT:
        return fence.start() <= 1 or shown.endswith("\n\n", 0, fence.start())
    return not fence["info"] and shown.endswith(_RESULT_HEADS, 0, fence.start())
