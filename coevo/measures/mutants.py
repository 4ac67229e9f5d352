"""How many mutants of the lines that a pair added each gold test kills (TestEvo-Bench, A.5)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.languages.cells import Compiled
from coevo.languages.mutation import OutOfTime
from coevo.languages.verdicts import Verdict
from coevo.measures.added_lines import added_lines
from coevo.measures.declaration_pairs import declared
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import Files
from coevo.measures.edited_cells import GoldTest
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import FileMutants
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.mutant_sets import file_mutants
from coevo.measures.mutant_sets import joined
from coevo.measures.runs import affordable
from coevo.model.dependencies import Revised
from coevo.model.quality import MutantRow
from coevo.model.quality import Mutation
from coevo.model.words import Outcome

BASELINE_RUNS = 3
LEAST_CPU_LIMIT = 10.0
SLOWER_THAN_BASELINE = 5
"""A mutant may use so many times what the slowest run without it did, ten seconds at least."""

Lines = Mapping[str, frozenset[int]]
"""By path, lines at new."""

NOT_RUN: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantMeasures:
    """Rows by test and mutant; `mutations` is None for a test of which nothing could be measured."""

    rows: tuple[MutantRow, ...]
    mutations: Mapping[str, Mutation | None]  # by method id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A test with its mutants.

    passes     whether it passes three times without any; None where it is not run
    cpu_limit  CPU seconds for a run with one
    """

    test: GoldTest
    mutants: MutantSet
    passes: bool | None = None
    cpu_limit: float = LEAST_CPU_LIMIT


def measure_mutants(
    runner: EditedCellRunner, tests: Sequence[GoldTest], most_runs: int | None = None
) -> MutantMeasures:
    """Run tests alone against their mutants: each against its whole set, or against none.

    Who is run is decided before anything is, at random and by counts of runs, so that no score depends
    on how fast the machine is. Transient where test processes do not start.

    most_runs  of all tests together, those without a mutant counted; None is no limit
    """
    wanted = {test.method_id: mutable_lines(runner, test) for test in tests}
    return run_mutants(runner, tests, mutant_sets(runner, wanted), most_runs)


def run_mutants(
    runner: EditedCellRunner,
    tests: Sequence[GoldTest],
    found: Mapping[str, MutantSet],
    most_runs: int | None = None,
    slowest: Mapping[str, float] = NOT_RUN,
) -> MutantMeasures:
    """The same for mutants that were drawn before, by method id; a test that has none there is not
    measured.

    slowest  of tests that have passed as often as is asked, CPU seconds of their slowest run
    """
    measurable = [test for test in tests if test.method_id in found]
    sets = {test.method_id: found[test.method_id] for test in measurable}
    chosen = affordable({name: runs_of(one) for name, one in sets.items()}, most_runs)
    subjects = [
        _tried(
            runner,
            _Subject(test=one, mutants=sets[one.method_id]),
            one.method_id in chosen,
            slowest.get(one.method_id),
        )
        for one in measurable
    ]
    verdicts = dict(_verdicts(runner, subjects))
    return MutantMeasures(
        rows=tuple(row for one in subjects for row in _rows(runner, one, verdicts)),
        mutations={test.method_id: None for test in tests}
        | {one.test.method_id: _mutation(one, verdicts) for one in subjects},
    )


# -- mutants of each test ------------------------------------------------------------------------


def mutant_sets(runner: EditedCellRunner, wanted: Mapping[str, Lines]) -> dict[str, MutantSet]:
    """The mutants of each test's lines, by method id; a test of which a file cannot be mutated here
    is left out."""
    files = dict(_files(runner, list(wanted.values())))
    found = {}
    for method_id, lines in wanted.items():
        sets = [_drawn(runner, files[path], lines[path]) for path in sorted(lines)]
        whole = [one for one in sets if one is not None]
        if len(whole) == len(sets):
            found[method_id] = joined(whole)
    return found


def mutable_lines(runner: EditedCellRunner, test: GoldTest) -> dict[str, frozenset[int]]:
    """By path, the lines of a test's dependency methods that the pair added."""
    found: dict[str, frozenset[int]] = {}
    old, new = runner.pair.old.rev, runner.pair.new.rev
    for dependency in test.dependencies:
        if dependency.revised is Revised.REMOVED:
            continue
        if declared(runner.repository, runner.pair, dependency) is None:
            continue
        own = frozenset(range(dependency.start_line, dependency.end_line + 1))
        added = added_lines(runner.repository, old, new, dependency.file)
        if own & added:
            found[dependency.file] = found.get(dependency.file, frozenset()) | (own & added)
    return found


def _files(
    runner: EditedCellRunner, wanted: Sequence[Lines]
) -> Iterator[tuple[str, FileMutants | None]]:
    """Each file once, for all tests together."""
    for path in sorted({path for lines in wanted for path in lines}):
        together = frozenset().union(*(lines.get(path, frozenset()) for lines in wanted))
        try:
            yield path, file_mutants(runner, path, together)
        except OutOfTime:
            yield path, None


