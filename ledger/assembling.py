"""Frozen dataclasses made in a third of the time, where many are made for one answer, and the values of their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from operator import attrgetter
from typing import Any, ParamSpec, TypeVar

Model = TypeVar("Model")
Given = ParamSpec("Given")


def assembler(model: Callable[Given, Model]) -> Callable[Given, Model]:
    """What makes a ``model``, a frozen dataclass, out of the same that is given to itself.

    It would set its fields by a call each. So they are set in a twin that has the same fields and is not frozen, which then is
    said to be of the model. A ``__post_init__`` is not called: a model that has one is not for this.
    """
    ours: Any = model
    same = [(one.name, Any, field(default=one.default, default_factory=one.default_factory)) for one in fields(ours)]
    has_slots = "__slots__" in vars(ours)
    twin: Any = make_dataclass(ours.__name__, same, slots=has_slots, eq=False, repr=False, match_args=False)

    def assembled(*values: Given.args, **named: Given.kwargs) -> Model:
        made = twin(*values, **named)
        made.__class__ = ours
        found: Model = made
        return found

    return assembled


def values_of(model: type[Model]) -> Callable[[Model], tuple[Any, ...]]:
    """What tells the values of the fields of a ``model``, in order."""
    ours: Any = model
    values: Callable[[Model], tuple[Any, ...]] = attrgetter(*(one.name for one in fields(ours)))
    return values


def told_values_of(model: type[Model]) -> Callable[[Model], list[Any]]:
    """The same without those at the end that are the defaults."""
    ours: Any = model
    defaults = [one.default for one in fields(ours)]
    values = values_of(model)

    def told(made: Model) -> list[Any]:
        found = [*values(made)]
        while found and (default := defaults[len(found) - 1]) is not MISSING and found[-1] == default:
            found.pop()
        return found

    return told
