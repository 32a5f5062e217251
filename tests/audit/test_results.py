"""The largest results, whether anything of them was used, and what came more than once."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest

from ledger import Ledger, Ledgers
from projections.auditing import repeats as auditing_repeats
from projections.auditing.audit import Repeated
from projections.auditing.repeats import Content, RepeatFinder
from replay import view
from replay.audit import audit
from tests.audit.talking import COUNT, OTHER_PAGE, PAGE, look_up, say


def repeated(store: Ledgers, *names: str) -> tuple[Repeated, ...]:
    return audit(store, names, policies={}).repeats.most


class Counting(OrderedDict[Any, Any]):
    """Counts how often something is looked up."""

    asked = 0

    def get(self, key: Any, default: Any = None) -> Any:
        self.asked += 1
        return super().get(key, default)


def paraphrased(page: str, *, every: int) -> str:
    """The page with another word in the place of every so many."""
    return " ".join("elsewhere" if place % every == 7 else word for place, word in enumerate(page.split()))


def test_the_largest_results_come_first(store: Ledgers) -> None:
    """Ten of them, each with its tool, question, turn, and the id by which it is fetched whole."""
    case = store.ledger("pages")
    say(case, "Read the pages.")
    sizes = [30, 5, 60, 1, 90, 15, 45, 20, 75, 10, 50, 25, 35]
    for size in sizes:
        look_up(case, "read_page", f"page of {size}", "depot " * size)
    found = audit(store, ["pages"], policies={}).biggest
    assert [result.asked for result in found] == [f"page of {size}" for size in sorted(sizes, reverse=True)[:10]]
    for result in found:
        fetched = view(store, "pages").fetch(result.result_id)
        assert (fetched.tool, fetched.turn, COUNT(fetched.text)) == (result.tool, result.turn, result.tokens)


def test_results_of_several_ledgers_are_compared(store: Ledgers) -> None:
    for name, page in (("small", "depot " * 90), ("large", PAGE)):
        say(store.ledger(name), "Read the page.")
        look_up(store.ledger(name), "read_page", name, page)
    found = audit(store, ["small", "large"], policies={}).biggest
    assert [(result.ledger, result.asked) for result in found] == [("large", "large"), ("small", "small")]


def test_what_later_turns_used_of_a_result_is_named_with_them(store: Ledgers) -> None:
    """Text and arguments of calls count; what was asked for, and what stands only inside of another string, do not."""
    case = store.ledger("used")
    say(case, "Read the page about ORD-00002.")
    look_up(case, "read_page", "ORD-00002", PAGE)
    say(case, "So?", "ORD-00002 and XORD-00003 are there.")
    look_up(case, "cancel", "ORD-00017", "done")
    say(case, "Did you cancel ORD-00017, and not ORD-00041?", "Yes.")
    (result, *_) = audit(store, ["used"], policies={}).biggest
    assert result.used == ("ORD-00017", "ORD-00041")
    assert result.used_by == (5, 6)


def test_a_result_that_nobody_used_says_so(store: Ledgers) -> None:
    case = store.ledger("unused")
    say(case, "Order ORD-00005 is mine.", "Which one?", "ORD-00006")
    look_up(case, "read_page", "Ghent", PAGE)
    say(case, "And?", "It says nothing of that.")
    (result,) = audit(store, ["unused"], policies={}).biggest
    assert (result.used, result.used_by) == ((), ())


def test_what_was_said_before_a_result_is_no_use_of_it(store: Ledgers) -> None:
    case = store.ledger("before")
    say(case, "Read both pages.")
    look_up(case, "read_page", "Lyon", OTHER_PAGE)
    say(case, "My order is ORD-00005.")
    look_up(case, "read_page", "Ghent", PAGE)
    say(case, "And?", "It is among them.")
    by_page = {result.asked: result for result in audit(store, ["before"], policies={}).biggest}
    assert by_page["Ghent"].used == ()


def test_a_forgotten_result_is_none_of_the_largest(store: Ledgers) -> None:
    case = store.ledger("forgotten")
    say(case, "Read both pages.")
    first, second = (look_up(case, "read_page", "Ghent", page) for page in (PAGE, OTHER_PAGE))
    case.forget(ids=[first], reason="withdrawn")
    assert [result.result_id for result in audit(store, ["forgotten"], policies={}).biggest] == [second]


def test_a_use_is_found_however_late(store: Ledgers) -> None:
    """Also where more turns came in between than are looked at together, and in each lot of them."""
    case = store.ledger("late")
    say(case, "Read the page.")
    look_up(case, "read_page", "Ghent", PAGE)
    for _ in range(600):
        say(case, "Anything new?", "Nothing.")
    say(case, "Then cancel ORD-00033.", "Very well: ORD-00033.")
    (result,) = audit(store, ["late"], policies={}).biggest
    assert (result.used, result.used_by) == (("ORD-00033",), (1203,))


def test_the_same_content_again_is_found_to_the_letter(store: Ledgers) -> None:
    """Results and texts, wherever it came from, whatever the white space; the first one is no repeat."""
    case = store.ledger("again")
    say(case, "Read it.")
    first = look_up(case, "read_page", "Ghent", PAGE)
    look_up(case, "read_page", "Ghent again", PAGE.replace(". ", ".\n\n"))
    look_up(case, "open_file", "ghent.txt", PAGE)
    say(case, "It says:", PAGE)
    (found,) = repeated(store, "again")
    assert (found.kind, found.what, found.first_turn, found.result_id) == ("result", "read_page Ghent", 2, first)
    assert (found.turns, found.exact, found.near) == ((3, 4, 6), 3, 0)
    assert found.tokens == COUNT(PAGE.replace(". ", ".\n\n")) + 2 * COUNT(PAGE)
    repeats = audit(store, ["again"], policies={}).repeats
    assert (repeats.exact.number, repeats.exact.tokens, repeats.near.number) == (3, found.tokens, 0)


def test_nearly_the_same_content_is_found_and_costs_what_is_the_same(store: Ledgers) -> None:
    case = store.ledger("near")
    say(case, "Read it.")
    look_up(case, "read_page", "Ghent", PAGE)
    changed = f"{PAGE} Since today, every depot also takes parcels that are to go by ship to Rotterdam."
    look_up(case, "read_page", "Ghent", changed)
    look_up(case, "read_page", "Lyon", OTHER_PAGE)
    (found,) = repeated(store, "near")
    assert (found.exact, found.near, found.turns) == (0, 1, (3,))
    assert 0.9 * COUNT(PAGE) < found.tokens < COUNT(changed)
    look_up(case, "read_page", "Ghent", changed)
    repeats = audit(store, ["near"], policies={}).repeats
    assert (repeats.near.number, repeats.near.tokens) == (1, found.tokens)
    assert (repeats.exact.number, repeats.exact.tokens) == (1, COUNT(changed))
    assert [again.tokens for again in repeats.most] == [repeats.tokens]


@pytest.mark.parametrize("text", [OTHER_PAGE, paraphrased(PAGE, every=9)])
def test_other_content_is_no_repeat(store: Ledgers, text: str) -> None:
    """Not even with most of the words, where hardly any six of them stand together."""
    case = store.ledger("other")
    say(case, "Read it.")
    look_up(case, "read_page", "Ghent", PAGE)
    look_up(case, "read_page", "Ghent", text)
    assert repeated(store, "other") == ()


def test_courtesies_are_no_repeats(store: Ledgers) -> None:
    say(store.ledger("short"), *["Thanks a lot!", "You are welcome!"] * 5)
    assert repeated(store, "short") == ()


def test_other_ledgers_repeat_nothing(store: Ledgers) -> None:
    """Each conversation has its own windows."""
    for name in ("one", "two"):
        say(store.ledger(name), "Read it.")
        look_up(store.ledger(name), "read_page", "Ghent", PAGE)
    assert repeated(store, "one", "two") == ()


def test_scripts_without_spaces_are_compared_too(store: Ledgers) -> None:
    page = "根特的仓库每天下午关闭并接收新的订单包裹里昂的仓库则在晚上开门从港口运来的货物要等三天才能送到城外的村庄"
    case = store.ledger("chinese")
    say(case, "读一下。")
    look_up(case, "read_page", "根特", page)
    look_up(case, "read_page", "根特", f"{page}海运也可以")
    (found,) = repeated(store, "chinese")
    assert (found.near, found.exact) == (1, 0)


def test_the_dearest_repeats_are_named_and_all_are_counted(store: Ledgers) -> None:
    case: Ledger = store.ledger("many")
    say(case, "Read them.")
    pages = [f"Page {number}. " + f"depot-{number} " * (20 + number) for number in range(15)]
    for page in [*pages, *pages]:
        look_up(case, "read_page", page[:8], page)
    repeats = audit(store, ["many"], policies={}).repeats
    assert [found.what for found in repeats.most] == [f"read_page Page {n}." for n in range(14, 4, -1)]
    assert (repeats.exact.number, repeats.exact.tokens) == (15, sum(map(COUNT, pages)))


def test_what_is_remembered_is_bounded_and_is_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller bounds than in use, so that little has to be said."""
    monkeypatch.setattr(auditing_repeats, "_MOST_SHINGLES", 300)
    monkeypatch.setattr(auditing_repeats, "_MOST_TEXTS", 30)
    finder = RepeatFinder()
    pages = [" ".join(f"w{place}x{word}" for word in range(100)) for place in range(60)]
    for turn, page in enumerate([*pages, pages[0], pages[59], f"{pages[58]} and more"], start=1):
        finder.see(Content("user", page[:4], turn, None, page), lambda: 100)
    assert len(finder._shingles) <= 300
    assert len(finder._texts) <= 30
    assert [(found.what, found.exact, found.near) for found, _ in finder.found("ledger")] == [("w58x", 0, 1), ("w59x", 1, 0)]


def test_comparing_takes_work_that_grows_with_the_texts_and_not_with_their_square() -> None:
    """Of how many earlier texts a text is compared with, nothing depends: each shingle is looked up once."""
    looked_up = []
    for number in (100, 400):
        finder = RepeatFinder()
        finder._shingles = counting = Counting()
        for place in range(number):
            text = " ".join(f"w{place}x{word}" for word in range(100))
            finder.see(Content("user", "", place + 1, None, text), lambda: 100)
        looked_up.append(counting.asked / number)
    assert looked_up[1] == pytest.approx(looked_up[0], rel=0.1)
