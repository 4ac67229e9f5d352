"""What the tests of suites smell of, why they do not compile, and what they fail with.

Smells are counted as AgoneTest does: how many tests of a suite have each, as a mean over suites. As with all
measures of suites there are two means. An error is counted once for each suite, however many tests it breaks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coevo.evaluation.reporting.bootstrap import MeanEstimate, Sample, estimate_mean
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest
from coevo.languages.error_classes import ErrorClass
from coevo.model.words import Outcome

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
