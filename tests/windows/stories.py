"""Longer histories for windows: exchanges with tools, late and missing results, odd turns, and what is said of turns later."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from ledger import JsonText, Ledgers, connect
from ledger.errors import LedgerError
from ledger.parts import ImagePart, TextPart, ToolCallPart
from tests.projections.histories import CONVERSATIONS, PICTURE, Answer, Claim, Gist, Judge, Player, Say, Step, ticking


@dataclass(frozen=True)
class Forget:
    """The ``which``-th turn is forgotten."""

    which: int


@dataclass(frozen=True)
class Work:
    """An exchange: the user asks, tools are called ``rounds`` times with results of ``size`` words each, and it is answered.

    ``parallel``: calls a round; ``missing``: the last call gets no result, or only after the answer (``late``).
    """

    number: int
    rounds: int
    size: int
    parallel: int
    missing: bool
    late: bool
    shows: bool

    def steps(self) -> Iterator[Step]:
        """What is recorded."""
        order = f"ORD-{70_000 + self.number}"
        yield said("user", f"Where is {order}? It goes to /srv/depot_{self.number}/in.csv, please.")
        for place in range(self.rounds):
            calls = [looked_up(f"c{self.number}_{place}_{one}", order, one) for one in range(self.parallel)]
            yield Say("assistant", (TextPart(text=f"Let me look up {order}."), *calls))
            for one in range(self.parallel):
                is_last = place == self.rounds - 1 and one == self.parallel - 1
                if not (is_last and self.missing):
                    yield Answer(
                        -1, (TextPart(text=result(self.number, place, one, self.size)), *self._picture()), is_error=one == 2
                    )
        yield said("assistant", f"It is in hall H-{self.number}, with TRK-{self.number:05d}.")
        if self.missing and self.late:
            yield Answer(-1, (TextPart(text=result(self.number, 9, 9, self.size)),), is_error=False)

    def _picture(self) -> tuple[ImagePart, ...]:
        return (ImagePart(sha256=PICTURE, media_type="image/png"),) if self.shows else ()


@dataclass(frozen=True)
class Talk:
    """Words that matter, or that do not."""

    number: int
    kind: int

    def steps(self) -> Iterator[Step]:
        """What is recorded."""
        users = (
            "ok thanks!",
            f"Never send invoice INV-{self.number:04d} by mail.",
            f"Remember: the limit is {self.number + 40}.50 EUR.",
            f"And what about gate {self.number}? " + "It rains and the lorry waits outside. " * 12,
            f"Is shelf S-1x{self.number} free, and is TRK-{self.number:05d} still in hall H-{self.number}?",
        )
        yield said("user", users[self.kind % len(users)])
        if self.kind != 1:
            yield said("assistant", f"Noted, point {self.number}.")


Scene = Work | Talk | list[Step] | Forget
Story = list[Step | Forget]


def said(role: Any, text: str) -> Say:
    """A turn of one text."""
    return Say(role, (TextPart(text=text),))


def looked_up(call_id: str, order: str, place: int) -> ToolCallPart:
    """A call."""
    return ToolCallPart(call_id=call_id, tool="find_order", arguments=JsonText.of({"query": order, "page": place}))


def result(number: int, place: int, one: int, size: int) -> str:
    """What a tool returned, of about ``size`` words, with names in it that are used and others that are not."""
    rows = [
        f"TRK-{number:05d} hall H-{number}",
        *(f"row {place}.{one}.{row} shelf S-{row}x{number} free" for row in range(size // 6)),
    ]
    return "\n".join(rows)


_OPENING: Final[list[Step]] = [said("system", "You are a clerk."), said("user", "Look after the depot of Ines Okafor.")]

_WORK = st.builds(
    Work,
    number=st.integers(1, 99),
    rounds=st.integers(1, 4),
    size=st.sampled_from([1, 12, 60, 200, 900]),
    parallel=st.sampled_from([1, 1, 2, 4]),
    missing=st.booleans(),
    late=st.booleans(),
    shows=st.sampled_from([False, False, False, True]),
)
_TALK = st.builds(Talk, number=st.integers(1, 99), kind=st.integers(0, 4))
_LATER = st.one_of(
    st.builds(
        Judge,
        which=st.integers(0, 40),
        verdict=st.sampled_from(["keep", "compress", "stub", "drop"]),
        by=st.sampled_from(["person", "model"]),
        because=st.none(),
    ),
    st.builds(Gist, ends=st.tuples(st.integers(0, 40), st.integers(0, 40)), text=st.just("It was about orders.")),
    st.builds(
        Claim,
        name=st.sampled_from(["limit", "hall"]),
        value=st.integers(0, 9),
        source=st.just("user"),
        supersedes=st.just(True),
    ),
).map(lambda step: [step])
_FORGET = st.builds(Forget, which=st.integers(0, 40))


def expanded(scenes: Iterable[Scene]) -> Story:
    """The steps of scenes, one after the other."""
    steps: Story = []
    for scene in scenes:
        if isinstance(scene, Work | Talk):
            steps += scene.steps()
        elif isinstance(scene, Forget):
            steps.append(scene)
        else:
            steps += scene
    return steps


def stories(*, forgets: bool = True, odd: bool = True) -> st.SearchStrategy[Story]:
    """Stories of some 10 to 60 turns, the first of them a user's."""
    some = [_WORK, _WORK, _WORK, _TALK, _LATER]
    some += [CONVERSATIONS] if odd else []
    some += [_FORGET] if forgets else []
    short = st.lists(st.one_of(*some), min_size=6, max_size=24).map(lambda scenes: expanded([_OPENING, *scenes]))
    long = st.builds(long_story, st.integers(0, 10**6), st.integers(8, 24), forgets=st.just(forgets))
    return short | long


