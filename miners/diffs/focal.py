"""The focal method of a test."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.model.dependencies import Dependency


def find_focal_method(dependencies: Sequence[Dependency]) -> str | None:
    """`pkg.Type#method(Parameter,Types)` of the best-ranked dependency, None if there is none.

    A method or constructor goes before the rest of a type, which is named by the type alone; a
    resource is none.
    """
    named = [dependency for dependency in dependencies if not dependency.is_resource]
    methods = [dependency.name for dependency in named if dependency.is_method]
    return next(iter([*methods, *(dependency.name for dependency in named)]), None)
