"""How many mutants of the lines that a pair added each gold test kills (TestEvo-Bench, A.5)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.languages.base import Verdict
from coevo.measures.added_lines import added_lines
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.counterparts import declared
from coevo.measures.mutant_sets import CAP
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import FileMutants
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.mutant_sets import file_mutants
from coevo.measures.mutant_sets import joined
from coevo.measures.universal_mutator import OutOfTime
from coevo.quality import MutantRow
from coevo.quality import Mutation
from coevo.records import Outcome
from coevo.records import Revised

BASELINE_RUNS = 3
LEAST_CPU_LIMIT = 10.0
SLOWER_THAN_BASELINE = 5
"""A mutant may use so many times what the slowest run without it did, ten seconds at least."""

Lines = Mapping[str, frozenset[int]]
"""By path, lines at new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantMeasures:
    """Rows by test and mutant; `mutations` is None for a test of which nothing could be measured."""

    rows: tuple[MutantRow, ...]
    mutations: Mapping[str, Mutation | None]  # by method id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A test with its mutants.

    passes     whether it passes three times without any; None where that was not asked
    cpu_limit  CPU seconds for a run with one
    """

    test: GoldTest
    mutants: MutantSet
    passes: bool | None = None
    cpu_limit: float = LEAST_CPU_LIMIT


def measure_mutants(bench: Bench, tests: Sequence[GoldTest]) -> MutantMeasures:
    """Run every test alone against each of its mutants, as far as the bench's budget lasts.

    Mutants are taken by lot, each for all tests that have it: what a budget leaves is a smaller
    sample of every test's set. Transient where test processes do not start.
    """
    wanted = {test.method_id: mutable_lines(bench, test) for test in tests}
    return run_mutants(bench, tests, mutant_sets(bench, wanted))


def run_mutants(
    bench: Bench, tests: Sequence[GoldTest], found: Mapping[str, MutantSet]
) -> MutantMeasures:
    """The same for mutants that were drawn before, by method id; a test that has none there is not
    measured."""
    measurable = [test for test in tests if test.method_id in found]
    subjects = list(
        _tried(bench, [_Subject(test=one, mutants=found[one.method_id]) for one in measurable])
    )
    verdicts = dict(_verdicts(bench, subjects))
    return MutantMeasures(
        rows=tuple(row for one in subjects for row in _rows(bench, one, verdicts)),
        mutations={test.method_id: None for test in tests}
        | {one.test.method_id: _mutation(one, verdicts) for one in subjects},
    )


# -- mutants of each test ------------------------------------------------------------------------


def mutant_sets(bench: Bench, wanted: Mapping[str, Lines]) -> dict[str, MutantSet]:
    """The mutants of each test's lines, by method id; a test of which a file cannot be mutated here
    is left out."""
    files = dict(_files(bench, list(wanted.values())))
    found = {}
    for method_id, lines in wanted.items():
        sets = [_drawn(bench, files[path], lines[path]) for path in sorted(lines)]
        whole = [one for one in sets if one is not None]
        if len(whole) == len(sets):
            found[method_id] = joined(whole)
    return found


def mutable_lines(bench: Bench, test: GoldTest) -> dict[str, frozenset[int]]:
    """By path, the lines of a test's dependency methods that the pair added."""
    found: dict[str, frozenset[int]] = {}
    old, new = bench.pair.old.rev, bench.pair.new.rev
    for dependency in test.dependencies:
        if dependency.revised is Revised.REMOVED:
            continue
        if declared(bench.repository, bench.pair, dependency) is None:
            continue
        own = frozenset(range(dependency.start_line, dependency.end_line + 1))
        added = added_lines(bench.repository, old, new, dependency.file)
        if own & added:
            found[dependency.file] = found.get(dependency.file, frozenset()) | (own & added)
    return found


def _files(bench: Bench, wanted: Sequence[Lines]) -> Iterator[tuple[str, FileMutants | None]]:
    """Each file once, for all tests together."""
    for path in sorted({path for lines in wanted for path in lines}):
        together = frozenset().union(*(lines.get(path, frozenset()) for lines in wanted))
        try:
            yield path, file_mutants(bench, path, together)
        except OutOfTime:
            yield path, None


def _drawn(bench: Bench, file: FileMutants | None, lines: frozenset[int]) -> MutantSet | None:
    return file.drawn(bench, lines) if file else None


