"""A window: what one model call receives, with its receipt."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ledger.assembling import assembler
from ledger.json_text import JsonText
from ledger.served import Served
from projections.basis import Basis
from projections.lazily import lazily
from projections.pieces import Pieces, alike, media_of
from projections.planning.calibration import Calibration
from projections.planning.plan import Plan
from projections.planning.planner import Planner
from projections.planning.scene import Scene
from projections.policy import Policy
from projections.receipt import Receipt, Row
from projections.render import renderer_named
from projections.render.identifiers import CallKey
from projections.render.media import Media
from projections.render.renderer import Renderer, Request, plain, request_bytes
from projections.render.taking_on import Made
from projections.render.text import TextRenderer
from projections.state_block import Block
from projections.transcript import SystemText
from projections.wire import to_json


class LastMade:
    """The last window of a policy and form in a ledger, and what was made of it for the next one to take on.

    Whatever it has, the same comes of it: it is only looked at where both begin alike. Threads may share it.
    """

    __slots__ = ("_asked", "_shown", "made")

    def __init__(self) -> None:
        self.made: Made | None = None
        self._shown: tuple[Pieces, set[str]] = ((), set())
        self._asked: tuple[Hashable, Rendering | None] = (None, None)

    def asked(self, key: Hashable, make: Callable[[], Rendering]) -> Rendering:
        """The window, made where it is another one than the last; ``key`` names all that it depends on."""
        known, rendering = self._asked
        if rendering is None or known != key:
            rendering = make()
            self._asked = key, rendering
        return rendering

    def media_of(self, pieces: Pieces) -> set[str]:
        """The hashes of the artifacts that the pieces show: mostly none, and then only what is new is looked at."""
        before, shown = self._shown  # of the window before
        found = media_of(pieces if shown else pieces[alike(pieces, before) :])
        self._shown = pieces, found
        return found


@dataclass(frozen=True)
class Rendering:
    """The request of a planned window in its form, made when it is first asked for: what ``last`` has is taken on."""

    draft: Draft
    media: Media
    last: LastMade | None = field(default=None, repr=False, compare=False)

    @lazily
    def renderer(self) -> Renderer:
        """What made the request."""
        draft = self.draft
        plan = draft.plan
        last = self.last
        found = renderer_named(draft.form)(
            draft.system,
            plan.pieces,
            draft.scene.policy,
            self.media,
            breakpoints=plan.breakpoints,
            tools=draft.tools,
            before=None if last is None else last.made,
        )
        if last is not None:
            last.made = found.made
        return found

    @property
    def exact(self) -> Request:
        """The request with foreign JSON as its source text."""
        return self.renderer.request

    @lazily
    def bytes(self) -> bytes:
        """The request as JSON bytes."""
        return request_bytes(self.exact)

    @lazily
    def calls(self) -> Mapping[str, CallKey]:
        """The turn and the recorded id of each call, by the id that it has in the request."""
        return {made: key for key, made in self.renderer.call_ids.items()}

    @lazily
    def tools(self) -> Mapping[str, str]:
        """The recorded name of each tool, by the name that it has in the request."""
        return {made: tool for tool, made in self.renderer.tool_names.items()}

    @lazily
    def text(self) -> str:
        """What the request holds, for people to read."""
        draft = self.draft
        return str(TextRenderer(draft.system, draft.plan.pieces, draft.scene.policy, self.media).request["text"])


@dataclass(frozen=True)
class Window:
    """The request with its price: ``tokens`` counted in ``encoding``, and a receipt that says why each turn is in it or not.

    ``block`` is the state block that stands in it, with its own receipt; None where there is nothing to show. ``policy`` is
    the one that chose it, ``form`` names the provider's form.
    """

    basis: Basis
    policy: Policy
    form: str
    tokens: int
    encoding: str
    receipt: Receipt
    block: Block | None
    rendering: Rendering = field(repr=False, compare=False)

    @property
    def plan(self) -> Plan:
        """What stands in it, piece by piece."""
        return self.rendering.draft.plan

    @property
    def tools(self) -> JsonText | None:
        """The definitions of tools that go with it."""
        return self.rendering.draft.tools

    @property
    def exact(self) -> Request:
        """The request with foreign JSON as its source text, to be read only: windows share what they have in common."""
        return self.rendering.exact

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain Python values, for a provider's own library."""
        return dict(plain(self.exact))

    @property
    def request_bytes(self) -> bytes:
        """The request as JSON bytes; what came from others stands in it as it came."""
        return self.rendering.bytes

    @property
    def text(self) -> str:
        """What the request holds, for people to read."""
        return self.rendering.text

    def call_of(self, call_id: str) -> CallKey:
        """The turn and the recorded id of a call, by the id that it has in the request; ``KeyError`` for another id."""
        return self.rendering.calls[call_id]

    def tool_of(self, name: str) -> str:
        """The recorded name of a tool, by the name that it has in the request; ``KeyError`` for another name."""
        return self.rendering.tools[name]

    def served(self) -> Served:
        """What is recorded of the window when it was served."""
        return Served(
            ledger=self.basis.ledger,
            policy=self.policy.digest,
            declared=self.policy.model_dump_json(),
            of_version=self.basis.version,
            form=self.form,
            engine=self.basis.engine,
            erasures=self.basis.erasures,
            bytes_digest=hashlib.sha256(self.request_bytes).hexdigest(),
            tokens=self.tokens,
            encoding=self.encoding,
            plan=self.plan.to_json().decode(),
            judged_at=self.basis.judged_at,
            rules=self.basis.rules,
            tools=None if self.tools is None else str(self.tools).encode(),
        )

    def to_json(self) -> bytes:
        """The answer as JSON: basis, tokens, encoding, receipt with a row for every turn, request."""
        return to_json(
            {
                "basis": self.basis,
                "tokens": self.tokens,
                "encoding": self.encoding,
                "receipt": self.receipt.summary() | {"turns": list(self.receipt.turns())},
                **({} if self.block is None else {"state": {"tokens": self.block.tokens, "gave_way": self.block.gave_way}}),
                "request": self.exact,
            }
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """A window that is chosen but not yet rendered, because the bytes of its pictures and documents are still to come."""

    scene: Scene
    plan: Plan
    form: str
    encoding: str
    system: tuple[SystemText, ...]
    block: Block | None
    calibration: Calibration | None
    tools: JsonText | None

    def media(self, last: LastMade | None) -> set[str]:
        """The hashes of the artifacts whose bytes the request needs; ``last`` as in ``rendered``."""
        return media_of(self.plan.pieces) if last is None else last.media_of(self.plan.pieces)

    def rendered(self, media: Mapping[str, bytes], *, last: LastMade | None = None) -> Rendering:
        """The request; it costs no more than it was planned to, whatever became of the bytes of ``media``.

        ``last``: what windows like this one share, so that each is made of what is new in it.
        """
        return Rendering(self, Media(media, complete=True), last)

    def finish(self, basis: Basis, rendering: Rendering, *, expand: Callable[[Draft], tuple[Row, ...]]) -> Window:
        """The window with its receipt; ``expand`` makes a row for every turn."""
        middle, plan = self.scene.middle, self.plan
        receipt = _receipt(
            lambda: plan.rows,
            middle.totals,
            plan.blocks,
            middle.through,
            plan.effective_tail,
            plan.gave_way,
            middle.wanting,
            plan.summaries,
            self.calibration,
            lambda: expand(self),
        )
        return _window(
            basis,
            self.scene.policy,
            self.form,
            plan.tokens,
            self.encoding,
            receipt,
            self.block,
            rendering,
        )


_receipt: Final = assembler(Receipt)
_window: Final = assembler(Window)
_draft: Final = assembler(Draft)


def draft_window(
    scene: Scene,
    *,
    form: str,
    encoding: str,
    system: tuple[SystemText, ...],
    block: Block | None,
    calibration: Calibration | None = None,
    tools: JsonText | None = None,
) -> Draft:
    """Choose what a window holds; ``BudgetExceeded`` if what may not be left out is too large."""
    return _draft(scene, Planner(scene).plan(), form, encoding, system, block, calibration, tools)
