"""What a test covers of its changed dependencies (TestEvo-Bench, A.4)."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.base import CoveredLine
from coevo.languages.base import Trace
from coevo.quality import Coverage
from coevo.records import Dependency
from coevo.records import Revised


def coverage_of(dependencies: Sequence[Dependency], trace: Trace) -> Coverage | None:
    """The coverage of the dependencies that are methods or constructors and stand at new.

    A line belongs to each of them in whose range it lies; two that share lines (a method in a local
    class) count it twice, as the paper's sum over dependencies does. None if there are none.
    """
    ranges = [
        dependency
        for dependency in dependencies
        if dependency.is_method and dependency.revised is not Revised.REMOVED
    ]
    if not ranges:
        return None
    known = [line for dependency in ranges for line in _lines(dependency, trace)]
    return Coverage(
        lines=sum(one.end_line - one.start_line + 1 for one in ranges),
        covered_lines=sum(line.covered_instructions > 0 for line in known),
        known_lines=len(known),
        branches=sum(line.missed_branches + line.covered_branches for line in known),
        covered_branches=sum(line.covered_branches for line in known),
        methods=len(ranges),
        covered_methods=sum(bool(one.executed_new) for one in ranges),
    )


def _lines(dependency: Dependency, trace: Trace) -> list[CoveredLine]:
    return [
        line
        for line in trace.lines.get(dependency.file, ())
        if dependency.start_line <= line.line <= dependency.end_line
    ]
