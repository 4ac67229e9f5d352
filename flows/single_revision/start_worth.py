"""What a test file is worth with another text, run once as a task would start from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coevo.engine.results import Step
from coevo.languages.cells import CompiledTests
from coevo.languages.table import get_reading
from coevo.languages.verdicts import Verdict
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.suites import PassingSuite
from coevo.model.families import SuiteAdequacy
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Outcome
from flows.single_revision.observed_suite import ObservedSuite


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRun:
    """What the tests of a text did; `breaks_others` says whether other test files do not compile."""

    text: bytes
    verdicts: Mapping[TestMethod, Verdict]
    breaks_others: bool
    runner: EditedCellRunner

    @property
    def passing(self) -> tuple[TestMethod, ...]:
        return tuple(m for m, v in self.verdicts.items() if v.outcome is Outcome.PASS)

    @property
    def outcomes(self) -> frozenset[Outcome]:
        return frozenset(verdict.outcome for verdict in self.verdicts.values())


def run_start(observed: ObservedSuite, text: bytes) -> StartRun:
    """The tests of a text, in one process; Transient."""
    path, module = observed.file.test_file, observed.file.module
    runner = observed.revision.make_runner(((path, text),))
    compiled = runner.compile(module, whole=True)
    methods = _find_tests(observed, text)
    verdicts = runner.run_all(compiled, methods, None)
    return StartRun(
        text=text,
        verdicts={m: v for m, v in zip(methods, verdicts, strict=True) if v is not None},
        breaks_others=_breaks_others(observed, text, compiled),
        runner=runner,
    )


def measure_start(observed: ObservedSuite, row: SingleRevisionRow, run: StartRun) -> SuiteAdequacy:
    """On the scale of gold: the focus of its row, and the mutants that gold was run with; Transient."""
    assert row.adequacy is not None, 'gold is measured first'
    suite = PassingSuite(module=observed.file.module, methods=run.passing)
    tests = len(run.verdicts)
    if not suite.methods:
        adequacy = _build_zero_adequacy(row.adequacy, tests)
    else:
        adequacy = SuiteAdequacy(tests=tests, passing=len(suite.methods))
        files = [focus.file for focus in row.focus]
        traced = observed.revision.trace_suite(suite, files, run.runner)
        if traced.together is not None:
            adequacy = observed.measure_coverage(suite, row.focus, tests, traced.together)
        adequacy = suites.add_mutant_counts(
            adequacy, suites.run_suite(run.runner, suite, suites.restore_drawn_mutants(row.mutants))
        )
    observed.revision.evaluation.cost.add(Step.MUTANTS, run.runner.cpu_seconds, len(row.mutants))
    return adequacy


def _build_zero_adequacy(gold: SuiteAdequacy, tests: int) -> SuiteAdequacy:
    """Of a file of which no test passes."""

    def zero_unless_none(whole: int | None) -> int | None:
        return None if whole is None else 0

    return replace(
        gold,
        tests=tests,
        passing=0,
        covered_lines=zero_unless_none(gold.lines),
        covered_branches=zero_unless_none(gold.branches),
        covered_methods=zero_unless_none(gold.methods),
        killed=zero_unless_none(gold.mutants),
    )


def _find_tests(observed: ObservedSuite, text: bytes) -> tuple[TestMethod, ...]:
    read, path = get_reading(observed.revision.pair.language), observed.file.test_file
    tree = observed.revision.tree
    declared_tests = read.find_tests(
        read.parse(text, path),
        lambda simple: [resolved.type for resolved in tree.resolve_type(path, simple)],
    )
    return tuple(
        TestMethod(
            module=observed.file.module,
            test_file=path,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in declared_tests
    )


def _breaks_others(observed: ObservedSuite, text: bytes, compiled: CompiledTests) -> bool:
    revision, path = observed.revision, observed.file.test_file
    whole = revision.evaluation.built.compile(revision.rev, revision.rev, observed.file.module)
    read = get_reading(revision.pair.language)
    types = {
        type_.name for source in (text, observed.text) for type_ in read.parse(source, path).types
    }
    own = {path, *types}  # languages without compiled classes name the file
    broken = set(compiled.broken) - set(whole.broken)
    return any(name.partition('#')[0].partition('$')[0] not in own for name in broken)
