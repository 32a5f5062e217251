"""A store that kills its process before one of the steps of a forgetting."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ledger import Ledgers
from ledger.clock import system_clock
from ledger.store import Store
from tests.forgetting.shelves import Shelf

CHANGING: Final = frozenset({"append", "fence", "sweep", "job_put", "scrub", "rename"})


class Steps:
    """Counts the steps that change something, and kills its process before one of them if it is told which."""

    def __init__(self, fatal: int | None = None) -> None:
        self.taken: list[str] = []
        self._fatal = fatal

    def take(self, name: str) -> None:
        """A step is about to be taken."""
        if len(self.taken) == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.taken.append(name)

    def end(self) -> None:
        """The last step was taken."""
        self.take("end")


class Stepping:
    """A store whose steps are counted."""

    def __init__(self, store: Store, steps: Steps) -> None:
        self._store = store
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._counted(name, found) if name in CHANGING else found

    def _counted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self._steps.take(name)
            return method(*arguments, **named)

        return counted


class Folder:
    """A derived place: a file for every event of a ledger, with what it says."""

    name = "folder"

    def __init__(self, folder: Path, steps: Steps | None = None) -> None:
        self.folder = folder
        self._steps = steps or Steps()

    def keep(self, ledgers: Ledgers, name: str) -> None:
        """Derive it from a ledger."""
        self.folder.mkdir(exist_ok=True)
        for item in ledgers.ledger(name).events():
            (self.folder / f"{item.envelope.ledger.hex()} {item.version}").write_text(str(item.event))

    def forget(self, ledger: bytes, versions: tuple[int, ...]) -> None:
        """Remove the files of these events."""
        self._steps.take("confirm")
        for version in versions:
            (self.folder / f"{ledger.hex()} {version}").unlink(missing_ok=True)

    def texts(self) -> str:
        """All that is kept."""
        return "\n".join(path.read_text() for path in self.folder.iterdir()) if self.folder.exists() else ""


def forget_in_steps(shelf: Shelf, folder: Path, forget: dict[str, Any], fatal: int | None = None) -> list[str]:
    """Forget, and return the names of the steps; or die before the one with the number ``fatal``."""
    steps = Steps(fatal)
    with shelf() as opened:
        ledgers = Ledgers(Stepping(opened.store, steps), system_clock)
        ledgers._places[Folder.name] = Folder(folder, steps)
        report = ledgers.forget(reason="asked", **forget)
        steps.end()
        assert report.state == "complete"
    return steps.taken[:-1]
