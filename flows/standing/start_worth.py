"""What a test file is worth with another text, run once as a task would start from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace

from coevo.engine.results import Step
from coevo.languages.cells import Compiled
from coevo.languages.table import reading
from coevo.languages.verdicts import Verdict
from coevo.measures import suites
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.suites import Suite
from coevo.model.families import SuiteAdequacy
from coevo.model.records import TestMethod
from coevo.model.standing_rows import StandingRow
from coevo.model.words import Outcome
from flows.standing.observed_suite import ObservedSuite


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
    runner = observed.revision.runner(((path, text),))
    compiled = runner.compile(module, whole=True)
    methods = _tests(observed, text)
    verdicts = runner.run_all(compiled, methods, None)
    return StartRun(
        text=text,
        verdicts={m: v for m, v in zip(methods, verdicts, strict=True) if v is not None},
        breaks_others=_breaks_others(observed, text, compiled),
        runner=runner,
    )


def worth(observed: ObservedSuite, row: StandingRow, run: StartRun) -> SuiteAdequacy:
    """On the scale of gold: the focus of its row, and the mutants that gold was run with; Transient."""
    assert row.adequacy is not None, 'gold is measured first'
    suite = Suite(module=observed.file.module, methods=run.passing)
    tests = len(run.verdicts)
    if not suite.methods:
        found = _nothing(row.adequacy, tests)
    else:
        found = SuiteAdequacy(tests=tests, passing=len(suite.methods))
        files = [one.file for one in row.focus]
        traced = observed.revision.traced(suite, files, run.runner)
        if traced.together is not None:
            found = observed.covered(suite, row.focus, tests, traced.together)
        found = suites.counted(
            found, suites.run_suite(run.runner, suite, suites.as_drawn(row.mutants))
        )
    observed.revision.evaluation.cost.add(Step.MUTANTS, run.runner.cpu_seconds, len(row.mutants))
    return found


def _nothing(gold: SuiteAdequacy, tests: int) -> SuiteAdequacy:
    """Of a file of which no test passes."""

    def none_of(whole: int | None) -> int | None:
        return None if whole is None else 0

    return replace(
        gold,
        tests=tests,
        passing=0,
        covered_lines=none_of(gold.lines),
        covered_branches=none_of(gold.branches),
        covered_methods=none_of(gold.methods),
        killed=none_of(gold.mutants),
    )


def _tests(observed: ObservedSuite, text: bytes) -> tuple[TestMethod, ...]:
    read, path = reading(observed.revision.pair.language), observed.file.test_file
    tree = observed.revision.tree
    found = read.find_tests(
        read.parse(text, path), lambda simple: [one.type for one in tree.resolve(path, simple)]
    )
    return tuple(
        TestMethod(
            module=observed.file.module,
            test_file=path,
            test_class=type_.name,
            test_method=member.name,
            parameters=member.parameters,
        )
        for type_, member in found
    )


def _breaks_others(observed: ObservedSuite, text: bytes, compiled: Compiled) -> bool:
    revision, path = observed.revision, observed.file.test_file
    whole = revision.evaluation.built.compile(revision.rev, revision.rev, observed.file.module)
    read = reading(revision.pair.language)
    types = {type_.name for one in (text, observed.text) for type_ in read.parse(one, path).types}
    own = {path, *types}  # languages without compiled classes name the file
    broken = set(compiled.broken) - set(whole.broken)
    return any(name.partition('#')[0].partition('$')[0] not in own for name in broken)
