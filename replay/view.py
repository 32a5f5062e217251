"""What a ledger was, at any version: the record read from a store and folded."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final

from ledger import Ledgers
from ledger.assembling import assembler
from ledger.decide import field_name
from ledger.errors import CorruptRecord, InvalidInput
from ledger.events import Role
from ledger.json_text import JsonText
from ledger.marks import field_mark
from ledger.schema.schema import Schema
from projections.basis import Basis
from projections.encodings import encoding_for
from projections.explanation import Explanation, explanation_of
from projections.facts import FactValue
from projections.forget_requests import ForgetRequest
from projections.handoff import Handoff, handoff_of
from projections.policy import Policy
from projections.schemas import Rejected
from projections.search.searchable import Kind
from projections.state import State, state_of
from projections.state_diff import StateDiff, diff_of
from projections.task_turn import task_turn
from projections.transcript import Turn as RecordedTurn
from projections.window import LastMade, Rendering, Window
from replay.answers import FieldHistory, ForgottenAnswer, TranscriptAnswer
from replay.facts.fields import field_facts, field_value
from replay.fetching import FetchedResult, fetched
from replay.kept.kept_rows import rows_of
from replay.kept.warm import Shelf, shelf_of
from replay.loading import Loaded, load
from replay.moment import At, Turn
from replay.search import SearchAnswer, asked_for, search_ledger
from replay.standing.state import recorded_before, state_as_it_began
from replay.summaries import MissingSummary, Which, missing_summaries
from replay.tokens import counter
from replay.turns.ledger_turns import said_between, turns_of
from replay.windows.drafting import drafted, expanded
from replay.windows.scenes import Asked, Ground
from replay.windows.served_tokens import served_after

__all__ = ["At", "FieldHistory", "TranscriptAnswer", "Turn", "View", "view"]


_ground: Final = assembler(Ground)


class View:
    """A ledger as of one version. The events are read and folded once, when something is first asked that needs them all.

    Before each answer it looks whether anything was forgotten since, or came to be past its retention, and reads again if so:
    a view never shows what is forgotten, however long it is kept. One that was given a time is judged at that time for ever.
    """

    def __init__(self, store: Ledgers, ledger_id: str, at: At, judged_at: datetime | None) -> None:
        self._store = store
        self._judged_at = judged_at
        self._loaded = load(store, store.head(ledger_id), at, judged_at)
        self.version = self._loaded.version

    def __repr__(self) -> str:
        return f"<view of {self._loaded.head.name!r} at version {self.version}>"

    def basis(self, policy: Policy | None = None) -> Basis:
        """What an answer of this view rests on."""
        return _basis(self._current(), policy)

    def transcript(self) -> TranscriptAnswer:
        """System texts, turns, and what their calls returned."""
        loaded = self._current()
        return TranscriptAnswer(_basis(loaded), loaded.transcript)

    def state(self, *, valid_at: datetime | None = None) -> State:
        """Task, entities, constraints, decisions, rejected, open questions, with provenance; ``.block`` is their text.

        With ``valid_at`` (aware), of the facts what held in the world at that moment, as far as it was known at this version.
        """
        if valid_at is not None and valid_at.utcoffset() is None:
            raise InvalidInput(f"valid_at {valid_at} has no zone: give an aware datetime", path="valid_at")
        return _state(self._current(), valid_at=valid_at)

    def schema(self) -> Schema | None:
        """The schema in force; None if none was declared."""
        return self._current().folds.schemas.schema()

    def rejected(self) -> tuple[Rejected, ...]:
        """All values that were claimed and not taken, with what was wrong with them, oldest first."""
        return self._current().folds.schemas.rejected()

    def read_through(self, extractor: str) -> int:
        """The last turn that an extractor has read, by its name; 0 if none."""
        return self._current().folds.schemas.read_through(extractor)

    def unread(self, extractor: str) -> tuple[RecordedTurn, ...]:
        """The turns that an extractor has not read under the schema in force, or that have results which came since."""
        loaded = self._current()
        living = (turn for turn in loaded.transcript.turns if turn.forgotten is None)
        return loaded.folds.schemas.unread(extractor, living)

    def explain(self, name: str) -> Explanation:
        """Everything that was ever said of a field, by whom and in which words, and what became of it."""
        loaded = self._current()
        schema = loaded.folds.schemas.schema()
        field = field_name(name) if schema is None else schema.resolve(field_name(name))
        return explanation_of(
            field,
            loaded.events,
            basis=_basis(loaded),
            transcript=loaded.transcript,
            schema=schema,
            mark=field_mark(loaded.key, field),
        )

    def window(self, policy: Policy | None = None, *, render: str = "openai", tools: object = None) -> Window:
        """What a model call would receive under a policy (the default one, if none is given), in a provider's form.

        ``render``: the name of a form ("openai", "openai_responses", "anthropic", "gemini", "markdown", "text"). ``tools``: the
        definitions of tools that go with the request, as the provider wants them, in one list; they count.

        Raises ``BudgetExceeded``, ``NothingToSend``, for an encoding or model that is not known ``UnknownEncoding``, and
        ``CorruptRecord`` where the bytes of a picture or document are missing.
        """
        if not isinstance(policy, Policy | None):
            raise InvalidInput(
                f"policy is {policy!r:.60}: give a Policy, preset_named(…) or policy_from_toml(…)", path="policy"
            )
        loaded = self._current()
        given = None if tools is None else _definitions(tools)
        try:
            return self._window(loaded, policy or Policy(), render, given)
        except CorruptRecord:
            if self._current() is loaded:
                raise
            return self._window(self._current(), policy or Policy(), render, given)  # they were forgotten at this moment

    def missing_summaries(self, policy: Policy | None = None, *, which: Which = "compacted") -> tuple[MissingSummary, ...]:
        """The segments that a policy compacts and of which no summary is recorded that it takes (or ``complete`` ones)."""
        asked = policy or Policy()
        return missing_summaries(self._ground(self._current(), encoding_for(asked.encoding)), asked, which=which)

    def handoff(self) -> Handoff:
        """A brief for a fresh session."""
        loaded = self._current()
        folds = loaded.folds
        return handoff_of(_state(loaded), entries=folds.entries, evidence=folds.evidence, lifecycle=folds.lifecycle)

    def history(self, name: str) -> FieldHistory:
        """How a field changed: every value with its provenance and the versions where it stood; empty if there were none.

        Forgotten values stand in their places, marked. Only what is about the field is read, however long the ledger is.
        """
        loaded = self._current()
        found = field_facts(loaded, name)
        return FieldHistory(_basis(loaded), found.field, found.values, found.disputes)

    def value(self, name: str) -> FactValue | None:
        """The value that a field holds, with its provenance; None if it holds none. Reads that value, not the ledger."""
        return field_value(self._current(), name)

    def fields(self) -> tuple[str, ...]:
        """All fields that ever held a value, as far as their names are known."""
        return self._current().folds.facts.fields()

    def forgotten(self) -> ForgottenAnswer:
        """Every place whose content was forgotten, and the forgettings: their job, reason, who asked, and when."""
        loaded = self._current()
        return ForgottenAnswer(_basis(loaded), loaded.folds.forgotten.places(), loaded.folds.forgotten.forgettings())

    def forget_requests(self) -> tuple[ForgetRequest, ...]:
        """The user turns that ask to forget something, and were neither answered by a forgetting nor declined; oldest first."""
        return self._current().requests

    def fetch(self, result_id: str) -> FetchedResult:
        """What a tool returned, whole, by the id in its stub (``r_12``); ``UnknownResult`` where nothing has it by now.

        So are evidence (``ev_31``), contradictions (``con_9``), entries (``en_5``), summaries (``sum_8``) and served windows
        (``win_40``), as JSON, turns (``turn_7``) and all other events (``v_4``). ``HoldsNoContent`` for those about forgetting.
        """
        return fetched(self._current, self.basis, result_id)

    def search(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        role: Role | None = None,
        turns: tuple[int, int] | None = None,
        limit: int = 10,
        offset: int = 0,
    ) -> SearchAnswer:
        """What of the record has the words of ``text``, the best first: plain words and identifiers, in any script.

        Only of a kind or a role, or of the turns from the first to the last of two. ``InvalidInput`` for a text without words.
        """
        asked = asked_for(text, kind=kind, role=role, turns=turns, limit=limit, offset=offset)
        return search_ledger(self._current, self.basis, asked)

    def _current(self) -> Loaded:
        """What was read, or read again if a forgetting or a rule of retention was recorded since, or something came due."""
        known, head = self._loaded.governing, self._store.store.head_of(self._loaded.head.ledger)
        assert head is not None, "a ledger stays, under another name if it was forgotten whole"
        if head.governing != (known[-1].version if known else 0) or self._is_overdue():
            self._loaded = load(self._store, head, self.version, self._judged_at)
        return self._loaded

    def _is_overdue(self) -> bool:
        """Whether something may be past its retention by now that was not when it was judged."""
        if self._judged_at is not None or self._loaded.judged_at is None:
            return False
        until = self._loaded.holds_until
        return until is not None and until <= self._store.clock()

    def _window(self, loaded: Loaded, policy: Policy, form: str, tools: JsonText | None) -> Window:
        encoding = encoding_for(policy.encoding)
        shelf = shelf_of(loaded)
        ground = self._ground(loaded, encoding, shelf)

        last = shelf.windows.recall((policy.digest, form), LastMade) if loaded.nothing_is_due else LastMade()

        def rendered() -> Rendering:
            draft = drafted(ground, Asked(policy, form, tools), encoding=encoding)
            return draft.rendered(self._artifacts(loaded, draft.media(last)), last=last)

        made = last.asked((loaded.version, tools), rendered)
        if loaded.nothing_is_due:
            shelf.notes(encoding).keep_in_passing()
        return made.draft.finish(_basis(loaded, policy), made, expand=partial(expanded, ground))

    def _ground(self, loaded: Loaded, encoding: str, shelf: Shelf | None = None) -> Ground:
        """What windows of this version rest on; ``shelf``: the ledger's, if it is at hand."""
        shelf = shelf or shelf_of(loaded)
        count = shelf.notes(encoding)
        return _ground(
            turns_of(loaded, encoding, shelf),
            partial(said_between, loaded),
            partial(served_after, loaded),
            partial(state_as_it_began, loaded, shelf, count=count),
            rows_of(loaded, shelf.memory),
            count,
            counter(encoding),
            partial(recorded_before, loaded, shelf),
            lambda: frozenset(request.turn for request in loaded.requests),
            lambda version: self._ground(load(self._store, loaded.head, version, self._judged_at), encoding),
        )

    def _artifacts(self, loaded: Loaded, hashes: set[str]) -> dict[str, bytes]:
        """The bytes of artifacts; ``CorruptRecord`` if those of a recorded one are missing."""
        found = {sha256: self._store.store.blob(loaded.head.ledger, sha256) for sha256 in sorted(hashes)}
        for sha256, content in found.items():
            if content is None and loaded.folds.artifacts.has(sha256):
                raise CorruptRecord(
                    f"the bytes of artifact {sha256[:12]}… are missing and were not forgotten; a backup has them",
                    sha256=sha256,
                    ledger_id=loaded.head.ledger.hex(),
                )
        return {sha256: content for sha256, content in found.items() if content is not None}


