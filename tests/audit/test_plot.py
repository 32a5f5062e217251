"""The plot of an audit, read as any program reads an XML file."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from delivery.plots.audit import MOST_PANELS, audit_svg
from delivery.plots.scales import short, ticks
from ledger import Ledgers
from projections.auditing.audit import Audit
from replay.audit import audit
from tests.audit.talking import OTHER_PAGE, PAGE, look_up, say

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "]]></text><script>alert(1)</script><!-- & \"' \x00\x07\u202e\ud800 &lt;b&gt; --><style>*{display:none}</style>"


def drawn(found: Audit) -> ET.Element:
    return ET.fromstring(audit_svg(found))


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    return [found for found in root.iter() if found.get("class") == name]


def bars(root: ET.Element, verdict: str) -> list[ET.Element]:
    """Those of the panels; the legend has one too, without a title."""
    return [bar for bar in of_class(root, verdict) if bar.find(f"{SVG}title") is not None]


def texts(root: ET.Element) -> list[str]:
    return [found.text or "" for found in root.iter(f"{SVG}text")]


@pytest.fixture
def found(store: Ledgers) -> Audit:
    case = store.ledger("parcels")
    say(case, "Read both pages.")
    look_up(case, "read_page", "Ghent", PAGE)
    say(case, "Never call the depot.", "Understood.", "Thanks!", "You are welcome!")
    look_up(case, "read_page", "Lyon", OTHER_PAGE)
    say(case, "Well?", "ORD-00031 is there.")
    return audit(store, ["parcels"], policies={})


def test_the_bars_are_as_high_as_the_turns_cost(found: Audit) -> None:
    """By verdict, all in one scale."""
    root = drawn(found)
    tokens = {row.verdict: row.tokens for kind in found.kinds for row in kind.verdicts}
    heights = {verdict: sum(float(bar.get("height", 0)) for bar in bars(root, verdict)) for verdict in tokens}
    per_token = heights["stub"] / tokens["stub"]
    for verdict, cost in tokens.items():
        assert heights[verdict] == pytest.approx(cost * per_token, abs=0.1)
    assert {verdict for verdict in tokens if heights[verdict]} == {"keep", "compress", "stub", "drop"}


def test_the_bars_of_a_turn_stand_one_on_the_other(store: Ledgers) -> None:
    """Nothing hides anything, and nothing stands outside of its panel."""
    case = store.ledger("long")
    for place in range(100):
        say(case, f"Where is order ORD-{place:05}?", "Let me see.", "Thanks!", OTHER_PAGE[: 40 * (place % 9)] or "No.")
    root = drawn(audit(store, ["long"], policies={}))
    by_place: dict[str, list[tuple[float, float]]] = {}
    for verdict in ("keep", "compress", "stub", "drop", "never"):
        for bar in bars(root, verdict):
            top, height = float(bar.get("y", 0)), float(bar.get("height", 0))
            by_place.setdefault(bar.get("x", ""), []).append((top, top + height))
    assert len(by_place) == 100
    for spans in by_place.values():
        spans.sort()
        assert all(above[1] == pytest.approx(below[0], abs=0.02) for above, below in pairwise(spans))
    assert len({round(max(bottom for _, bottom in spans), 1) for spans in by_place.values()}) == 1


def test_the_legend_has_what_is_drawn_with_its_share(found: Audit) -> None:
    said = texts(drawn(found))
    for kind in found.kinds:
        for row in kind.verdicts:
            assert any(text.endswith(f" {row.share:.0%}") for text in said) or not row.turns
    assert "result becomes a stub" in " ".join(said)
    assert "forgotten" not in " ".join(said)


def test_the_largest_results_are_marked_where_they_are(found: Audit) -> None:
    root = drawn(found)
    marks = [mark for mark in of_class(root, "mark") if mark.find(f"{SVG}title") is not None]
    assert len(marks) == len(found.biggest) == 2
    for mark, result in zip(marks, found.biggest, strict=True):
        (title,) = mark
        assert title.text is not None
        assert result.result_id in title.text
        bar = next(bar for bar in bars(root, "stub") if f"turn {result.turn}:" in (bar[0].text or ""))
        middle = float(bar.get("x", 0)) + float(bar.get("width", 0)) / 2
        assert float(mark.get("cx", 0)) == pytest.approx(middle, abs=1)
        assert float(mark.get("cy", 0)) < float(bar.get("y", 0))
    assert Counter(text for text in texts(root) if text in ("1", "2")) == {"1": 2, "2": 2}
    listed = [text for text in texts(root) if "(turn" in text]
    assert ["used by turn 9" in text for text in listed] == [result.used != () for result in found.biggest]


def test_it_says_in_words_what_it_shows(found: Audit) -> None:
    """For those who do not see it: named by its title, described by its description."""
    root = drawn(found)
    title, description = root[0], root[1]
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", f"{title.get('id')} {description.get('id')}")
    assert (title.tag, description.tag) == (f"{SVG}title", f"{SVG}desc")
    assert f"{found.tokens:,} tokens" in (description.text or "")
    assert found.biggest[0].result_id in (description.text or "")


def test_it_needs_nothing_beside_it_and_is_readable_on_dark_ground(found: Audit) -> None:
    root = drawn(found)
    used = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert used <= {"svg", "title", "desc", "style", "rect", "text", "g", "line", "circle"}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    (style,) = root.iter(f"{SVG}style")
    assert "url(" not in (style.text or "")
    assert "@import" not in (style.text or "")
    light, _, dark = (style.text or "").partition("@media (prefers-color-scheme:dark)")
    for name in ("ground", "keep", "compress", "stub", "drop", "never", "mark"):
        assert contrast(colour_of(light, name), colour_of(light, "ground")) > 3 or name == "ground"
        assert contrast(colour_of(dark, name), colour_of(dark, "ground")) > 3 or name == "ground"
    assert colour_of(light, "ground") != colour_of(dark, "ground")


def colour_of(rules: str, name: str) -> str:
    found = re.search(rf"\.{name}\{{fill:#([0-9a-f]{{6}})\}}", rules)
    assert found is not None
    return found[1]


def contrast(one: str, other: str) -> float:
    """The ratio of luminances, as the guidelines for accessible content define it: from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_text_of_a_transcript_is_never_markup(store: Ledgers) -> None:
    name = HOSTILE.replace("\x00", "").replace("\x07", "").replace("\ud800", "").replace("\u202e", "")
    case = store.ledger(name)
    say(case, HOSTILE)
    look_up(case, "<script>&", HOSTILE.replace("\ud800", ""), PAGE)
    say(case, HOSTILE, HOSTILE)
    svg = audit_svg(audit(store, [name], policies={}))
    root = ET.fromstring(svg)
    assert {element.tag for element in root.iter()}.isdisjoint({f"{SVG}script", "script"})
    assert len(list(root.iter(f"{SVG}style"))) == 1
    assert any("<script>&" in text for text in texts(root))
    assert "\u202e" not in svg


