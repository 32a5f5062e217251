"""The short stand-ins for results of tools: what was asked, what came, what of it was used, and where the whole result is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from ledger.erased import Forgotten
from ledger.parts import DocumentPart, ImagePart, JsonPart, OpaquePart, TextPart, ToolCallPart, Unparsed
from projections.escaping import escaped
from projections.exact.sentences import short_question
from projections.transcript import Return

_MOST_CHARACTERS: Final = 200
_MOST_ASKED: Final = 40
_TOOL_COST: Final = 12
_ASKED_COST: Final = 14
_STUB_COST: Final = 44
"""What tool, question and stub may cost, as ``_cost`` weighs them; what was used gives way first, then the question."""

_PLAIN: Final = re.compile(r"[\w.\-/:@#$%+~()]+", re.ASCII)
_CLOSING: Final = re.compile(r"[\[\]]")
_TOKENS: Final = re.compile(r"(?<![A-Z])[A-Z][a-z]+|[a-z]{1,8}|[A-Z]{1,2}|[0-9]{1,3}|[!-/:-@\[-^`{-~]{1,2}|[^\s]")
_RARE: Final = re.compile("[^\\s\x00-\u0dff\u0e00-\u0eff\u1e00-\u206f\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff65]")
"""Characters that have up to three tokens each; others have about one."""

_MAIN: Final = (
    *("query", "q", "question", "search", "command", "cmd", "path", "file_path", "filename", "file", "url", "uri", "pattern"),
    *("expression", "code", "input", "prompt", "id"),
)
"""The names of arguments that say most, the best first; where a call has none of them, its first one is shown."""


class StubFrame(NamedTuple):
    """The stub of a result but for what of it is used: what stands before that and behind it, and what there is room for."""

    before: str
    behind: str
    left: int

    def naming(self, used: Sequence[str]) -> str:
        """One line of about 30 tokens for a result that is not shown.

        ``[search_orders "late delivery": 8 results; used ORD-88213, ORD-88220; whole result: result_id=r_4471]``: the tool,
        what was asked, how much came, what of it is used (as much as fits), and the id by which the whole result is fetched.
        What comes from outside cannot close the stub or begin another line.
        """
        return f"{self.before}{''.join(_that_fit(used, self.left))}{self.behind}"


def stub_frame(returned: Return, call: ToolCallPart) -> StubFrame:
    """What the stub of a result says whatever of it is used."""
    tool = _shown(call.tool, _MOST_CHARACTERS, _TOOL_COST)
    came = f": {what_came(returned)}"
    behind = f"; whole result: result_id={returned.id}]"
    left = _STUB_COST - _cost(f"[{tool}{came}{behind}")
    asked = main_argument(call)
    question = "" if asked is None else f" {_quoted(asked, _MOST_ASKED, min(left, _ASKED_COST))}"
    return StubFrame(f"[{tool}{question}{came}", behind, left - _cost(question))


def _that_fit(used: Sequence[str], left: int) -> Iterator[str]:
    """What was used, each string that there is room for."""
    before = "; used "
    for string in used:
        name = before + (string if _PLAIN.fullmatch(string) else _in_quotes(string))
        cost = _cost(name)
        if cost <= left:
            yield name
            left -= cost
            before = ", "


def main_argument(call: ToolCallPart) -> str | None:
    """What a call asks for: its telling argument as a text, or its first one; None where it has none."""
    if isinstance(call.arguments, Unparsed):
        return call.arguments.unparsed.strip() or None
    value = call.arguments.value
    if isinstance(value, dict):
        named = [value[name] for name in _MAIN if isinstance(value.get(name), str) and value[name].strip()]
        return named[0] if named else next(_leaves(value), None)
    return next(_leaves(value), None)


def what_came(returned: Return) -> str:
    """How much a result holds: "8 results", "1,204 lines", "error, 57 characters", "1 image", "forgotten"."""
    came = ", ".join(_parts_that_came(returned))
    return f"error, {came}" if returned.is_error else came


def _parts_that_came(returned: Return) -> Iterator[str]:
    texts = [part for part in returned.parts if isinstance(part, TextPart | JsonPart)]
    others = Counter(_kind(part) for part in returned.parts if not isinstance(part, TextPart | JsonPart))
    if texts or not others:
        yield _amount(texts[0] if len(texts) == 1 else None, "\n".join(_source(part) for part in texts))
    for kind, number in others.items():
        yield kind if kind == "forgotten" else _number(number, kind)


def _kind(part: Any) -> str:
    match part:
        case ImagePart():
            return "image"
        case DocumentPart():
            return "document"
        case Forgotten():
            return "forgotten"
        case OpaquePart():
            return "block"
        case _:
            raise TypeError(f"no part of a result: {type(part).__name__}")


def _source(part: TextPart | JsonPart) -> str:
    return part.text if isinstance(part, TextPart) else str(part.value)


def _amount(only: TextPart | JsonPart | None, text: str) -> str:
    """The length of the list that a result is, or of the only one that it holds; else its lines or characters."""
    said = text.strip()
    if not said:
        return "empty"
    if only is not None and said[0] in "[{":
        try:
            value = orjson.loads(said)
        except ValueError:  # no JSON after all, or more than a library reads
            value = None
        lists = [value] if isinstance(value, list) else _lists(value)
        if len(lists) == 1:
            return _number(len(lists[0]), "result")
    lines = said.count("\n") + 1
    return _number(lines, "line") if lines > 1 else _number(len(said), "character")


def _lists(value: Any) -> list[list[Any]]:
    return [item for item in value.values() if isinstance(item, list)] if isinstance(value, dict) else []


def _number(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _leaves(value: Any) -> Iterator[str]:
    """Every text and number in a JSON value, in order, the texts as they are."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += reversed(item.values())
        elif isinstance(item, list):
            waiting += reversed(item)
        elif item is not None and str(item).strip():
            yield str(item).lower() if isinstance(item, bool) else str(item)


def _shown(text: str, most_characters: int, most_cost: int) -> str:
    """A name as it is, or in quotes where it is no plain name or too long."""
    if len(text) <= most_characters and _PLAIN.fullmatch(text) and _cost(text) <= most_cost:
        return text
    return _quoted(text, most_characters, most_cost)


def _quoted(text: str, most_characters: int, most_cost: int) -> str:
    """A text on one line in quotes, shortened as often as needed."""
    while True:
        quoted = _in_quotes(short_question(text, most_characters))
        if _cost(quoted) <= most_cost or most_characters == 1:
            return quoted
        most_characters = min(most_characters, len(text)) * 3 // 4 or 1


def _in_quotes(text: str) -> str:
    """A text in quotes, on one line, that cannot close them and holds no bracket."""
    return _CLOSING.sub(lambda match: f"\\u{ord(match.group()):04x}", escaped(text))


def _cost(text: str) -> int:
    """About how many tokens a text has, rather too many: no tokenizer is at hand here."""
    tokens = len(_TOKENS.findall(text))
    return tokens if text.isascii() else tokens + 2 * len(_RARE.findall(text))