def long_story(seed: int, scenes: int, *, forgets: bool = False) -> Story:
    """A story of some four turns a scene that a seed alone chooses: long ones are drawn quickly so."""
    chance = random.Random(seed)
    return expanded([_OPENING, *(_scene(chance, number, forgets=forgets) for number in range(scenes))])


def _scene(chance: random.Random, number: int, *, forgets: bool) -> Scene:
    kind = chance.random()
    if kind < 0.6:
        size, parallel = chance.choice([1, 12, 60, 60, 200, 900]), chance.choice([1, 1, 1, 2, 4])
        odds = [chance.random() < odd for odd in (0.2, 0.5, 0.1)]
        return Work(number, chance.randint(1, 4), size, parallel, *odds)
    if kind < 0.85:
        kind_of_talk = chance.randint(0, 4)
        return Talk(number if kind_of_talk < 4 else chance.randint(0, number), kind_of_talk)
    if kind < 0.95 or not forgets:
        verdict: Any = chance.choice(["keep", "compress", "stub", "drop"])
        judge = Judge(chance.randint(0, 40), verdict, "person", None)
        gist = Gist((chance.randint(0, 40), chance.randint(0, 40)), "It was about orders.")
        later: list[Step] = [judge, gist, said("assistant", "")]
        return [chance.choice(later)]
    return Forget(chance.randint(0, 40))


def play(player: Player, step: Step | Forget) -> None:
    """Take one step, if it can be taken."""
    if not isinstance(step, Forget):
        player.take(step)
    elif player.turns:
        with suppress(LedgerError):
            player.ledger.forget(turns=[1 + step.which % player.turns], reason="asked to")


@contextmanager
def told(story: Story) -> Iterator[Ledgers]:
    """A store in memory whose ledger "case" has a story."""
    with connect(":memory:", clock=ticking()) as store:
        player = Player(store.ledger("case"))
        for step in story:
            play(player, step)
        yield store


FORMS: Final = ("openai", "openai_responses", "anthropic", "gemini", "markdown", "text")
