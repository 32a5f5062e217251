"""Policies to begin with, by name."""

from __future__ import annotations

from typing import Final

from ledger.errors import InvalidInput, nearest
from projections.policy import Compaction, Policy, StubRules

DEFAULT: Final = Policy()

SUPPORT: Final = Policy(
    compaction=Compaction(segment_turns=8, live_percent=30, kept_percent=20, text_percent=10, exact_percent=10),
)
"""Talk with a person about a case: what they stated and ruled out matters, look-ups are spent soon."""

CODING: Final = Policy(
    tail_turns=8,
    stubs=StubRules(clear_at_least_tokens=1_500),
    compaction=Compaction(segment_turns=8, live_percent=30, kept_percent=15, text_percent=15, exact_percent=12),
)
"""Long runs of tools on files: results are most of it, paths and errors must stay exact."""

RESEARCH: Final = Policy(
    tail_turns=4,
    stubs=StubRules(clear_at_least_tokens=500),
    compaction=Compaction(segment_turns=6, live_percent=20, kept_percent=15, text_percent=25, exact_percent=12),
)
"""Many large pages, each read once: they are cleared early, and more is told of what was found."""

SLIDING: Final = Policy(
    tail_turns=1_000_000,
    pins_task=False,
    rules=(),
    stubs=StubRules(spent=False),
    compaction=None,
    state=None,
)
"""The plain last turns, as many as fit: nothing is pinned, shortened, told of or carried along. For comparison."""

PRESETS: Final[dict[str, Policy]] = {
    "default": DEFAULT,
    "support": SUPPORT,
    "coding": CODING,
    "research": RESEARCH,
    "sliding": SLIDING,
}
"""One line a preset."""


def preset_named(name: str) -> Policy:
    """The preset of a name; ``InvalidInput`` names the nearest ones."""
    if name not in PRESETS:
        near = nearest(name, PRESETS)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InvalidInput(f"no preset {name!r}{hint}: take one of {', '.join(PRESETS)}", path="preset")
    return PRESETS[name]
