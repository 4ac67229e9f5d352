"""Figures of suites, a block for each family: two averages of each measure, and how many each is over.

`over_all` has a 0 for every suite that did not run, `over_ran` leaves those out. Published figures are now
the one, now the other (AgoneTest, TAM-Eval): none is told without its name. A measure that could not be
taken is in neither, and counted as unknown; a class without branches has no share of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.reporting.maintenance import MaintenanceReport, make_maintenance_report
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest
from coevo.languages.error_classes import ErrorClass
from coevo.model.families import Family, Scenario, StartBuilder, SuiteAdequacy
from coevo.model.words import Outcome

Suites = Sequence[SuiteResult]
Share = Callable[[SuiteAdequacy], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMeasure:
    """A share of the focus from 0 to 1.

    start, gold  over the tasks of `over_all`; an absent start is 0
    gain         what a suite is worth beyond its start, 0 of one of which not every test passes
                 (TAM-Eval's ΔTestCov and ΔMutCov); of those alone of which both are known
    unknown      suites that ran and of which it is not known
    """

    over_all: MeanEstimate
    over_ran: MeanEstimate
    start: MeanEstimate
    gold: MeanEstimate
    gain: MeanEstimate
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartReport:
    """The figures of the tasks of a family that start in one way."""

    start_builder: StartBuilder
    scenario: Scenario | None
    tasks: int
    success: MeanEstimate
    lines: SuiteMeasure
    mutation: SuiteMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyReport:
    """All figures of a family. But for `infra`, trouble of ours counts nowhere.

    outcomes  how many suites have which
    details   how many have which reason
    success   every test passes; `ran`: a test was run; `builds`: every test compiles
    passing   share of a suite's tests that pass, 0 where none was run
    unique_lines   lines of the focus that one test alone executes, of all of them; 0 where none was run
    cascading      share of the tests that do not pass that fail for a cause which another one shares, of suites that
                   ran and have such tests
    passing_alone  share of tests that pass, of those that share no cause, where there are such
    starts    the same by how tasks start, where that is known
    maintenance  what became of each test, where tasks say what is asked of it
    texts  smells, and why tests do not compile or pass
    """

    family: Family
    tasks: int
    repositories: int
    infra: int
    outcomes: Mapping[str, int]
    details: Mapping[str, int]
    success: MeanEstimate
    ran: MeanEstimate
    builds: MeanEstimate
    passing: MeanEstimate
    lines: SuiteMeasure
    branches: SuiteMeasure
    methods: SuiteMeasure
    mutation: SuiteMeasure
    unique_lines: MeanEstimate
    cascading: MeanEstimate
    passing_alone: MeanEstimate
    texts: SmellsAndErrors
    starts: tuple[StartReport, ...] = ()
    maintenance: MaintenanceReport | None = None


def make_family_reports(rows: Suites) -> list[FamilyReport]:
    """One for each family that has rows."""
    return [
        _make_family_report([row for row in rows if row.family is family], family)
        for family in Family
        if any(row.family is family for row in rows)
    ]


def _make_family_report(rows: Suites, family: Family) -> FamilyReport:
    graded = [row for row in rows if row.outcome is not SuiteOutcome.INFRA]
    return FamilyReport(
        family=family,
        tasks=len(graded),
        repositories=len({row.repo for row in graded}),
        infra=len(rows) - len(graded),
        outcomes=_count_names(row.outcome for row in graded),
        details=_count_names(row.detail for row in rows if row.detail is not None),
        success=_estimate_rate(graded, _succeeds),
        ran=_estimate_rate(graded, lambda row: row.outcome.ran),
        builds=_estimate_rate(graded, lambda row: bool(row.builds)),
        passing=estimate_mean(
            Sample(repo=row.repo, value=_compute_passing_share(row)) for row in graded
        ),
        lines=_summarise_share(graded, _get_line_share),
        branches=_summarise_share(graded, lambda one: _divide(one.covered_branches, one.branches)),
        methods=_summarise_share(graded, lambda one: _divide(one.covered_methods, one.methods)),
        mutation=_summarise_share(graded, _get_kill_share),
        unique_lines=_estimate_mean(_compute_known_values(graded, _compute_unique_share)),
        cascading=_estimate_mean(_compute_known_values(graded, _compute_cascading_share)),
        passing_alone=_estimate_mean(_compute_known_values(graded, _compute_passing_alone_share)),
        texts=summarise_smells_and_errors(graded),
        starts=tuple(_make_start_reports(graded)),
        maintenance=make_maintenance_report(graded),
    )


def _make_start_reports(graded: Suites) -> Iterator[StartReport]:
    for builder in StartBuilder:
        rows = [row for row in graded if row.start_builder is builder]
        if rows:
            yield StartReport(
                start_builder=builder,
                scenario=rows[0].scenario,
                tasks=len(rows),
                success=_estimate_rate(rows, _succeeds),
                lines=_summarise_share(rows, _get_line_share),
                mutation=_summarise_share(rows, _get_kill_share),
            )


def _succeeds(row: SuiteResult) -> bool:
    return row.outcome is SuiteOutcome.SUCCESS


def _get_line_share(one: SuiteAdequacy) -> float | None:
    return _divide(one.covered_lines, one.lines)


def _get_kill_share(one: SuiteAdequacy) -> float | None:
    return _divide(one.killed, one.mutants)


def _count_names(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(str(name) for name in names).items()))


def _estimate_rate(rows: Suites, holds: Callable[[SuiteResult], bool]) -> MeanEstimate:
    return estimate_mean(Sample(repo=row.repo, value=float(holds(row))) for row in rows)


def _compute_passing_share(row: SuiteResult) -> float:
    return sum(test.passes for test in row.tests) / len(row.tests) if row.tests else 0.0


def _divide(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None


def _summarise_share(rows: Suites, share: Share) -> SuiteMeasure:
    """Of tasks whose gold has a share: others have nothing to measure."""
    measurable = [row for row in rows if row.gold_adequacy and share(row.gold_adequacy) is not None]
    known = [
        (row, value)
        for row in measurable
        if (value := _compute_suite_value(row, share)) is not None
    ]
    return SuiteMeasure(
        over_all=_estimate_mean(known),
        over_ran=_estimate_mean([(row, value) for row, value in known if row.outcome.ran]),
        start=_estimate_mean(
            [(row, _apply_share(row.start_adequacy, share) or 0.0) for row, _ in known]
        ),
        gold=_estimate_mean(
            [(row, _apply_share(row.gold_adequacy, share) or 0.0) for row, _ in known]
        ),
        gain=_estimate_mean(
            [(row, gain) for row in measurable if (gain := _compute_gain(row, share)) is not None]
        ),
        unknown=len(measurable) - len(known),
    )


def _compute_suite_value(row: SuiteResult, share: Share) -> float | None:
    """0 of a suite of which no test passes; None where it is not known."""
    if not row.outcome.ran or not any(test.passes for test in row.tests):
        return 0.0
    return _apply_share(row.adequacy, share)


def _compute_gain(row: SuiteResult, share: Share) -> float | None:
    """None where what a suite is worth, or its start, is not known."""
    start = 0.0 if row.start_adequacy is None else share(row.start_adequacy)
    if start is None or not _succeeds(row):
        return None if start is None else 0.0
    value = _apply_share(row.adequacy, share)
    return None if value is None else value - start


def _compute_known_values(
    rows: Suites, value: Callable[[SuiteResult], float | None]
) -> list[tuple[SuiteResult, float]]:
    return [(row, known_value) for row in rows if (known_value := value(row)) is not None]


def _compute_unique_share(row: SuiteResult) -> float | None:
    lines = row.gold_adequacy.lines if row.gold_adequacy else None
    if not any(test.passes for test in row.tests):
        return 0.0 if lines else None
    return _divide(row.reach.unique_lines if row.reach else None, lines)


def _compute_cascading_share(row: SuiteResult) -> float | None:
    broken = [test for test in row.tests if test.outcome is not Outcome.SKIPPED and not test.passes]
    if not row.outcome.ran or not broken:
        return None
    return sum(test.cascade is not None for test in broken) / len(broken)


def _compute_passing_alone_share(row: SuiteResult) -> float | None:
    left = [test for test in row.tests if test.cascade is None]
    return sum(test.passes for test in left) / len(left) if row.outcome.ran and left else None


def _apply_share(adequacy: SuiteAdequacy | None, share: Share) -> float | None:
    return None if adequacy is None else share(adequacy)


def _estimate_mean(values: Sequence[tuple[SuiteResult, float]]) -> MeanEstimate:
    return estimate_mean(Sample(repo=row.repo, value=value) for row, value in values)


# What the tests of suites smell of, why they do not compile, and what they fail with.
#
# Smells are counted as AgoneTest does: how many tests of a suite have each, as a mean over
# suites. As with all measures of suites there are two means. An error is counted once for each
# suite, however many tests it breaks.

# The code of a file that nobody can read, so that it has no tests that could be told apart.
UNREADABLE = 'unreadable'


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellMeans:
    """Tests of a suite that have a smell."""

    over_all: MeanEstimate
    over_ran: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """Errors of a class: `errors` by suite and signature, `codes` by what the compiler calls them."""

    suites: int
    errors: int
    codes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellsAndErrors:
    """Smells and errors that occur.

    smells_unknown  suites that ran and of which a test was not looked at
    failures        how many tests that ran failed with which exception
    """

    smells: Mapping[str, SmellMeans]
    smells_unknown: int
    errors: Mapping[ErrorClass, ErrorCounts]
    failures: Mapping[str, int]


def summarise_smells_and_errors(rows: Sequence[SuiteResult]) -> SmellsAndErrors:
    ran = [row for row in rows if row.outcome.ran]
    known = [row for row in ran if all(test.smells is not None for test in row.tests)]
    others = [row for row in rows if not row.outcome.ran]
    names = sorted({smell for row in known for test in row.tests for smell in test.smells or ()})
    return SmellsAndErrors(
        smells={
            name: SmellMeans(
                over_all=estimate_mean(
                    (*_count_smelly_tests(known, name), *_count_smelly_tests(others, None))
                ),
                over_ran=estimate_mean(_count_smelly_tests(known, name)),
            )
            for name in names
        },
        smells_unknown=len(ran) - len(known),
        errors=dict(_count_errors(rows)),
        failures=_count_sorted(
            _parse_exception(test) for row in rows for test in row.tests if _fails(test)
        ),
    )


def _count_smelly_tests(rows: Iterable[SuiteResult], smell: str | None) -> Iterator[Sample]:
    """Tests with a smell in each suite; none at all where no smell is named."""
    for row in rows:
        count = sum(smell in (test.smells or ()) for test in row.tests) if smell else 0
        yield Sample(repo=row.repo, value=float(count))


def _count_errors(rows: Sequence[SuiteResult]) -> Iterator[tuple[ErrorClass, ErrorCounts]]:
    errors = {(row.key, *error) for row in rows for error in _list_suite_errors(row)}
    for name in ErrorClass:
        of = [(key, signature) for key, known, signature in errors if known is name]
        if of:
            yield (
                name,
                ErrorCounts(
                    suites=len({key for key, _ in of}),
                    errors=len(of),
                    codes=_count_sorted(_parse_error_code(signature) for _, signature in of),
                ),
            )


def _list_suite_errors(row: SuiteResult) -> Iterator[tuple[ErrorClass, str]]:
    if row.outcome is SuiteOutcome.CMPL_FAIL and not row.tests:
        yield ErrorClass.SYNTAX, UNREADABLE
    for test in row.tests:
        if test.error_class is not None:
            yield test.error_class, test.signature or ''


def _parse_error_code(signature: str) -> str:
    """What stands before the symbol, or the place."""
    return signature.partition(' ')[0].partition('@')[0].partition(':')[0]


def _fails(test: SuiteTest) -> bool:
    return test.outcome in (Outcome.FAIL, Outcome.ERROR)


def _parse_exception(test: SuiteTest) -> str:
    return (test.signature or '?').partition('@')[0]


def _count_sorted(names: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(names).items()))
