"""What submitted tests execute of their changed dependencies, and cover of the task's (TestEvo-Bench, A.4).

Counted is what was recorded in the process of the test, which could write it itself, as far as an observer
outside of the process saw the same lines reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.evaluation.judging.submission_context import SubmissionContext
from coevo.evaluation.measuring.oracles import oracle_lines
from coevo.evaluation.measuring.watched_lines import Lines
from coevo.evaluation.measuring.watched_lines import names_at
from coevo.evaluation.measuring.watched_lines import with_ranges
from coevo.languages.capabilities import Capability
from coevo.languages.table import measures
from coevo.languages.table import offers
from coevo.languages.table import reading
from coevo.languages.traces import CoveredLine
from coevo.languages.traces import Trace
from coevo.measures.coverage import coverage_of
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import GoldTest
from coevo.measures.executed import executed_at_new
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.dependency_lists import listed
from coevo.model.quality import Coverage
from coevo.model.task_rows import TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedLines:
    """What is not known is None.

    executes_delta     also None where no changed dependency stands at new, so that none can be executed
    reaches_assertion  also None where the language offers no assertions
    coverage           of the dependencies of the task, by the list that it goes by
    """

    executes_delta: bool | None = None
    reaches_assertion: bool | None = None
    coverage: Coverage | None = None


def executed(
    context: SubmissionContext, runner: EditedCellRunner, tests: Sequence[GoldTest]
) -> dict[str, ExecutedLines]:
    """By method id; of a method that is not seen to pass nothing is known, nor of any where nobody
    outside of the process can see what it executes."""
    if not all(offers(context.pair.language, one) for one in (Capability.TRACE, Capability.WATCH)):
        return {test.method_id: ExecutedLines() for test in tests}
    path, pair = context.assignment.task.test_file, context.pair
    oracles = oracle_lines(context.repository, pair.language, pair.new.rev, path, context.patched)
    found = {}
    for test in tests:
        concerned = (*test.dependencies, *used(context.assignment.task))
        code = {
            file: names_at(context.repository, pair.language, pair.new.rev, file)
            for file in _files(context, concerned)
        }
        ranges = [one for one in concerned if one.file in code]
        watched = with_ranges(oracles or {}, ranges, code.__getitem__)
        trace = _trace(context, runner, test, watched)
        known = trace and _executed(context, test, code, oracles, trace)
        found[test.method_id] = known or ExecutedLines()
    return found


def _executed(
    context: SubmissionContext,
    test: GoldTest,
    code: Mapping[str, Sequence[str]],
    oracles: Lines | None,
    trace: Trace,
) -> ExecutedLines:
    reached = trace.reached or {}
    by_file = {
        file: frozenset().union(*(reached.get(name, frozenset()) for name in types))
        for file, types in code.items()
    }
    seen = replace(trace, lines={f: seen_lines(trace.lines.get(f, ()), by_file[f]) for f in code})

    def told(dependencies: Sequence[Dependency]) -> list[Dependency]:
        executed = executed_at_new(context.repository, context.pair, dependencies, trace)
        return [replace(one, executed_new=_is_seen(one, by_file)) for one in executed]

    return ExecutedLines(
        executes_delta=_executes(told(test.dependencies)),
        reaches_assertion=None if oracles is None else _reaches(context, test, oracles, reached),
        coverage=coverage_of(told(used(context.assignment.task)), seen),
    )


def used(task: TaskRow) -> tuple[Dependency, ...]:
    """The dependencies of which coverage is told."""
    return listed(task.dependencies, task.dependency_list)


def _trace(
    context: SubmissionContext,
    runner: EditedCellRunner,
    test: GoldTest,
    watched: Lines,
) -> Trace | None:
    """Of a process of its own."""
    compiled = runner.compile(test.method.module)
    files = _files(context, (*test.dependencies, *used(context.assignment.task)))
    traced = context.built.trace(
        compiled, [test.method], files, context.conditions, watched=watched
    )
    runner.cpu_seconds += traced.cpu_seconds
    (trace,) = traced.traces
    return trace


def seen_lines(lines: Sequence[CoveredLine], reached: frozenset[int]) -> tuple[CoveredLine, ...]:
    """Lines as nobody has executed them where the observer has seen nobody do so."""
    return tuple(
        line
        if line.line in reached
        else replace(
            line,
            missed_instructions=line.missed_instructions + line.covered_instructions,
            covered_instructions=0,
            missed_branches=line.missed_branches + line.covered_branches,
            covered_branches=0,
        )
        for line in lines
    )


def _is_seen(one: Dependency, reached: Mapping[str, frozenset[int]]) -> bool | None:
    """Whether a dependency was executed, by the trace and the observer alike."""
    if not one.executed_new or one.file not in reached:
        return one.executed_new
    lines = reached[one.file]
    return any(one.start_line <= line <= one.end_line for line in lines)


def _executes(dependencies: Sequence[Dependency]) -> bool | None:
    known = [one.executed_new for one in dependencies if one.revised is not Revised.REMOVED]
    told = [one for one in known if one is not None]
    return any(told) if told else None


def _reaches(
    context: SubmissionContext,
    test: GoldTest,
    oracles: Lines,
    reached: Mapping[str, frozenset[int]],
) -> bool:
    return _expects_its_end(context, test) or any(
        reached.get(name, frozenset()) & lines for name, lines in oracles.items()
    )


def _expects_its_end(context: SubmissionContext, test: GoldTest) -> bool:
    assertions = measures(context.pair.language).assertions
    try:
        return assertions is not None and assertions.expects_its_end(context.patched, test.method)
    except LookupError:
        return False  # it is declared elsewhere


def _files(context: SubmissionContext, dependencies: Sequence[Dependency]) -> frozenset[str]:
    suffixes = reading(context.pair.language).SUFFIXES
    return frozenset(
        one.file
        for one in dependencies
        if one.revised is not Revised.REMOVED and one.file.endswith(suffixes)
    )
