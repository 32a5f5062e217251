"""The stubs of a turn's results, and what can be made ready for them before anybody knows what of the results is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from projections.compacting.middle import Stub
from projections.compacting.stubs import StubFrame, stub_frame
from projections.compacting.turn_cuts import drop_cuts, make_cuts
from projections.compacting.used_strings import Said, said_of, used_strings
from projections.exact.finding import Quoting
from projections.policy import Policy
from projections.sendable import sendable
from projections.state_block import Count
from projections.told import Told
from projections.transcript import Turn, answered_calls

_READY = "ready for stubs"


class _Ready(NamedTuple):
    """What a stub of a result is made of, whatever of it is used."""

    tool: str
    asked: str
    result: Quoting
    frame: StubFrame


def stubs_of(told: Told, later: Sequence[Told], policy: Policy, count: Count) -> list[Stub]:
    """Stubs of those results of a turn that the policy does not exclude and that become shorter so.

    ``later`` are the turns that may have used them.
    """
    costs = {result.version: result.contents.tokens for result in told.card.results}
    said = [other.recall("said and asked", _said) for other in later]
    stubs = []
    for version, ready in told.recall(_READY, _ready).items():
        cost = costs.get(version, 0)
        if ready.tool in policy.stubs.excluded_tools or cost <= policy.stubs.larger_than_tokens:
            continue
        used = used_strings(ready.result, said, asked=ready.asked)
        text = sendable(ready.frame.naming(used))
        tokens = count(text)
        if tokens < cost:
            stubs.append(Stub(version, text, tokens))
    told.remembered.pop(_READY, None)  # it holds the results once more, and is asked for only when the segment is compacted
    drop_cuts(told)
    return stubs


def make_ready(told: Told, count: Count) -> None:
    """Look through a turn for its own stubs and for those of the turns before it, and cut its results, as it may be asked for.

    So making a window takes less time later. ``count`` remembers what it counted: mostly nothing of a result is used.
    """
    told.recall("said and asked", _said)
    for ready in told.recall(_READY, _ready).values():
        ready.result.look_through()
        count(sendable(ready.frame.naming(())))
    make_cuts(told)


def said_and_asked(turn: Turn) -> str:
    """The text of a turn and the arguments of its calls: where strings of earlier results are used."""
    return "\n".join([turn.text, *(str(call.arguments) for call in turn.calls)])


def _said(told: Told) -> Said:
    return said_of(said_and_asked(told.turn))


def _ready(told: Told) -> Mapping[int, _Ready]:
    return {
        found.version: _Ready(call.tool, str(call.arguments), Quoting(found.text), stub_frame(found, call))
        for call, found in answered_calls(told.turn)
    }
