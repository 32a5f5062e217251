"""Whatever is forgotten of whatever history: it is nowhere any more, windows stay valid, and all else stands as it stood."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledger import Ledgers
from ledger.erased import Erased
from ledger.errors import LedgerError, NothingToForget
from ledger.parts import ReasoningPart, TextPart
from ledger.record import Recorded
from projections.catalogue import FOLDS
from projections.errors import BudgetExceeded
from projections.fold import Fold, run
from projections.invariants import violations
from projections.policy import Policy
from projections.state import State
from projections.transcript import TranscriptFold
from replay import View, view
from tests.projections.histories import CONVERSATIONS, Answer, Claim, Clash, Gist, Judge, Note, Say, Step, recorded
from tests.projections.sdk_types import refusals_of
from tests.replay.answers import answers

FIELDS = ("amount", "Delivery Day", "ß", "<b>")
MARK = re.compile(r"zq\d+qz")
MUCH = 10_000_000

Wanted = list[tuple[str, int]]
WANTED = st.lists(st.tuples(st.sampled_from(["turn", "return", "fact", "id"]), st.integers(0, 20)), min_size=1, max_size=4)


def marked(steps: Iterable[Step]) -> Iterator[Step]:
    """The same history with a word in every content that stands nowhere else."""
    words = (f"zq{number}qz" for number in count())
    for step in steps:
        match step:
            case Say():
                yield replace(step, parts=(TextPart(text=next(words)), *step.parts))
            case Answer():
                yield replace(step, parts=(TextPart(text=next(words)), *step.parts))
            case Claim():
                yield replace(step, value={"value": step.value, "word": next(words)})
            case Note():
                yield replace(step, what=step.what + next(words))
            case Judge():
                yield replace(step, because=next(words))
            case Gist():
                yield replace(step, text=step.text + next(words))
            case Clash():
                yield replace(step, about=step.about + next(words), values=(next(words), next(words)))
            case _:
                yield step


def words_of(events: Iterable[Recorded]) -> set[str]:
    return {
        word for item in events if not isinstance(item.event, Erased) for word in MARK.findall(item.event.model_dump_json())
    }


@contextmanager
def forgetful(steps: list[Step], wanted: Wanted) -> Iterator[tuple[Ledgers, dict[int, Known], set[str]]]:
    """A store in which some of a history was forgotten; what was known before, by version, and the words that are gone."""
    with recorded(marked(steps)) as store:
        case = store.ledger("case")
        before = list(case.events())
        known = {version: Known(view(store, "case", at=version)) for version in range(len(before) + 1)}
        for kind, which in wanted:
            with suppress(NothingToForget):
                forget(store, before, kind, which)
        after = list(case.events(upto=len(before)))
        yield store, known, words_of(before) - words_of(after)


def forget(store: Ledgers, events: list[Recorded], kind: str, which: int) -> None:
    """Forget one thing of a kind, if there is one."""
    of_kind: dict[str, list[Any]] = {
        "turn": [item.turn for item in events if item.envelope.type == "turn.recorded" and item.turn is not None],
        "return": [f"r_{item.version}" for item in events if item.envelope.type == "tool.returned"],
        "fact": sorted({str(getattr(item.event, "field", None) or "") for item in events} - {""}),
        "id": [f"v_{item.version}" for item in events],
    }
    selector = {"turn": "turns", "return": "ids", "fact": "facts", "id": "ids"}[kind]
    if of_kind[kind]:
        chosen: dict[str, Any] = {selector: [of_kind[kind][which % len(of_kind[kind])]]}
        store.forget(ledger="case", reason="asked to", scrub=False, **chosen)


class Known:
    """What a view said, to be compared with what it says later."""

    def __init__(self, seen: View) -> None:
        self.turns = {turn.number: turn for turn in seen.transcript().turns}
        self.state: State = seen.state()
        self.intervals = {
            name: [(value.from_version, value.to_version, value.superseded_by) for value in seen.history(name).values]
            for name in FIELDS
        }


CASES = st.tuples(CONVERSATIONS, WANTED)


@settings(deadline=None, max_examples=50)
@given(CASES)
def test_forgotten_words_are_nowhere_and_all_others_stay(case: tuple[list[Step], Wanted]) -> None:
    with forgetful(*case) as (store, known, gone):
        for version in known:
            seen = answers(store, "case", version)
            seen |= {f"history of {name}": view(store, "case", at=version).history(name).to_json() for name in FIELDS}
            seen["forgotten"] = view(store, "case", at=version).forgotten().to_json()
            for name, answer in seen.items():
                assert set(MARK.findall(answer.decode())) & gone == set(), name
            said = {word for turn in known[version].turns.values() for word in MARK.findall(turn.text)}
            assert said - gone <= set(MARK.findall(seen["transcript"].decode()))


@settings(deadline=None, max_examples=50)
@given(CASES)
def test_what_was_not_forgotten_stands_as_it_stood(case: tuple[list[Step], Wanted]) -> None:
    with forgetful(*case) as (store, known, gone):
        erased = {item.version for item in store.ledger("case").events() if isinstance(item.event, Erased)}
        for version, then in known.items():
            seen = view(store, "case", at=version)
            now = Known(seen)
            assert [(turn.number, turn.role, turn.version) for turn in now.turns.values()] == [
                (turn.number, turn.role, turn.version) for turn in then.turns.values()
            ]
            for number, turn in now.turns.items():
                if turn.forgotten is None:
                    assert turn.calls == then.turns[number].calls
                    assert [found.call_id for found in turn.returns if not found.orphan] == [
                        found.call_id for found in then.turns[number].returns if not found.orphan
                    ]
            assert now.intervals == then.intervals
            check_state(now.state, then.state, gone)
            check_lists(now.state, then.state, erased)
            assert {place.version for place in seen.forgotten().places} == {one for one in erased if one <= version}


def check_state(now: State, then: State, gone: set[str]) -> None:
    """What stands now stood then; what stood then and does not now was forgotten."""
    values = {name: fact.json for name, fact in then.entities.items()}
    assert {name: values.get(name) for name in now.entities} == {name: fact.json for name, fact in now.entities.items()}
    assert all(set(MARK.findall(values[name])) <= gone for name in values.keys() - now.entities.keys())


def check_lists(now: State, then: State, erased: set[int]) -> None:
    """Of entries and contradictions all that were not forgotten are open as they were."""
    lost = {name for version in erased for name in (f"en_{version}", f"con_{version}")}
    for section, entries in then.entries.items():
        assert now.entries[section] == tuple(entry for entry in entries if entry.id not in lost)
    assert now.contradictions == tuple(found for found in then.contradictions if found.id not in lost)


@settings(deadline=None, max_examples=50)
@given(CASES, st.sampled_from(["openai", "anthropic"]), st.sampled_from([0, 1, 3, 8]), st.integers(0, 100))
def test_windows_stay_valid_and_within_their_budget(case: tuple[list[Step], Wanted], form: str, tail: int, share: int) -> None:
    with forgetful(*case) as (store, known, _):
        for version, then in known.items():
            if not any(turn.role == "user" for turn in then.turns.values()):
                continue
            seen = view(store, "case", at=version)
            whole = seen.window(Policy(tail_turns=tail, budget_tokens=MUCH), render=form)
            policies = [Policy(tail_turns=tail, budget_tokens=max(1, whole.tokens * part // 100)) for part in (share, 100)]
            for policy in (*policies, Policy(tail_turns=tail, budget_tokens=MUCH)):
                check_window(seen, policy, form)


def check_window(seen: View, policy: Policy, form: str) -> None:
    try:
        made = seen.window(policy, render=form)
    except BudgetExceeded:
        return
    turns = seen.transcript().turns
    raws = {str(part.raw) for turn in turns for part in turn.parts if isinstance(part, ReasoningPart)}
    assert violations(form, made.exact, reasoning=frozenset(raws)) == ()
    assert refusals_of(made.request, form) == []
    assert made.tokens <= policy.budget_tokens
    assert [row.turn for row in made.receipt] == [turn.number for turn in turns]
    assert {row.turn for row in made.receipt if row.verdict == "never"} == {
        turn.number for turn in turns if turn.forgotten is not None
    }


@settings(deadline=None, max_examples=15)
@given(CASES)
def test_a_fold_that_goes_on_equals_one_from_the_start(case: tuple[list[Step], Wanted]) -> None:
    with forgetful(*case) as (store, _, _):
        events = list(store.ledger("case").events())
        going_on = [fold() for fold in FOLDS]
        for version, event in enumerate(events, start=1):
            run(going_on, [event])
            from_the_start: list[Fold] = [fold() for fold in FOLDS]
            run(from_the_start, events[:version])
            assert [seen_by(fold) for fold in going_on] == [seen_by(fold) for fold in from_the_start]


def seen_by(fold: Fold) -> object:
    return fold.result() if isinstance(fold, TranscriptFold) else vars(fold)


def test_the_whole_ledger(store: Ledgers) -> None:
    case = store.ledger("case", task="Mend the mast zq1qz.")
    case.record_turn("user", "I live at Quay zq2qz.")
    case.set_fact("home zq3qz", "Quay zq4qz", source="user", turn=1)
    case.record_turn("assistant", "Noted zq5qz.")
    case.record_outcome("completed", judge="user", detail="zq6qz")
    case.close("done zq7qz")
    store.forget(ledger="case", reason="the customer left")
    seen = view(store, "case")
    for version in range(seen.version + 1):
        for name, answer in answers(store, "case", version).items():
            assert MARK.findall(answer.decode()) == [], name
    assert "case" not in repr(seen)
    assert seen.basis().ledger.startswith("forgotten:")
    assert seen.handoff().brief["goal"] is not None
    assert len(seen.forgotten().places) == 6
    with suppress(LedgerError):
        case.record_turn("user", "Hello?")
