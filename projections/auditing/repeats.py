"""Which contents of a conversation came more than once, to the letter or nearly, and what the repeats cost. Linear time.

To the letter: the same words and marks, whatever white space is between them. Nearly: of the shingles of a text, which are
``SHINGLE_WORDS`` words in a row, every fourth (by its checksum, so the same ones in every text) is remembered with the text
that had it first; a text of which ``NEAR_SHARE`` or more stand in one earlier text is a near repeat of it, and costs that share
of its tokens again. Short texts are compared to the letter only, and very short ones not at all.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from projections.auditing.audit import Repeated

SHINGLE_WORDS: Final = 6
"""Words in a row that make a shingle."""

NEAR_SHARE: Final = 0.8
"""A text repeats an earlier one nearly if it shares so many of its shingles with it."""

LEAST_TOKENS: Final = 20
"""What costs less is no repeat: people say "thanks" twice."""

_SAMPLED: Final = 4
_LEAST_SHINGLES: Final = 8
_MOST_SHINGLES: Final = 200_000
_MOST_TEXTS: Final = 50_000
_MOST_TURNS: Final = 12
_WORD: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")


class Content(NamedTuple):
    """A text of a conversation: what kind it is of, what names it, in which turn and as which result it came."""

    kind: str
    what: str
    turn: int
    result_id: str | None
    text: str


@dataclass(slots=True)
class _Group:
    """A content, by its number in the order of coming, and its repeats so far."""

    number: int
    first: Content
    exact: int = 0
    near: int = 0
    exact_tokens: int = 0
    near_tokens: int = 0
    turns: list[int] = field(default_factory=list)


class RepeatFinder:
    """Finds the repeats in the contents of one ledger, told one after the other.

    What it remembers is bounded: of very long ledgers, the latest ``_MOST_SHINGLES`` shingles and ``_MOST_TEXTS`` texts.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._texts: OrderedDict[bytes, _Group] = OrderedDict()
        self._shingles: OrderedDict[int, _Group] = OrderedDict()
        self._repeated: dict[int, _Group] = {}

    def see(self, content: Content, tokens: Callable[[], int]) -> None:
        """Compare a content with all before it. ``tokens`` counts what it costs, and is only asked where it is a repeat."""
        digest = hashlib.blake2b("\0".join(content.text.split()).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        group = self._texts.get(digest)
        if group is not None:
            self._add(group, content, tokens(), share=None)
            return
        shingles = sorted(set(_shingles(content.text)))
        group, shared = self._nearest(shingles)
        if group is not None and shared >= NEAR_SHARE:
            self._add(group, content, tokens(), share=shared)
        else:
            self._seen += 1
            group = _Group(self._seen, content._replace(text=""))
        self._remember(digest, shingles, group)

    def _add(self, group: _Group, content: Content, tokens: int, *, share: float | None) -> None:
        if tokens < LEAST_TOKENS:
            return
        if share is None:
            group.exact += 1
            group.exact_tokens += tokens
        else:
            group.near += 1
            group.near_tokens += round(tokens * share)
        if len(group.turns) < _MOST_TURNS and content.turn not in group.turns:
            group.turns.append(content.turn)
        self._repeated[group.number] = group

    def _nearest(self, shingles: Sequence[int]) -> tuple[_Group | None, float]:
        """The earlier content that has most of the shingles, the first of several, and what share of them."""
        if len(shingles) < _LEAST_SHINGLES:
            return None, 0.0
        known = [group for shingle in shingles if (group := self._shingles.get(shingle)) is not None]
        votes = Counter(group.number for group in known)
        best = max(known, key=lambda group: (votes[group.number], -group.number), default=None)
        return (None, 0.0) if best is None else (best, votes[best.number] / len(shingles))

    def _remember(self, digest: bytes, shingles: Sequence[int], group: _Group) -> None:
        self._texts[digest] = group
        if len(self._texts) > _MOST_TEXTS:
            self._texts.popitem(last=False)
        for shingle in shingles:
            self._shingles.setdefault(shingle, group)
        while len(self._shingles) > _MOST_SHINGLES:
            self._shingles.popitem(last=False)

    def found(self, ledger: str) -> Iterator[tuple[Repeated, int]]:
        """Every content that was repeated, in the order of coming, and what its exact repeats alone cost."""
        for _, group in sorted(self._repeated.items()):
            repeated = Repeated(
                ledger,
                group.first.kind,
                group.first.what,
                group.first.turn,
                group.first.result_id,
                tuple(group.turns),
                group.exact,
                group.near,
                group.exact_tokens + group.near_tokens,
            )
            yield repeated, group.exact_tokens


def _shingles(text: str) -> Iterator[int]:
    """The checksums of every fourth shingle, chosen by its checksum."""
    words = [word.encode("utf-8", "surrogatepass") for word in _WORD.findall(text)]
    for place in range(len(words) - SHINGLE_WORDS + 1):
        checksum = zlib.crc32(b" ".join(words[place : place + SHINGLE_WORDS]))
        if checksum % _SAMPLED == 0:
            yield checksum
