"""What the study of a pair finds out of one method, and of the pair: the measured columns of their rows.

Each step adds its own with `dataclasses.replace`, so a column that no row has does not pass the types.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.model.dependencies import Dependency, DependencyList
from coevo.model.quality import Coverage, CoveredDependency, IsolatedCells, Mutation, RepairGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class RefactoringVerdict:
    """Whether a test, or all that it depends on, is only refactored; None where that is unknown."""

    test: bool | None
    source: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFindings:
    """By the names of the columns of method rows, where these say what they are.

    refactored  None where nobody was asked
    """

    dependencies: tuple[Dependency, ...] = ()
    dependency_list: DependencyList | None = None
    dependency_source: str | None = None
    focal_method: str | None = None
    coverage: Coverage | None = None
    covered_dependencies: tuple[CoveredDependency, ...] | None = None
    kinds: tuple[str, ...] = ()
    smells_old: tuple[str, ...] = ()
    smells_new: tuple[str, ...] = ()
    assertions_lost: int | None = None
    assertions_gained: int | None = None
    isolated: IsolatedCells | None = None
    guard: RepairGuard | None = None
    repair_kind: str | None = None
    refactored: RefactoringVerdict | None = None
    mutation: Mutation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFindings:
    """Of a pair as a whole, by the names of its row's columns; None where nobody was asked."""

    refactorings: str | None = None
    suite_old: str | None = None
    suite_new: str | None = None
