"""Generated histories: what may happen to a ledger, as plain values that Hypothesis can shrink, and who records them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import count
from typing import Any, Final, Literal, get_args

from hypothesis import strategies as st

from ledger import JsonText, Ledger, Ledgers, connect
from ledger.clock import Clock
from ledger.errors import AdmissionRefused
from ledger.events import Role, Section, Side, Source
from ledger.parts import (
    DocumentPart,
    ImagePart,
    JsonPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ReturnPart,
    TextPart,
    ToolCallPart,
    Unparsed,
)
from ledger.window_events import Verdict

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PICTURE: Final = "4d1b1f1f6f1c5b2a5a0ab7f4b2a0dbb1b7b0de7ed7d24b6dd21ee2f7f3ed1d63"
NOTES: Final = "Row 7 of the ledger sheet is wrong.\n" * 3


@dataclass(frozen=True)
class Say:
    """A turn, or system text."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Answer:
    """A tool's return to one of the calls that wait, the ``which``-th of them."""

    which: int
    parts: tuple[ReturnPart, ...]
    is_error: bool


@dataclass(frozen=True)
class Claim:
    """A value for a field; ``supersedes`` names what stands."""

    name: str
    value: Any
    source: Source
    supersedes: bool


@dataclass(frozen=True)
class Note:
    """An entry of a list section."""

    section: Section
    what: str
    why: str | None


@dataclass(frozen=True)
class Strike:
    """The end of an entry, the ``which``-th of those that are open."""

    which: int


@dataclass(frozen=True)
class Clash:
    """Two claims that cannot both hold, resolved at once or left open."""

    about: str
    values: tuple[str, str]
    resolved: bool


@dataclass(frozen=True)
class Judge:
    """What becomes of the ``which``-th turn, by whom and why."""

    which: int
    verdict: Verdict
    by: Literal["person", "model"]
    because: str | None


@dataclass(frozen=True)
class Gist:
    """A text for a range of turns, between the ``ends``-th of those that there are."""

    ends: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Serve:
    """A window that was served by one of two policies."""

    policy: Literal["a", "b"]
    tokens: int


Step = Say | Answer | Claim | Note | Strike | Clash | Judge | Gist | Serve

_WORDS = st.sampled_from(
    [
        "Please compare both depots.",
        "ok",
        "The parcel of Ines Okafor left at 14:05.",
        "Reste à payer : 1 204,50 €",
        "订单已经发货",
        "line one\nline two\n\n",
        "</state>\n<state>",
        "ends with a space ",
        "<|endoftext|>",
        "word " * 60,
        "x" * 300,
        "\ud83d torn",
        "👩\u200d👩\u200d👧 joined\u202egnol",
    ]
)
_BLANK = st.sampled_from(["", " ", "\n\t ", "\u00a0", "\u2003"])
TEXTS: Final = st.one_of(_WORDS, _WORDS, st.text(max_size=40), _BLANK)
"""Texts of all kinds: ordinary, empty, of other alphabets, hostile."""

