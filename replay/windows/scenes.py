"""What a window is chosen from, out of a ledger: turns, middle and state, and what pressed on the windows before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ledger.json_text import JsonText
from projections.errors import NothingToSend
from projections.framing import note_price
from projections.planning.calibration import Budgets, Calibration, Served
from projections.planning.gathering import scene_of, task_number
from projections.planning.kept_turns import all_kept
from projections.planning.pressing import pressure
from projections.planning.scene import Fixed, Scene
from projections.policy import Policy
from projections.render import renderer_named
from projections.state import State
from projections.state_block import Block, Count
from projections.task_turn import LOOKED_FOR_TASK
from projections.told import Turns
from projections.transcript import SystemText
from replay.windows.middles import Middles, Said, Shelf


@dataclass(frozen=True)
class Ground:
    """What a window of one ledger at one version rests on.

    ``served`` tells of the windows that were recorded as served. ``count`` remembers what it counts, with the ledger;
    ``counted_once`` does not: what is made of a segment is kept with its tokens, and there is much of it. ``evidence`` names
    what was recorded of the turns before a version, ``asking`` are the turns that ask to forget something, and ``as_of`` is
    the ground of an earlier version.
    """

    turns: Turns
    said: Said
    served: Served
    state: Callable[[], State]
    shelf: Shelf
    count: Count
    counted_once: Count
    evidence: Callable[[int], tuple[str, ...]]
    asking: Callable[[], frozenset[int]]
    as_of: Callable[[int], Ground]


class Asked(NamedTuple):
    """What is asked for: a policy, a form, and definitions of tools that go with it."""

    policy: Policy
    form: str
    tools: JsonText | None


class Setting(NamedTuple):
    """A scene, and what goes with a window of it."""

    scene: Scene
    system: tuple[SystemText, ...]
    block: Block | None
    calibration: Calibration | None


def setting_of(ground: Ground, asked: Asked) -> Setting:
    """What a window is chosen from. ``NothingToSend`` while no user turn is recorded."""
    policy, renderer = asked.policy, renderer_named(asked.form)
    turns = ground.turns
    budgets = Budgets(turns, policy, served=ground.served, recall=ground.shelf.recall)
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
        system_tokens=sum(note_price(tokens, renderer.framing) for _, tokens in system),
        tools_tokens=0 if asked.tools is None else ground.count(asked.tools),
    )
    scene = scene_of(
        turns,
        policy,
        renderer,
        count=ground.count,
        budgets=budgets,
        middles=middles_of(ground, policy, task),
        fixed=fixed,
        evidence=ground.evidence,
        recall=ground.shelf.recall,
        task=task,
        pressed_before=partial(_pressed_before, ground, asked),
    )
    return Setting(scene, tuple(text for text, _ in system), block, budgets.calibration(turns.last))


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


def _pressed_before(ground: Ground, asked: Asked, scene: Scene) -> int:
    """How hard the budget pressed before what was recorded late of compacted turns since the last compaction; 0 if nothing was.

    A classification or a summary that is recorded later may leave more room: what gave way stays away even so.
    """
    level, epoch, upto = 0, _epoch(scene), _before_the_last_amendment(ground, asked.policy, scene)
    while upto is not None:  # no recursion: there may be one of each turn
        found = ground.shelf.recall(("pressed", upto, asked), partial(_pressed_at, ground.as_of(upto), asked))
        if found.epoch != epoch:
            break
        level, upto = max(level, found.level), found.before
    return level


class _Pressed(NamedTuple):
    """How hard the budget pressed at a version, since which compaction, and the version to look at before that."""

    level: int
    epoch: tuple[int, int]
    before: int | None


def _pressed_at(ground: Ground, asked: Asked) -> _Pressed:
    scene = setting_of(ground, asked).scene
    return _Pressed(pressure(scene, all_kept(scene)), _epoch(scene), _before_the_last_amendment(ground, asked.policy, scene))


def _epoch(scene: Scene) -> tuple[int, int]:
    return scene.middle.through, scene.epoch


def _before_the_last_amendment(ground: Ground, policy: Policy, scene: Scene) -> int | None:
    """The version of the last turn or return before what was recorded last of compacted turns; None if that is no news."""
    if not scene.middle.through:
        return None
    began = scene.live[max(0, scene.epoch - scene.first)].turn.version
    amended = ground.turns.amended(scene.middle.through + policy.looks_ahead + 1)
    if amended <= began:
        return None
    versions = [told.turn.version for told in scene.live]
    versions += [found.version for told in scene.live for found in told.turn.returns]
    return max(version for version in versions if version < amended)


def _block(state: State, policy: Policy) -> Block | None:
    if policy.state is None or state.is_bare:
        return None
    return state.shown(policy.state, place="above" if policy.state_place == "before_tail" else "below")
