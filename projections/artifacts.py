"""Which artifacts a ledger has, and which were forgotten: a picture or document whose bytes were forgotten reads so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ledger.erased import Erased, Forgotten
from ledger.events import ArtifactStored
from ledger.marks import artifact_mark
from ledger.parts import DocumentPart, ImagePart
from ledger.record import Recorded
from projections.transcript import Return, SystemText, Transcript, Turn


class ArtifactsFold:
    """Folds artifacts by their hashes; a forgotten one is known by the keyed hash of its hash alone."""

    reads: ClassVar[frozenset[type[Any]]] = frozenset({ArtifactStored, Erased})

    def __init__(self) -> None:
        self._stored: set[str] = set()
        self._forgotten: dict[str, Forgotten] = {}

    def evolve(self, recorded: Recorded) -> None:
        """Add an artifact that is there, or one that was forgotten."""
        event = recorded.event
        if isinstance(event, ArtifactStored):
            self._stored.add(event.sha256)
        elif isinstance(event, Erased) and event.type == "artifact.stored" and event.named is not None:
            self._forgotten[event.named] = event.forgotten

    @property
    def forgot_any(self) -> bool:
        """Whether an artifact was forgotten at all."""
        return bool(self._forgotten)

    def has(self, sha256: str) -> bool:
        """Whether an artifact was stored and not forgotten since."""
        return sha256 in self._stored

    def forgotten(self, sha256: str, key: bytes) -> Forgotten | None:
        """The mark of an artifact that was forgotten and not stored again; ``key`` is the ledger's for names."""
        if sha256 in self._stored or not self._forgotten:
            return None
        return self._forgotten.get(artifact_mark(key, sha256))


def without_forgotten(transcript: Transcript, artifacts: ArtifactsFold, key: bytes) -> Transcript:
    """The transcript with the mark in the place of every picture and document whose artifact was forgotten."""
    if not artifacts.forgot_any:
        return transcript

    def mark(part: Any) -> Any:
        if not isinstance(part, ImagePart | DocumentPart) or part.sha256 is None:
            return part
        return artifacts.forgotten(part.sha256, key) or part

    def marked(holder: Any) -> Any:
        return replace(holder, parts=tuple(map(mark, holder.parts)))

    turns: list[Turn] = [replace(marked(turn), returns=tuple(map(marked, turn.returns))) for turn in transcript.turns]
    system: list[SystemText] = list(map(marked, transcript.system))
    orphans: list[Return] = list(map(marked, transcript.orphans))
    return Transcript(tuple(system), tuple(turns), tuple(orphans))
