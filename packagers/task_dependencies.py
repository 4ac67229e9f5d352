"""Merge the changed dependencies of a task's methods, and choose which list the task uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from coevo.model.dependencies import (
    CoupledBy,
    Dependency,
    DependencyList,
    choose_dependency_list,
    select_dependencies,
)
from coevo.model.method_rows import MethodRow

_STRONGEST_FIRST = tuple(CoupledBy)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDependencies:
    """The dependencies of a task, and which list of them it uses."""

    dependencies: tuple[Dependency, ...]
    which: DependencyList | None

    @classmethod
    def from_rows(cls, rows: Sequence[MethodRow]) -> TaskDependencies:
        """Return the merged dependencies of rows, with the list that the task uses.

        It is the called ones if the list of any method is, else all executed ones.
        """
        dependencies = merge_dependencies(rows)
        is_called = any(row.dependency_list is DependencyList.CALLED for row in rows)
        wanted = DependencyList.CALLED if is_called else DependencyList.EXECUTED
        return cls(dependencies=dependencies, which=choose_dependency_list(dependencies, wanted))

    @property
    def listed_dependencies(self) -> tuple[Dependency, ...]:
        """The dependencies in the list that the task uses."""
        return select_dependencies(self.dependencies, self.which)

    def find_focal_method(self, rows: Sequence[MethodRow]) -> str | None:
        """Return the focal method of the row whose own first dependency is ranked best.

        None if no row has a focal method.
        """
        places = {
            _get_declaration_key(dependency): dependency.rank for dependency in self.dependencies
        }

        def rank_row(row: MethodRow) -> int:
            """Return the rank of the row's first dependency within the task.

            It is behind all others if the row has none.
            """
            own = select_dependencies(row.dependencies, row.dependency_list)
            first = min(own, key=lambda d: d.rank, default=None)
            return places[_get_declaration_key(first)] if first else len(places) + 1

        ordered = sorted(rows, key=rank_row)
        return next((row.focal_method for row in ordered if row.focal_method is not None), None)


def merge_dependencies(rows: Sequence[MethodRow]) -> tuple[Dependency, ...]:
    """Return the dependencies of all methods, each once, with new ranks.

    The order is by best rank, then by the number of methods that have them.
    """
    by_declaration: dict[tuple[str, ...], list[Dependency]] = defaultdict(list)
    for row in rows:
        for dependency in row.dependencies:
            by_declaration[_get_declaration_key(dependency)].append(dependency)
    order = sorted(
        by_declaration,
        key=lambda key: (min(d.rank for d in by_declaration[key]), -len(by_declaration[key]), key),
    )
    return tuple(_merge_same(by_declaration[key], rank) for rank, key in enumerate(order, start=1))


def _get_declaration_key(dependency: Dependency) -> tuple[str, ...]:
    return (
        dependency.file,
        f'{dependency.start_line:09d}',
        dependency.declaration,
        str(dependency.revised),
    )


def _merge_same(same: Sequence[Dependency], rank: int) -> Dependency:
    couplings = [dependency.coupling for dependency in same if dependency.coupling is not None]
    reasons = [dependency.coupled_by for dependency in same if dependency.coupled_by is not None]
    return replace(
        same[0],
        executed_old=_any_known(dependency.executed_old for dependency in same),
        executed_new=_any_known(dependency.executed_new for dependency in same),
        coupling=max(couplings, default=None),
        coupled_by=min(reasons, key=_STRONGEST_FIRST.index, default=None),
        rank=rank,
    )


def _any_known(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None
