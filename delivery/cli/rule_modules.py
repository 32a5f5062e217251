"""The option by which a program of the user's registers its rules before a policy is followed that names them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import InvalidInput

RuleModules = Annotated[
    list[str] | None,
    typer.Option("--rules", metavar="MODULE", help="Run this Python module, which registers the rules of a policy."),
]


def register_rules(modules: Iterable[str] | None) -> None:
    """Import modules, so that the rules are registered that they have; their code runs.

    They are found where Python finds installed ones, else in the folder in which the command runs. ``InvalidInput`` says why
    one cannot be imported.
    """
    here = str(Path.cwd())
    for name in modules or ():
        if name.endswith(".py") or not all(part.isidentifier() for part in name.split(".")):
            raise InvalidInput(f"--rules {name!r}: give the name of a module, as import takes it (my_rules)", path="rules")
        if here not in sys.path:
            sys.path.append(here)
        try:
            import_module(name)
        except Exception as error:  # whatever the code of a user raises, it is the module that cannot be had
            raise InvalidInput(f"--rules {name!r}: {_why(error, name)}", path="rules") from error


def _why(error: Exception, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name is not None and f"{name}.".startswith(f"{error.name}."):
        return f"there is no module {error.name!r}, neither here nor installed"
    return f"its import failed: {type(error).__name__}: {error}"
