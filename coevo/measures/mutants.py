"""Count the mutants, in lines that a pair added, that each gold test kills (TestEvo-Bench, A.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.languages.cells import CompiledTests
from coevo.languages.mutation import MutationTimeout
from coevo.languages.verdicts import Verdict
from coevo.measures.added_lines import find_added_lines
from coevo.measures.declaration_pairs import find_method_or_constructor
from coevo.measures.edited_cells import EditedCellRunner, Files, GoldTest
from coevo.measures.mutant_sets import (
    DrawnMutant,
    FileMutants,
    MutantSet,
    join_sets,
    make_file_mutants,
)
from coevo.model.dependencies import Revised
from coevo.model.quality import MutantRow, Mutation
from coevo.model.words import Outcome

BASELINE_RUNS = 3
LEAST_CPU_LIMIT = 10.0
SLOWER_THAN_BASELINE = 5
"""A mutant may use this many times the CPU time of the slowest run without one, but at least
`LEAST_CPU_LIMIT` seconds."""

Lines = Mapping[str, frozenset[int]]
"""Line numbers at new, by path."""

NOT_RUN: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantMeasures:
    """The results of mutation testing.

    rows       one for each test and mutant
    mutations  the counts by method id; None for a test that could not be measured
    """

    rows: tuple[MutantRow, ...]
    mutations: Mapping[str, Mutation | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _MutationSubject:
    """A test with its mutants.

    passes     whether it passes three times without a mutant; None if it is not run
    cpu_limit  CPU seconds for a run with a mutant
    """

    test: GoldTest
    mutants: MutantSet
    passes: bool | None = None
    cpu_limit: float = LEAST_CPU_LIMIT


def measure_mutants(
    runner: EditedCellRunner, tests: Sequence[GoldTest], most_runs: int | None = None
) -> MutantMeasures:
    """Draw mutants for tests and run each test alone against its whole set, or not at all.

    Which tests are run is decided beforehand, at random and by numbers of runs, so that no score
    depends on the speed of the machine.

    most_runs  the limit for all tests together, with runs without a mutant; None is no limit

    Raises: Transient if a test process does not start.
    """
    wanted = {test.method_id: find_added_dependency_lines(runner, test) for test in tests}
    return run_mutants(runner, tests, draw_mutant_sets(runner, wanted), most_runs)


def run_mutants(
    runner: EditedCellRunner,
    tests: Sequence[GoldTest],
    found: Mapping[str, MutantSet],
    most_runs: int | None = None,
    slowest: Mapping[str, float] = NOT_RUN,
) -> MutantMeasures:
    """Run tests against mutants that were drawn before; see `measure_mutants`.

    found    the mutants by method id; a test without an entry is not measured
    slowest  CPU seconds of the slowest run of tests that are already known to pass without mutants
    """
    measurable = [test for test in tests if test.method_id in found]
    sets = {test.method_id: found[test.method_id] for test in measurable}
    chosen = choose_affordable({name: count_runs(item) for name, item in sets.items()}, most_runs)
    subjects = [
        _run_baseline_if_chosen(
            runner,
            _MutationSubject(test=item, mutants=sets[item.method_id]),
            item.method_id in chosen,
            slowest.get(item.method_id),
        )
        for item in measurable
    ]
    verdicts = dict(_run_subjects(runner, subjects))
    return MutantMeasures(
        rows=tuple(row for item in subjects for row in _make_rows(runner, item, verdicts)),
        mutations={test.method_id: None for test in tests}
        | {item.test.method_id: _summarise(item, verdicts) for item in subjects},
    )


# -- mutants of each test ------------------------------------------------------------------------


def draw_mutant_sets(runner: EditedCellRunner, wanted: Mapping[str, Lines]) -> dict[str, MutantSet]:
    """Return the mutants of each test's lines, by method id.

    A test is left out if a file with its lines cannot be mutated here.
    """
    files = dict(_make_mutants_by_file(runner, list(wanted.values())))
    sets_by_method = {}
    for method_id, lines in wanted.items():
        sets = [_draw_set(runner, files[path], lines[path]) for path in sorted(lines)]
        whole = [mutant_set for mutant_set in sets if mutant_set is not None]
        if len(whole) == len(sets):
            sets_by_method[method_id] = join_sets(whole)
    return sets_by_method


def find_added_dependency_lines(
    runner: EditedCellRunner, test: GoldTest
) -> dict[str, frozenset[int]]:
    """Return the lines in a test's dependency methods that the pair added, by path."""
    lines: dict[str, frozenset[int]] = {}
    old, new = runner.pair.old.rev, runner.pair.new.rev
    for dependency in test.dependencies:
        if dependency.revised is Revised.REMOVED:
            continue
        if find_method_or_constructor(runner.repository, runner.pair, dependency) is None:
            continue
        own = frozenset(range(dependency.start_line, dependency.end_line + 1))
        added = find_added_lines(runner.repository, old, new, dependency.file)
        if own & added:
            lines[dependency.file] = lines.get(dependency.file, frozenset()) | (own & added)
    return lines


def _make_mutants_by_file(
    runner: EditedCellRunner, wanted: Sequence[Lines]
) -> Iterator[tuple[str, FileMutants | None]]:
    """Yield each file once with the mutants of all tests; None if it cannot be mutated."""
    for path in sorted({path for lines in wanted for path in lines}):
        together = frozenset().union(*(lines.get(path, frozenset()) for lines in wanted))
        try:
            yield path, make_file_mutants(runner, path, together)
        except MutationTimeout:
            yield path, None


def _draw_set(
    runner: EditedCellRunner, file: FileMutants | None, lines: frozenset[int]
) -> MutantSet | None:
    return file.draw(runner, lines) if file else None


