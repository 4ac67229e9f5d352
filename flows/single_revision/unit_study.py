"""Turn units of the code (functions and packages) into rows.

Each unit gets the test file that is about it, and its adequacy.

Execution decides whether a test is about a unit. Of several files, the one is chosen whose tests
execute the least besides the unit; the others stay in the repository.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.languages.verdicts import ExecutedMethod, Trace
from coevo.model.families import Family, Focus
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import ExecutingTest
from flows.single_revision.found import (
    Found,
    PartCache,
    add_run_results,
    build_start_rows,
    make_unmeasured_row,
)
from flows.single_revision.observed_suite import ObservedRevision, ObservedSuite
from flows.single_revision.selection import Steadiness
from miners.units import CodeUnit

Observed = Mapping[str, tuple[ObservedSuite, Steadiness]]
"""The test files, by path, whose tests all pass and were traced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TestRun:
    """A passing test, and the declarations of the code that it executes."""

    test_file: str
    test: TestMethod
    executed: tuple[CallableDeclaration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnitMatch:
    """A unit with the test file that is about it, and the tests of all files that execute it.

    share   share of the unit in what the passing tests of that file execute, by lines
    reason  why it gives no task
    """

    unit: CodeUnit
    test_file: str
    runs: tuple[_TestRun, ...]
    share: float
    reason: Reason | None
    detail: str = ''


def study_units(
    revision: ObservedRevision, units: Sequence[CodeUnit], observed: Observed, finished: PartCache
) -> Iterator[Found | CodeUnit]:
    """Yield the rows of each unit, or the unit itself if no test executes it."""
    known = Declarations(tree=revision.tree, language=revision.pair.language)
    runs = [run for suite, _ in observed.values() for run in _list_test_runs(known, suite)]
    chosen: dict[str, list[_UnitMatch]] = defaultdict(list)
    for unit in units:
        about = _ABOUT[unit.family](revision, known, unit, runs)
        if about is None:
            yield replace(unit, reason=Reason.NOT_TESTED)
        else:
            chosen[about.test_file].append(about)
    for path, matches in chosen.items():
        rows = partial(_build_unit_rows, revision, matches, *observed[path])
        yield from finished.load_or_make_rows(f'{path} units', revision.evaluation.cost, rows)


def _list_test_runs(known: Declarations, suite: ObservedSuite) -> Iterator[_TestRun]:
    for test, trace in zip(suite.suite.methods, suite.traces, strict=True):
        executed = known.find_executed_declarations(trace.executed)
        yield _TestRun(test_file=suite.file.test_file, test=test, executed=executed)


# The next part chooses the test file of a unit.


def _match_function_to_test_file(
    revision: ObservedRevision, known: Declarations, unit: CodeUnit, runs: Sequence[_TestRun]
) -> _UnitMatch | None:
    """Return the test file that is about a function; None if no test executes the function.

    The match has a reason if the function calls more others than the profile allows. ULT's
    functions use nothing else of their projects; here the executed callees show whether a function
    does.
    """
    own = _find_declaration(known, unit)
    executing = [run for run in runs if own in run.executed]
    if not executing:
        return None
    callees = {callee for run in executing for callee in known.list_callees(own, run.executed)}
    needs = len(callees) > revision.tools.profile.functions.most_callees
    names = sorted({callee.call_name for callee in callees})
    return _choose_test_file(
        unit,
        executing,
        lambda run: Fraction(1, len(run.executed)),
        lambda one: one is own,
        (Reason.NOT_SELF_CONTAINED, ' '.join(names[:3])) if needs else (None, ''),
    )


def _find_declaration(known: Declarations, unit: CodeUnit) -> CallableDeclaration:
    (focus,) = unit.focus
    return next(
        declaration
        for declaration in known.list_in_file(focus.file)
        if declaration.type == unit.type and declaration.member == unit.function
    )


def _match_package_to_test_file(
    revision: ObservedRevision, known: Declarations, unit: CodeUnit, runs: Sequence[_TestRun]
) -> _UnitMatch | None:
    """Return the test file that is about a package; None if no test executes its code.

    The match has a reason if no test executes a call between two files of the package
    (MultiFileTest, §3.1).
    """
    files = frozenset(unit.files)
    executing = [
        run for run in runs if any(declaration.file in files for declaration in run.executed)
    ]
    if not executing:
        return None
    across = [run for run in executing if known.has_cross_file_call(run.executed, files)]
    return _choose_test_file(
        unit,
        across or executing,
        lambda run: Fraction(
            sum(declaration.file in files for declaration in run.executed), len(run.executed)
        ),
        lambda one: one.file in files,
        (None, '') if across else (Reason.NO_CROSS_FILE_CALL, ''),
    )


def _choose_test_file(
    unit: CodeUnit,
    runs: Sequence[_TestRun],
    weight: Callable[[_TestRun], Fraction],
    is_of: Callable[[CallableDeclaration], bool],
    why_not: tuple[Reason | None, str],
) -> _UnitMatch:
    """Return the match of a unit with its best test file.

    weight  share of the unit in what a test executes; it is squared, so that many tests that
            execute the unit by the way count less than a few tests of its own
    """
    weights: dict[str, Fraction] = defaultdict(Fraction)
    for run in runs:
        weights[run.test_file] += weight(run) ** 2
    path = min(weights, key=lambda one: (-weights[one], one))
    everything = {
        declaration for run in runs if run.test_file == path for declaration in run.executed
    }
    own = sum(_count_lines(declaration) for declaration in everything if is_of(declaration))
    return _UnitMatch(
        unit=unit,
        test_file=path,
        runs=tuple(runs),
        share=round(own / sum(map(_count_lines, everything)), 6),
        reason=why_not[0],
        detail=why_not[1],
    )


def _count_lines(one: CallableDeclaration) -> int:
    return one.member.end_line - one.member.start_line + 1


_ABOUT = {Family.FUNCTION: _match_function_to_test_file, Family.MODULE: _match_package_to_test_file}


# The next part builds the rows.


def _build_unit_rows(
    revision: ObservedRevision,
    found: Sequence[_UnitMatch],
    observed: ObservedSuite,
    steady: Steadiness,
) -> Iterator[Found]:
    """Yield the rows of the units that a test file is about.

    The lines of all these units are traced in one run.
    """
    files = {path for match in found if match.reason is None for path in match.unit.files}
    lined = _trace_lines(observed, files) if files else observed
    for about in found:
        unit = about.unit
        focus = unit.focus if lined is None else _narrow_to_bodies(about, lined)
        row = make_unmeasured_row(revision.pair, observed.file, unit.family, focus, unit.name)
        row = replace(
            add_run_results(revision, row, steady),
            focal_share=about.share,
            complexity=unit.complexity,
            executing_tests=_list_executing_tests(about)
            if unit.family is Family.FUNCTION
            else None,
        )
        if about.reason is not None:
            yield row, about.reason, about.detail
        elif lined is None:
            yield row, Reason.NOT_TRACED, ''
        else:
            yield from build_start_rows(unit.family, row, lined)


def _trace_lines(observed: ObservedSuite, files: set[str]) -> ObservedSuite | None:
    """Return the suite traced with the lines of some files; None if the trace is incomplete."""
    traced = observed.revision.trace_suite(
        observed.suite, sorted(files), observed.revision.make_runner()
    )
    traces = tuple(trace for trace in traced.traces if trace is not None)
    if traced.together is None or len(traces) < len(observed.suite.methods):
        return None
    return replace(observed, traces=traces, together=traced.together)


def _list_executing_tests(about: _UnitMatch) -> tuple[ExecutingTest, ...]:
    tests = (
        ExecutingTest(
            test_file=run.test.test_file,
            test_class=run.test.test_class,
            test_method=run.test.test_method,
            parameters=run.test.parameters,
        )
        for run in about.runs
    )
    return tuple(sorted(tests, key=repr))


def _narrow_to_bodies(about: _UnitMatch, lined: ObservedSuite) -> tuple[Focus, ...]:
    if about.unit.family is not Family.FUNCTION:
        return about.unit.focus
    return tuple(_narrow_to_body(focus, lined.traces) for focus in about.unit.focus)


def _narrow_to_body(focus: Focus, traces: Sequence[Trace]) -> Focus:
    """Return the focus, begun at the first line that most of the executing tests execute.

    So the lines of its declaration are left out. Loading a file executes the declarations in it. A
    test that loads the file itself executes them, too, but most tests do not.
    """
    firsts = Counter(
        first
        for trace in traces
        if (first := min(_list_executed_lines(focus, trace), default=None)) is not None
    )
    if not firsts:
        return focus
    return replace(focus, start_line=min(firsts, key=lambda line: (-firsts[line], line)))


def _list_executed_lines(focus: Focus, trace: Trace) -> Iterator[int]:
    for line in trace.lines.get(focus.file, ()):
        inside = focus.start_line <= line.line <= focus.end_line
        if inside and line.covered_instructions > 0:
            yield line.line


# The rest finds which declarations of the code call which others.
#
# A trace says what was executed, but not by which caller. So a declaration counts as calling
# another if one test executes both and the text of the first calls the other's name. Names that
# mean a library far more often than a project are no evidence.

_KINDS = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallableDeclaration:
    """A method or constructor at its declaration, one object each, compared by identity."""

    file: str
    type: DeclaredType
    member: Member

    @property
    def call_name(self) -> str:
        """The name by which calls refer to it."""
        return self.type.simple if self.member.kind == 'constructor' else self.member.name

    def calls(self, other: CallableDeclaration, common: frozenset[str]) -> bool:
        """Return whether the text of this declaration calls the other's name.

        False for itself, and for a name in `common`.
        """
        name = other.call_name
        return self is not other and name in self.member.calls and name not in common


@dataclass(slots=True, kw_only=True)
class Declarations:
    """The methods and constructors of a revision's code, to which executed methods belong.

    Each is looked up once.
    """

    tree: RevisionTree
    language: str
    _of: dict[ExecutedMethod, CallableDeclaration | None] = field(default_factory=dict)
    _files: dict[str, tuple[CallableDeclaration, ...]] = field(default_factory=dict)

    def find_declaration(self, method: ExecutedMethod) -> CallableDeclaration | None:
        """Return the declaration of an executed method; None if it is not in the project's code.

        Also None if it is no method or constructor.
        """
        if method not in self._of:
            self._of[method] = self._look_up(method)
        return self._of[method]

    def _look_up(self, method: ExecutedMethod) -> CallableDeclaration | None:
        if method.file is None or not self.tree.belongs_to_code(method.file):
            return None
        if method.file not in self.tree.entries:
            return None
        is_part_of = get_reading(self.language).is_part_of
        return next(
            (
                declaration
                for declaration in self.list_in_file(method.file)
                if is_part_of(method, declaration.member, declaration.type)
            ),
            None,
        )

    def list_in_file(self, path: str) -> tuple[CallableDeclaration, ...]:
        """Return the methods and constructors of a file."""
        if path not in self._files:
            self._files[path] = tuple(
                CallableDeclaration(file=path, type=type_, member=member)
                for type_ in self.tree.parse_file(path).types
                for member in type_.members
                if member.kind in _KINDS
            )
        return self._files[path]

    def find_executed_declarations(
        self, methods: Iterable[ExecutedMethod]
    ) -> tuple[CallableDeclaration, ...]:
        """Return the declarations of executed methods in order, each once.

        Methods outside of the project's code are left out.
        """
        declarations = (self.find_declaration(method) for method in methods)
        return tuple(
            dict.fromkeys(declaration for declaration in declarations if declaration is not None)
        )

    def list_callees(
        self, caller: CallableDeclaration, executed: Iterable[CallableDeclaration]
    ) -> Iterator[CallableDeclaration]:
        """Yield the executed declarations that a declaration calls, except itself."""
        common = get_reading(self.language).COMMON_CALLS
        return (declaration for declaration in executed if caller.calls(declaration, common))

    def has_cross_file_call(
        self, executed: Sequence[CallableDeclaration], files: frozenset[str]
    ) -> bool:
        """Return whether a declaration in one of the files calls one in another of them."""
        common = get_reading(self.language).COMMON_CALLS
        by_name: dict[str, list[CallableDeclaration]] = defaultdict(list)
        inside = [declaration for declaration in executed if declaration.file in files]
        for declaration in inside:
            by_name[declaration.call_name].append(declaration)
        return any(
            other.file != declaration.file
            for declaration in inside
            for name in declaration.member.calls - common
            for other in by_name.get(name, ())
        )
