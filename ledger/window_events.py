"""The events about windows: what turns are worth, what stands for them, by which policy, and what was served."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from ledger.event import EventBase
from ledger.json_text import JsonText, Text
from ledger.parts import Moment, Name, Sha256, TurnNumber, Usage

Verdict = Literal["keep", "compress", "stub", "drop"]
"""What becomes of a turn in a window: verbatim, as part of a shorter text, as a short stand-in, or not at all."""


class TurnClassified(EventBase):
    """Somebody said what becomes of the turn in windows: a person, or a model (which one, and the hash of its prompt).

    ``kind`` is what the turn is ("greeting", "constraint"). The latest classification of a turn stands, but no model's takes
    the place of a person's.
    """

    type: Literal["turn.classified"] = Field(default="turn.classified", exclude=True)
    verdict: Verdict
    by: Literal["person", "model"]
    kind: Name | None = None
    because: Text | None = None
    model: Name | None = None
    prompt_hash: Name | None = None


class SummaryRecorded(EventBase):
    """A text that may stand for the turns from ``first_turn`` to ``last_turn``, both included.

    Its id is ``sum_`` and the version of this event. It was made from what was recorded up to ``through_version``; ``inputs``
    is the SHA-256 of the turns as they were read.
    ``summariser`` says by what ("extractive/1", "openai"); for a model, which one, the hash of its prompt and what it used.
    """

    type: Literal["summary.recorded"] = Field(default="summary.recorded", exclude=True)
    first_turn: TurnNumber
    last_turn: TurnNumber
    through_version: int = Field(ge=1)
    inputs: Sha256
    text: Text
    summariser: Name
    model: Name | None = None
    prompt_hash: Name | None = None
    usage: Usage | None = None


class PolicyRecorded(EventBase):
    """The policy of windows that follow: its JSON, and the digest by which they name it."""

    type: Literal["policy.recorded"] = Field(default="policy.recorded", exclude=True)
    digest: Sha256
    declared: JsonText


class WindowRecorded(EventBase):
    """A window was served, built at ``of_version`` by a policy (its digest). Its id is ``win_`` and the version of this event.

    ``form`` is the renderer, ``engine`` the version of the code, ``erasures`` how many forgettings were counted, ``judged_at``
    when retention was judged, by the rules up to the version ``rules``. ``bytes_digest`` is the SHA-256 of the request's bytes,
    ``tokens`` what it costs in ``encoding``, ``tools`` the hash of the artifact with the definitions of tools that went with
    it. ``plan`` says which turns were kept, compressed, stubbed and dropped, in numbers.
    """

    type: Literal["window.recorded"] = Field(default="window.recorded", exclude=True)
    policy: Sha256
    of_version: int = Field(ge=1)
    form: Name
    engine: Name
    erasures: int = Field(ge=0)
    bytes_digest: Sha256
    tokens: int = Field(ge=0)
    encoding: Name
    plan: JsonText
    judged_at: Moment | None = None
    rules: int | None = Field(default=None, ge=0)
    tools: Sha256 | None = None


UNDECIDING: Final = ("summary.recorded", "turn.classified", "window.recorded")
"""Types of events on which no later decision rests, so that a writer need not read them; there may be one of them a turn."""
