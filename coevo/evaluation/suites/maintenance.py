"""The grading of whole-file maintenance: the outcome of each test of the old and new file.

The submitted file runs as a suite does. In addition, once for each task, the old file and gold's
file run here, too. Labels that these runs do not confirm give `unknown`, which is no fault of a
submission. A submission that cannot be applied leaves the file as it is in the start state.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.judging.protocol import check_builds
from coevo.evaluation.judging.submitted_tests import choose_shown_sources_with_cpu_seconds
from coevo.evaluation.judging.task_context import GradingCase, TaskContext, recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.judging import find_submitted_tests, grade_suite
from coevo.evaluation.suites.maintained_kills import StrengthRunner
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import MaintainedOutcome, MaintainedResult, SuiteOutcome
from coevo.evaluation.suites.texts import FileText, TestText, read_file_text
from coevo.git.repository import Repository
from coevo.languages.cells import CompiledTests
from coevo.model.families import STAYING, ExpectedAction, MaintainedMethod
from coevo.starts.isolated_cells import IsolatedCellRunner, is_pass

_WHAT = 'maintained'
_NOTHING = FileText(tests={}, rest=(), has_error=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassingTests:
    """The tests that pass in the old file and in gold's file, by their names there."""

    at_start: tuple[str, ...]
    in_gold: tuple[str, ...]


