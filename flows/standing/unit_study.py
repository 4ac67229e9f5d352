"""From units of the code, functions and packages, to rows: which test file is about each, and what it is worth.

Whether a test is about a unit is asked of what it executes. Of several files that is the one whose tests
execute least beside it; the others stay where they are.
"""

from __future__ import annotations

from collections import Counter
from collections import defaultdict
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from fractions import Fraction
from functools import partial

from coevo.languages.traces import Trace
from coevo.model.families import Family
from coevo.model.families import Focus
from coevo.model.reasons import Reason
from coevo.model.records import TestMethod
from coevo.model.standing_rows import ExecutingTest
from flows.standing.calls import Declarations
from flows.standing.calls import Declared
from flows.standing.finished import Finished
from flows.standing.found import Found
from flows.standing.found import begun
from flows.standing.found import ran
from flows.standing.found import started
from flows.standing.observed_suite import ObservedSuite
from flows.standing.observed_suite import StandingRevision
from flows.standing.selection import Steadiness
from miners.units import CodeUnit

Observed = Mapping[str, tuple[ObservedSuite, Steadiness]]
"""By path, the test files whose tests all pass, and of which it is known what they execute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A passing test, and the declarations of the code that it executes."""

    test_file: str
    test: TestMethod
    executed: tuple[Declared, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """A unit with the test file that is about it, and the tests of all files that execute it.

    share   of the unit in what the passing tests of that file execute, by lines
    reason  why no task comes of it
    """

    unit: CodeUnit
    test_file: str
    runs: tuple[_Run, ...]
    share: float
    reason: Reason | None
    detail: str = ''


def unit_rows(
    revision: StandingRevision, units: Sequence[CodeUnit], observed: Observed, finished: Finished
) -> Iterator[Found | CodeUnit]:
    """The rows of each unit, or a unit that no test executes."""
    known = Declarations(tree=revision.tree, language=revision.pair.language)
    runs = [run for suite, _ in observed.values() for run in _runs(known, suite)]
    chosen: dict[str, list[_About]] = defaultdict(list)
    for unit in units:
        about = _ABOUT[unit.family](revision, known, unit, runs)
        if about is None:
            yield replace(unit, reason=Reason.NOT_TESTED)
        else:
            chosen[about.test_file].append(about)
    for path, found in chosen.items():
        rows = partial(_rows, revision, found, *observed[path])
        yield from finished.rows(f'{path} units', revision.evaluation.cost, rows)


def _runs(known: Declarations, suite: ObservedSuite) -> Iterator[_Run]:
    for test, trace in zip(suite.suite.methods, suite.traces, strict=True):
        executed = known.executed(trace.executed)
        yield _Run(test_file=suite.file.test_file, test=test, executed=executed)


# -- which file is about it ------------------------------------------------------------------------


def _function(
    revision: StandingRevision, known: Declarations, unit: CodeUnit, runs: Sequence[_Run]
) -> _About | None:
    """ULT's functions use nothing else of their projects; here tests have to see that they do."""
    own = _declared(known, unit)
    executing = [run for run in runs if own in run.executed]
    if not executing:
        return None
    callees = {one for run in executing for one in known.callees(own, run.executed)}
    needs = len(callees) > revision.tools.profile.functions.most_callees
    names = sorted({one.called_as for one in callees})
    return _about(
        unit,
        executing,
        lambda run: Fraction(1, len(run.executed)),
        lambda one: one is own,
        (Reason.NOT_SELF_CONTAINED, ' '.join(names[:3])) if needs else (None, ''),
    )


def _declared(known: Declarations, unit: CodeUnit) -> Declared:
    (focus,) = unit.focus
    return next(
        one
        for one in known.declared(focus.file)
        if one.type == unit.type and one.member == unit.function
    )


def _package(
    revision: StandingRevision, known: Declarations, unit: CodeUnit, runs: Sequence[_Run]
) -> _About | None:
    """Of files whose tests see calls from one of its files to another (MultiFileTest, §3.1)."""
    files = frozenset(unit.files)
    executing = [run for run in runs if any(one.file in files for one in run.executed)]
    if not executing:
        return None
    across = [run for run in executing if known.calls_across(run.executed, files)]
    return _about(
        unit,
        across or executing,
        lambda run: Fraction(sum(one.file in files for one in run.executed), len(run.executed)),
        lambda one: one.file in files,
        (None, '') if across else (Reason.NO_CROSS_FILE_CALL, ''),
    )


def _about(
    unit: CodeUnit,
    runs: Sequence[_Run],
    weight: Callable[[_Run], Fraction],
    is_of: Callable[[Declared], bool],
    why_not: tuple[Reason | None, str],
) -> _About:
    """weight  share of the unit in what a test executes; squared, so that many tests that meet it by the
    way are less than a few of its own
    """
    weights: dict[str, Fraction] = defaultdict(Fraction)
    for run in runs:
        weights[run.test_file] += weight(run) ** 2
    path = min(weights, key=lambda one: (-weights[one], one))
    everything = {one for run in runs if run.test_file == path for one in run.executed}
    own = sum(_lines(one) for one in everything if is_of(one))
    return _About(
        unit=unit,
        test_file=path,
        runs=tuple(runs),
        share=round(own / sum(map(_lines, everything)), 6),
        reason=why_not[0],
        detail=why_not[1],
    )


def _lines(one: Declared) -> int:
    return one.member.end_line - one.member.start_line + 1


_ABOUT = {Family.FUNCTION: _function, Family.MODULE: _package}


# -- rows ------------------------------------------------------------------------------------------


def _rows(
    revision: StandingRevision,
    found: Sequence[_About],
    observed: ObservedSuite,
    steady: Steadiness,
) -> Iterator[Found]:
    """Of the units that a test file is about; its lines are traced once for all."""
    files = {path for one in found if one.reason is None for path in one.unit.files}
    lined = _lined(observed, files) if files else observed
    for about in found:
        unit = about.unit
        focus = unit.focus if lined is None else _bodies(about, lined)
        row = begun(revision.pair, observed.file, unit.family, focus, unit.name)
        row = replace(
            ran(revision, row, steady),
            focal_share=about.share,
            complexity=unit.complexity,
            executing_tests=_executing(about) if unit.family is Family.FUNCTION else None,
        )
        if about.reason is not None:
            yield row, about.reason, about.detail
        elif lined is None:
            yield row, Reason.NOT_TRACED, ''
        else:
            yield from started(unit.family, row, lined)


def _lined(observed: ObservedSuite, files: set[str]) -> ObservedSuite | None:
    """With the lines of some files; None where that cannot be told."""
    traced = observed.revision.traced(observed.suite, sorted(files), observed.revision.runner())
    traces = tuple(trace for trace in traced.traces if trace is not None)
    if traced.together is None or len(traces) < len(observed.suite.methods):
        return None
    return replace(observed, traces=traces, together=traced.together)


def _executing(about: _About) -> tuple[ExecutingTest, ...]:
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


def _bodies(about: _About, lined: ObservedSuite) -> tuple[Focus, ...]:
    if about.unit.family is not Family.FUNCTION:
        return about.unit.focus
    return tuple(_body(one, lined.traces) for one in about.unit.focus)


def _body(focus: Focus, traces: Sequence[Trace]) -> Focus:
    """From the first line that tests execute: what declares it is executed by loading its file alone.

    A test that loads the file itself executes that, too; most do not.
    """
    firsts = Counter(
        first
        for trace in traces
        if (first := min(_executed_lines(focus, trace), default=None)) is not None
    )
    if not firsts:
        return focus
    return replace(focus, start_line=min(firsts, key=lambda line: (-firsts[line], line)))


def _executed_lines(focus: Focus, trace: Trace) -> Iterator[int]:
    for line in trace.lines.get(focus.file, ()):
        inside = focus.start_line <= line.line <= focus.end_line
        if inside and line.covered_instructions > 0:
            yield line.line
