"""The focal method of a test."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.model.dependencies import Dependency


def focal_method(dependencies: Sequence[Dependency]) -> str | None:
    """`pkg.Type#method(Parameter,Types)` of the best-ranked dependency, None if there is none.

    A method or constructor goes before the rest of a type, which is named by the type alone; a
    resource is none.
    """
    named = [one for one in dependencies if not one.is_resource]
    methods = [one.name for one in named if one.is_method]
    return next(iter([*methods, *(one.name for one in named)]), None)
