"""What a submitted suite is worth: coverage of the focus as an observer saw it, and gold's mutants.

Mutants are those that gold was run with. Who fails with one for the edit's sake is found out by edits of
no effect in the same class: such a test is tampered, and neither passes nor kills.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.evaluation.judging.placebos import Sight
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.measuring.coverage import seen_lines
from coevo.evaluation.measuring.watched_lines import names_at
from coevo.evaluation.measuring.watched_lines import with_ranges
from coevo.evaluation.suites.methods import methods_by_name
from coevo.evaluation.suites.outcomes import SuiteSeen
from coevo.evaluation.suites.records import SuiteReach
from coevo.evaluation.suites.records import SuiteTest
from coevo.git.contents import content
from coevo.languages.capabilities import Capability
from coevo.languages.cells import Compiled
from coevo.languages.placebos import PlaceboKind
from coevo.languages.table import measures
from coevo.languages.table import offers
from coevo.languages.table import reading
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.placebos import placebo
from coevo.measures.suites import Suite
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.families import Focus
from coevo.model.families import SuiteAdequacy
from coevo.model.families import SuiteMutant
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

_DRAWS = 3
_DRAW = secrets.SystemRandom()


def measured(
    context: TaskContext, patched: bytes, methods: Mapping[str, TestMethod], seen: SuiteSeen
) -> tuple[SuiteSeen, float]:
    """The suite with what its passing tests are worth, and the CPU seconds of that; Transient."""
    suite = _SuiteRunner(context=context, runner=_runner(context, patched), patched=patched)
    kills = suite.kills(_passing(methods, seen))
    if any(one.killed for one in kills):
        tampered = suite.sighted(_passing(methods, seen), kills)
        if tampered:
            seen = replace(seen, tests=tuple(_marked(test, tampered) for test in seen.tests))
            kills = suite.kills(_passing(methods, seen))
    left = _passing(methods, seen)
    adequacy, reach = SuiteAdequacy(tests=len(seen.tests), passing=len(left)), None
    if left:
        found = suite.trace(left)
        adequacy = suites.counted(suite.covered(adequacy, found.together), kills)
        reach = suite.reach(found, kills)
    return replace(seen, adequacy=adequacy, reach=reach), suite.runner.cpu_seconds


def _passing(methods: Mapping[str, TestMethod], seen: SuiteSeen) -> dict[str, TestMethod]:
    return {test.test_method: methods[test.test_method] for test in seen.tests if test.passes}


def _marked(test: SuiteTest, tampered: frozenset[str]) -> SuiteTest:
    if test.test_method not in tampered:
        return test
    return replace(test, passes=False, tampered=Sight.SEES_EDITS)


def _runner(context: TaskContext, patched: bytes) -> EditedCellRunner:
    return EditedCellRunner(
        built=context.built,
        repository=context.repository,
        override=context.conditions.override,
        sources=context.conditions.sources,
        tests=((context.assignment.task.test_file, patched),),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteRunner:
    context: TaskContext
    runner: EditedCellRunner
    patched: bytes

    @property
    def focus(self) -> Sequence[Focus]:
        return self.context.assignment.task.focus or ()

    @property
    def language(self) -> str:
        return self.context.assignment.task.language

    def kills(self, methods: Mapping[str, TestMethod]) -> tuple[SuiteMutant, ...]:
        """What the tests do with each mutant that gold was run with."""
        standing = self.context.assignment.standing
        released = suites.as_drawn(standing.mutants) if standing is not None else ()
        if not methods or not released:
            return ()
        return suites.run_suite(self.runner, self._suite(methods), released)

    def _suite(self, methods: Mapping[str, TestMethod]) -> Suite:
        return Suite(module=self.context.module, methods=tuple(methods.values()))

    # -- coverage ----------------------------------------------------------------------------------

    def trace(self, methods: Mapping[str, TestMethod]) -> Traced:
        """Nothing where nobody outside of the process can see what it executes."""
        if not all(offers(self.language, one) for one in (Capability.TRACE, Capability.WATCH)):
            return Traced(traces=(), cpu_seconds=0.0)
        compiled = self.runner.compile(self.context.module)
        conditions = replace(
            self.context.conditions,
            observed=True,
            expects=reading(self.language).expected_throws(self.patched),
        )
        traced = self.context.built.trace(
            compiled,
            tuple(methods.values()),
            sorted({one.file for one in self.focus}),
            conditions,
            watched=with_ranges({}, self.focus, self._names),
            together=True,
        )
        self.runner.cpu_seconds += traced.cpu_seconds
        return replace(
            traced,
            traces=tuple(one and self._as_seen(one) for one in traced.traces),
            together=traced.together and self._as_seen(traced.together),
        )

    def covered(self, adequacy: SuiteAdequacy, trace: Trace | None) -> SuiteAdequacy:
        if trace is None:
            return adequacy
        return suites.covered(
            adequacy,
            self.context.repository,
            self.runner.rev,
            self.focus,
            trace,
            self.language,
        )

    def reach(self, traced: Traced, kills: Sequence[SuiteMutant]) -> SuiteReach:
        ran = [one for one in kills if one.killed is not None]
        killed = tuple(one.mutant_id for one in ran if one.killed) if ran else None
        whole, known = traced.together, [one for one in traced.traces if one is not None]
        if whole is None:
            return SuiteReach(killed=killed)
        return SuiteReach(
            lines=suites.executed_lines(self.focus, whole),
            killed=killed,
            branches=suites.taken_branches(self.focus, whole),
            unique_lines=suites.unique_lines(self.focus, known)
            if len(known) == len(traced.traces)
            else None,
        )

    def _as_seen(self, trace: Trace) -> Trace:
        """Lines and methods as nobody executed them where the observer saw nobody do so."""
        reached = {
            one.file: frozenset().union(
                *((trace.reached or {}).get(name, frozenset()) for name in self._names(one.file))
            )
            for one in self.focus
        }
        return replace(
            trace,
            lines={file: seen_lines(trace.lines.get(file, ()), reached[file]) for file in reached},
            executed=tuple(
                method
                for method in trace.executed
                if method.file in reached
                and reached[method.file] & set(range(method.first_line, method.last_line + 1))
            ),
        )

    def _names(self, path: str) -> tuple[str, ...]:
        return names_at(self.context.repository, self.language, self.runner.rev, path)

    # -- edits of no effect ------------------------------------------------------------------------

    def sighted(
        self, methods: Mapping[str, TestMethod], kills: Sequence[SuiteMutant]
    ) -> frozenset[str]:
        """Tests that fail, twice, with edits that do nothing where mutants were killed.

        A kind with which gold fails, too, is not asked; who passes with the kind that is noticed most
        easily would pass with the others.
        """
        if measures(self.language).placebos is None:
            return frozenset()
        edited = list(self._declarations(kills))
        for kind in PlaceboKind:
            cell = self._cell(edited, kind, self.patched)
            if cell is None:
                continue
            failing = self._failing(cell, self._failing(cell, methods))
            if not failing:
                return frozenset()
            if self._gold_passes(edited, kind):
                return frozenset(failing)
        return frozenset()

    def _declarations(self, kills: Sequence[SuiteMutant]) -> Iterator[Dependency]:
        """The methods and constructors of the focus in which a mutant was killed."""
        for file in sorted({one.file for one in self.focus}):
            lines = {one.line for one in kills if one.killed and one.file == file}
            source = content(self.context.repository, self.runner.rev, file)
            for type_ in reading(self.language).parse(source or b'', file).types:
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

    def _cell(
        self, edited: Sequence[Dependency], kind: PlaceboKind, tests: bytes
    ) -> Compiled | None:
        """A file of tests on code with a placebo; None where there is nothing to put one in."""
        files = ((self.context.assignment.task.test_file, tests),)
        for _ in range(_DRAWS):
            code = placebo(self.context.repository, self.context.pair, edited, kind, _DRAW)
            if not code:
                return None
            cell = self.context.compile(self.runner.rev, files, code)
            self.runner.cpu_seconds += cell.cpu_seconds
            if cell.code_failure is None:
                return cell
        return None

    def _failing(self, cell: Compiled, methods: Mapping[str, TestMethod]) -> dict[str, TestMethod]:
        verdicts = self.runner.run_all(cell, tuple(methods.values()), None)
        return {
            name: method
            for (name, method), verdict in zip(methods.items(), verdicts, strict=True)
            if verdict is None or verdict.outcome is not Outcome.PASS
        }

    def _gold_passes(self, edited: Sequence[Dependency], kind: PlaceboKind) -> bool:
        """Of those of gold's tests that pass without an edit, in cells that no submission sees."""
        gold = self.context.gold
        if gold is None:
            return False
        task = self.context.assignment.task
        read = reading(self.language)
        found = read.find_tests(read.parse(gold, task.test_file), lambda simple: ())
        methods = methods_by_name(task.module, task.test_file, found)
        plain = self.context.compile(self.runner.rev, ((task.test_file, gold),))
        cell = self._cell(edited, kind, gold)
        if cell is None:
            return False
        broken = self._failing(plain, methods).keys()
        return self._failing(cell, methods).keys() <= broken