def test_of_many_conversations_the_dearest_are_drawn_and_it_says_so(store: Ledgers) -> None:
    names = [f"case-{place}" for place in range(MOST_PANELS + 3)]
    for place, name in enumerate(names):
        say(store.ledger(name), f"Where is order ORD-{place:05}? " * (20 - place), "In depot 7.")
    root = drawn(audit(store, names, policies={}))
    panels = [text for text in texts(root) if text.startswith("case-")]
    assert panels == names[:MOST_PANELS]
    assert any(f"the {MOST_PANELS} dearest of {len(names)} are drawn" in text for text in texts(root))


def test_an_empty_conversation_is_drawn_empty(store: Ledgers) -> None:
    store.ledger("empty").open(task="nothing yet")
    root = drawn(audit(store, ["empty"], policies={}))
    assert "empty" in texts(root)
    assert of_class(root, "mark") == []


@pytest.mark.parametrize(
    ("most", "expected"), [(0, [0, 1]), (3, [0, 1, 2, 3]), (14, [0, 5, 10, 15]), (13_400, [0, 5_000, 10_000, 15_000])]
)
def test_axes_have_round_numbers_that_reach_the_top(most: int, expected: list[int]) -> None:
    assert ticks(most) == expected


def test_numbers_on_axes_are_short() -> None:
    assert [short(number) for number in (0, 850, 1_000, 12_500, 2_000_000)] == ["0", "850", "1k", "12.5k", "2M"]
