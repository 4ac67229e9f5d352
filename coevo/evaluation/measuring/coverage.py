"""The changed dependencies that submitted tests execute, and coverage (TestEvo-Bench, A.4).

The coverage is recorded inside the test's process, which could forge it. So only lines count that
an observer outside of the process saw executed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from coevo.evaluation.judging.task_context import SubmissionContext
from coevo.git.repository import Repository, load_content
from coevo.languages.capabilities import Capability
from coevo.languages.measures import Assertions
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_measures, get_reading, offers_capability
from coevo.languages.verdicts import CoveredLine, Trace
from coevo.measures.coverage import mark_executed_at_new, measure_coverage_of_methods
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.model.dependencies import Dependency, Revised, select_called_or_all_dependencies
from coevo.model.quality import Coverage
from coevo.model.task_rows import TaskRow

Lines = Mapping[str, frozenset[int]]
"""Line numbers by the names that `LanguageReading.list_watch_names` gives a file."""


class LineRange(Protocol):
    """A range of lines of a file, including both ends."""

    @property
    def file(self) -> str:
        """The path of the file."""

    @property
    def start_line(self) -> int:
        """The first line."""

    @property
    def end_line(self) -> int:
        """The last line."""


def list_watch_names_in_source(text: LanguageReading, source: bytes, path: str) -> tuple[str, ...]:
    """Return the names that an observer uses for a source file."""
    return text.list_watch_names(text.parse(source, path), path)


def list_watch_names_at_revision(
    repository: Repository, language: str, rev: str, path: str
) -> tuple[str, ...]:
    """Return the names that an observer uses for a file of a revision; none if it is absent."""
    source = load_content(repository, rev, path)
    return () if source is None else list_watch_names_in_source(get_reading(language), source, path)


def add_watched_ranges(
    lines: Lines, ranges: Iterable[LineRange], named: Callable[[str], Sequence[str]]
) -> dict[str, frozenset[int]]:
    """Return a copy of `lines` with the lines of some ranges added.

    named  returns the names that an observer uses for a file
    """
    merged = dict(lines)
    for line_range in ranges:
        own = frozenset(range(line_range.start_line, line_range.end_line + 1))
        for name in named(line_range.file):
            merged[name] = merged.get(name, frozenset()) | own
    return merged


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionMeasures:
    """The execution measures of a test; None means unknown.

    executes_delta     also None if no changed dependency exists at the new revision, so that none
                       can be executed
    reaches_assertion  also None if the language offers no assertions
    coverage           of the dependencies of the task, by the dependency list that the task uses
    """

    executes_delta: bool | None = None
    reaches_assertion: bool | None = None
    coverage: Coverage | None = None


def measure_execution(
    context: SubmissionContext, runner: EditedCellRunner, tests: Sequence[GoldTest]
) -> dict[str, ExecutionMeasures]:
    """Run each test under trace and observer, and return what it executes, by method id.

    All measures are None for a method whose pass the observer did not confirm, and for every method
    if the language offers no traces or no observer.
    """
    if not all(
        offers_capability(context.pair.language, capability)
        for capability in (Capability.TRACE, Capability.WATCH)
    ):
        return {test.method_id: ExecutionMeasures() for test in tests}
    path, pair = context.assignment.task.test_file, context.pair
    oracles = find_oracle_lines(
        context.repository, pair.language, pair.new.rev, path, context.patched
    )
    measures_by_test = {}
    for test in tests:
        concerned = (*test.dependencies, *list_dependencies_for_coverage(context.assignment.task))
        code = {
            file: list_watch_names_at_revision(
                context.repository, pair.language, pair.new.rev, file
            )
            for file in _list_source_files_at_new(context, concerned)
        }
        ranges = [dependency for dependency in concerned if dependency.file in code]
        watched = add_watched_ranges(oracles or {}, ranges, code.__getitem__)
        trace = _trace_test(context, runner, test, watched)
        known = trace and _measure_test(context, test, code, oracles, trace)
        measures_by_test[test.method_id] = known or ExecutionMeasures()
    return measures_by_test


def _measure_test(
    context: SubmissionContext,
    test: GoldTest,
    code: Mapping[str, Sequence[str]],
    oracles: Lines | None,
    trace: Trace,
) -> ExecutionMeasures:
    reached = trace.reached or {}
    by_file = {
        file: frozenset().union(*(reached.get(name, frozenset()) for name in types))
        for file, types in code.items()
    }
    seen = replace(
        trace, lines={f: mark_unseen_lines(trace.lines.get(f, ()), by_file[f]) for f in code}
    )

    def mark_executed(dependencies: Sequence[Dependency]) -> list[Dependency]:
        """Return the dependencies, as executed only if the observer agrees with the trace."""
        executed = mark_executed_at_new(context.repository, context.pair, dependencies, trace)
        return [
            replace(dependency, executed_new=_was_executed(dependency, by_file))
            for dependency in executed
        ]

    return ExecutionMeasures(
        executes_delta=is_any_executed(mark_executed(test.dependencies)),
        reaches_assertion=None
        if oracles is None
        else _reaches_assertion(context, test, oracles, reached),
        coverage=measure_coverage_of_methods(
            mark_executed(list_dependencies_for_coverage(context.assignment.task)), seen
        ),
    )


def list_dependencies_for_coverage(task: TaskRow) -> tuple[Dependency, ...]:
    """Return the dependencies of a task whose coverage is reported, by its dependency list."""
    return select_called_or_all_dependencies(task.dependencies, task.dependency_list)


def _trace_test(
    context: SubmissionContext,
    runner: EditedCellRunner,
    test: GoldTest,
    watched: Lines,
) -> Trace | None:
    """Return the trace of a test in a process of its own; None if its pass was not confirmed."""
    compiled = runner.compile(test.method.module)
    files = _list_source_files_at_new(
        context, (*test.dependencies, *list_dependencies_for_coverage(context.assignment.task))
    )
    traced = context.built.trace(
        compiled, [test.method], files, context.conditions, watched=watched
    )
    runner.cpu_seconds += traced.cpu_seconds
    (trace,) = traced.traces
    return trace


def mark_unseen_lines(
    lines: Sequence[CoveredLine], reached: frozenset[int]
) -> tuple[CoveredLine, ...]:
    """Return the lines, marked as not executed unless the observer saw them reached."""
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


def _was_executed(one: Dependency, reached: Mapping[str, frozenset[int]]) -> bool | None:
    """Return whether a dependency was executed, according to both the trace and the observer.

    None if the trace does not tell.
    """
    if not one.executed_new or one.file not in reached:
        return one.executed_new
    lines = reached[one.file]
    return any(one.start_line <= line <= one.end_line for line in lines)


def is_any_executed(dependencies: Sequence[Dependency]) -> bool | None:
    """Return whether a dependency that is there at new was executed; None if no trace tells."""
    known = [
        dependency.executed_new
        for dependency in dependencies
        if dependency.revised is not Revised.REMOVED
    ]
    told_flags = [flag for flag in known if flag is not None]
    return any(told_flags) if told_flags else None


def _reaches_assertion(
    context: SubmissionContext,
    test: GoldTest,
    oracles: Lines,
    reached: Mapping[str, frozenset[int]],
) -> bool:
    return _expects_exception(context, test) or any(
        reached.get(name, frozenset()) & lines for name, lines in oracles.items()
    )


def _expects_exception(context: SubmissionContext, test: GoldTest) -> bool:
    assertions = get_measures(context.pair.language).assertions
    try:
        return assertions is not None and assertions.declares_expected_exception(
            context.patched, test.method
        )
    except LookupError:
        return False  # it is declared elsewhere


def _list_source_files_at_new(
    context: SubmissionContext, dependencies: Sequence[Dependency]
) -> frozenset[str]:
    suffixes = get_reading(context.pair.language).SUFFIXES
    return frozenset(
        dependency.file
        for dependency in dependencies
        if dependency.revised is not Revised.REMOVED and dependency.file.endswith(suffixes)
    )


def find_oracle_lines(
    repository: Repository, language: str, rev: str, path: str, content: bytes
) -> Lines | None:
    """Return the lines that can fail a test, by the name of the type or container that has them.

    They are those of the test file, of files of the test tree that it names, and of files that
    these name in turn. None if the language offers no assertions.
    """
    assertions, text = get_measures(language).assertions, get_reading(language)
    if assertions is None:
        return None
    files = _index_test_side_files_by_name(text, repository, rev)
    lines: dict[str, frozenset[int]] = {}
    queue, seen = [(path, content)], {path}
    while queue:
        file_path, source = queue.pop()
        lines |= _find_lines_by_type(assertions, text, source, file_path)
        for name in sorted(text.parse(source).names & files.keys()):
            for other in files[name]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, repository.blob(repository.tree(rev)[other].oid)))
    return lines


def _index_test_side_files_by_name(
    text: LanguageReading, repository: Repository, rev: str
) -> Mapping[str, list[str]]:
    """Return the paths of files by the names that others use for them.

    Main sources are left out, since they cannot assert.
    """
    paths_by_name: dict[str, list[str]] = {}
    tree = text.open_tree(repository, rev)
    for path in tree.entries:
        if path.endswith(text.SUFFIXES) and not tree.belongs_to_code(path):
            for name in text.list_reference_names(tree, path):
                paths_by_name.setdefault(name, []).append(path)
    return paths_by_name


def _find_lines_by_type(
    assertions: Assertions, text: LanguageReading, source: bytes, path: str
) -> Lines:
    lines = assertions.find_oracle_lines(source)
    return dict.fromkeys(list_watch_names_in_source(text, source, path), lines) if lines else {}
