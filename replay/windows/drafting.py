"""A window out of a ledger: it is planned, and its receipt is expanded to every turn."""

from __future__ import annotations

from collections.abc import Mapping

from projections.compacting.segments import judged
from projections.planning.tailing import plain_tokens
from projections.policy import Policy
from projections.receipt import Row
from projections.verdicts.verdict import FORGOTTEN, Judgement
from projections.window import Draft, draft_window
from replay.windows.scenes import Asked, Ground, middles_of, setting_of, task_of


def drafted(ground: Ground, asked: Asked, *, encoding: str) -> Draft:
    """The window as it is planned."""
    found = setting_of(ground, asked)
    return draft_window(
        found.scene,
        form=asked.form,
        encoding=encoding,
        system=found.system,
        block=found.block,
        calibration=found.calibration,
        tools=asked.tools,
    )


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
            verdict = FORGOTTEN if told.turn.forgotten is not None else verdicts.get(number)
            row = Row(number, *_told_of(verdict, number, draft, policy), 0, before)
        rows.append(Row(row.turn, row.verdict, row.rule, row.tokens, row.before, number in asking))
    return tuple(rows)


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
