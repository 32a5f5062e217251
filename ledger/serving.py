"""The commands about windows: what becomes of a turn, a text that may stand for several, and what was served."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Unpack

from ledger import events as e
from ledger import requests as r
from ledger.given import Options, built
from ledger.json_text import JsonText
from ledger.parts import Usage
from ledger.record import Recorded
from ledger.standing import summary_id, window_id
from ledger.stating import Stating
from ledger.window_events import Verdict


class Serving(Stating):
    """What a ledger is told of its windows."""

    def classify(
        self,
        turn: int,
        verdict: Verdict,
        *,
        because: str | None = None,
        kind: str | None = None,
        by: Literal["person", "model"] = "person",
        model: str | None = None,
        prompt_hash: str | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Say what becomes of a turn in windows: ``keep``, ``compress``, ``stub`` or ``drop``.

        The latest word on a turn counts, but no model's takes the place of a person's. ``kind`` is what the turn is
        ("greeting", "constraint"). Raises ``AdmissionRefused`` for a turn that is not recorded, or was forgotten.
        """
        said = {"because": because, "kind": kind, "by": by, "model": model, "prompt_hash": prompt_hash}
        return self._append(built(e.TurnClassified, turn=turn, verdict=verdict, **said), options)

    def record_summary(
        self,
        text: str,
        *,
        first_turn: int,
        last_turn: int,
        through_version: int,
        inputs: str,
        summariser: str,
        model: str | None = None,
        prompt_hash: str | None = None,
        usage: Usage | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Record a text that may stand for a range of turns, both ends included, and return its id (``sum_31``).

        ``through_version`` is the version that was known to whoever made it, ``inputs`` the SHA-256 of the turns that it was
        made from, ``summariser`` what made it. Summaries of the same turns stand side by side. Raises ``AdmissionRefused``
        for turns that are not recorded, and where something was forgotten since ``through_version``.
        """
        event = built(
            e.SummaryRecorded,
            first_turn=first_turn,
            last_turn=last_turn,
            through_version=through_version,
            inputs=inputs,
            text=text,
            summariser=summariser,
            model=model,
            prompt_hash=prompt_hash,
            usage=usage,
        )
        return summary_id(self._append(event, options).version)

    def record_served(
        self,
        *,
        policy: str,
        declared: str,
        of_version: int,
        form: str,
        engine: str,
        erasures: int,
        bytes_digest: str,
        tokens: int,
        encoding: str,
        plan: str,
        judged_at: datetime | str | None = None,
        rules: int | None = None,
        tools: str | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Record that a window was served, and before it its policy where this ledger has not that one; returns ``win_31``.

        ``policy`` is the policy's digest, ``declared`` its JSON; ``plan`` is JSON, too, of numbers alone, since what was
        served stays when turns are forgotten. The rest is the basis of the window (see ``events.WindowRecorded``), with
        ``judged_at`` aware or in RFC 3339, and ``tools``, the hash of the artifact that has the definitions of its tools.
        ``record_window`` takes all of it from a window.
        """
        request = built(
            r.RecordWindow,
            policy=policy,
            declared=JsonText.parse(declared),
            of_version=of_version,
            form=form,
            engine=engine,
            erasures=erasures,
            bytes_digest=bytes_digest,
            tokens=tokens,
            encoding=encoding,
            plan=JsonText.parse(plan),
            judged_at=judged_at,
            rules=rules,
            tools=tools,
        )
        return window_id(self._execute(request, options)[-1].version)
