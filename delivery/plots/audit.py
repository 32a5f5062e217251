"""The plot of an audit: for each conversation, its tokens by verdict along its turns, with the largest results marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from delivery.plots.scales import short, ticks
from delivery.plots.svg import Markup, document, element, style, together
from projections.auditing.audit import Audit, AuditedLedger, BigResult, Step
from projections.verdicts.verdict import Verdict

MOST_PANELS: Final = 8
"""So many conversations are drawn, the dearest ones; of the others the numbers are in the audit."""

_WIDTH: Final = 960
_LEFT: Final = 64
_RIGHT: Final = 24
_HEAD: Final = 96
_PANEL: Final = 190
_PLOT: Final = 116
_ROW: Final = 20
_MARK: Final = 8
_NAME_CHARACTERS: Final = 70
_SAID_CHARACTERS: Final = 112

SHOWN: Final[Mapping[Verdict, tuple[str, str, str]]] = {
    "keep": ("kept word for word", "#1b7837", "#5cc97b"),
    "compress": ("told in fewer words", "#3b76c4", "#74a9f0"),
    "stub": ("result becomes a stub", "#c4690a", "#f4a64a"),
    "drop": ("dropped", "#8a8f98", "#9aa0aa"),
    "never": ("forgotten", "#b2182b", "#ef6f78"),
}
"""The verdicts from the bottom of a bar to its top: what they mean, and their colours on light and on dark ground."""

_FONT: Final = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def audit_svg(found: Audit) -> str:
    """The plot as one SVG file: readable on light and on dark ground, with a title and a description in words."""
    drawn = sorted(found.ledgers, key=lambda ledger: ledger.tokens, reverse=True)[:MOST_PANELS]
    drawn = [ledger for ledger in found.ledgers if ledger in drawn]
    marks = {result.result_id + "\0" + result.ledger: number for number, result in enumerate(found.biggest, start=1)}
    panels = [_panel(ledger, found, marks, top=_HEAD + place * _PANEL) for place, ledger in enumerate(drawn)]
    bottom = _HEAD + len(drawn) * _PANEL
    names = {ledger.ledger for ledger in drawn}
    listed = [result for result in found.biggest if result.ledger in names]
    rows = _results(listed, found, marks, top=bottom)
    height = bottom + (_ROW * (len(listed) + 2) if listed else 0) + 12
    return document(
        style(_rules()),
        element("rect", class_="ground", width=_WIDTH, height=height),
        _heading(found, len(drawn)),
        _legend(found),
        *panels,
        *rows,
        width=_WIDTH,
        height=height,
        title=_title(found),
        description=_description(found),
    )


def _rules() -> str:
    light = "".join(f".{verdict}{{fill:{colour}}}" for verdict, (_, colour, _) in SHOWN.items())
    dark = "".join(f".{verdict}{{fill:{colour}}}" for verdict, (_, _, colour) in SHOWN.items())
    return (
        f"text{{font-family:{_FONT};font-size:12px;fill:#1f2328}}"
        ".ground{fill:#ffffff}.title{font-size:18px;font-weight:600}.name{font-weight:600}.soft{fill:#59636e}"
        ".line{stroke:#d1d9e0;stroke-width:1}.mark{fill:#1f2328}.number{fill:#ffffff;font-size:10px;font-weight:600}"
        f"{light}"
        "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.soft{fill:#9198a1}"
        f".line{{stroke:#30363d}}.mark{{fill:#e6edf3}}.number{{fill:#0d1117}}{dark}}}"
    )


def _title(found: Audit) -> str:
    return f"Where the tokens of {_conversations(len(found.ledgers))} go"


def _conversations(number: int) -> str:
    return "1 conversation" if number == 1 else f"{number:,} conversations"


def _description(found: Audit) -> str:
    """What the plot shows, for those who do not see it."""
    shares = ", ".join(
        f"{SHOWN[row.verdict][0]} {row.share:.1%} of the tokens ({row.turns:,} turns)"
        for kind in found.kinds
        for row in kind.verdicts
        if row.turns
    )
    largest = found.biggest[0] if found.biggest else None
    result = (
        "" if largest is None else f" The largest result is {largest.result_id} of {largest.tool}: {largest.tokens:,} tokens."
    )
    return f"{found.turns:,} turns with {found.tokens:,} tokens: {shares}.{result}" if shares else "No turns."


def _heading(found: Audit, drawn: int) -> Markup:
    others = len(found.ledgers) - drawn
    said = f"{found.turns:,} turns, {found.tokens:,} tokens, by the rules of the policy {found.judged_by}"
    said += f"; the {drawn} dearest of {len(found.ledgers):,} are drawn" if others else ""
    return together(
        (
            element("text", _title(found), class_="title", x=_LEFT, y=32),
            element("text", said, class_="soft", x=_LEFT, y=52),
        )
    )


def _legend(found: Audit) -> Markup:
    rows = [row for kind in found.kinds for row in kind.verdicts if row.turns]
    parts: list[Markup] = []
    x = float(_LEFT)
    for row in sorted(rows, key=lambda row: list(SHOWN).index(row.verdict)):
        said = f"{SHOWN[row.verdict][0]} {row.share:.0%}"
        parts.append(element("rect", class_=row.verdict, x=x, y=66, width=12, height=12, rx=2))
        parts.append(element("text", said, x=x + 17, y=76))
        x += 17 + 6.6 * len(said) + 22
    return together(parts)


def _panel(ledger: AuditedLedger, found: Audit, marks: Mapping[str, int], *, top: int) -> Markup:
    """One conversation: name, axes, bars, marks."""
    most = max((sum(step.tokens.values()) for step in ledger.profile), default=0)
    scale = ticks(most, about=3)
    base = top + 34 + _PLOT
    width = (_WIDTH - _LEFT - _RIGHT) / max(1, len(ledger.profile))
    step_turns = ledger.profile[0].last - ledger.profile[0].first + 1 if ledger.profile else 1
    per = "tokens a turn" if step_turns == 1 else f"tokens of {step_turns} turns"
    parts = [
        element("text", _cut(ledger.ledger, _NAME_CHARACTERS), class_="name", x=_LEFT, y=top + 14),
        element(
            "text",
            f"{ledger.turns:,} turns, {ledger.tokens:,} tokens; {per}",
            class_="soft",
            x=_WIDTH - _RIGHT,
            y=top + 14,
            text_anchor="end",
        ),
    ]
    parts += _axis(scale, base)
    for place, step in enumerate(ledger.profile):
        parts += _bar(step, x=_LEFT + place * width, width=width, base=base, per_token=_PLOT / scale[-1])
    parts += _turn_axis(ledger, base)
    parts += _marks(ledger, found, marks, width=width, base=base, per_token=_PLOT / scale[-1])
    return element("g", together(parts))


def _axis(scale: Sequence[int], base: int) -> Iterator[Markup]:
    for tick in scale:
        y = base - tick / scale[-1] * _PLOT
        yield element("line", class_="line", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y)
        yield element("text", short(tick), class_="soft", x=_LEFT - 8, y=y + 4, text_anchor="end")


def _turn_axis(ledger: AuditedLedger, base: int) -> Iterator[Markup]:
    if ledger.turns:
        yield element("text", "turn 1", class_="soft", x=_LEFT, y=base + 16)
    if ledger.turns > 1:
        yield element("text", f"{ledger.turns:,}", class_="soft", x=_WIDTH - _RIGHT, y=base + 16, text_anchor="end")


def _bar(step: Step, *, x: float, width: float, base: int, per_token: float) -> Iterator[Markup]:
    """The tokens of some turns, one verdict on the other; what they are is said where a pointer rests on them."""
    y = float(base)
    turns = f"turn {step.first}" if step.first == step.last else f"turns {step.first} to {step.last}"
    for verdict, (meaning, _, _) in SHOWN.items():
        tokens = step.tokens.get(verdict, 0)
        if tokens:
            height = tokens * per_token
            y -= height
            said = element("title", f"{turns}: {tokens:,} tokens, {meaning}")
            yield element("rect", said, class_=verdict, x=x, y=y, width=max(0.5, width - _gap(width)), height=height)


def _gap(width: float) -> float:
    return 1.0 if width > 4 else 0.2 * width


def _marks(
    ledger: AuditedLedger, found: Audit, marks: Mapping[str, int], *, width: float, base: int, per_token: float
) -> Iterator[Markup]:
    """A numbered dot over the bar of each of the largest results; dots that would hide each other stand one over the other."""
    taken: list[tuple[float, float]] = []
    highest = base - _PLOT - 1.5 * _MARK
    for result in found.biggest:
        if result.ledger != ledger.ledger:
            continue
        place = next(place for place, step in enumerate(ledger.profile) if step.first <= result.turn <= step.last)
        x = _LEFT + (place + 0.5) * width
        y = base - sum(ledger.profile[place].tokens.values()) * per_token - _MARK - 2
        while y > highest and any(abs(x - other) < 2 * _MARK and abs(y - above) < 2 * _MARK for other, above in taken):
            y -= 2 * _MARK + 1
        y = max(y, highest)
        taken.append((x, y))
        number = marks[result.result_id + "\0" + result.ledger]
        yield element("circle", element("title", _said(result, found)), class_="mark", cx=x, cy=y, r=_MARK)
        yield element("text", str(number), class_="number", x=x, y=y + 3.5, text_anchor="middle")


def _results(listed: Sequence[BigResult], found: Audit, marks: Mapping[str, int], *, top: int) -> Iterator[Markup]:
    """The largest results by their numbers."""
    if listed:
        yield element("text", "The largest results of tools", class_="name", x=_LEFT, y=top + 14)
    for place, result in enumerate(listed, start=1):
        y = top + 14 + place * _ROW
        yield element("circle", class_="mark", cx=_LEFT + _MARK, cy=y - 4, r=_MARK)
        number = marks[result.result_id + "\0" + result.ledger]
        yield element("text", str(number), class_="number", x=_LEFT + _MARK, y=y - 0.5, text_anchor="middle")
        yield element("text", f"{result.tokens:,}", x=_LEFT + 70, y=y, text_anchor="end")
        yield element("text", _said(result, found), x=_LEFT + 82, y=y)


def _said(result: BigResult, found: Audit) -> str:
    ledger = f", {_cut(result.ledger, 20)}" if len(found.ledgers) > 1 else ""
    used = (
        f"used by turn{'s' if len(result.used_by) > 1 else ''} {_turns(result.used_by)}" if result.used_by else "not used later"
    )
    tool, where = _cut(result.tool, 24), f"(turn {result.turn}, {result.result_id}{ledger}): {used}"
    room = _SAID_CHARACTERS - len(tool) - len(where) - 2
    return f"{tool} {where}" if result.asked is None else f"{tool} {_cut(result.asked, room)} {where}"


def _cut(text: str, most: int) -> str:
    """A text, or its beginning and its end: of a path, the end says most."""
    return text if len(text) <= most else f"{text[: most // 3]}…{text[len(text) - (most - most // 3 - 1) :]}"


def _turns(turns: Sequence[int]) -> str:
    shown = ", ".join(map(str, turns[:3]))
    return f"{shown} …" if len(turns) > 3 else shown
