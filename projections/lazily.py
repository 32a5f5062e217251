"""A property that is worked out when it is first asked for, and kept with its object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazily(Generic[Value]):  # noqa: N801 - a decorator, as ``cached_property`` is
    """``functools.cached_property`` without the lock that Python 3.11 takes for each: windows ask for dozens of them.

    It is for what every window asks of its pieces, its scene and its request; anywhere else ``cached_property`` does. What it
    works out has to be the same each time: two threads may both do it.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazily[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazily[Value] | Value:
        """The value; it stands in the instance from then on, and this is not asked again."""
        if instance is None:
            return self
        made = instance.__dict__[self._name] = self._make(instance)
        return made
