"""What ``forget`` is asked for: options with their one meaning, and which of them go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final

import typer

from ledger.errors import InvalidInput

OneLedger = Annotated[str | None, typer.Argument(metavar="LEDGER", help="Name of the ledger.")]
Turns = Annotated[list[str] | None, typer.Option("--turns", metavar="N[,N]", help="Turns, with all that rests on them.")]
Facts = Annotated[list[str] | None, typer.Option("--facts", metavar="NAME[,NAME]", help="Fields, with every value they had.")]
Artifacts = Annotated[list[str] | None, typer.Option("--artifact", metavar="SHA256", help="An artifact, by its hash.")]
Ids = Annotated[list[str] | None, typer.Option("--ids", metavar="ID[,ID]", help="Ids (ev_31, r_4471), or versions (v_12).")]
Subject = Annotated[str | None, typer.Option(metavar="NAME", help="All that is about somebody, in all ledgers.")]
Everything = Annotated[bool, typer.Option("--all", help="The whole ledger.")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Why; stays, so without what is forgotten.")]
By = Annotated[str | None, typer.Option(metavar="WHO", help="Who asks for it: an id that means nothing by itself.")]
Answers = Annotated[
    list[str] | None,
    typer.Option("--answers", metavar="N[,N]", help="User turns whose wish this fulfils, or none."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]
NoScrub = Annotated[bool, typer.Option("--no-scrub", help="Overwrite deleted bytes later, with --resume.")]
Pending = Annotated[bool, typer.Option("--pending", help="List what users asked to have forgotten.")]
Decline = Annotated[int | None, typer.Option(metavar="N", min=1, help="Keep what the user asked for in turn N.")]
Jobs = Annotated[bool, typer.Option("--jobs", help="List all forgettings.")]
Resume = Annotated[bool, typer.Option("--resume", help="Carry out what is left of them.")]
Reauthorise = Annotated[bool, typer.Option("--reauthorise", help="Take events of LEDGER, or about --subject, again.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options of one ``forget``, by the names that they have on the command line; what was not given is empty."""

    ledger: str | None = None
    turns: Sequence[str] | None = None
    facts: Sequence[str] | None = None
    artifact: Sequence[str] | None = None
    ids: Sequence[str] | None = None
    all: bool = False
    subject: str | None = None
    reason: str | None = None
    by: str | None = None
    answers: Sequence[str] | None = None
    dry_run: bool = False
    no_scrub: bool = False
    pending: bool = False
    decline: int | None = None
    jobs: bool = False
    resume: bool = False
    reauthorise: bool = False

    @property
    def given(self) -> list[str]:
        """The names of what was given."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return [name for name, value in values if value is not None and value is not False and value != []]

    @property
    def way(self) -> str:
        """The one thing that is to be done: "forget", or another one that an option names."""
        ways = [name for name in self.given if name in _GOES_WITH]
        if len(ways) > 1:
            raise InvalidInput(f"{option(ways[0])} and {option(ways[1])} are given: do one at a time", path=ways[1])
        if not ways:
            return "forget"
        (way,) = ways
        other = next((name for name in self.given if name != way and name not in _GOES_WITH[way]), None)
        if other is not None:
            raise InvalidInput(f"{option(other)} does not go with {option(way)}: leave one out", path=other)
        return way

    @property
    def why(self) -> str:
        """The reason; a plan needs none."""
        if self.reason is None and not self.dry_run:
            raise InvalidInput("--reason is missing: say why, without repeating what is to be forgotten", path="reason")
        return "not given" if self.reason is None else self.reason

    @property
    def selectors(self) -> dict[str, Any]:
        """What to forget, as ``Ledgers.forget`` takes it; a whole ledger must be asked for in so many words."""
        found: dict[str, Any] = {
            "turns": numbers("--turns", self.turns),
            "facts": listed(self.facts),
            "artifacts": listed(self.artifact),
            "ids": listed(self.ids),
        }
        empty = next(
            (name for name in ("facts", "artifact", "ids") if name in self.given and not listed(getattr(self, name))), None
        )
        if empty is not None:
            raise InvalidInput(f"{option(empty)} is empty: say what to forget, or leave it out", path=empty)
        found = {name: values for name, values in found.items() if values}
        if self.ledger is None and self.subject is None:
            raise InvalidInput("give the ledger to forget something of, or --subject", path="ledger")
        if self.all and (found or self.subject is not None):
            raise InvalidInput("--all is the whole ledger: leave it out, or the other selectors", path="all")
        if self.subject is None and not self.all and not found:
            raise InvalidInput(
                "say what to forget: --turns, --facts, --artifact, --ids, or --all for the whole ledger", path="ledger"
            )
        return {**found, "ledger": self.ledger, "subject": self.subject}

    @property
    def answered(self) -> tuple[int, ...] | None:
        """The user turns whose wish is fulfilled; None for the only one, if there is just one."""
        if not self.answers:
            return None
        return () if list(self.answers) == ["none"] else tuple(numbers("--answers", self.answers))


_MOST_DIGITS: Final = 18

_GOES_WITH: Final[dict[str, frozenset[str]]] = {
    "pending": frozenset({"ledger"}),
    "decline": frozenset({"ledger", "reason", "by"}),
    "jobs": frozenset(),
    "resume": frozenset(),
    "reauthorise": frozenset({"ledger", "subject", "reason", "by"}),
}
"""What can be done instead of forgetting, and what goes with it."""


def option(name: str) -> str:
    """How an option is written."""
    return "LEDGER" if name == "ledger" else f"--{name.replace('_', '-')}"


def listed(given: Sequence[str] | None) -> list[str]:
    """The items of options that were given several times, or with commas."""
    return [item.strip() for text in given or () for item in text.split(",") if item.strip()]


def numbers(name: str, given: Sequence[str] | None) -> list[int]:
    """Turns by number; ``InvalidInput`` for what is none."""
    found = listed(given)
    wrong = next((text for text in found if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS)), None)
    if wrong is not None or (given and not found):
        raise InvalidInput(f"{name} {wrong or ''!r} is no number of a turn: give {name} 4, or {name} 4,5", path=name[2:])
    return [int(text) for text in found]
