"""What a test covers of changed dependencies (TestEvo-Bench, A.4)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from coevo.languages.traces import CoveredLine
from coevo.languages.traces import Trace
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.quality import Coverage
from coevo.model.quality import CoveredDependency

Key = tuple[str, int, str]


def coverage_of(dependencies: Iterable[Dependency], trace: Trace) -> Coverage | None:
    """The coverage of the dependencies that are methods or constructors and stand at new.

    A line belongs to each of them in whose range it lies; two that share lines (a method in a local
    class) count it twice, as the paper's sum over dependencies does. None if there are none.
    """
    return together(covered_by(dependencies, trace))


def covered_by(dependencies: Iterable[Dependency], trace: Trace) -> tuple[CoveredDependency, ...]:
    """The same for each of them."""
    return tuple(_covered(one, trace) for one in dependencies if is_measured(one))


def is_measured(dependency: Dependency) -> bool:
    return dependency.is_method and dependency.revised is not Revised.REMOVED


def together(parts: Sequence[CoveredDependency]) -> Coverage | None:
    """The sum over dependencies; None if there are none."""
    if not parts:
        return None
    return Coverage(
        lines=sum(one.lines for one in parts),
        covered_lines=sum(one.covered_lines for one in parts),
        known_lines=sum(one.known_lines for one in parts),
        branches=sum(one.branches for one in parts),
        covered_branches=sum(one.covered_branches for one in parts),
        methods=len(parts),
        covered_methods=sum(one.executed for one in parts),
    )


def of_others(
    dependencies: Iterable[Dependency],
    own: Iterable[CoveredDependency],
    seen: Mapping[Key, CoveredDependency],
) -> Coverage | None:
    """What a test covers of a list of which it may execute a part alone (A.4: those of the task).

    own   what it executes, and what it covers of that
    seen  the same of others, from which the lines of the rest are known
    """
    known = {key(one): one for one in own}
    return together(
        [
            known.get(key(one)) or _missed(one, seen.get(key(one)))
            for one in dependencies
            if is_measured(one)
        ]
    )


def key(one: Dependency | CoveredDependency) -> Key:
    return one.file, one.start_line, one.declaration


def _covered(dependency: Dependency, trace: Trace) -> CoveredDependency:
    lines = _lines(dependency, trace)
    return CoveredDependency(
        file=dependency.file,
        start_line=dependency.start_line,
        declaration=dependency.declaration,
        lines=_count(dependency),
        known_lines=len(lines),
        covered_lines=sum(line.covered_instructions > 0 for line in lines),
        branches=sum(line.missed_branches + line.covered_branches for line in lines),
        covered_branches=sum(line.covered_branches for line in lines),
        executed=bool(dependency.executed_new),
    )


def _missed(dependency: Dependency, seen: CoveredDependency | None) -> CoveredDependency:
    """Nothing of it is covered; how many of its lines have code is known if another test was traced."""
    known = seen or _covered(dependency, Trace(executed=(), lines={}))
    return replace(known, covered_lines=0, covered_branches=0, executed=False)


def _count(dependency: Dependency) -> int:
    return dependency.end_line - dependency.start_line + 1


def _lines(dependency: Dependency, trace: Trace) -> list[CoveredLine]:
    return [
        line
        for line in trace.lines.get(dependency.file, ())
        if dependency.start_line <= line.line <= dependency.end_line
    ]
