"""A forgetting as the store keeps it until it is done and afterwards: what is left to do of it, and what was done."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Final

import orjson
from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError

from ledger import events as e
from ledger.erasing import StoredJob
from ledger.errors import CorruptRecord
from ledger.forgetting import Wish

Hexadecimal = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{2})+$")]
"""The id of a ledger, or the keyed hash of a subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBack:
    """That events about a forgotten subject are taken again: why, by whom, and when (microseconds since 1970, UTC)."""

    because: str
    actor: str | None
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A forgetting under way. Once every ledger has its fence, ``wish`` is dropped: a job keeps no content.

    ``fences``: by the id of a ledger, the name that it has from then on, if it gets another. ``swept`` and ``scrubbed``: the
    ledgers in which that is done; ``confirmed``: the ledgers for which a place outside of the store confirmed, by its name.
    ``finished``: nothing is left to do. ``taken_back``: set once the subject that this job fenced is taken again.
    """

    job: str
    scope: e.ForgettingScope
    reason: str
    actor: str | None
    answers: tuple[int, ...] | None
    subject: Hexadecimal | None = None
    wish: Wish | None = None
    ledgers: tuple[Hexadecimal, ...] = ()
    fences: dict[Hexadecimal, str | None] = field(default_factory=dict)
    fenced: bool = False
    swept: tuple[Hexadecimal, ...] = ()
    confirmed: dict[str, tuple[Hexadecimal, ...]] = field(default_factory=dict)
    scrub_now: bool = True
    scrubbed: tuple[Hexadecimal, ...] = ()
    problems: tuple[str, ...] = ()
    finished: bool = False
    taken_back: TakenBack | None = None

    @property
    def is_swept(self) -> bool:
        """Whether everything is deleted."""
        return self.fenced and set(self.fences) <= set(self.swept)

    @property
    def is_scrubbed(self) -> bool:
        """Whether everything that was deleted so far is overwritten."""
        return set(self.swept) <= set(self.scrubbed)

    @property
    def is_deferred(self) -> bool:
        """Whether the caller put off what is left to do."""
        return self.is_swept and not self.scrub_now

    def stored(self) -> StoredJob:
        """As the store keeps it."""
        return StoredJob(self.job, orjson.dumps(asdict(self)), self.finished)

    def with_done(self, other: Job) -> Job:
        """With what was done of the same job elsewhere."""
        fenced = self.fenced or other.fenced
        renamed = {ledger: name for ledger, name in other.fences.items() if name is not None or ledger not in self.fences}
        places = dict.fromkeys((*self.confirmed, *other.confirmed))
        return replace(
            self,
            wish=None if fenced else self.wish,
            ledgers=() if fenced else self.ledgers,
            fences={**self.fences, **renamed},
            fenced=fenced,
            swept=_both(self.swept, other.swept),
            confirmed={place: _both(self.confirmed.get(place, ()), other.confirmed.get(place, ())) for place in places},
            scrubbed=_both(self.scrubbed, other.scrubbed),
            taken_back=other.taken_back or self.taken_back,
        )


Job.__pydantic_config__ = ConfigDict(strict=True, extra="forbid")  # type: ignore[attr-defined]
_KEPT: Final = TypeAdapter(Job)


def job_of(stored: StoredJob) -> Job:
    """A job as the store kept it. ``CorruptRecord`` names one that is damaged, or that this release does not know."""
    try:
        return _KEPT.validate_json(stored.state)
    except ValidationError:  # not chained: it shows what the job keeps
        problem = "its state is damaged, or a later release has written it: carry it out with that release"
    raise CorruptRecord(f"forgetting {stored.job} cannot be read: {problem}", job=stored.job)


def _both(these: tuple[str, ...], those: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*these, *those)))
