"""What a query asks for. It is plain words of people: no sign in it is an operator that could fail or reach the store. Pure.

Words that stand together with one sign between them ("ORD-88213", "src/app.py", "order_id") are looked for as they stand. Words
in quotation marks follow on each other. A word of letters also finds words that begin with it; a star says so of anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from ledger.errors import InvalidInput
from projections.search.words import Word, alone, pair, words

MOST_CHARACTERS: Final = 2_000
MOST_CLAUSES: Final = 64
_SHORTEST_BEGINNING: Final = 3
_SHORTEST_STARRED: Final = 2
_QUOTED: Final = re.compile('"([^"]+)"|\u201c([^\u201c\u201d]+)\u201d|\u00ab([^\u00ab\u00bb]+)\u00bb')

STOP_WORDS: Final = frozenset(
    """a about again all also am an and any are as at be because been before being between both but by can could d did do does
    doing don done during each few for from further had has have having he her here hers him his how i if in into is it its just
    know ll m me more most my no nor not now of off on once only or other our ours out over own please re s said same say says
    she should show so some such t tell than that the their theirs them then there these they this those through to too under
    until up us ve very was we were what when where which while who whom why will with would you your yours""".split()  # noqa: SIM905 — a list of words reads better as words
)
"""Words that a question has and an answer need not have. Where a query has no others, they are looked for."""


@dataclass(frozen=True, slots=True)
class Clause:
    """Words that must stand in one place, in their folded form. ``signs`` has what stands between each and the next: None where
    anything may. Where it ``begins``, longer words that begin with the last of them will do.
    """

    texts: tuple[str, ...]
    signs: tuple[str | None, ...] = ()
    begins: bool = False

    @property
    def is_identifier(self) -> bool:
        """Whether signs hold it together."""
        return any(self.signs)

    @property
    def is_stop_word(self) -> bool:
        """Whether it says little about what is looked for."""
        return len(self.texts) == 1 and self.texts[0] in STOP_WORDS

    def apart(self) -> Iterator[Clause]:
        """The sides of "status:failed" and "status=failed", which may stand further apart; nothing of a time or a ratio."""
        cuts = [n + 1 for n, sign in enumerate(self.signs) if sign in (":", "=") and not self.texts[n].isdigit()]
        bounds = [0, *cuts, len(self.texts)]
        for first, end in pairwise(bounds) if cuts else ():
            yield Clause(self.texts[first:end], self.signs[first : end - 1])

    def terms(self) -> tuple[tuple[str, ...], str | None]:
        """The terms that a text must have, and the beginning of one that it must have besides, if this is a beginning."""
        last = len(self.texts) - 1
        exact = [
            pair(self.texts[place], sign, self.texts[place + 1]) if sign is not None else alone(self.texts[place])
            for place, sign in enumerate(self.signs)
        ]
        if not self.signs or self.signs[-1] is None:
            exact.append(alone(self.texts[last]))
        if not self.begins:
            return tuple(exact), None
        return tuple(exact[:-1]), exact[-1]

    def places(self, listed: Sequence[Word]) -> Iterator[tuple[int, int]]:
        """Where in a text, whose words these are, it stands."""
        for place in range(len(listed) - len(self.texts) + 1):
            if self._stands(listed, place):
                yield listed[place].start, listed[place + len(self.texts) - 1].end

    def _stands(self, listed: Sequence[Word], place: int) -> bool:
        last = len(self.texts) - 1
        found = listed[place + last].text
        if not (found.startswith(self.texts[last]) if self.begins else found == self.texts[last]):
            return False
        return all(
            listed[place + n].text == self.texts[n] and (sign is None or _between(listed[place + n]) == sign)
            for n, sign in enumerate(self.signs)
        )


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for: in the first place all of these clauses, and where nothing has them all, any of them."""

    text: str
    clauses: tuple[Clause, ...]

    def loosened(self) -> tuple[Clause, ...]:
        """The clauses of which any will do: also beginnings of identifiers, and what stands on each side of a colon."""
        apart = (part for clause in self.clauses for part in clause.apart())
        loose = (replace(clause, begins=True) if clause.is_identifier else clause for clause in (*self.clauses, *apart))
        return tuple(dict.fromkeys(loose))


def parsed(text: str) -> Query:
    """A query; ``InvalidInput`` for one that has no words, or is too long."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(f"what is searched for is a text of at most {MOST_CHARACTERS:,} characters", path="text")
    found: dict[Clause, None] = {}
    place = 0
    for match in _QUOTED.finditer(text):
        found |= dict.fromkeys(_clauses(text[place : match.start()]))
        found |= dict.fromkeys(_phrase(match[1] or match[2] or match[3]))
        place = match.end()
    found |= dict.fromkeys(_clauses(text[place:]))
    if not found:
        raise InvalidInput(f"{text!r} has no word that could be searched for: give words, numbers or identifiers", path="text")
    content = [clause for clause in found if not clause.is_stop_word] or list(found)
    return Query(text, tuple(content[:MOST_CLAUSES]))


def _phrase(text: str) -> Iterator[Clause]:
    listed = words(text)
    if listed:
        yield Clause(tuple(word.text for word in listed), tuple(map(_between, listed[:-1])))


def _clauses(text: str) -> Iterator[Clause]:
    listed, first = words(text), 0
    for place, word in enumerate(listed):
        if word.is_character:
            yield from _characters(listed, place)
            first = place + 1
        elif not word.sign:
            yield _joined(text, listed[first : place + 1])
            first = place + 1


def _characters(listed: Sequence[Word], place: int) -> Iterator[Clause]:
    """A character with the one beside it; alone only where it has no neighbours."""
    word = listed[place]
    if word.beside:
        yield Clause((word.text, listed[place + 1].text), ("",))
    elif place == 0 or not listed[place - 1].beside:
        yield Clause((word.text,))


def _joined(text: str, run: Sequence[Word]) -> Clause:
    last = run[-1]
    is_starred = text[last.end : last.end + 1] == "*" and len(last.text) >= _SHORTEST_STARRED
    is_plain = len(run) == 1 and not any(map(str.isdigit, last.text)) and len(last.text) >= _SHORTEST_BEGINNING
    begins = is_starred or (is_plain and last.text not in STOP_WORDS)
    return Clause(tuple(word.text for word in run), tuple(word.sign for word in run[:-1]), begins=begins)


def _between(word: Word) -> str | None:
    """What stands between a word and the next; None for anything that joins nothing."""
    return word.sign if word.sign or word.beside else None
