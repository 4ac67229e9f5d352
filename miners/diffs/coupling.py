"""Rank how strongly tests are coupled to changed declarations, and find the changed dependencies of
a test.

Every ranking in coevo uses this order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import lru_cache

from coevo.languages.table import get_reading_of_file
from coevo.languages.verdicts import ExecutedMethod, Trace
from coevo.model.dependencies import CoupledBy, Dependency
from coevo.model.records import TestMethod
from miners.diffs.sources import SourceChange

# Rank how strongly tests are coupled to changed declarations.

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


# Find the changed dependencies of a test, ranked (TestEvo-Bench, A.1, A.2).
#
# A declaration with code counts if the test executed it at an end where it exists. If no trace is
# available, it counts if the text of the test refers to it. A declaration without code (an abstract
# method, or the rest of a type: fields, constants, annotations) counts if the text refers to it.
# The rest of a type also counts if any of its methods was executed.


class DependencySource(StrEnum):
    """The evidence for the dependencies of a row: traces or the text alone."""

    RUNTIME = 'runtime'
    STATIC = 'static'


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """The traces of a test at both ends; None if it did not exist, pass or get traced there."""

    old: Trace | None = None
    new: Trace | None = None

    def __bool__(self) -> bool:
        return self.old is not None or self.new is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """The changed dependencies of a test, best first, and the changes to which they belong.

    `source` is None if there are no dependencies.
    """

    changes: tuple[SourceChange, ...]
    dependencies: tuple[Dependency, ...]
    source: DependencySource | None


def compute_delta(
    test: TestMethod,
    changes: Sequence[SourceChange],
    references: Sequence[Reference],
    traces: Traces,
) -> Delta:
    """Return which of its pair's changes a test depends on, ranked.

    references  how the text of the test refers to changes, at either end
    """
    named = {
        reference.change: reference for reference in choose_best_reference_per_change(references)
    }
    subject = CoupledSubject.from_test(test)
    ends = [
        Executions(trace, is_new=is_new) if trace else None
        for trace, is_new in ((traces.old, False), (traces.new, True))
    ]
    chosen: list[tuple[Reference, ExecutionEnds]] = []
    for change in changes:
        old, new = (end.was_executed(change) if end else None for end in ends)
        executed = ExecutionEnds(old=old, new=new)
        if _is_dependency(change, executed, is_named=change in named):
            coupled = Reference(change=change, subject=subject, by=CoupledBy.EXECUTION)
            chosen.append((named.get(change, coupled), executed))
    chosen.sort(key=lambda item: (not item[1].is_executed, item[0].rank))
    best = [reference for reference, _ in chosen]
    return Delta(
        changes=tuple(reference.change for reference in best),
        dependencies=make_dependencies(best, [executed for _, executed in chosen]),
        source=(DependencySource.RUNTIME if traces else DependencySource.STATIC)
        if chosen
        else None,
    )


def _is_dependency(change: SourceChange, executed: ExecutionEnds, *, is_named: bool) -> bool:
    if executed.is_executed:
        return True
    untraced = executed.old is None and executed.new is None
    return is_named and (untraced or not _has_code(change))


def _has_code(change: SourceChange) -> bool:
    members = [m for m in (change.old_member, change.new_member) if m is not None]
    return any(member.body_hash is not None for member in members)


class Executions:
    """The executed methods of a trace at one end of a pair, by source file."""

    def __init__(self, trace: Trace, *, is_new: bool) -> None:
        self._is_new = is_new
        self._by_file: dict[str, list[ExecutedMethod]] = defaultdict(list)
        for method in trace.executed:
            if method.file is not None:
                self._by_file[method.file].append(method)

    def was_executed(self, change: SourceChange) -> bool | None:
        """Return whether the test executed a changed declaration; None if it is not at this end.

        A type without its methods counts as executed if any of its methods was.
        """
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if located is None or (member is None and change.member is not None):
            return None
        methods = self._by_file.get(located.path, [])
        is_part_of = get_reading_of_file(located.path).is_part_of
        return any(is_part_of(method, member, located.type) for method in methods)