VALUES: Final = st.recursive(
    st.one_of(
        TEXTS,
        st.integers(),
        st.sampled_from([10**30, Decimal("4050.10"), Decimal("1e400"), 0.1, -0.0]),
        st.booleans(),
        st.none(),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=5,
)
"""Plain JSON values."""

_SOURCES = [
    JsonText.parse('{ "depot" : "North",\n "limit": 1.50 }'),
    JsonText.parse('{"torn": "\\ud83d", "whole": "\\ud83d\\ude00"}'),
    JsonText.parse("[1, 2]"),
    JsonText.parse('"a text"'),
    JsonText.parse("{}"),
    JsonText.parse('{"digits": ' + "9" * 5000 + ', "far": 1e999}'),
]
_ARGUMENTS = st.one_of(st.sampled_from(_SOURCES), TEXTS.map(lambda text: Unparsed(unparsed=text)), VALUES.map(JsonText.of))
_CALL_IDS = st.sampled_from(
    ["call_1", "call_2", "call_77|fc_1", "call_77|fc_2", "call_77_fc_1", "toolu_01", "é" * 70, "c" * 90, "c" * 91, "1"]
)
_TOOLS = st.sampled_from(["stock", "Claims Desk (EU)", "Claims_Desk__EU_", "Zoë", "t" * 100, "get.weather"])

_MEDIA = st.sampled_from(
    [
        ImagePart(sha256=PICTURE, media_type="image/png"),
        ImagePart(sha256=PICTURE, media_type="image/tiff"),
        ImagePart(sha256=PICTURE),
        ImagePart(url="https://pictures.example/label.png"),
        ImagePart(url="data:image/png;base64,iVBORw0KGgo="),
        DocumentPart(sha256=PICTURE, media_type="application/pdf", name="scan.pdf"),
        DocumentPart(sha256=PICTURE, media_type="application/msword"),
        DocumentPart(sha256="1" * 64, media_type="text/plain", size_bytes=12),
        DocumentPart(sha256="2" * 64, media_type="text/plain"),
        DocumentPart(url="https://papers.example/a.pdf", media_type="application/pdf"),
    ]
)
_OPAQUE = st.sampled_from(
    [
        OpaquePart(provider="google", block="executableCode", raw=JsonText.parse('{"executableCode": {"code": "1"}}')),
        OpaquePart(provider="openai", block="refusal", raw=JsonText.parse('{"type": "refusal", "refusal": "No."}')),
    ]
)
_SERVER_TOOL = OpaquePart(
    provider="anthropic",
    block="server_tool_use",
    raw=JsonText.parse('{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}'),
)
_REASONING = st.sampled_from(
    [
        ReasoningPart(
            provider="anthropic",
            raw=JsonText.parse('{ "type":"thinking", "thinking": "Two\\u0020depots.", "signature":"EqQB+/==" }'),
        ),
        ReasoningPart(provider="anthropic", raw=JsonText.parse('{"type": "redacted_thinking",   "data": "0xAbC"}')),
        ReasoningPart(provider="openai", raw=JsonText.parse('{"type":"reasoning","id":"rs_1"}')),
    ]
)
_TEXT_PARTS = TEXTS.map(lambda text: TextPart(text=text))
_JSON_PARTS = VALUES.map(lambda value: JsonPart(value=JsonText.of(value)))
_CALLS = st.builds(ToolCallPart, call_id=_CALL_IDS, tool=_TOOLS, arguments=_ARGUMENTS)

_USER = st.lists(st.one_of(_TEXT_PARTS, _TEXT_PARTS, _JSON_PARTS, _MEDIA, _OPAQUE), max_size=3)
_ASSISTANT = st.lists(st.one_of(_TEXT_PARTS, _CALLS, _CALLS, _REASONING, _OPAQUE, _MEDIA, st.just(_SERVER_TOOL)), max_size=5)
_RETURNED = st.lists(st.one_of(_TEXT_PARTS, _JSON_PARTS, _MEDIA, _OPAQUE), max_size=3)


def _user(parts: Iterable[Any]) -> Say:
    return Say("user", tuple(parts))


def _calls_once(parts: Iterable[Any]) -> Iterator[Any]:
    """Two calls of one turn have different ids."""
    seen: set[str] = set()
    for part in parts:
        if isinstance(part, ToolCallPart):
            if part.call_id in seen:
                continue
            seen.add(part.call_id)
        yield part


_SYSTEM = st.builds(lambda text: Say("system", (TextPart(text=text),)), TEXTS)
_TURNS = st.one_of(
    _USER.map(_user),
    st.lists(_TEXT_PARTS, min_size=1, max_size=2).map(_user),
    _ASSISTANT.map(lambda parts: Say("assistant", tuple(_calls_once(parts)))),
    _ASSISTANT.map(lambda parts: Say("assistant", tuple(_calls_once(parts)))),
)
_ANSWERS = st.builds(Answer, which=st.integers(0, 9), parts=_RETURNED.map(tuple), is_error=st.booleans())
_STATE = st.one_of(
    st.builds(
        Claim,
        name=st.sampled_from(["amount", "Delivery Day", "delivery-day", "ß", "<b>"]),
        value=VALUES,
        source=st.sampled_from(get_args(Source)),
        supersedes=st.booleans(),
    ),
    st.builds(Note, section=st.sampled_from(get_args(Section)), what=TEXTS, why=st.none() | TEXTS),
    st.builds(Strike, which=st.integers(0, 3)),
    st.builds(Clash, about=TEXTS, values=st.tuples(TEXTS, TEXTS), resolved=st.booleans()),
)

_SERVING = st.one_of(
    st.builds(
        Judge,
        which=st.integers(0, 9),
        verdict=st.sampled_from(get_args(Verdict)),
        by=st.sampled_from(["person", "model"]),
        because=st.none() | TEXTS.filter(str.strip),
    ),
    st.builds(Gist, ends=st.tuples(st.integers(0, 9), st.integers(0, 9)), text=TEXTS),
    st.builds(Serve, policy=st.sampled_from(["a", "b"]), tokens=st.integers(0, 9_000)),
)

_STEPS = st.one_of(_TURNS, _TURNS, _TURNS, _ANSWERS, _ANSWERS, _STATE, _SERVING, _SYSTEM)
_USER_TURN = st.lists(_TEXT_PARTS, min_size=1, max_size=2).map(_user)

HISTORIES: Final = st.lists(_STEPS, min_size=1, max_size=14)
"""Lists of steps. Not each can be taken: a player passes over those that the ledger refuses."""

CONVERSATIONS: Final = st.builds(
    lambda system, opening, user, rest: [*system, *opening, user, *rest],
    st.lists(_SYSTEM, max_size=2),
    st.lists(_STEPS, max_size=2),
    _USER_TURN,
    st.lists(_STEPS, min_size=3, max_size=14),
)
"""Histories with a user turn, so that there is something to send."""


@dataclass
class Player:
    """Records steps in a ledger, knowing which calls wait and which entries are open."""

    ledger: Ledger
    turns: int = 0
    waiting: list[tuple[int, str]] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    standing: dict[str, Any] = field(default_factory=dict)
    artifacts: dict[str, str] = field(default_factory=dict)

    def play(self, steps: Iterable[Step]) -> None:
        """Take every step that can be taken."""
        for step in steps:
            self.take(step)

    def take(self, step: Step) -> None:
        """Take one step, if it can be taken."""
        with suppress(AdmissionRefused):
            self._take(step)

    def _take(self, step: Step) -> None:
        match step:
            case Say():
                self._say(step)
            case Answer() if self.waiting:
                turn, call = self.waiting.pop(step.which % len(self.waiting))
                self.ledger.record_return(call, self._stored(step.parts), turn=turn, is_error=step.is_error)
            case Claim():
                supersedes = self.standing.get(step.name) if step.supersedes else None
                event = self.ledger.set_fact(step.name, step.value, source=step.source, supersedes=supersedes).event
                if event.type in ("fact.set", "fact.superseded"):
                    self.standing[step.name] = step.value
            case Note():
                self.entries.append(self.ledger.add_entry(step.section, step.what, why=step.why, source="inferred"))
            case Strike() if self.entries:
                self.ledger.close_entry(self.entries.pop(step.which % len(self.entries)), source="interface", because="settled")
            case Clash():
                sides = [Side(value=JsonText.of(value), source="tool") for value in step.values]
                found = self.ledger.record_contradiction(step.about, sides)
                if step.resolved:
                    self.ledger.resolve_contradiction(found, because="looked up", source="user")
            case Judge() if self.turns:
                self.ledger.classify(1 + step.which % self.turns, step.verdict, by=step.by, because=step.because)
            case Gist() if self.turns and step.text.strip():
                self._summarise(step)
            case Serve() if self.ledger.version:
                self._serve(step)
            case _:
                pass

    def _summarise(self, step: Gist) -> None:
        first, last = sorted(1 + end % self.turns for end in step.ends)
        self.ledger.record_summary(
            step.text,
            first_turn=first,
            last_turn=last,
            through_version=self.ledger.version,
            inputs="0" * 64,
            summariser="extractive/1",
        )

    def _serve(self, step: Serve) -> None:
        self.ledger.record_served(
            policy=step.policy * 64,
            declared=f'{{"tail_turns":"{step.policy}"}}',
            of_version=self.ledger.version,
            form="text",
            engine="2",
            erasures=0,
            bytes_digest="0" * 64,
            tokens=step.tokens,
            encoding="o200k_base",
            plan="{}",
        )

    def _say(self, step: Say) -> None:
        number = self.ledger.record_turn(step.role, self._stored(step.parts))
        if number is not None:
            self.turns = number
            self.waiting += [(number, part.call_id) for part in step.parts if isinstance(part, ToolCallPart)]

    def _stored(self, parts: tuple[Any, ...]) -> list[Any]:
        """The parts with the hash of a real artifact where the plan names one."""
        return [self._with_bytes(part) if isinstance(part, ImagePart | DocumentPart) else part for part in parts]

    def _with_bytes(self, part: ImagePart | DocumentPart) -> ImagePart | DocumentPart:
        contents = {PICTURE: PNG, "1" * 64: b"Row 7 wrong.", "2" * 64: NOTES.encode()}
        if part.sha256 not in contents:
            return part
        if part.sha256 not in self.artifacts:
            self.artifacts[part.sha256] = self.ledger.store_artifact(contents[part.sha256])
        return part.model_copy(update={"sha256": self.artifacts[part.sha256]})


@contextmanager
def recorded(steps: Iterable[Step]) -> Iterator[Ledgers]:
    """A store in memory whose ledger "case" has a history."""
    with connect(":memory:", clock=ticking()) as store:
        Player(store.ledger("case")).play(steps)
        yield store


def ticking(start: int = 1_900_000_000_000_000, step: int = 1_000_000) -> Clock:
    """A clock that goes on by a second each time that it is read."""
    return count(start, step).__next__


def without_media(steps: Iterable[Step]) -> list[Step]:
    """The same history without pictures and documents, so that each text in a window costs what it is long."""
    return [replace(step, parts=tuple(_texts(step.parts))) if isinstance(step, Say | Answer) else step for step in steps]


def _texts(parts: Iterable[Any]) -> Iterator[Any]:
    return (part for part in parts if not isinstance(part, ImagePart | DocumentPart))
