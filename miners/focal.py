"""The focal method of a test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class _Change(Protocol):
    @property
    def qualified(self) -> str: ...


def focal_method(changes: Sequence[_Change]) -> str | None:
    """`pkg.Type#method(Parameter,Types)` of the best-ranked dependency, None if there is none.

    A method or constructor goes before the rest of a type, which is named by the type alone.
    """
    methods = [change.qualified for change in changes if '#' in change.qualified]
    return next(iter([*methods, *(change.qualified for change in changes)]), None)
