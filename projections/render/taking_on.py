"""What a renderer takes on from an earlier window: the messages of the pieces with which both begin."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

from projections.pieces import Piece, Pieces, alike
from projections.policy import Policy
from projections.render.identifiers import Limits, Names
from projections.render.media import Media
from projections.render.renderer import Renderer
from projections.transcript import SystemText


class Given(NamedTuple):
    """What the messages of a form are made from."""

    form: type[Renderer]
    system: tuple[SystemText, ...]
    pieces: Pieces
    policy: Policy
    media: Media

    def shared(self, before: Given) -> int:
        """How many pieces at the beginning are shown as they were in an earlier window."""
        if self.form is not before.form or self.system != before.system or self.policy.digest != before.policy.digest:
            return 0
        same = alike(self.pieces, before.pieces)
        return same if self.media == before.media else self._shown_alike(before, same)

    def _shown_alike(self, before: Given, same: int) -> int:
        """How many of them show the same bytes: what was not there may be there by now."""
        if self.media.complete != before.media.complete:
            return 0
        known, others = self.media.known, before.media.known
        changed = {sha256 for sha256 in known.keys() | others.keys() if known.get(sha256) != others.get(sha256)}
        return next((place for place, piece in enumerate(self.pieces[:same]) if not changed.isdisjoint(piece.media)), same)


class Made:
    """The messages of a request while they are made of its pieces, and the names in them.

    The messages with which an earlier request of the form begins, too, are taken on as they are: whatever it was, they are the
    same as if they were made anew. So nothing of a finished message may change any more.

    ``taken``: so many messages are finished from the beginning.
    """

    __slots__ = ("_begun", "_given", "_place", "_since", "messages", "names", "taken")

    def __init__(self, given: Given, limits: Limits, before: Made | None) -> None:
        self._given = given
        self._place = self._since = self.taken = 0  # the piece at hand, and the first whose message is still to be made
        self._begun: list[tuple[int, int]] = []  # which pieces began a message, each with how many there were before it
        self.messages: list[Any] = []
        if before is None or not self._take_on(before, limits):
            self.names = Names(given.pieces, limits)

    def _take_on(self, before: Made, limits: Limits) -> bool:
        """From the last common piece on that began a message: nothing was added any more to those before it."""
        found = bisect_left(before._begun, (self._given.shared(before._given),)) - 1
        if found < 0:
            return False
        since, taken = before._begun[found]
        names = Names(self._given.pieces, limits, before=before.names, since=since)
        if not names.agree(before.names):
            return False
        self.names, self._since, self.taken = names, since, taken
        self._begun = before._begun[:found]
        self.messages = before.messages[:taken]
        return True

    def rest(self) -> Iterator[Piece]:
        """The pieces whose messages are still to be made, one after the other."""
        for place, piece in enumerate(self._given.pieces[self._since :], self._since):
            self._place = place
            yield piece

    def begin(self) -> None:
        """Say that the piece adds nothing to the messages before: it begins with one of its own, which comes next."""
        self._begun.append((self._place, len(self.messages)))
