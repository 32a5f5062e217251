"""A window out of a ledger: turns, middle and state are gathered, the plan is made, the bytes of pictures are fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ledger.json_text import JsonText
from projections.compacting.segments import judged
from projections.errors import NothingToSend
from projections.framing import system_price
from projections.planning.calibration import LOOKED_AT_TURNS, Calibration, calibration_of, tells_usage
from projections.planning.gathering import LOOKED_FOR_TASK, scene_of, task_number
from projections.planning.scene import Fixed
from projections.planning.tailing import plain_tokens
from projections.policy import Policy
from projections.receipt import Row
from projections.render import renderer_named
from projections.state import State
from projections.state_block import Block, Count
from projections.told import Turns
from projections.verdicts.verdict import Judgement
from projections.window import Draft, draft_window
from replay.middles import Middles, Said, Shelf


@dataclass(frozen=True)
class Ground:
    """What a window of one ledger at one version rests on.

    ``served`` tells of the windows that were recorded as served after a version: at which version, and what they cost.
    ``count`` remembers what it counts, with the ledger; ``counted_once`` does not: what is made of a segment is kept with
    its tokens, and there is much of it. ``evidence`` names what was recorded of the turns before a version, ``asking`` are
    the turns that ask to forget something.
    """

    turns: Turns
    said: Said
    served: Callable[[int], Sequence[tuple[int, int]]]
    state: Callable[[], State]
    shelf: Shelf
    count: Count
    counted_once: Count
    evidence: Callable[[int], tuple[str, ...]]
    asking: Callable[[], frozenset[int]]


def drafted(ground: Ground, policy: Policy, *, form: str, encoding: str, tools: JsonText | None) -> Draft:
    """The window as it is planned."""
    renderer = renderer_named(form)
    calibration = _calibration(ground, policy)
    turns = ground.turns
    task = task_of(ground, policy)
    state = ground.state()
    block = _block(state, policy)
    said = {text.text: (text, tokens) for text, tokens in reversed(turns.system) if text.text.strip()}
    system = sorted(said.values(), key=lambda both: both[0].version)  # what is said again stays where it was said first
    told_task = None if state.task_turn is not None or state.task is None else state.task
    fixed = Fixed(
        task=None if told_task is None or not policy.pins_task else f"[the task, given at the start]\n{told_task}\n",
        state=None if block is None else block.text,
        state_tokens=0 if block is None else block.tokens,
        system_tokens=sum(system_price(tokens, renderer.framing) for _, tokens in system),
        tools_tokens=0 if tools is None else ground.count(tools),
    )
    scene = scene_of(
        turns,
        policy,
        renderer,
        count=ground.count,
        budget_tokens=policy.request_tokens if calibration is None else int(policy.request_tokens / calibration.factor),
        middles=middles_of(ground, policy, task),
        fixed=fixed,
        evidence=ground.evidence,
        recall=ground.shelf.recall,
        task=task,
    )
    shown = tuple(text for text, _ in system)
    return draft_window(scene, form=form, encoding=encoding, system=shown, block=block, calibration=calibration, tools=tools)


def task_of(ground: Ground, policy: Policy) -> int:
    """The number of the turn that states the task; ``NothingToSend`` while there is none."""
    looked_at = min(ground.turns.last, LOOKED_FOR_TASK)
    key = ("task", policy.middle_digest, looked_at)
    found = ground.shelf.recall(key, lambda: task_number(ground.turns, policy, upto=looked_at))
    task = task_number(ground.turns, policy) if found is None else found
    if task is None:
        raise NothingToSend("no user turn is recorded at this version: record one, or ask for a later version")
    return task


def middles_of(ground: Ground, policy: Policy, task: int) -> Middles:
    """The middles of a ledger under a policy; ``task`` is the number of the turn that states it."""
    return Middles(ground.turns, policy, task, said=ground.said, count=ground.counted_once, shelf=ground.shelf)


def expanded(ground: Ground, draft: Draft) -> tuple[Row, ...]:
    """A row for every turn. Reads the whole ledger."""
    scene, policy = draft.scene, draft.scene.policy
    asking = ground.asking()
    shown = {row.turn: row for row in draft.plan.rows}
    verdicts = _verdicts(ground, policy, scene.middle.through)
    rows = []
    for told in ground.turns.between(1, ground.turns.last):
        number = told.turn.number
        row = shown.get(number)
        if row is None:
            before = plain_tokens(told.card, {}, policy)
            verdict = Judgement("never", "forgotten") if told.turn.forgotten is not None else verdicts.get(number)
            row = Row(number, *_told_of(verdict, number, draft, policy), 0, before)
        rows.append(Row(row.turn, row.verdict, row.rule, row.tokens, row.before, number in asking))
    return tuple(rows)


def _calibration(ground: Ground, policy: Policy) -> Calibration | None:
    """How the model counts that the window is for, as far as the latest turns tell."""
    last = ground.turns.last
    cards = ground.turns.cards(last - LOOKED_AT_TURNS + 1, last)
    if not any(map(tells_usage, cards)):
        return None
    windows = dict(ground.served(cards[0].version))
    served = {}
    for before, after in pairwise(cards):
        found = [tokens for version, tokens in windows.items() if before.version < version < after.version]
        if found and after.role == "assistant":
            served[after.number] = found[-1]
    return calibration_of(cards, served=served, model=policy.model)


def _block(state: State, policy: Policy) -> Block | None:
    if policy.state is None or state.is_bare:
        return None
    return state.shown(policy.state, place="above" if policy.state_place == "before_tail" else "below")


def _verdicts(ground: Ground, policy: Policy, through: int) -> Mapping[int, Judgement]:
    """The verdicts of all turns that are compacted."""
    if not through or policy.compaction is None:
        return {}
    task = task_of(ground, policy)
    middles = middles_of(ground, policy, task)
    found: dict[int, Judgement] = {}
    for number in range(1, through // policy.compaction.segment_turns + 1):
        segment = middles.segment(number)
        found |= {told.turn.number: verdict for told, verdict in zip(segment.told, judged(segment, policy, task), strict=True)}
    return found


def _told_of(verdict: Judgement | None, number: int, draft: Draft, policy: Policy) -> Judgement:
    """What became of a turn that does not stand in the window itself."""
    if verdict is None:
        return Judgement("drop", "outside the tail" if policy.compaction is None else "budget")
    if verdict.verdict in ("drop", "never"):
        return verdict
    told_of = draft.plan.told_of
    # What is told of a turn that was kept whole until now is a line of its own.
    is_told = (
        (number, number) in told_of if verdict.verdict == "keep" else any(one <= number <= other for one, other in told_of)
    )
    return Judgement("compress", verdict.rule) if is_told else Judgement("drop", "budget")