def grade_maintenance(
    context: TaskContext, case: GradingCase, ledger: Ledger | None
) -> GradingResult:
    """Grade a submitted file as a suite, and decide the outcome of each test of either file.

    A refused submission is graded as the unchanged start file.
    Raises: Transient if a test process does not start; BuildFailure if an end does not build.
    """
    began = time.monotonic()
    check_builds(context)
    sources, spent = choose_shown_sources_with_cpu_seconds(context, ledger)
    plain = replace(context, conditions=replace(context.conditions, sources=sources))
    judged, seen = _grade_as_suite(context, case, ledger)
    file = _MaintainedFile(context=plain, ledger=ledger, case=case, seen=seen)
    maintained = tuple(file.list_results())
    return replace(
        judged,
        suite=replace(seen, maintained=maintained),
        runtime=context.built.new.runtime,
        cpu_seconds=judged.cpu_seconds + spent + file.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def _grade_as_suite(
    context: TaskContext, case: GradingCase, ledger: Ledger | None
) -> tuple[GradingResult, SuiteRunResult]:
    if case.refusal is not None:
        unchanged = case.refusal.detail is Detail.EMPTY
        settled = SuiteRunResult(settled=SuiteOutcome.NO_CHANGE)
        return GradingResult(), settled if unchanged else SuiteRunResult(refusal=case.refusal)
    methods = find_submitted_tests(case, context.repository)
    if isinstance(methods, SuiteRunResult):
        return GradingResult(), methods
    assert case.patched is not None, 'a file with tests is there'
    judged = grade_suite(context, case.patched, methods, ledger)
    assert judged.suite is not None, 'a suite was judged'
    return judged, judged.suite


class _MaintainedFile:
    """A submitted file together with the start file and gold's file."""

    def __init__(
        self,
        *,
        context: TaskContext,
        ledger: Ledger | None,
        case: GradingCase,
        seen: SuiteRunResult,
    ) -> None:
        self._context, self._ledger = context, ledger
        self._patched = case.patched
        task = context.assignment.task
        self._start = self._read_text(context.repository, context.pair.new.rev, context.start)
        self._gold = self._read_text(context.source, task.new_rev, context.gold)
        self._held, self.cpu_seconds = self._find_passing_at_start_and_gold()
        self._is_start = seen.refusal is not None or seen.settled is SuiteOutcome.NO_CHANGE
        if self._is_start:
            self._found, self._passing = self._start, frozenset(self._held.at_start)
        else:
            rev = case.tests_rev
            self._found = self._read_text(context.repository, rev, case.patched)
            self._passing = frozenset(test.test_method for test in seen.tests if test.passes)

    def list_results(self) -> Iterator[MaintainedResult]:
        """Yield a result for each test of either file, in the order of the task."""
        maintained = self._context.assignment.task.maintained or ()
        names = {
            maintained_test: self._find_submitted_name(maintained_test)
            for maintained_test in maintained
        }
        weaker = self._decide_which_tests_are_weaker(names)
        for maintained_test, name in names.items():
            yield self._make_result(maintained_test, name, weaker.get(maintained_test))

    def _make_result(
        self, one: MaintainedMethod, name: str | None, weaker: bool | None
    ) -> MaintainedResult:
        same = self._is_unchanged_since_start(one, name)
        unreadable = self._found.has_error and one.old_method in self._start.tests
        expected_action, outcome = confirm_action_and_decide_outcome(
            one.expected_action,
            MaintainedTestState(
                at_start=one.old_method in self._held.at_start,
                in_gold=one.new_method in self._held.in_gold,
                there=name is not None or unreadable,
                passes=name in self._passing,
                same_text=same,
                weaker=weaker,
            ),
        )
        return MaintainedResult(
            old_method=one.old_method,
            new_method=one.new_method,
            label=one.label,
            expected_action=expected_action,
            submitted=name,
            outcome=outcome,
            same_text=same,
            weaker=weaker,
        )

    def _find_submitted_name(self, one: MaintainedMethod) -> str | None:
        return find_submitted_name(one, self._start.tests, self._found.tests)

    def _is_unchanged_since_start(self, one: MaintainedMethod, name: str | None) -> bool | None:
        was = self._start.tests.get(one.old_method or '')
        now = self._found.tests.get(name or '')
        return None if was is None or now is None else was.hash == now.hash

    # -- strength ----------------------------------------------------------------------------------

    def _decide_which_tests_are_weaker(
        self, names: Mapping[MaintainedMethod, str | None]
    ) -> dict[MaintainedMethod, bool]:
        """Return whether passing tests that had to stay are weaker, as far as it is known.

        Only tests that differ, themselves or in what they use, from both the start file and gold's
        file are run with mutants.
        """
        staying = [
            maintained_test for maintained_test in names if self._was_to_stay(maintained_test)
        ]
        passing = [
            maintained_test
            for maintained_test in staying
            if names[maintained_test] in self._passing
        ]
        suspects = [
            maintained_test
            for maintained_test in passing
            if self._may_be_weaker(maintained_test, names[maintained_test])
        ]
        known = dict.fromkeys(
            (maintained_test for maintained_test in passing if maintained_test not in suspects),
            False,
        )
        if not suspects or not self._context.measured or self._patched is None:
            return known
        runner = StrengthRunner(
            context=self._context,
            ledger=self._ledger,
            start={
                _get_old_name(maintained_test): self._start.tests[
                    _get_old_name(maintained_test)
                ].method
                for maintained_test in staying
            },
            gold={
                _get_old_name(maintained_test): self._gold.tests[
                    maintained_test.new_method or ''
                ].method
                for maintained_test in staying
            },
        )
        submitted = {
            _get_old_name(maintained_test): self._found.tests[names[maintained_test] or ''].method
            for maintained_test in suspects
        }
        weaker_by_name = runner.decide_which_tests_are_weaker(self._patched, submitted)
        self.cpu_seconds += runner.cpu_seconds
        return known | {
            maintained_test: weaker_by_name[_get_old_name(maintained_test)]
            for maintained_test in suspects
            if _get_old_name(maintained_test) in weaker_by_name
        }

    def _was_to_stay(self, one: MaintainedMethod) -> bool:
        passing_tests = self._held
        return (
            one.expected_action in STAYING
            and one.old_method in passing_tests.at_start
            and one.new_method in passing_tests.in_gold
        )

    def _may_be_weaker(self, one: MaintainedMethod, name: str | None) -> bool:
        if self._is_start or name is None:
            return False
        texts = (self._start.tests[_get_old_name(one)], self._gold.tests[one.new_method or ''])
        known = zip((self._start, self._gold), texts, strict=True)
        now = self._found.tests[name]
        return not any(_has_equal_text(now, self._found, text, file) for file, text in known)

    # -- old file and gold's file ------------------------------------------------------------------

    def _read_text(self, repository: Repository, rev: str, source: bytes | None) -> FileText:
        if source is None or not source.strip():
            return _NOTHING
        task = self._context.assignment.task
        return read_file_text(
            repository, task.language, rev, self._context.module, task.test_file, source
        )

    def _find_passing_at_start_and_gold(self) -> tuple[_PassingTests, float]:
        runner = self._context.make_runner()

        def run_both_files() -> _PassingTests:
            """Run the tests of the start file and of gold's file."""
            return _PassingTests(
                at_start=_run_and_list_passing(
                    runner, self._context.compile_start_cell(runner), self._start
                ),
                in_gold=_run_and_list_passing(
                    runner, self._context.compile_gold_cell(runner), self._gold
                ),
            )

        entry = recall_or_compute(
            self._ledger, self._context.assignment, (_WHAT,), _PassingTests, run_both_files
        )
        return entry, runner.cpu_seconds


def _run_and_list_passing(
    runner: IsolatedCellRunner, cell: CompiledTests, file: FileText
) -> tuple[str, ...]:
    methods = {name: text.method for name, text in file.tests.items()}
    verdicts = runner.collect_verdicts_rerunning_undemanded(cell, methods, is_pass)
    return tuple(name for name, verdict in verdicts.items() if is_pass(verdict.outcome))


def _get_old_name(one: MaintainedMethod) -> str:
    assert one.old_method is not None, 'who passes at the start is there'
    return one.old_method


def _has_equal_text(one: TestText, beside: FileText, other: TestText, file: FileText) -> bool:
    return one.hash == other.hash and beside.rest == file.rest


# The decision from the results of a maintained test to its one outcome: pure and total.


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedTestState:
    """The results of a maintained test.

    at_start, in_gold  whether it passes in the start file, and in gold's file
    there, passes      whether the submission has it, and whether it passes there
    same_text, weaker  as in `MaintainedResult`
    """

    at_start: bool
    in_gold: bool
    there: bool
    passes: bool
    same_text: bool | None = None
    weaker: bool | None = None


def confirm_action_and_decide_outcome(
    expected_action: ExpectedAction, seen: MaintainedTestState
) -> tuple[ExpectedAction, MaintainedOutcome]:
    """Return the action expected of a test, as confirmed by runs, and its outcome.

    A test that passes in gold's file and not in the start file has to be updated, whatever its
    label says, unless gold adds it.
    """
    if expected_action is ExpectedAction.NONE:
        return expected_action, MaintainedOutcome.UNSCORED
    if expected_action is ExpectedAction.REMOVE:
        return expected_action, _decide_removed(seen)
    if not seen.in_gold:
        return expected_action, MaintainedOutcome.UNKNOWN
    if expected_action is ExpectedAction.ADD:
        return (
            expected_action,
            MaintainedOutcome.ADDED if seen.passes else MaintainedOutcome.NOT_ADDED,
        )
    if not seen.at_start:
        return ExpectedAction.UPDATE, _decide_updated(seen)
    return (
        expected_action,
        MaintainedOutcome.UNKNOWN
        if expected_action is ExpectedAction.UPDATE
        else _decide_stayed(seen),
    )


def _decide_removed(seen: MaintainedTestState) -> MaintainedOutcome:
    if seen.at_start:
        return MaintainedOutcome.UNKNOWN
    if not seen.there:
        return MaintainedOutcome.DELETED_RIGHTLY
    return MaintainedOutcome.REWRITTEN if seen.passes else MaintainedOutcome.MISSED


def _decide_updated(seen: MaintainedTestState) -> MaintainedOutcome:
    if not seen.there:
        return MaintainedOutcome.DELETED_WRONGLY
    return MaintainedOutcome.UPDATED if seen.passes else MaintainedOutcome.MISSED


def _decide_stayed(seen: MaintainedTestState) -> MaintainedOutcome:
    if not seen.there:
        return MaintainedOutcome.DELETED_WRONGLY
    if not seen.passes:
        return MaintainedOutcome.BROKEN
    if seen.weaker:
        return MaintainedOutcome.WEAKENED
    return MaintainedOutcome.KEPT if seen.same_text else MaintainedOutcome.EDITED


def find_submitted_name(
    one: MaintainedMethod, start: Mapping[str, TestText], found: Mapping[str, TestText]
) -> str | None:
    """Return the name of a maintained test in a submitted file; None if it is not there.

    It is the new name, the old name, or that of a new test with the same text. A new name that
    another test had in the start file is taken last, since tests may be renamed in a chain (a to b,
    b to c).
    start, found  the tests of the start file and of the submitted file, by name
    """
    new, old = one.new_method, one.old_method
    names = [name for name in (new, old) if name is not None and name in found]
    if old is None:
        return next((name for name in names if name not in start), None)
    mine = [name for name in names if name == old or name not in start]
    return next(iter(mine or names), None) or _find_renamed(start.get(old), start, found)


def _find_renamed(
    was: TestText | None, start: Collection[str], found: Mapping[str, TestText]
) -> str | None:
    fresh = (name for name, text in found.items() if name not in start and was is not None)
    return next((name for name in fresh if was and found[name].bare == was.bare), None)
