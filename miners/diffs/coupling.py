"""Rank how strongly tests are coupled to changed declarations.

Every ranking in coevo uses this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from coevo.languages.table import get_reading_of_file
from coevo.model.dependencies import CoupledBy, Dependency
from coevo.model.records import TestMethod
from miners.diffs.sources import SourceChange

_KINDS = {'method': 0, 'constructor': 1}
_BY = tuple(CoupledBy)


class NamingKind(IntEnum):
    """The way in which the text names a declaration, the most certain way first."""

    NAMED = 0
    BY_SUBTYPE = 1
    UNNAMED = 2
    NOT_AT_ALL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CoupledSubject:
    """The code that a test is about, guessed from the names of the test."""

    under_test: str
    package: str
    test_method: str

    @classmethod
    @lru_cache(maxsize=1 << 14)
    def from_test(cls, test: TestMethod) -> CoupledSubject:
        """Guess the class under test, the package and the method from the names of a test."""
        return cls(
            under_test=get_reading_of_file(test.test_file).guess_class_under_test(test),
            package=test.test_class.rpartition('.')[0],
            test_method=test.test_method.lower(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """The coupling of a test to a change.

    by     what shows it: a call, a helper, or execution
    how    how the text names the declaration
    count  how often the test's text, or its helpers', names it
    """

    change: SourceChange
    subject: CoupledSubject
    by: CoupledBy
    how: NamingKind = NamingKind.NOT_AT_ALL
    count: int = 0

    @property
    def rank(self) -> tuple[object, ...]:
        """The sort key, best first (TestEvo-Bench, A.1 and A.2: static coupling).

        By the kind of evidence, then by the names of class and method, their count, and the
        package.
        """
        change, subject = self.change, self.subject
        located, member = change.located, change.member
        name = member.name if member else located.type.simple
        return (
            _BY.index(self.by),
            subject.under_test not in (located.type.simple, located.outermost_simple_name),
            self.how,
            name.lower() not in subject.test_method,
            -self.count,
            _KINDS[member.kind] if member else len(_KINDS),
            located.package != subject.package,
            change.qualified_name,
            located.path,
            change.revised,
        )

    @property
    def coupling(self) -> float:
        """The strength of the coupling: the count for a direct call, else half of it."""
        return float(self.count) if self.by is CoupledBy.CALL else self.count / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEnds:
    """The ends at which a test executes a change; None if unknown."""

    old: bool | None = None
    new: bool | None = None

    @property
    def is_executed(self) -> bool:
        """True if the change is known to be executed at one end at least."""
        return bool(self.old or self.new)


UNKNOWN = ExecutionEnds()


def choose_best_reference_per_change(references: Iterable[Reference]) -> tuple[Reference, ...]:
    """Return one reference for each change, its best one, in the order of rank."""
    best: dict[SourceChange, Reference] = {}
    for reference in references:
        known = best.get(reference.change)
        if known is None or reference.rank < known.rank:
            best[reference.change] = reference
    return tuple(sorted(best.values(), key=lambda reference: reference.rank))


def make_dependencies(
    references: Sequence[Reference], executed: Sequence[ExecutionEnds] | None = None
) -> tuple[Dependency, ...]:
    """Return dependencies in the order of the references.

    executed  for each reference, whether the test executes it; None if all are unknown
    """
    runs = executed or [UNKNOWN] * len(references)
    return tuple(
        Dependency(
            name=reference.change.qualified_name,
            declaration=reference.change.declaration_head,
            file=reference.change.located.path,
            start_line=reference.change.lines[0],
            end_line=reference.change.lines[1],
            revised=reference.change.revised,
            executed_old=run.old,
            executed_new=run.new,
            coupling=reference.coupling,
            coupled_by=reference.by,
            rank=rank,
        )
        for rank, (reference, run) in enumerate(zip(references, runs, strict=True), start=1)
    )


def find_focal_method(dependencies: Sequence[Dependency]) -> str | None:
    """Return the name of the best-ranked dependency; None if there is none.

    It has the form `pkg.Type#method(Parameter,Types)`. Methods and constructors come before the
    rest of a type, which has the name of the type alone. Resources do not count.
    """
    named = [dependency for dependency in dependencies if not dependency.is_resource]
    methods = [dependency.name for dependency in named if dependency.is_method]
    return next(iter([*methods, *(dependency.name for dependency in named)]), None)
