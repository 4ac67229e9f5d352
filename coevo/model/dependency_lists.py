"""Which changed dependencies a test is asked about: those that it calls, or all that it executes.

The published lists (TestEvo-Bench, A.2: the closure that is "what coverage and mutation are evaluated
against") hold methods that tests call by name; A.1 speaks of all that a test exercises. Both are in
the data: `dependencies` has all, `coupled_by` says which are called. A profile chooses for the
prompt, the focal method, coverage and mutants. Labels, filters and reversals go by all.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.model.dependencies import CoupledBy, Dependency, DependencyList


def choose_dependency_list(
    dependencies: Sequence[Dependency], wanted: DependencyList
) -> DependencyList | None:
    """The list that is used: all where none is called; None where there is nothing to choose from.

    A list without a method is as good as empty where there are methods: it covers nothing.
    """
    if not dependencies:
        return None
    called = select_dependencies(dependencies, DependencyList.CALLED)
    has_method = any(dependency.is_method for dependency in dependencies)
    is_empty = not any(dependency.is_method for dependency in called) if has_method else not called
    return DependencyList.EXECUTED if is_empty else wanted


def select_dependencies(
    dependencies: Sequence[Dependency], which: DependencyList | None
) -> tuple[Dependency, ...]:
    """The dependencies of a list, in their order; None, of older snapshots, stands for all."""
    return tuple(
        dependency
        for dependency in dependencies
        if which is not DependencyList.CALLED or dependency.coupled_by is CoupledBy.CALL
    )
