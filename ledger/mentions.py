"""Where else forgotten content is spoken of: what lineage cannot know, since somebody said it again elsewhere. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import orjson

from ledger import events as e
from ledger.codec import encode
from ledger.erased import Erased
from ledger.json_text import JsonText
from ledger.record import Recorded

_TELLING: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.-]*\w"  # an e-mail address; a long word is gone through once, not from each letter
    r"|\+?\d[\d ()/-]{5,}\d"  # a number as people write those of telephones and cards
    r"|(?<![\w-])(?=[\w-]*\d)[A-Za-z0-9][\w-]{4,}"  # an identifier: a word with a digit in it
)
_OURS: Final = {
    *("type", "sha256", "role", "source", "match", "section", "media_type", "model", "provider", "block", "usage"),
    *("entry", "contradiction", "evidence", "said_at", "retrieved_at", "inputs", "summariser", "prompt_hash"),
}
"""What in an event is not said by anybody."""

_JSON: Final = "application/json"
_SHORTEST: Final = 4
_MOST: Final = 2_000
"""So many strings are looked for at most, the longest first."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An event that stays and holds ``strings`` of what goes (told while it is planned only). A reader has to judge it."""

    version: int
    turn: int | None
    type: str
    strings: tuple[str, ...]


Contents = Callable[[str], bytes | None]
"""The bytes of an artifact, by its hash; None if there are none."""


def mentions(events: Sequence[Recorded], going: Iterable[int], contents: Contents) -> tuple[Mention, ...]:
    """The events that stay and hold a value of a fact that goes, or an address, number or identifier out of what goes.

    An artifact that is a text holds what stands in its bytes, too.
    """
    gone = set(going)
    strings = _strings(item.event for item in events if item.version in gone)
    if not strings:
        return ()
    wanted = re.compile(_any_of(strings))
    wordless = Erased | e.ContentForgotten | e.WindowRecorded  # what numbers and hashes they hold is not what anybody said
    staying = (item for item in events if item.version not in gone and not isinstance(item.event, wordless))
    found = []
    for item in staying:
        texts = chain(texts_of(item.event), _texts_in_bytes(item.event, contents))
        held = {match.group() for text in texts for match in wanted.finditer(text)}
        if held:
            found.append(Mention(item.version, item.turn, item.envelope.type, tuple(sorted(held))))
    return tuple(found)


def texts_of(event: e.Event | Erased) -> Iterator[str]:
    """Every text in an event, that of foreign JSON included, as people would read it."""
    if not isinstance(event, Erased):
        yield from _leaves(orjson.loads(encode(event)))


def repeats(text: str, going: Iterable[e.Event | Erased]) -> bool:
    """Whether a text repeats an address, number or identifier out of what goes, however it is grouped or capitalised."""
    lower = text.casefold()
    if "@" not in lower and not any(sign.isdigit() for sign in lower):
        return False  # nothing that tells is without
    said = {_plain(told) for told in _telling(text)}
    found = (told for event in going for words in texts_of(event) for told in _telling(words))
    return any(_plain(told) in said or _stands_in(told.casefold(), lower) for told in found)


def _telling(text: str) -> Iterator[str]:
    return (match.group().strip() for match in _TELLING.finditer(text))


def _plain(told: str) -> str:
    return "".join(sign for sign in told.casefold() if sign.isalnum())


def _stands_in(told: str, text: str) -> bool:
    return told in text and re.search(rf"(?<!\w){re.escape(told)}(?!\w)", text) is not None


def _texts_in_bytes(event: e.Event | Erased, contents: Contents) -> Iterator[str]:
    """The text that a stored artifact is, if it is one; that of JSON as it is written, and as people would read it."""
    if not isinstance(event, e.ArtifactStored):
        return
    kind = None if event.media_type is None else event.media_type.partition(";")[0].strip().lower()
    if kind is not None and kind != _JSON and not kind.startswith("text/"):
        return
    content = contents(event.sha256)
    if content is None:
        return
    try:
        yield content.decode(errors="strict" if kind is None else "replace")
        if kind == _JSON:
            yield from _strings_in(orjson.loads(content))
    except ValueError:
        return  # no text, or no JSON after all


def _strings_in(value: Any) -> Iterator[str]:
    """Every string in a JSON value of any depth, names included."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += [*item, *item.values()]
        elif isinstance(item, list):
            waiting += item


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _OURS:
                yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _any_of(strings: Sequence[str], known: int = 0) -> str:
    """A pattern for any of the strings, of which the first ``known`` characters are the same; the first one that fits counts.

    They are told apart by their first characters, so that a text is not compared with each of thousands.
    """
    if known == _SHORTEST or len(strings) == 1:
        return f"(?:{'|'.join(re.escape(string[known:]) for string in strings)})"
    alike: dict[str, list[str]] = defaultdict(list)
    for string in strings:
        alike[string[known]].append(string)
    return f"(?:{'|'.join(re.escape(sign) + _any_of(group, known + 1) for sign, group in alike.items())})"


def _strings(going: Iterable[e.Event | Erased]) -> list[str]:
    found: set[str] = set()
    for event in going:
        value = getattr(event, "value", None)
        if isinstance(value, JsonText):
            plain = value.value
            found.add(plain.strip() if isinstance(plain, str) else str(value))
        for text in texts_of(event):
            found.update(_telling(text))
    return sorted((string for string in found if len(string) >= _SHORTEST), key=lambda string: (-len(string), string))[:_MOST]
