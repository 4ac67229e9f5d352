"""Measure how much of its changed dependencies a test covers (TestEvo-Bench, A.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.languages.verdicts import CoveredLine, Trace
from coevo.measures.declaration_pairs import find_declared_type, find_method_or_constructor
from coevo.model.dependencies import Dependency, Revised
from coevo.model.quality import Coverage, CoveredDependency
from coevo.model.records import Pair

Key = tuple[str, int, str]


def measure_coverage_of_methods(
    dependencies: Iterable[Dependency], trace: Trace
) -> Coverage | None:
    """Return the coverage of the dependencies that are methods or constructors at new.

    A line counts for each dependency that contains it. So a line of a method in a local class
    counts twice if the method around it is a dependency, too, as in the paper's sum over
    dependencies. None if there are no such dependencies.
    """
    return sum_coverage(measure_each_method(dependencies, trace))


def measure_each_method(
    dependencies: Iterable[Dependency], trace: Trace
) -> tuple[CoveredDependency, ...]:
    """Return the coverage of each dependency that is a method or constructor at new."""
    return tuple(
        _measure_dependency(dependency, trace)
        for dependency in dependencies
        if is_method_at_new(dependency)
    )


def is_method_at_new(dependency: Dependency) -> bool:
    """Return whether a dependency is a method or constructor that exists at new."""
    return dependency.is_method and dependency.revised is not Revised.REMOVED


def sum_coverage(parts: Sequence[CoveredDependency]) -> Coverage | None:
    """Return the sum over dependencies; None if there are none."""
    if not parts:
        return None
    return Coverage(
        lines=sum(part.lines for part in parts),
        covered_lines=sum(part.covered_lines for part in parts),
        known_lines=sum(part.known_lines for part in parts),
        branches=sum(part.branches for part in parts),
        covered_branches=sum(part.covered_branches for part in parts),
        methods=len(parts),
        covered_methods=sum(part.executed for part in parts),
    )


def measure_list_counting_unexecuted(
    dependencies: Iterable[Dependency],
    own: Iterable[CoveredDependency],
    seen_by_others: Mapping[Key, CoveredDependency],
) -> Coverage | None:
    """Return what a test covers of a list of dependencies, such as those of its task (A.4).

    The test may execute only a part of them; the others count as uncovered. None if none of them is
    a method at new.
    own   the test's coverage of the dependencies that it executes
    seen  the coverage by other tests, which tells how many lines of the others have code
    """
    known = {make_dependency_key(dependency): dependency for dependency in own}
    return sum_coverage(
        [
            known.get(make_dependency_key(dependency))
            or _make_uncovered(dependency, seen_by_others.get(make_dependency_key(dependency)))
            for dependency in dependencies
            if is_method_at_new(dependency)
        ]
    )


def make_dependency_key(one: Dependency | CoveredDependency) -> Key:
    """Return the key of a dependency: file, first line, declaration."""
    return one.file, one.start_line, one.declaration


def _measure_dependency(dependency: Dependency, trace: Trace) -> CoveredDependency:
    lines = _list_lines(dependency, trace)
    return CoveredDependency(
        file=dependency.file,
        start_line=dependency.start_line,
        declaration=dependency.declaration,
        lines=_count_lines(dependency),
        known_lines=len(lines),
        covered_lines=sum(line.covered_instructions > 0 for line in lines),
        branches=sum(line.missed_branches + line.covered_branches for line in lines),
        covered_branches=sum(line.covered_branches for line in lines),
        executed=bool(dependency.executed_new),
    )


def _make_uncovered(dependency: Dependency, seen: CoveredDependency | None) -> CoveredDependency:
    """Return a coverage of zero for a dependency that the test does not execute.

    seen  the coverage by another test, which tells the lines with code and the branches; without it
          both numbers are 0
    """
    known = seen or _measure_dependency(dependency, Trace(executed=(), lines={}))
    return replace(known, covered_lines=0, covered_branches=0, executed=False)


def _count_lines(dependency: Dependency) -> int:
    return dependency.end_line - dependency.start_line + 1


def _list_lines(dependency: Dependency, trace: Trace) -> list[CoveredLine]:
    return [
        line
        for line in trace.lines.get(dependency.file, ())
        if dependency.start_line <= line.line <= dependency.end_line
    ]


# -- changed declarations that a trace shows as executed at new ------------------------------------


def mark_executed_at_new(
    repository: Repository, pair: Pair, dependencies: Sequence[Dependency], trace: Trace
) -> tuple[Dependency, ...]:
    """Return the dependencies, marked by whether a trace on the new code executes them.

    A dependency on a type, which means its code outside of methods, counts as executed if any
    method of the type is. Dependencies that were removed and resources are returned unchanged.
    """
    return tuple(
        replace(dependency, executed_new=_is_executed(repository, pair, dependency, trace))
        if dependency.revised is not Revised.REMOVED
        and dependency.file.endswith(get_reading(pair.language).SUFFIXES)
        else dependency
        for dependency in dependencies
    )


def _is_executed(repository: Repository, pair: Pair, one: Dependency, trace: Trace) -> bool:
    executed = [method for method in trace.executed if method.file == one.file]
    standing = find_method_or_constructor(repository, pair, one) or find_declared_type(
        repository, pair, one
    )
    if standing is None:
        return False
    is_part_of = get_reading(pair.language).is_part_of
    return any(is_part_of(method, standing.member, standing.type) for method in executed)
