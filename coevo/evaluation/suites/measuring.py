"""The adequacy of a submitted suite: observed coverage of the focus, and killed mutants.

The mutants are those that gold was run with; of a task without gold, they are drawn here in the same
way. Tests that fail merely because the code was edited are
found by placebos in the methods with killed mutants: such a test is tampered, and neither passes
nor kills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.evaluation.judging.placebos import PlaceboReaction, draw_placebos
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.measuring.coverage import (
    add_watched_ranges,
    list_watch_names_at_revision,
    mark_unseen_lines,
)
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteReach, SuiteTest
from coevo.evaluation.suites.texts import index_methods_by_name
from coevo.git.repository import load_content
from coevo.languages.capabilities import Capability
from coevo.languages.cells import CompiledTests
from coevo.languages.table import get_measures, get_reading, offers_capability
from coevo.languages.verdicts import Trace, TraceBatch
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.placebos import PLAIN_EDITS, REWRITING_EDITS, PlaceboEdit
from coevo.measures.suites import PassingSuite
from coevo.model.dependencies import Dependency, Revised
from coevo.model.families import Focus, SuiteAdequacy, SuiteMutant
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files


def measure_suite_with_cpu_seconds(
    context: TaskContext, patched: bytes, methods: Mapping[str, TestMethod], seen: SuiteRunResult
) -> tuple[SuiteRunResult, float]:
    """Return the suite with the adequacy of its passing tests, and the CPU seconds used.

    Tests that notice mere edits of the code are marked as tampered first; they count as not
    passing.
    Raises: Transient if a test process does not start.
    """
    suite = _SuiteRunner(
        context=context, runner=context.make_edited_runner(patched), patched=patched
    )
    mutants = suite.list_mutants()
    kills = suite.run_mutants(_select_passing(methods, seen), mutants)
    if any(mutant.killed for mutant in kills):
        tampered = suite.find_edit_sensitive_tests(_select_passing(methods, seen), kills)
        if tampered:
            seen = replace(seen, tests=tuple(_mark_tampered(test, tampered) for test in seen.tests))
            kills = suite.run_mutants(_select_passing(methods, seen), mutants)
    left = _select_passing(methods, seen)
    adequacy, reach = SuiteAdequacy(tests=len(seen.tests), passing=len(left)), None
    if left:
        traced = suite.trace_tests(left)
        adequacy = suites.add_mutant_counts(suite.add_coverage(adequacy, traced.together), kills)
        reach = suite.compute_reach(traced, kills)
    return replace(seen, adequacy=adequacy, reach=reach), suite.runner.cpu_seconds


def _select_passing(
    methods: Mapping[str, TestMethod], seen: SuiteRunResult
) -> dict[str, TestMethod]:
    return {test.test_method: methods[test.test_method] for test in seen.tests if test.passes}


def _mark_tampered(test: SuiteTest, tampered: frozenset[str]) -> SuiteTest:
    if test.test_method not in tampered:
        return test
    return replace(test, passes=False, tampered=PlaceboReaction.SEES_EDITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteRunner:
    context: TaskContext
    runner: EditedCellRunner
    patched: bytes

    @property
    def focus(self) -> Sequence[Focus]:
        """The focus of the task."""
        return self.context.assignment.task.focus or ()

    @property
    def language(self) -> str:
        """The language of the task."""
        return self.context.assignment.task.language

    def list_mutants(self) -> tuple[DrawnMutant, ...]:
        """Return the mutants that gold was run with; without gold, mutants drawn as for gold."""
        single_revision = self.context.assignment.single_revision
        if single_revision is None:
            return ()
        if self.context.assignment.was_gold_written:
            return suites.restore_mutants_run_before(single_revision.mutants)
        return suites.draw_mutants(self.runner, self.focus)

    def run_mutants(
        self, methods: Mapping[str, TestMethod], mutants: Sequence[DrawnMutant]
    ) -> tuple[SuiteMutant, ...]:
        """Run the tests with each mutant."""
        if not methods or not mutants:
            return ()
        return suites.run_suite_on_mutants(self.runner, self._make_suite(methods), mutants)

    def _make_suite(self, methods: Mapping[str, TestMethod]) -> PassingSuite:
        return PassingSuite(module=self.context.module, methods=tuple(methods.values()))

    # -- coverage ----------------------------------------------------------------------------------

    def trace_tests(self, methods: Mapping[str, TestMethod]) -> TraceBatch:
        """Return the traces of the tests; none if the language offers no traces or no observer."""
        if not all(
            offers_capability(self.language, capability)
            for capability in (Capability.TRACE, Capability.WATCH)
        ):
            return TraceBatch(traces=(), cpu_seconds=0.0)
        compiled = self.runner.compile(self.context.module)
        conditions = replace(
            self.context.conditions,
            observed=True,
            expects=get_reading(self.language).list_expected_throws(self.patched),
        )
        traced = self.context.built.trace(
            compiled,
            tuple(methods.values()),
            sorted({entry.file for entry in self.focus}),
            conditions,
            watched=add_watched_ranges({}, self.focus, self._list_watch_names),
            together=True,
        )
        self.runner.cpu_seconds += traced.cpu_seconds
        return replace(
            traced,
            traces=tuple(
                test_trace and self._mask_unseen(test_trace) for test_trace in traced.traces
            ),
            together=traced.together and self._mask_unseen(traced.together),
        )

    def add_coverage(self, adequacy: SuiteAdequacy, trace: Trace | None) -> SuiteAdequacy:
        """Return the adequacy with the coverage of the focus; unchanged if there is no trace."""
        if trace is None:
            return adequacy
        return suites.add_coverage(
            adequacy,
            self.context.repository,
            self.runner.rev,
            self.focus,
            trace,
            self.language,
        )

    def compute_reach(self, traced: TraceBatch, kills: Sequence[SuiteMutant]) -> SuiteReach:
        """Return the lines, branches and mutants that the suite reaches.

        Lines and branches are None without a trace of the whole suite, and killed mutants are None
        if none was run.
        """
        ran = [mutant for mutant in kills if mutant.killed is not None]
        killed = tuple(mutant.mutant_id for mutant in ran if mutant.killed) if ran else None
        whole, known = (
            traced.together,
            [test_trace for test_trace in traced.traces if test_trace is not None],
        )
        if whole is None:
            return SuiteReach(killed=killed)
        return SuiteReach(
            lines=suites.list_executed_lines(self.focus, whole),
            killed=killed,
            branches=suites.list_taken_branches(self.focus, whole),
            unique_lines=suites.count_uniquely_executed_lines(self.focus, known)
            if len(known) == len(traced.traces)
            else None,
        )

    def _mask_unseen(self, trace: Trace) -> Trace:
        """Return the trace without the execution of lines that the observer did not see."""
        reached = {
            entry.file: frozenset().union(
                *(
                    (trace.reached or {}).get(name, frozenset())
                    for name in self._list_watch_names(entry.file)
                )
            )
            for entry in self.focus
        }
        return replace(
            trace,
            lines={
                file: mark_unseen_lines(trace.lines.get(file, ()), reached[file])
                for file in reached
            },
            executed=tuple(
                method
                for method in trace.executed
                if method.file in reached
                and reached[method.file] & set(range(method.first_line, method.last_line + 1))
            ),
        )

    def _list_watch_names(self, path: str) -> tuple[str, ...]:
        return list_watch_names_at_revision(
            self.context.repository, self.language, self.runner.rev, path
        )

    # -- placebos ----------------------------------------------------------------------------------

    def find_edit_sensitive_tests(
        self, methods: Mapping[str, TestMethod], kills: Sequence[SuiteMutant]
    ) -> frozenset[str]:
        """Return the tests that fail twice with placebos in methods with killed mutants.

        All these methods are rewritten in one program. An edit with which gold fails is skipped; of
        the others, a test that passes with the first would pass with the rest. Without gold, a test
        has to fail with every edit, since nothing else tells a fault of the placebo.
        """
        if get_measures(self.language).placebos is None:
            return frozenset()
        edited = list(self._list_killed_declarations(kills))
        without_control: frozenset[str] = frozenset()
        for edit in (*REWRITING_EDITS, *PLAIN_EDITS):
            compiled = self._compile_placebo_cell(edited, edit)
            if compiled is None:
                continue
            cell, code = compiled
            failing = self._run_and_find_failing(cell, self._run_and_find_failing(cell, methods))
            if not failing:
                return frozenset()
            if not self.context.assignment.was_gold_written:
                methods = failing
                without_control = frozenset(failing)
            elif self._gold_passes(code):
                return frozenset(failing)
        return without_control

    def _list_killed_declarations(self, kills: Sequence[SuiteMutant]) -> Iterator[Dependency]:
        """Yield the methods and constructors of the focus in which a mutant was killed."""
        for file in sorted({entry.file for entry in self.focus}):
            lines = {mutant.line for mutant in kills if mutant.killed and mutant.file == file}
            source = load_content(self.context.repository, self.runner.rev, file)
            for type_ in get_reading(self.language).parse(source or b'', file).types:
                for member in type_.members:
                    inside = lines & set(range(member.start_line, member.end_line + 1))
                    if inside and member.kind in ('method', 'constructor'):
                        yield Dependency(
                            name=f'{type_.name}#{member.name}({",".join(member.parameters)})',
                            declaration=member.declaration,
                            file=file,
                            start_line=member.start_line,
                            end_line=member.end_line,
                            revised=Revised.MODIFIED,
                            rank=1,
                        )

    def _compile_placebo_cell(
        self, edited: Sequence[Dependency], edit: PlaceboEdit
    ) -> tuple[CompiledTests, Files] | None:
        """Compile the submitted file on code with placebos; None if there is no place for one."""
        drawn = draw_placebos(self.context, self.patched, edited, edit)
        cells = ((self._compile_file(self.patched, code), code) for code in drawn)
        return next(((cell, code) for cell, code in cells if cell.code_failure is None), None)

    def _compile_file(self, tests: bytes, code: Files) -> CompiledTests:
        files = ((self.context.assignment.task.test_file, tests),)
        cell = self.context.compile(self.runner.rev, files, code)
        self.runner.cpu_seconds += cell.cpu_seconds
        return cell

    def _run_and_find_failing(
        self, cell: CompiledTests, methods: Mapping[str, TestMethod]
    ) -> dict[str, TestMethod]:
        verdicts = self.runner.run_all(cell, tuple(methods.values()), None)
        return {
            name: method
            for (name, method), verdict in zip(methods.items(), verdicts, strict=True)
            if verdict is None or verdict.outcome is not Outcome.PASS
        }

    def _gold_passes(self, code: Files) -> bool:
        """Return whether gold's tests pass on edited code, in cells that no submission sees.

        Tests of gold that do not pass on unedited code do not count.
        """
        gold = self.context.gold
        if gold is None:
            return False
        task = self.context.assignment.task
        read = get_reading(self.language)
        test_members = read.find_tests(read.parse(gold, task.test_file), lambda simple: ())
        methods = index_methods_by_name(task.module, task.test_file, test_members)
        broken = self._run_and_find_failing(self._compile_file(gold, ()), methods).keys()
        return self._run_and_find_failing(self._compile_file(gold, code), methods).keys() <= broken