def view(store: Ledgers, ledger_id: str, *, at: At = None, judged_at: datetime | None = None) -> View:
    """A ledger as of ``at``: a version, ``Turn(7)``, a recorded time (aware), or now.

    ``judged_at`` (aware; now, if not given) is when it is judged what is past its retention. Raises ``UnknownLedger``,
    ``UnknownVersion`` and ``InvalidInput``.
    """
    return View(store, ledger_id, at, judged_at)


def _basis(loaded: Loaded, policy: Policy | None = None) -> Basis:
    return loaded.basis(None if policy is None else policy.digest)


def _definitions(tools: object) -> JsonText:
    """Definitions of tools as their text; ``InvalidInput`` where they are none, since every form wants a list of objects."""
    told = tools.value if isinstance(tools, JsonText) else tools
    if not isinstance(told, list) or not all(isinstance(tool, dict) for tool in told):
        raise InvalidInput(
            f"tools is {tools!r:.60}: give the definitions as the provider wants them, in one list of objects", path="tools"
        )
    return JsonText.of(tools)


def diff(before: View, after: View) -> StateDiff:
    """What changed between the states of two views, of one ledger at two versions or of two ledgers."""
    return diff_of(before.state(), after.state())


def _state(loaded: Loaded, *, valid_at: datetime | None = None) -> State:
    folds = loaded.folds
    return state_of(
        _basis(loaded),
        lifecycle=folds.lifecycle,
        stated=task_turn(loaded.transcript.turns),
        facts=folds.facts,
        entries=folds.entries,
        contradictions=folds.contradictions,
        forgotten=folds.forgotten,
        schema=folds.schemas.schema(),
        valid_at=valid_at,
        count=shelf_of(loaded).notes(Policy().encoding),
    )
