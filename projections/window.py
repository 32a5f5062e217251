"""A window: what one model call receives, with its receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from projections.basis import Basis
from projections.pieces import media_of
from projections.planning import Plan, Planner, Row
from projections.policy import Policy
from projections.render import renderer_named
from projections.render.renderer import Count, Renderer, Request, measure, plain
from projections.state import State
from projections.transcript import Transcript
from projections.wire import to_json


@dataclass(frozen=True, slots=True)
class Window:
    """The request with its price: ``tokens`` counted in ``encoding``, and a receipt row for every turn up to its version."""

    basis: Basis
    tokens: int
    encoding: str
    receipt: tuple[Row, ...]
    exact: Request

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain Python values, for a provider's own library."""
        return dict(plain(self.exact))

    @property
    def request_bytes(self) -> bytes:
        """The request as JSON bytes; what came from others stands in it as it came."""
        return to_json(self.exact)

    def to_json(self) -> bytes:
        """The answer as JSON: basis, tokens, encoding, receipt, request."""
        return to_json(
            {
                "basis": self.basis,
                "tokens": self.tokens,
                "encoding": self.encoding,
                "receipt": self.receipt,
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
    count: Count
    renderer: Renderer

    @property
    def media(self) -> set[str]:
        """The hashes of the artifacts whose bytes the request needs."""
        return media_of(self.plan.pieces)

    def finish(self, basis: Basis, media: Mapping[str, bytes]) -> Window:
        """Render the window; its cost does not depend on the bytes of ``media``."""
        shows_media = bool(self.media)
        renderer = renderer_named(self.form)(self.transcript, self.policy, media) if shows_media else self.renderer
        request = renderer.request(self.plan.pieces)
        tokens = measure(request, self.count)
        assert tokens <= self.policy.request_tokens, "the plan was priced by the same measure"
        return Window(basis, tokens, self.policy.encoding, self.plan.rows, request)


def draft_window(transcript: Transcript, state: State, policy: Policy, *, form: str, count: Count) -> Draft:
    """Choose what a window holds. ``form`` names a renderer; ``count`` counts in the policy's encoding.

    The state block stands in it unless it would only repeat the task turn. Raises ``NothingToSend`` and ``BudgetExceeded``.
    """
    renderer = renderer_named(form)(transcript, policy, None)
    block = None if state.is_bare else state.block
    plan = Planner(transcript, policy, state=block, renderer=renderer, count=count).plan()
    return Draft(transcript, policy, form, plan, count, renderer)
