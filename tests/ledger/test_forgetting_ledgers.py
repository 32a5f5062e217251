"""A ledger that was forgotten as a whole: its name goes, it takes no events, and it can be found by who knows the name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledger import Ledger, Ledgers, connect
from ledger.errors import AdmissionRefused, ForgottenLedger, InvalidInput, LedgerError, NothingToForget, UnknownLedger
from ledger.verify import verify_store
from tests.ledger.remains import REASON, counted, gone, stored_bytes

NAME = "trial of Ada Byron"


@pytest.fixture
def ledgers() -> Iterator[Ledgers]:
    """A store with a ledger of four events, and another one."""
    with connect(":memory:") as opened:
        handle = opened.ledger(NAME, task="refund")
        handle.record_turn("user", "I am Ada")
        handle.set_fact("name", "Ada", source="user", turn=1)
        handle.store_artifact(b"a photo of Ada")
        opened.ledger("other").record_turn("user", "hello")
        yield opened


@pytest.fixture
def case(ledgers: Ledgers) -> Ledger:
    """The handle of the ledger with four events, which has read it already."""
    handle = ledgers.ledger(NAME)
    handle.add_entry("open", "why?", source="inferred")
    return handle


def test_everything_goes_and_the_name_with_it(ledgers: Ledgers, case: Ledger) -> None:
    other = counted(ledgers, "other")
    done = case.forget(everything=True, reason=REASON, actor="support:4")
    assert (done.scope, done.state, done.count, done.ledgers[0].artifact_count) == ("ledger", "complete", 5, 1)
    assert gone(ledgers, NAME) == {1, 2, 3, 4, 5}
    left = stored_bytes(ledgers)
    assert (NAME.encode() in left, b"Ada" in left) == (False, False)
    assert counted(ledgers, "other") == other
    [forgotten, living] = ledgers.heads()
    assert living.name == "other"
    assert forgotten.name.startswith("forgotten:")
    assert verify_store(ledgers).problems == ()


def test_the_report_has_the_name_that_the_ledger_has_now(ledgers: Ledgers, case: Ledger) -> None:
    planned = case.forget(everything=True, reason=REASON, dry_run=True)
    done = case.forget(everything=True, reason=REASON)
    assert ([one.ledger for one in planned.ledgers], [one.ledger for one in done.ledgers]) == (
        [NAME],
        [ledgers.heads()[0].name],
    )
    assert (NAME in repr(planned), NAME in repr(done)) == (True, False)


def test_a_report_has_no_hash_of_what_is_gone(ledgers: Ledgers, case: Ledger) -> None:
    """Whoever guesses the bytes of a short artifact could confirm the guess."""
    [page] = ledgers.store.holdings(ledgers.head(NAME).ledger).blobs
    [planned] = case.forget(everything=True, reason=REASON, dry_run=True).ledgers
    assert (planned.artifacts, planned.artifact_count) == ((page,), 1)
    ledgers.derives(Stubborn())
    done = case.forget(everything=True, reason=REASON)
    [resumed] = ledgers.resume_forgetting()
    for report in (done, resumed):
        assert [(one.artifacts, one.artifact_count) for one in report.ledgers] == [((), 1)]
        assert page not in repr(report)


def test_it_is_found_by_who_knows_the_name(ledgers: Ledgers, case: Ledger) -> None:
    case.forget(everything=True, reason=REASON)
    secret_name = ledgers.heads()[0].name
    assert ledgers.head(NAME) == ledgers.head(secret_name) == ledgers.heads()[0]
    for name in (NAME, secret_name):
        assert [item.version for item in ledgers.ledger(name).events()] == [1, 2, 3, 4, 5, 6]
        assert verify_store(ledgers, name).problems == ()
    with pytest.raises(UnknownLedger):
        ledgers.head("trial of Ada")


ATTEMPTS: list[Callable[[Ledger], object]] = [
    lambda handle: handle.record_turn("user", "are you there?"),
    lambda handle: handle.set_fact("name", "Ada", source="user"),
    lambda handle: handle.store_artifact(b"a photo of Ada"),
    lambda handle: handle.record_outcome("partial", judge="reviewer"),
    lambda handle: handle.close(),
    lambda handle: handle.open(task="refund"),
]


def test_it_takes_no_events(ledgers: Ledgers, case: Ledger) -> None:
    job = ledgers.forget(ledger=NAME, reason=REASON).job
    for handle in (case, ledgers.ledger(NAME), ledgers.ledger(ledgers.heads()[0].name)):
        for attempt in ATTEMPTS:
            with pytest.raises(ForgottenLedger, match="re-authorise") as refused:
                attempt(handle)
            assert refused.value.job == job
    with pytest.raises(ForgottenLedger):
        ledgers.ledger(NAME, task="another")
    assert (ledgers.head(NAME).version, b"Ada" in stored_bytes(ledgers)) == (6, False)


def test_a_new_ledger_never_gets_such_a_name(ledgers: Ledgers) -> None:
    for name in ("forgotten:", "forgotten:abc", "forgotten:" + "0" * 32):
        with pytest.raises(InvalidInput, match="choose another") as refused:
            ledgers.ledger(name).record_turn("user", "hello")
        assert refused.value.path == "ledger"
    assert ledgers.ledger("Forgotten: a film").record_turn("user", "hello") == 1
    assert len(ledgers.heads()) == 3


def test_its_children_are_told_of_and_stay(ledgers: Ledgers, case: Ledger) -> None:
    for child in ("page 1", "page 2"):
        ledgers.ledger(child, parent=NAME).record_turn("user", "look")
    ledgers.ledger("grandchild", parent="page 1")
    ledgers.ledger("another's", parent="other")
    planned = case.forget(everything=True, reason=REASON, dry_run=True)
    done = case.forget(everything=True, reason=REASON)
    assert planned.ledgers[0].children == done.ledgers[0].children == ("page 1", "page 2")
    assert ledgers.ledger("page 1").record_turn("user", "again") == 2


def test_parts_of_a_ledger_have_no_children(ledgers: Ledgers, case: Ledger) -> None:
    ledgers.ledger("page 1", parent=NAME)
    assert case.forget(turns=[1], reason=REASON).ledgers[0].children == ()


def test_it_is_taken_again(ledgers: Ledgers, case: Ledger) -> None:
    case.forget(everything=True, reason=REASON)
    ledgers.reauthorise(ledger=NAME, because="she came back", actor="support:4")
    assert [head.name for head in ledgers.heads()] == [NAME, "other"]
    assert gone(ledgers, NAME) == {1, 2, 3, 4, 5}
    (again,) = ledgers.ledger(NAME).events(6)
    assert (again.envelope.type, again.envelope.actor) == ("ledger.reauthorised", "support:4")
    for number, handle in enumerate((case, ledgers.ledger(NAME)), start=2):
        assert handle.record_turn("user", "hello") == number
    assert case.set_fact("name", "Ada", source="user", turn=2).event.type == "fact.set"
    case.open(task="complaint")
    assert verify_store(ledgers).problems == ()
    with pytest.raises(AdmissionRefused, match="not forgotten"):
        ledgers.reauthorise(ledger=NAME, because="again")


def test_it_is_forgotten_a_second_time(ledgers: Ledgers, case: Ledger) -> None:
    first = case.forget(everything=True, reason=REASON)
    with pytest.raises(NothingToForget):
        case.forget(everything=True, reason=REASON)
    ledgers.reauthorise(ledger=NAME, because="she came back")
    case.record_turn("user", "Ada here")
    second = case.forget(everything=True, reason=REASON)
    assert (second.count, gone(ledgers, NAME), second.job != first.job) == (1, {1, 2, 3, 4, 5, 8}, True)
    with pytest.raises(ForgottenLedger) as refused:
        case.record_turn("user", "hello")
    assert refused.value.job == second.job
    assert (NAME.encode() in stored_bytes(ledgers), b"Ada" in stored_bytes(ledgers)) == (False, False)
    assert verify_store(ledgers).problems == ()


def test_a_ledger_of_which_all_was_forgotten_bit_by_bit_still_can_be(ledgers: Ledgers, case: Ledger) -> None:
    """Its name is content, and so is that it goes on."""
    case.forget(ids=[f"v_{version}" for version in range(1, 6)], reason=REASON)
    assert case.record_turn("user", "hello") == 2
    case.forget(turns=[2], reason=REASON)
    planned = case.forget(everything=True, reason=REASON, dry_run=True)
    assert (planned.count, planned.state) == (0, "planned")
    assert case.forget(everything=True, reason=REASON).state == "complete"
    assert NAME.encode() not in stored_bytes(ledgers)
    with pytest.raises(ForgottenLedger):
        case.record_turn("user", "hello")
    with pytest.raises(NothingToForget, match="already"):
        case.forget(everything=True, reason=REASON)


def test_parts_of_it_cannot_be_forgotten_any_more(case: Ledger) -> None:
    case.forget(everything=True, reason=REASON)
    wishes: list[dict[str, Any]] = [{"turns": [1]}, {"facts": ["name"]}, {"ids": ["v_5"]}]
    for wish in wishes:
        with pytest.raises(NothingToForget):
            case.forget(**wish, reason=REASON)


def test_a_name_that_becomes_free_is_not_taken_by_another(ledgers: Ledgers, case: Ledger) -> None:
    """A handle that wanted to begin the ledger when it was forgotten meets the forgotten one."""
    case.forget(everything=True, reason=REASON)
    with pytest.raises(LedgerError):
        ledgers.ledger(NAME).record_turn("user", "a new one")
    assert len(ledgers.heads()) == 2


def test_what_is_still_being_forgotten_is_not_re_authorised(tmp_path: Path) -> None:
    with connect(tmp_path / "record.db") as store:
        case = store.ledger("case")
        case.record_turn("user", "Hello.", subjects=["customer:1"])
        store.derives(Stubborn())
        assert case.forget(everything=True, reason="asked to").state == "incomplete"
        with pytest.raises(InvalidInput, match="resume it first"):
            store.reauthorise(ledger="case", because="asked to")
        store.no_longer_derives("stubborn")
        assert [report.state for report in store.resume_forgetting()] == ["complete"]
        with pytest.raises(InvalidInput, match="the name that the ledger had"):
            store.reauthorise(ledger=store.heads()[0].name, because="asked to")
        store.reauthorise(ledger="case", because="asked to")
        assert case.record_turn("user", "Hello again.") == 2


class Stubborn:
    """Holds on to what was derived."""

    name = "stubborn"

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Refuses."""
        raise OSError("the disk is not mounted")