# -- runs ----------------------------------------------------------------------------------------


def _tried(bench: Bench, subjects: Sequence[_Subject]) -> Iterator[_Subject]:
    """The tests with what they do without mutants, as many as the budget may last for.

    Trying more would leave nothing to run the mutants of any of them.
    """
    share = BASELINE_RUNS / (BASELINE_RUNS + CAP)
    most = bench.cpu_seconds + share * max(0.0, bench.budget - bench.cpu_seconds)
    for one in subjects:
        if one.mutants.kept and bench.cpu_seconds < most:
            yield _with_baseline(bench, one)
        else:
            yield one


def _with_baseline(bench: Bench, subject: _Subject) -> _Subject:
    slowest = 0.0
    compiled = bench.compile(subject.test.method.module)
    for _ in range(BASELINE_RUNS):
        verdict = bench.run(compiled, subject.test.method, None)
        if verdict.outcome is not Outcome.PASS:
            return replace(subject, passes=False)
        slowest = max(slowest, verdict.cpu_seconds)
    limit = max(LEAST_CPU_LIMIT, SLOWER_THAN_BASELINE * slowest)
    return replace(subject, passes=True, cpu_limit=limit)


def _verdicts(
    bench: Bench, subjects: Sequence[_Subject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    """What a test did with a mutant, by the ids of both."""
    for mutant in _by_lot(subjects):
        for module in sorted({one.test.method.module for one in subjects}):
            concerned = [
                one
                for one in subjects
                if one.passes
                and one.test.method.module == module
                and mutant.mutant_id in {kept.mutant_id for kept in one.mutants.kept}
            ]
            if concerned and not bench.spent:
                yield from _run(bench, module, mutant, concerned)


def _by_lot(subjects: Sequence[_Subject]) -> list[DrawnMutant]:
    found = {mutant.mutant_id: mutant for one in subjects for mutant in one.mutants.kept}
    return [found[mutant_id] for mutant_id in sorted(found)]


def _run(
    bench: Bench, module: str, mutant: DrawnMutant, subjects: Sequence[_Subject]
) -> Iterator[tuple[tuple[str, str], Verdict]]:
    entry = bench.repository.tree(bench.rev)[mutant.file]
    source = mutant.mutant.applied(bench.repository.blob(entry.oid))
    compiled = bench.compile(module, (mutant.file, source))
    for one in subjects:
        if not bench.spent:
            verdict = bench.run(compiled, one.test.method, one.cpu_limit)
            yield (one.test.method_id, mutant.mutant_id), verdict


# -- rows ----------------------------------------------------------------------------------------

Verdicts = Mapping[tuple[str, str], Verdict]


def _rows(bench: Bench, subject: _Subject, verdicts: Verdicts) -> Iterator[MutantRow]:
    for mutant in subject.mutants.kept:
        verdict = verdicts.get((subject.test.method_id, mutant.mutant_id))
        yield MutantRow(
            repo=bench.pair.repo,
            walk=bench.pair.walk,
            pair_id=bench.pair.pair_id,
            method_id=subject.test.method_id,
            mutant_id=mutant.mutant_id,
            file=mutant.file,
            line=mutant.mutant.line,
            original=mutant.mutant.original,
            mutated=mutant.mutant.mutated,
            equal_byte_code=mutant.equal_byte_code,
            outcome=verdict.outcome if verdict else None,
            signature=verdict.signature if verdict else None,
            killed=verdict.outcome is not Outcome.PASS if verdict else None,
        )


def _mutation(subject: _Subject, verdicts: Verdicts) -> Mutation:
    mutants = subject.mutants
    known = [verdicts.get((subject.test.method_id, one.mutant_id)) for one in mutants.kept]
    ran = [verdict for verdict in known if verdict is not None]
    killed = sum(verdict.outcome is not Outcome.PASS for verdict in ran)
    return Mutation(
        emitted=mutants.emitted,
        compile_failed=mutants.compile_failed,
        redundant=mutants.redundant,
        capped_out=mutants.capped_out,
        not_checked=mutants.not_checked,
        count=len(mutants.kept),
        equal_byte_code=sum(one.equal_byte_code for one in mutants.kept),
        not_run=0 if subject.passes is False else len(known) - len(ran),
        killed=None if subject.passes is False else killed,
    )
