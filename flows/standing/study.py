"""From the test files of a revision to rows of `standing`: run three times, traced, measured."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.engine.cache import Cache
from coevo.engine.execution import observe
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.engine.results import Step
from coevo.languages.capabilities import Capability
from coevo.languages.cells import Edits
from coevo.languages.conditions import Conditions
from coevo.languages.engine import Builder
from coevo.languages.reading import Tree
from coevo.languages.table import offers
from coevo.languages.table import reading
from coevo.languages.traces import ExecutedMethod
from coevo.languages.traces import Trace
from coevo.languages.traces import Traced
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.suites import Suite
from coevo.model.families import SuiteAdequacy
from coevo.model.families import SuiteMutant
from coevo.model.identity import method_id_in
from coevo.model.reasons import Reason
from coevo.model.records import Candidate
from coevo.model.records import Change
from coevo.model.records import Drop
from coevo.model.records import Pair
from coevo.model.records import Stage
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.model.standing_rows import StandingRow
from coevo.starts.isolated_cells import IsolatedCellRunner
from coevo.starts.source_readers import reads_sources
from flows.standing.selection import dominance
from flows.standing.selection import steadiness
from flows.study.context import Tools
from miners.standing import StandingFile
from miners.standing import standing_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """What came of the test files of a revision; `evaluation` is None where none was run."""

    rows: tuple[StandingRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    evaluation: PairEvaluation | None = None


Found = StandingRow | tuple[StandingRow, Reason, str]
"""A row, with the reason why no family takes it and what that leaves open."""


def stand(tools: Tools, pair: Pair, cache: Cache, open_builder: Callable[[], Builder]) -> Stood:
    """The rows of all test files of a pair's new revision; Transient."""
    files = list(standing_files(tools.repository, pair.new.rev, pair.language))
    found: list[Found] = [
        (_row(pair, file), file.reason, '') for file in files if file.reason is not None
    ]
    left = [file for file in files if file.reason is None]
    evaluation = None
    if left:
        methods = {file.test_file: _methods_by_id(pair, file) for file in left}
        selected = [_selected(*one) for file in left for one in methods[file.test_file].items()]
        evaluation = observe(open_builder(), pair, selected, cache)
        if evaluation.new.runtime_lacking is not None:
            return Stood(evaluation=evaluation)
        context = _Context(
            tools=tools,
            pair=pair,
            evaluation=evaluation,
            tree=reading(pair.language).tree(tools.repository, pair.new.rev),
        )
        found += [context.studied(file, methods[file.test_file]) for file in left]
    rows = [one if isinstance(one, StandingRow) else one[0] for one in found]
    drops = [
        Drop.at(Stage.STANDING, one[0], one[0].standing_id, one[1], one[2])
        for one in found
        if not isinstance(one, StandingRow)
    ]
    return Stood(rows=tuple(rows), drops=tuple(drops), evaluation=evaluation)


def _row(pair: Pair, file: StandingFile) -> StandingRow:
    return StandingRow(
        standing_id=short_hash(pair.pair_id, file.test_file),
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        new_rev=pair.new.rev,
        module=file.module,
        test_file=file.test_file,
        tests=len(file.methods),
        focus=file.named,
    )


def _methods_by_id(pair: Pair, file: StandingFile) -> dict[str, TestMethod]:
    return {method_id_in(pair.pair_id, Change.UNCHANGED, one): one for one in file.methods}