def _drawn(
    runner: EditedCellRunner, file: FileMutants | None, lines: frozenset[int]
) -> MutantSet | None:
    return file.drawn(runner, lines) if file else None


# -- runs ----------------------------------------------------------------------------------------


def runs_of(mutants: MutantSet) -> int:
    """How often a test is run that is measured."""
    return len(mutants.kept) + BASELINE_RUNS if mutants.kept else 0


def _tried(
    runner: EditedCellRunner, subject: _Subject, is_chosen: bool, known: float | None
) -> _Subject:
    """A test with what it does without mutants, if it is one of those that are run."""
    if not is_chosen or not subject.mutants.kept:
        return subject
    if known is not None:
        return _passing(subject, known)
    slowest = 0.0
    compiled = runner.compile(subject.test.method.module, tests=subject.test.tests)
    for _ in range(BASELINE_RUNS):
        verdict = runner.run(compiled, subject.test.method, None)
        if verdict.outcome is not Outcome.PASS:
            return replace(subject, passes=False)
        slowest = max(slowest, verdict.cpu_seconds)
    return _passing(subject, slowest)


def _passing(subject: _Subject, slowest: float) -> _Subject:
    return replace(subject, passes=True, cpu_limit=cpu_limit(slowest))


def _verdicts(
    runner: EditedCellRunner, subjects: Sequence[_Subject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    """What a test did with a mutant, by the ids of both."""
    for mutant in _by_lot(subjects):
        for module, tests in _trees(subjects):
            concerned = [
                one
                for one in subjects
                if one.passes
                and (one.test.method.module, one.test.tests) == (module, tests)
                and mutant.mutant_id in {kept.mutant_id for kept in one.mutants.kept}
            ]
            if concerned:
                yield from _run(runner, module, mutant, concerned)


def _trees(subjects: Sequence[_Subject]) -> Iterator[tuple[str, Files]]:
    """Each module with what is other in its tests, which is compiled for itself."""
    yield from dict.fromkeys((one.test.method.module, one.test.tests) for one in subjects)


def _by_lot(subjects: Sequence[_Subject]) -> list[DrawnMutant]:
    found = {mutant.mutant_id: mutant for one in subjects for mutant in one.mutants.kept}
    return [found[mutant_id] for mutant_id in sorted(found)]


def _run(
    runner: EditedCellRunner, module: str, mutant: DrawnMutant, subjects: Sequence[_Subject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    compiled = compiled_with(runner, module, mutant, subjects[0].test.tests)
    for one in subjects:
        verdict = runner.run(compiled, one.test.method, one.cpu_limit)
        yield (one.test.method_id, mutant.mutant_id), verdict


def cpu_limit(slowest: float) -> float:
    """CPU seconds for a run with a mutant, by those of the slowest run without one."""
    return max(LEAST_CPU_LIMIT, SLOWER_THAN_BASELINE * slowest)


def compiled_with(
    runner: EditedCellRunner, module: str, mutant: DrawnMutant, tests: Files
) -> Compiled:
    """A module's tests against the code with a mutant; `tests` as in `EditedCellRunner.compile`."""
    source = runner.repository.blob(runner.repository.tree(runner.rev)[mutant.file].oid)
    return runner.compile(module, (mutant.file, mutant.mutant.applied(source)), tests)


# -- rows ----------------------------------------------------------------------------------------

Verdicts = Mapping[tuple[str, str], Verdict]


def _rows(runner: EditedCellRunner, subject: _Subject, verdicts: Verdicts) -> Iterator[MutantRow]:
    for mutant in subject.mutants.kept:
        verdict = verdicts.get((subject.test.method_id, mutant.mutant_id))
        yield MutantRow(
            repo=runner.pair.repo,
            walk=runner.pair.walk,
            pair_id=runner.pair.pair_id,
            method_id=subject.test.method_id,
            mutant_id=mutant.mutant_id,
            file=mutant.file,
            line=mutant.mutant.line,
            original=mutant.mutant.original,
            mutated=mutant.mutant.mutated,
            equal_compiled=mutant.equal_compiled,
            outcome=verdict.outcome if verdict else None,
            signature=verdict.signature if verdict else None,
            killed=verdict.outcome is not Outcome.PASS if verdict else None,
        )


def _mutation(subject: _Subject, verdicts: Verdicts) -> Mutation:
    mutants = subject.mutants
    known = [verdicts.get((subject.test.method_id, one.mutant_id)) for one in mutants.kept]
    ran = [verdict for verdict in known if verdict is not None]
    not_run = 0 if subject.passes is False else len(known) - len(ran)
    killed = sum(verdict.outcome is not Outcome.PASS for verdict in ran)
    return Mutation(
        emitted=mutants.emitted,
        compile_failed=mutants.compile_failed,
        redundant=mutants.redundant,
        capped_out=mutants.capped_out,
        not_checked=mutants.not_checked,
        count=len(mutants.kept),
        equal_compiled=sum(one.equal_compiled for one in mutants.kept),
        not_run=not_run,
        killed=None if subject.passes is False or not_run else killed,
    )
