"""A window: what one model call receives, with its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from projections.basis import Basis
from projections.pieces import media_of, text_documents
from projections.planning import Fixed, Plan, Planner, Row
from projections.policy import Policy
from projections.render import renderer_named
from projections.render.identifiers import CallKey
from projections.render.media import Media
from projections.render.renderer import Count, Renderer, Request, measure, plain
from projections.render.text import TextRenderer
from projections.state import State
from projections.state_block import Block, block_of
from projections.transcript import Transcript
from projections.wire import to_json


@dataclass(frozen=True, slots=True)
class Window:
    """The request with its price: ``tokens`` counted in ``encoding``, and a receipt row for every turn up to its version.

    ``block`` is the state block that stands in it, with its own receipt; None where there is nothing to show.

    ``text`` is what the request holds, for people to read.
    """

    basis: Basis
    tokens: int
    encoding: str
    receipt: tuple[Row, ...]
    block: Block | None
    exact: Request
    text: str
    renderer: Renderer = field(repr=False, compare=False)

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain Python values, for a provider's own library."""
        return dict(plain(self.exact))

    @property
    def request_bytes(self) -> bytes:
        """The request as JSON bytes; what came from others stands in it as it came."""
        return to_json(self.exact)

    def call_of(self, call_id: str) -> CallKey:
        """The turn and the recorded id of a call, by the id that it has in the request; ``KeyError`` for another id."""
        return {made: key for key, made in self.renderer.call_ids.items()}[call_id]

    def tool_of(self, name: str) -> str:
        """The recorded name of a tool, by the name that it has in the request; ``KeyError`` for another name."""
        return {made: tool for tool, made in self.renderer.tool_names.items()}[name]

    def to_json(self) -> bytes:
        """The answer as JSON: basis, tokens, encoding, receipt, request."""
        return to_json(
            {
                "basis": self.basis,
                "tokens": self.tokens,
                "encoding": self.encoding,
                "receipt": self.receipt,
                **({} if self.block is None else {"state": {"tokens": self.block.tokens, "gave_way": self.block.gave_way}}),
                "request": self.exact,
            }
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A window that is chosen but not yet rendered, because the bytes of its pictures and documents are still to come."""

    transcript: Transcript
    policy: Policy
    form: str
    plan: Plan
    counting: Counting
    block: Block | None

    @property
    def media(self) -> set[str]:
        """The hashes of the artifacts whose bytes the request needs."""
        return media_of(self.plan.pieces)

    def finish(self, basis: Basis, media: Mapping[str, bytes]) -> Window:
        """Render the window; it costs no more than it was planned to, whatever became of the bytes of ``media``."""
        complete = Media(media, complete=True)
        renderer = renderer_named(self.form)(self.transcript, self.policy, complete)
        request = renderer.request(self.plan.pieces)
        tokens = measure(request, self.counting.count)
        assert tokens <= self.policy.request_tokens, "the plan was priced by the same measure"
        text = TextRenderer(self.transcript, self.policy, complete).request(self.plan.pieces)["text"]
        return Window(basis, tokens, self.counting.encoding, self.plan.rows, self.block, request, text, renderer)


@dataclass(frozen=True, slots=True)
class Counting:
    """How tokens are counted: the encoding's name, and the function that counts in it."""

    encoding: str
    count: Count


def texts_of(transcript: Transcript, policy: Policy) -> set[str]:
    """The hashes of the text documents that a window may show: their bytes are needed to plan it."""
    shown = transcript.turns[-1 - policy.tail_turns :]
    task = transcript.task_turn
    return text_documents(shown if task is None else (task, *shown))


def draft_window(
    transcript: Transcript,
    state: State,
    policy: Policy,
    *,
    form: str,
    counting: Counting,
    texts: Mapping[str, bytes],
    asking: frozenset[int] = frozenset(),
) -> Draft:
    """Choose what a window holds. ``form`` names a renderer, ``texts`` has the bytes that ``texts_of`` asks for, ``asking`` the
    turns that ask to forget something.

    A task given at opening stands first, verbatim. The state block stands in the window unless it would only repeat the task.
    Raises ``NothingToSend`` and ``BudgetExceeded``.
    """
    renderer = renderer_named(form)(transcript, policy, Media(texts, complete=False))
    block = None if state.is_bare else block_of(state, policy.state, count=counting.count)
    fixed = Fixed(task=None if state.task_turn is not None else state.task, state=None if block is None else block.text)
    planner = Planner(transcript, policy, fixed=fixed, renderer=renderer, count=counting.count, asking=asking)
    return Draft(transcript, policy, form, planner.plan(), counting, block)
