"""What became of the turns that were compacted: which are kept whole, what is told of the others, what is carried along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Final, Literal

from projections.transcript import Turn
from projections.verdicts.verdict import Verdict

Teller = Literal["extract", "summary"]

_NUMBER: Final = attrgetter("number")
_WAITS_SINCE: Final = attrgetter("waits_since")


@dataclass(frozen=True, slots=True)
class Stub:
    """The text that stands in the place of the result of a version."""

    version: int
    text: str
    tokens: int


SegmentStubs = Mapping[int, tuple[Stub, ...]]
"""The stubs of the turns of a segment whose results may become stubs, by number."""


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A turn that is kept whole, of the segment from ``first`` to ``last``; its results may be stubs.

    ``tokens``: what it costs so; ``before``: without stubs. Should it give way, ``line`` is told of it, and the exact strings
    in it are carried along: ``exact``, of which ``named`` identify something. ``waits_since``: the version of the latest of its
    results, as long as no turn has answered it; until then there are no stubs.
    """

    number: int
    first: int
    last: int
    rule: str
    tokens: int
    pinned: bool
    by_user: bool = False
    stubs: tuple[Stub, ...] = ()
    exact: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    line: Line | None = None
    before: int = 0
    waits_since: int = 0

    def is_answered(self, turns: Iterable[Turn]) -> bool:
        """Whether its results were answered by now; ``turns`` are those that came since."""
        return any(turn.role == "assistant" and turn.version > self.waits_since for turn in turns) if self.waits_since else True


@dataclass(frozen=True, slots=True)
class Line:
    """What is told of some turns: an extract in their own words, or the summary ``summary`` (its id).

    ``text`` is the line as it is shown, with its end, and ``tokens`` is what it costs.
    """

    first: int
    last: int
    text: str
    tokens: int
    teller: Teller = "extract"
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Chapter:
    """What is told of the segment from ``first`` to ``last``: its lines, or, once it is old, ``brief`` alone."""

    first: int
    last: int
    lines: tuple[Line, ...]
    brief: tuple[Line, ...]

    @property
    def tokens(self) -> int:
        """What its lines cost."""
        return sum(line.tokens for line in self.lines)

    @property
    def brief_tokens(self) -> int:
        """What it costs in brief."""
        return sum(line.tokens for line in self.brief)

    def made_brief(self) -> Chapter:
        """The same, in brief from now on."""
        return replace(self, lines=self.brief)

    def with_line(self, line: Line) -> Chapter:
        """The same with a line on a turn that was kept whole until now."""
        lines, brief = ((*lines, line) for lines in (self.lines, self.brief))
        return replace(self, lines=_in_order(lines), brief=_in_order(brief))


@dataclass(frozen=True, slots=True)
class Exact:
    """A string that is carried along: how many turns refer to it, whether the user stated it, where it was last seen.

    ``named``: whether it identifies something.
    """

    text: str
    tokens: int
    references: int
    by_user: bool
    first: int
    last: int
    named: bool = False

    @property
    def worth(self) -> tuple[bool, bool, int, int]:
        """What is worth more stays longer: names of the user, of others, then what is referred to most and was seen last."""
        return (self.named and self.by_user, self.named or self.by_user, self.references, self.last)

    def seen(self, turn: int, *, by_user: bool) -> Exact:
        """The same after one more turn refers to it."""
        return replace(self, references=self.references + 1, by_user=self.by_user or by_user, last=turn)


@dataclass(frozen=True, slots=True)
class Total:
    """How many turns there are of a kind, what they cost whole, and what is left of that in the window."""

    turns: int = 0
    before: int = 0
    after: int = 0

    def plus(self, before: int, after: int) -> Total:
        """One turn more."""
        return Total(self.turns + 1, self.before + before, self.after + after)

    def minus(self, before: int, after: int) -> Total:
        """One turn less."""
        return Total(self.turns - 1, self.before - before, self.after - after)


@dataclass(frozen=True, slots=True)
class Middle:
    """All segments up to the turn ``through``, compacted one after the other; bounded, however many there were.

    ``results``: the versions of the latest results that are told of. ``wanting``: how many segments are told in extracts
    although summaries are asked for. ``settled``: what all the turns cost, spent results as stubs; ``last_settled``: those of
    the last segment. ``key`` names all that it was made from.
    """

    through: int = 0
    kept: tuple[KeptTurn, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    exact: tuple[Exact, ...] = ()
    results: tuple[int, ...] = ()
    totals: Mapping[Verdict, Total] = field(default_factory=dict)
    wanting: int = 0
    settled: int = 0
    last_settled: int = 0
    key: str = ""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the turns that are kept whole."""
        return tuple(map(_NUMBER, self.kept))

    @property
    def waits(self) -> bool:
        """Whether results of any of them are not known to be answered."""
        return any(map(_WAITS_SINCE, self.kept))


NOTHING: Final = Middle()
"""Before anything is compacted."""


def _in_order(lines: Iterable[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda line: (line.first, line.last)))


def newest_within(tokens: Iterable[int], most: int) -> int:
    """How many of the last of these fit into ``most`` tokens together."""
    number = 0
    for cost in reversed(list(tokens)):
        most -= cost
        if most < 0:
            break
        number += 1
    return number


def abridged(chapters: Sequence[Chapter], most: int) -> tuple[Chapter, ...]:
    """The newest chapters within ``most`` tokens: the latest whole, in about two thirds of that, those before them in brief."""
    whole = newest_within((chapter.tokens for chapter in chapters), most * 2 // 3)
    older, latest = chapters[: len(chapters) - whole], chapters[len(chapters) - whole :]
    left = most - sum(chapter.tokens for chapter in latest)
    told = newest_within((chapter.brief_tokens for chapter in older), left)
    return (*(chapter.made_brief() for chapter in older[len(older) - told :]), *latest)
