"""Where fenced code begins and ends in a SpecStory transcript, and where a tool's block ends.

Newer transcripts fence what a tool returned with more backticks than it holds, so that nothing in it can end the fence. Older
ones always use three; there a line of three backticks may stand in the result itself, so that what looks like a fence may be
the end of one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

HEADER: Final = re.compile(
    r"^_\*\*(?P<role>User|Agent)(?P<side> - sidechain)?(?: \((?P<said>[^\n]*)\))?\*\*_\n"
    r"(?:<!-- message-id: (?P<id>[^\n]*) -->\n)?(?=\n|\Z)",
    re.MULTILINE,
)
"""The line with which a message begins, if a blank line stands before it."""

SEPARATOR: Final = "---\n\n"
"""What stands between two messages of different roles."""

TOOL: Final = re.compile(r'^<tool-use data-tool-type="[^"\n]*" data-tool-name="(?P<tool>[^"\n]+)"><details>\n', re.MULTILINE)
TOOL_END: Final = "</details></tool-use>\n"

_FENCE: Final = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^`\n]*)$", re.MULTILINE)
_THREE: Final = 3


class Page:
    """The text of a transcript, in which the places of fences are known."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fences = list(_FENCE.finditer(text))
        self._starts = [fence.start() for fence in self._fences]
        self._closing: dict[int, list[re.Match[str]]] = {}
        self._closing_starts: dict[int, list[int]] = {}

    def fence_from(self, at: int) -> re.Match[str] | None:
        """The next line from ``at`` on that looks like a fence."""
        place = bisect_left(self._starts, at)
        return self._fences[place] if place < len(self._fences) else None

    def close_of(self, opening: re.Match[str]) -> re.Match[str] | None:
        """The line that closes a fence: the next one of at least as many backticks, and nothing else."""
        ticks = len(opening["ticks"])
        if ticks not in self._closing:
            found = [fence for fence in self._fences if not fence["info"].strip() and len(fence["ticks"]) >= ticks]
            self._closing[ticks] = found
            self._closing_starts[ticks] = [fence.start() for fence in found]
        place = bisect_left(self._closing_starts[ticks], opening.end())
        return self._closing[ticks][place] if place < len(self._closing[ticks]) else None

    def header_behind(self, at: int, role: str) -> re.Match[str] | None:
        """The header, at ``at``, of what follows a message of ``role``, past its separator if it needs one.

        Without the separator that a change of roles demands, it is none.
        """
        found = HEADER.match(self.text, at)
        if found is not None:
            return found if found["role"] == role else None
        if not self.text.startswith(SEPARATOR, at):
            return None
        found = HEADER.match(self.text, at + len(SEPARATOR))
        return found if found is not None and found["role"] != role else None

    def may_end(self, at: int, role: str) -> bool:
        """Whether a message of ``role`` may end at ``at``: the file does, or a blank line and the next message follow."""
        is_last = at == len(self.text)
        return is_last or (self.text.startswith("\n", at) and self.header_behind(at + 1, role) is not None)

    def tool_end(self, at: int, role: str) -> int | None:
        """Where the end of the tool's block is whose content begins at ``at``; None if the file ends inside it."""
        end = self._plain_end(at, role)
        while end is not None:
            fence = self.fence_from(at)
            if fence is None or fence.start() > end:
                return end
            at = self._past(fence, end)
            if at > end:
                end = self._plain_end(at, role)
        return None

    def _plain_end(self, at: int, role: str) -> int | None:
        """The next end of a block after which the message may end, whatever it stands in."""
        found = at - 1 if self.text.startswith(TOOL_END, at) else self.text.find(f"\n{TOOL_END}", at)
        while found != -1:
            if self.may_end(found + 1 + len(TOOL_END), role):
                return found + 1
            found = self.text.find(f"\n{TOOL_END}", found + 1)
        return None

    def _past(self, fence: re.Match[str], end: int) -> int:
        """Where to look on after a fence: behind it, or inside it where it rather is the end of another one."""
        close = self.close_of(fence)
        is_open = bool(fence["info"].strip()) or len(fence["ticks"]) > _THREE
        if close is None or (close.start() > end and not is_open):
            return fence.end()
        return close.end()

    def next_header(self, at: int, role: str) -> re.Match[str] | None:
        """The header of the message after one of ``role`` whose text begins at ``at``; None where the text goes to the end."""
        found = HEADER.search(self.text, at)
        while found is not None:
            fence = self.fence_from(at)
            if fence is not None and fence.start() < found.start():
                at = self._past_in_text(fence, found.start())
            elif self._is_header(found, role):
                return found
            else:
                at = found.end()
            if at > found.start():
                found = HEADER.search(self.text, at)
        return None

    def _past_in_text(self, fence: re.Match[str], header: int) -> int:
        """Where to look on after a fence that begins before what looks like a header."""
        close = self.close_of(fence)
        if close is None or (close.start() > header and not self._hides(fence, close)):
            return fence.end()
        return close.end()

    def _hides(self, fence: re.Match[str], close: re.Match[str]) -> bool:
        """Whether what looks like a message inside a fence is part of it. A fence of three that is not closed would end with
        that of a later message: then one with a language stands between, so the next one does not close.
        """
        inner = self.fence_from(fence.end())
        return len(fence["ticks"]) > _THREE or inner is None or inner.start() == close.start()

    def _is_header(self, found: re.Match[str], role: str) -> bool:
        start = found.start()
        if not self.text.endswith("\n\n", 0, start):
            return False
        return found["role"] == role or self.text.endswith(f"\n\n{SEPARATOR}", 0, start)