def _selected(method_id: str, method: TestMethod) -> SelectedMethod:
    candidate = Candidate(
        change=Change.UNCHANGED, old=method, new=method, old_source=None, new_source=None
    )
    return SelectedMethod(method_id=method_id, candidate=candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """A revision of which all tests were run."""

    tools: Tools
    pair: Pair
    evaluation: PairEvaluation
    tree: Tree

    @property
    def rev(self) -> str:
        return self.pair.new.rev

    def studied(self, file: StandingFile, methods: Mapping[str, TestMethod]) -> Found:
        steady = steadiness(self.evaluation, methods)
        row = replace(
            _row(self.pair, file),
            passing=len(steady.passing),
            unsteady=steady.unsteady,
            runs=steady.runs,
            override='+'.join(self.evaluation.overrides) or None,
        )
        if steady.reason is not None:
            return row, steady.reason, steady.detail
        suite = Suite(module=file.module, methods=tuple(methods[one] for one in steady.passing))
        traced = self._traced(suite, file)
        if traced.together is None or None in traced.traces:
            return row, Reason.NOT_TRACED, ''
        about = dominance(file.named, self._of_code(traced.traces))
        row = replace(row, focus=about.focus, focal_share=about.share)
        if about.reason is not None:
            return row, about.reason, about.detail
        if self._is_needed(file):
            return row, Reason.FILE_NEEDED, ''
        return self._measured(row, suite, traced.together)

    def _traced(self, suite: Suite, file: StandingFile) -> Traced:
        if not offers(self.pair.language, Capability.TRACE):
            return Traced(traces=(), cpu_seconds=0.0)
        compiled = self.evaluation.built.compile(self.rev, self.rev, suite.module)
        traced = self.evaluation.built.trace(
            compiled,
            suite.methods,
            sorted({one.file for one in file.named}),
            Conditions(override=self.evaluation.override),
            shared=True,
            together=True,
        )
        self.evaluation.cost.add(Step.TRACE, traced.cpu_seconds, len(suite.methods))
        return traced

    def _of_code(self, traces: Sequence[Trace | None]) -> Iterator[ExecutedMethod]:
        for trace in traces:
            for method in trace.executed if trace else ():
                if method.file is not None and self.tree.is_source(method.file):
                    yield method

    def _is_needed(self, file: StandingFile) -> bool:
        """Whether other tests of the module do not compile without a file."""
        gone = Edits(tests=((file.test_file, None),))
        whole = self.evaluation.built.compile(self.rev, self.rev, file.module)
        without = self.evaluation.built.compile(self.rev, self.rev, file.module, edits=gone)
        self.evaluation.cost.add(Step.ISOLATION, without.cpu_seconds)
        return bool(set(without.broken) - set(whole.broken))

    def _measured(self, row: StandingRow, suite: Suite, trace: Trace) -> StandingRow:
        """Mutants as far as the profile's runs go, each of which is one of the suite."""
        adequacy = SuiteAdequacy(tests=row.tests, passing=len(suite.methods))
        adequacy = suites.covered(
            adequacy, self.tools.repository, self.rev, row.focus, trace, self.pair.language
        )
        most = min(suites.MOST_MUTANTS, self.tools.profile.measure_runs)
        mutants: tuple[SuiteMutant, ...] = ()
        if most:
            runner = EditedCellRunner(
                built=self.evaluation.built,
                repository=self.tools.repository,
                override=self.evaluation.override,
            )
            drawn = suites.drawn(runner, row.focus)[:most]
            mutants = suites.run_suite(runner, suite, drawn) if drawn else ()
            self.evaluation.cost.add(Step.MUTANTS, runner.cpu_seconds, len(mutants))
        return replace(
            row,
            adequacy=suites.counted(adequacy, mutants),
            mutants=mutants,
            reads_sources=self._reads_sources(suite),
        )

    def _reads_sources(self, suite: Suite) -> bool:
        runner = IsolatedCellRunner(
            built=self.evaluation.built,
            repository=self.tools.repository,
            conditions=Conditions(override=self.evaluation.override),
        )
        compiled = self.evaluation.built.compile(self.rev, self.rev, suite.module)
        found = reads_sources(runner, compiled, {str(at): m for at, m in enumerate(suite.methods)})
        self.evaluation.cost.add(Step.ISOLATION, runner.cpu_seconds)
        return found
