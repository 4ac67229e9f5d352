"""The changed dependencies of a task: those of all its methods, and the list of them that it goes by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.model.dependencies import CoupledBy
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import DependencyList
from coevo.model.dependency_lists import list_for
from coevo.model.dependency_lists import listed
from coevo.model.method_rows import MethodRow

_STRONGEST_FIRST = tuple(CoupledBy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The dependencies of a task, and the list of them that it goes by."""

    dependencies: tuple[Dependency, ...]
    which: DependencyList | None

    @classmethod
    def of(cls, rows: Sequence[MethodRow]) -> Listing:
        """What its methods call where one of them calls any, else all that they execute."""
        dependencies = merge_dependencies(rows)
        is_called = any(row.dependency_list is DependencyList.CALLED for row in rows)
        wanted = DependencyList.CALLED if is_called else DependencyList.EXECUTED
        return cls(dependencies=dependencies, which=list_for(dependencies, wanted))

    @property
    def used(self) -> tuple[Dependency, ...]:
        return listed(self.dependencies, self.which)

    def focal_method(self, rows: Sequence[MethodRow]) -> str | None:
        """The focal method of the row whose own first dependency is ranked best."""
        places = {_declared(dependency): dependency.rank for dependency in self.dependencies}

        def place(row: MethodRow) -> int:
            own = listed(row.dependencies, row.dependency_list)
            first = min(own, key=lambda d: d.rank, default=None)
            return places[_declared(first)] if first else len(places) + 1

        ordered = sorted(rows, key=place)
        return next((row.focal_method for row in ordered if row.focal_method is not None), None)


def merge_dependencies(rows: Sequence[MethodRow]) -> tuple[Dependency, ...]:
    """The dependencies of all methods, ranked by their best rank, then by how many name them."""
    found: dict[tuple[str, ...], list[Dependency]] = defaultdict(list)
    for row in rows:
        for dependency in row.dependencies:
            found[_declared(dependency)].append(dependency)
    order = sorted(found, key=lambda key: (min(d.rank for d in found[key]), -len(found[key]), key))
    return tuple(_merged(found[key], rank) for rank, key in enumerate(order, start=1))


def _declared(dependency: Dependency) -> tuple[str, ...]:
    return (
        dependency.file,
        f'{dependency.start_line:09d}',
        dependency.declaration,
        str(dependency.revised),
    )


def _merged(same: Sequence[Dependency], rank: int) -> Dependency:
    couplings = [dependency.coupling for dependency in same if dependency.coupling is not None]
    reasons = [dependency.coupled_by for dependency in same if dependency.coupled_by is not None]
    return replace(
        same[0],
        executed_old=_any(dependency.executed_old for dependency in same),
        executed_new=_any(dependency.executed_new for dependency in same),
        coupling=max(couplings, default=None),
        coupled_by=min(reasons, key=_STRONGEST_FIRST.index, default=None),
        rank=rank,
    )


def _any(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None