# -- runs ----------------------------------------------------------------------------------------


def count_runs(mutants: MutantSet) -> int:
    """Return how many runs a test needs: one for each mutant and three without a mutant.

    0 if there are no mutants.
    """
    return len(mutants.mutants) + BASELINE_RUNS if mutants.mutants else 0


def _run_baseline_if_chosen(
    runner: EditedCellRunner,
    subject: _MutationSubject,
    is_chosen: bool,
    known_slowest: float | None,
) -> _MutationSubject:
    """Run a chosen test three times without mutants, and return it with the result.

    A test that is not chosen, or has no mutants, is returned unchanged.
    known  CPU seconds of the slowest run if the test is known to pass, so that it is not run
    """
    if not is_chosen or not subject.mutants.mutants:
        return subject
    if known_slowest is not None:
        return _mark_passing(subject, known_slowest)
    slowest = 0.0
    compiled = runner.compile(subject.test.method.module, tests=subject.test.tests)
    for _ in range(BASELINE_RUNS):
        verdict = runner.run_alone(compiled, subject.test.method, None)
        if verdict.outcome is not Outcome.PASS:
            return replace(subject, passes=False)
        slowest = max(slowest, verdict.cpu_seconds)
    return _mark_passing(subject, slowest)


def _mark_passing(subject: _MutationSubject, slowest: float) -> _MutationSubject:
    return replace(subject, passes=True, cpu_limit=compute_cpu_limit(slowest))


def _run_subjects(
    runner: EditedCellRunner, subjects: Sequence[_MutationSubject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    """Run each test that passes without mutants with each of its mutants.

    Yield the verdicts by method id and mutant id.
    """
    for mutant in _list_mutants_by_id(subjects):
        for module, tests in _list_test_trees(subjects):
            concerned = [
                subject
                for subject in subjects
                if subject.passes
                and (subject.test.method.module, subject.test.tests) == (module, tests)
                and mutant.mutant_id in {drawn.mutant_id for drawn in subject.mutants.mutants}
            ]
            if concerned:
                yield from _run_mutant(runner, module, mutant, concerned)


def _list_test_trees(subjects: Sequence[_MutationSubject]) -> Iterator[tuple[str, Files]]:
    """Yield each module with each set of edited test files, which is compiled separately."""
    yield from dict.fromkeys(
        (subject.test.method.module, subject.test.tests) for subject in subjects
    )


def _list_mutants_by_id(subjects: Sequence[_MutationSubject]) -> list[DrawnMutant]:
    """Return the mutants of all tests, each once, in the random order of their ids."""
    by_id = {mutant.mutant_id: mutant for subject in subjects for mutant in subject.mutants.mutants}
    return [by_id[mutant_id] for mutant_id in sorted(by_id)]


def _run_mutant(
    runner: EditedCellRunner, module: str, mutant: DrawnMutant, subjects: Sequence[_MutationSubject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    compiled = compile_with_mutant(runner, module, mutant, subjects[0].test.tests)
    for subject in subjects:
        verdict = runner.run_alone(compiled, subject.test.method, subject.cpu_limit)
        yield (subject.test.method_id, mutant.mutant_id), verdict


def compute_cpu_limit(slowest: float) -> float:
    """Return the CPU seconds for a run with a mutant, given the slowest run without one."""
    return max(LEAST_CPU_LIMIT, SLOWER_THAN_BASELINE * slowest)


def compile_with_mutant(
    runner: EditedCellRunner, module: str, mutant: DrawnMutant, tests: Files
) -> CompiledTests:
    """Compile a module's tests, edited as in `EditedCellRunner.compile`, against a mutant."""
    source = runner.repository.blob(runner.repository.tree(runner.rev)[mutant.file].oid)
    return runner.compile(module, (mutant.file, mutant.mutant.apply_to(source)), tests)


# -- rows ----------------------------------------------------------------------------------------

Verdicts = Mapping[tuple[str, str], Verdict]


def _make_rows(
    runner: EditedCellRunner, subject: _MutationSubject, verdicts: Verdicts
) -> Iterator[MutantRow]:
    for mutant in subject.mutants.mutants:
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


def _summarise(subject: _MutationSubject, verdicts: Verdicts) -> Mutation:
    mutants = subject.mutants
    known = [verdicts.get((subject.test.method_id, mutant.mutant_id)) for mutant in mutants.mutants]
    ran = [verdict for verdict in known if verdict is not None]
    not_run = 0 if subject.passes is False else len(known) - len(ran)
    killed = sum(verdict.outcome is not Outcome.PASS for verdict in ran)
    return Mutation(
        emitted=mutants.emitted,
        compile_failed=mutants.compile_failed,
        redundant=mutants.redundant,
        capped_out=mutants.capped_out,
        not_checked=mutants.not_checked,
        count=len(mutants.mutants),
        equal_compiled=sum(mutant.equal_compiled for mutant in mutants.mutants),
        not_run=not_run,
        killed=None if subject.passes is False or not_run else killed,
    )


# -- limits --------------------------------------------------------------------------------------
#
# Limits are numbers of runs, applied before the first run. With a limit in seconds, a slow machine
# would give other figures than a fast one.


def choose_affordable(runs: Mapping[str, int], most: int | None) -> frozenset[str]:
    """Return which ids to run, given the number of runs that each needs.

    Ids are taken in their order, which is random, as long as they fit completely; one that does not
    fit is skipped.

    most  the limit for all together; None is no limit
    """
    left = sum(runs.values()) if most is None else most
    chosen = set()
    for name, needed in sorted(runs.items()):
        if needed <= left:
            chosen.add(name)
            left -= needed
    return frozenset(chosen)
