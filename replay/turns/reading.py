"""Turns as they read in the record, by the versions of their events: folded, and without what was forgotten of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ledger.marks import artifact_mark
from ledger.parts import DocumentPart, ImagePart
from ledger.record import Recorded
from ledger.store import Selection
from projections.artifacts import ArtifactsFold, without_forgotten
from projections.fold import run
from projections.transcript import SystemText, Transcript, TranscriptFold, Turn
from replay.kept.warm import Shelf
from replay.loading import Loaded
from replay.turns.blocks import Versions


class TurnReader:
    """Reads turns of a ledger as of one version; hold the lock of ``shelf`` while asking."""

    def __init__(self, loaded: Loaded, shelf: Shelf) -> None:
        self._loaded = loaded
        self._shelf = shelf

    def turns(self, versions: Iterable[Versions]) -> list[tuple[Turn, bool]]:
        """The turns that are made of some versions each, and whether they read the same at every version.

        That is as far as the same was forgotten. Not so if it shows an artifact that was forgotten once, or where something was
        forgotten while they were read.
        """
        fold = TranscriptFold()
        run([fold], self.events(sorted(version for some in versions for version in some)))
        found = fold.result().turns
        marks = self._forgotten_artifacts()
        shows = [self._shows(marks, turn, *turn.returns) for turn in found]
        if any(shows):
            found = without_forgotten(Transcript((), found, ()), self._artifacts(), self._loaded.key).turns
        is_current = self._loaded.reader.governing is self._loaded.governing
        return [(turn, is_current and not shown) for turn, shown in zip(found, shows, strict=True)]

    def system(self, versions: Sequence[int]) -> list[tuple[SystemText, bool]]:
        """The system texts of some versions, likewise."""
        fold = TranscriptFold()
        run([fold], self._shelf.system_events(versions, self.events))
        texts = fold.result().system
        marks = self._forgotten_artifacts()
        shows = [self._shows(marks, text) for text in texts]
        if any(shows):
            texts = without_forgotten(Transcript(texts, (), ()), self._artifacts(), self._loaded.key).system
        return [(text, not shown) for text, shown in zip(texts, shows, strict=True)]

    def events(self, versions: Sequence[int]) -> list[Recorded]:
        """The events of some versions, which are given in order; those that were read just now are not read again."""
        reader, news = self._loaded.reader, self._shelf.news(versions)
        rest = [version for version in versions if version not in news] if news else versions
        found = list(reader.read(Selection(versions=rest))) if rest else []
        if not news:
            return found
        return sorted((*found, *map(reader.recorded, news.values())), key=lambda item: item.version)

    def _forgotten_artifacts(self) -> frozenset[str]:
        """The marks of the artifacts that were forgotten at some time."""
        return frozenset(erasure.named for erasure, _ in self._loaded.reader.marks.values() if erasure.named is not None)

    def _shows(self, marks: frozenset[str], *holders: Any) -> bool:
        """Whether there is a picture or document among the parts whose artifact has one of these marks."""
        shown = (
            (part for holder in holders for part in holder.parts if isinstance(part, ImagePart | DocumentPart)) if marks else ()
        )
        return any(part.sha256 is not None and artifact_mark(self._loaded.key, part.sha256) in marks for part in shown)

    def _artifacts(self) -> ArtifactsFold:
        named = [version for version, (erasure, _) in self._loaded.reader.marks.items() if erasure.named is not None]
        stored = self._shelf.index.artifacts(self._loaded.version)
        fold = ArtifactsFold()
        run([fold], self.events(sorted({*stored, *(version for version in named if version <= self._loaded.version)})))
        return fold
