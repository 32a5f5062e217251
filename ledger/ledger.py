"""A ledger's handle: the commands that record what happened."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Unpack

from pydantic import BaseModel

from ledger import events as e
from ledger import requests as r
from ledger.codec import check_comes_back
from ledger.content import Given, return_content, turn_content
from ledger.erased import Forgotten
from ledger.errors import AdmissionRefused, InvalidInput
from ledger.given import Options, built, command_of
from ledger.json_text import JsonText
from ledger.parts import Usage
from ledger.quotes import locate
from ledger.record import Recorded
from ledger.served import Servable
from ledger.serving import Serving
from ledger.standing import contradiction_id, entry_id, evidence_id
from ledger.writer import check_size


class Ledger(Serving):
    """One conversation, task or agent run. Making a handle appends nothing; handles may be shared by threads."""

    @property
    def version(self) -> int:
        """The version that the ledger is at; 0 before anything was recorded."""
        return self._writer.version

    def events(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The recorded events with versions in ``(after, upto]``, in order."""
        return self._writer.events(after, upto)

    def artifact(self, sha256: str) -> bytes | Forgotten | None:
        """The bytes of an artifact of this ledger, ``Forgotten`` if they were; None if there never was one of that hash."""
        content = self._writer.blob(sha256)
        return self._writer.forgotten_artifact(sha256) if content is None else content

    def __repr__(self) -> str:
        return f"<ledger {self.name!r}>"

    def open(self, *, task: str | None = None, schema: str | None = None, parent: str | None = None) -> None:
        """Give the ledger a task, a schema's name or a parent; the same again appends nothing."""
        self._execute(built(r.OpenLedger, task=task, schema_name=schema, parent=parent), {})

    def close(self, because: str | None = None, **options: Unpack[Options]) -> None:
        """Record that nothing more will be recorded, save an outcome."""
        self._append(built(e.LedgerClosed, because=because), options)

    def record_turn(
        self,
        role: e.Role,
        content: Given,
        *,
        name: str | None = None,
        model: str | None = None,
        usage: Usage | None = None,
        external_id: str | None = None,
        said_at: datetime | None = None,
        **options: Unpack[Options],
    ) -> int | None:
        """Record a turn and return its number; system text has none.

        ``content`` is a text, a part, or a list of parts and texts. Pictures and documents whose bytes come in a data: URL are
        stored as artifacts.
        """
        given = turn_content(content)
        request = built(
            r.RecordTurn,
            role=role,
            parts=given.parts,
            artifacts=given.artifacts,
            name=name,
            model=model,
            usage=usage,
            external_id=external_id,
            said_at=said_at,
        )
        return self._execute(request, options, given.blobs)[-1].turn

    def record_return(
        self,
        call_id: str,
        content: Given,
        *,
        turn: int | None = None,
        is_error: bool = False,
        tool: str | None = None,
        external_id: str | None = None,
        said_at: datetime | None = None,
        **options: Unpack[Options],
    ) -> int:
        """Record what a call returned and return the event's version. Without ``turn``: the latest turn in which the call
        waits.

        ``content`` is a text, a part, a list of parts (with texts among them), or a plain JSON value, kept as its JSON text.
        """
        given = return_content(content)
        request = built(
            r.RecordReturn,
            call_id=call_id,
            parts=given.parts,
            artifacts=given.artifacts,
            turn=turn,
            is_error=is_error,
            tool=tool,
            external_id=external_id,
            said_at=said_at,
        )
        return self._execute(request, options, given.blobs)[-1].version

    def add_entry(
        self,
        section: e.Section,
        what: str,
        *,
        source: e.Source,
        why: str | None = None,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Add a constraint, decision, rejected option or open question and return its id (``en_14``)."""
        event = built(e.EntryAdded, section=section, what=what, why=why, source=source, turn=turn)
        return entry_id(self._append(event, options).version)

    def close_entry(
        self,
        entry: str,
        *,
        because: str,
        source: e.Source,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Say that an entry holds no longer: answered, lifted, withdrawn; a source may not weigh less than its maker's."""
        return self._append(built(e.EntryClosed, entry=entry, because=because, source=source, turn=turn), options)

    def store_artifact(
        self,
        content: bytes,
        *,
        media_type: str | None = None,
        name: str | None = None,
        url: str | None = None,
        retrieved_at: datetime | None = None,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Store raw bytes and return their SHA-256, by which parts and evidence refer to them."""
        if not isinstance(content, bytes):
            raise InvalidInput(f"an artifact is bytes, not {type(content).__name__}: encode a text first", path="content")
        sha256 = hashlib.sha256(content).hexdigest()
        event = built(
            e.ArtifactStored,
            sha256=sha256,
            size_bytes=len(content),
            media_type=media_type,
            name=name,
            url=url,
            retrieved_at=retrieved_at,
            turn=turn,
        )
        self._append(event, options, {sha256: content})
        return sha256

    def record_window(self, window: Servable, **options: Unpack[Options]) -> str:
        """Record that a window of this ledger was served to a model, and return its id (``win_31``).

        Kept are its basis, its policy, the digest of its bytes and which turns it showed, so that it can be built again and
        compared; the definitions of tools that went with it are stored as an artifact. ``InvalidInput`` for a window of another
        ledger.
        """
        served = window.served()
        if served.ledger != self.name:
            raise InvalidInput(f"the window is of ledger {served.ledger!r}: record it there", path="window")
        values = asdict(served)
        del values["ledger"]
        tools = values.pop("tools")
        stored = None if tools is None else self.store_artifact(tools, media_type="application/json", name="tools")
        return self.record_served(**values, tools=stored, **options)

    def record_evidence(
        self,
        claim: str,
        *,
        quote: str,
        artifact: str,
        retrieved_at: datetime | None = None,
        requirement: str | None = None,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Record a claim with the quote that it rests on and return its id (``ev_31``).

        The quote is looked up in the artifact's bytes (read as UTF-8) before it is recorded; ``match`` and its place are kept.
        """
        content = self._writer.blob(artifact)
        if content is None:
            forgotten = self._writer.forgotten_artifact(artifact)
            if forgotten is not None:
                raise AdmissionRefused(
                    f"artifact {artifact[:12]}… was forgotten by job {forgotten.job}", field="artifact", job=forgotten.job
                )
            raise AdmissionRefused(
                f"no artifact {artifact[:12]}… in ledger {self.name!r}: store the page with store_artifact first",
                field="artifact",
                sha256=artifact,
            )
        event = built(
            e.EvidenceRecorded,
            claim=claim,
            quote=quote,
            sha256=artifact,
            retrieved_at=retrieved_at,
            requirement=requirement,
            turn=turn,
            **locate(quote, content),
        )
        return evidence_id(self._append(event, options).version)

    def record_contradiction(
        self,
        about: str,
        sides: Sequence[e.Side | str],
        *,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> str:
        """Record claims that cannot all hold and return the id (``con_9``). A side is an evidence id or a ``Side``."""
        both = tuple(e.Side(evidence=side) if isinstance(side, str) else side for side in sides)
        event = built(e.ContradictionRecorded, about=about, sides=both, turn=turn)
        return contradiction_id(self._append(event, options).version)

    def resolve_contradiction(
        self,
        contradiction: str,
        *,
        because: str,
        source: e.Source,
        value: object = None,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Close a contradiction. ``value``, if given, stands from now on: the standing one again, or one that supersedes it."""
        request = built(
            r.ResolveContradiction,
            contradiction=contradiction,
            because=because,
            source=source,
            turn=turn,
            value=None if value is None else JsonText.of(value),
        )
        return self._execute(request, options)[0]

    def record_outcome(
        self,
        status: str,
        *,
        judge: str,
        detail: str | None = None,
        turn: int | None = None,
        **options: Unpack[Options],
    ) -> Recorded:
        """Record how the task ended (completed, partial, failed, abandoned) and by whose judgement."""
        return self._append(built(e.OutcomeRecorded, status=status, judge=judge, detail=detail, turn=turn), options)

    def append(
        self,
        events: Sequence[e.Event] | e.Event,
        *,
        expected_version: int | None = None,
        blobs: Mapping[str, bytes] | None = None,
        **options: Unpack[Options],
    ) -> list[Recorded]:
        """Append one or several events as they are, all or none, with the same admission check as every command.

        ``expected_version``: ``VersionConflict`` unless the ledger is at it. ``blobs``: the bytes of artifacts among the
        events, by hash.
        """
        if isinstance(events, BaseModel):
            events = [events]
        request = built(r.AppendEvents, events=tuple(events))
        check_size(request)
        for event in request.events:
            check_comes_back(event)
            if isinstance(event, e.ContentForgotten | e.LedgerReauthorised):
                raise InvalidInput(f"a {event.type} comes with what it does: use forget, or reauthorise", path="events")
        return self._writer.execute(request, command_of(options, expected_version), blobs)
