"""The lines of a state block with what each costs, written and counted once for whoever remembers them.

The encodings cut text where a line ends and the next one begins with neither white space nor a slash, and every line begins so.
Hence a block costs exactly what its lines cost, each counted with its end, and nobody has to count a whole block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar

from projections.block_forms import BlockForm, CompactText, JsonLines, Markdown, Written
from projections.shortening import shortened

if TYPE_CHECKING:
    from projections.disputes import Dispute
    from projections.entries import Entry
    from projections.state import FactNow, State
    from projections.state_block import BlockOptions, Count

Result = TypeVar("Result")

TASK_CHARACTERS: Final = 280
"""How much of the task a block quotes, where it does; a window has all of it, verbatim."""


class Remember(Protocol):
    """Gives what was made for a key, made where it is not known: a key names all that it depends on."""

    def __call__(self, key: Hashable, make: Callable[[], Any]) -> Any: ...


def made_anew(key: Hashable, make: Callable[[], Any]) -> Any:
    """For those who remember nothing."""
    return make()


class Line(NamedTuple):
    """A line without its end, whether a text in it was cut, and its tokens with its end."""

    text: str
    is_cut: bool
    tokens: int


class BlockLines:
    """Writes the lines of blocks of one kind; ``remember`` may remember them between states of one ledger."""

    def __init__(self, options: BlockOptions, *, count: Count, remember: Remember = made_anew) -> None:
        self._form = _FORMS[options.form](provenance=options.provenance, most_characters=options.most_characters)
        self._key = options.form, options.provenance, options.most_characters
        self._says_why = options.provenance
        self._is_spaced = self._form.closing.startswith("\n")
        self._count = count
        self._remember = remember

    @property
    def ends(self) -> tuple[str, str]:
        """What stands before the first line, and after the last one."""
        return self._form.opening, self._form.closing

    def ends_tokens(self) -> int:
        """What these two cost, a blank line before the closing apart."""
        opening, closing = self.ends
        return self.remembered("ends", lambda: self._count(opening) + self._count(closing.lstrip("\n")))

    def last_tokens(self, line: Line) -> int:
        """What a line costs that stands before the closing: of a blank line there, no seam sets it apart."""
        return self._count(f"{line.text}\n\n") if self._is_spaced else line.tokens

    def label(self, place: str) -> Line:
        """What the block is."""
        return self.remembered(("label", place), lambda: self._line(Written(self._form.label(place))))

    def task(self, state: State) -> Line | None:
        """What is asked, if anything is."""
        if state.task is None:
            return None
        task = shortened(state.task, TASK_CHARACTERS)
        return self._line(Written(self._form.task(task, state.task_turn, state.task_source)))

    def fact(self, name: str, fact: FactNow) -> Line:
        """The value that stands in a field."""
        return self._line(self._form.fact(name, fact))

    def entry(self, entry: Entry, *, why: bool) -> Line:
        """An entry of a list section."""
        return self._line(self._form.entry(entry.section, entry, why=why))

    def says_why(self, entry: Entry) -> bool:
        """Whether the line of an entry says why it was made, where nothing gives way."""
        return self._says_why and entry.why is not None

    def dispute(self, dispute: Dispute) -> Line:
        """What is disputed."""
        return self.remembered(dispute, lambda: self._line(Written(self._form.dispute(dispute))))

    def not_shown(self, counts: Mapping[str, int]) -> str:
        """How many lines of each section gave way; nothing where none did."""
        return f"{self._form.not_shown(counts)}\n" if counts else ""

    def not_shown_tokens(self, counts: Mapping[str, int]) -> int:
        """What that costs, before a blank line as well, since it ends with a word."""
        return sum(map(self._count, self._form.not_shown_parts(counts))) if counts else 0

    def remembered(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What belongs to a key, for blocks that are written like these."""
        known: Result = self._remember((self._key, key), make)
        return known

    def _line(self, written: Written) -> Line:
        return Line(*written, self._count(f"{written.text}\n"))


_FORMS: Final[dict[str, Callable[..., BlockForm]]] = {"lines": JsonLines, "compact": CompactText, "markdown": Markdown}
"""One line a form."""
