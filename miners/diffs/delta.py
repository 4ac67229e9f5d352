"""Find the changed dependencies of a test, ranked (TestEvo-Bench, A.1, A.2).

A declaration with code counts if the test executed it at an end where it exists. If no trace is
available, it counts if the text of the test refers to it. A declaration without code (an abstract
method, or the rest of a type: fields, constants, annotations) counts if the text refers to it. The
rest of a type also counts if any of its methods was executed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from coevo.languages.table import get_reading_of_file
from coevo.languages.traces import ExecutedMethod, Trace
from coevo.model.dependencies import CoupledBy, Dependency
from coevo.model.records import TestMethod
from miners.diffs.coupling import (
    CoupledSubject,
    ExecutionEnds,
    Reference,
    choose_best_reference_per_change,
    make_dependencies,
)
from miners.diffs.sources import SourceChange


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
