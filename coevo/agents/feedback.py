"""What an agent is told of its attempt before: made of the rows of a verdict, never of what a process wrote.

A row holds the outcome, why, and the failure's signature with its message: of an assertion that is the value
that it found, so that later attempts know more than a first one (`docs/scoring.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult, SuiteTest

# Tests that are told of, and characters of each and of all.
MOST_TESTS, MOST_OF_ONE, MOST = 10, 300, 2400


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptFeedback:
    """What became of an attempt; `told` is empty where it solved its task.

    trouble  of ours, for which nothing is known of it; None where there was none
    """

    message: str
    trouble: str | None = None


def make_feedback(rows: Sequence[MethodResult], suites: Sequence[SuiteResult]) -> AttemptFeedback:
    """Of the rows of one attempt: of its targets, or of its suite."""
    for row in rows:
        if row.outcome is TaskOutcome.INFRA:
            return AttemptFeedback(message='', trouble=row.said or str(row.detail))
    for suite in suites:
        if suite.outcome is SuiteOutcome.INFRA:
            return AttemptFeedback(message='', trouble=suite.said or str(suite.detail))
    lines = [
        *_describe_methods(rows),
        *(line for suite in suites for line in _describe_suite(suite)),
    ]
    return AttemptFeedback(message=_shorten('\n'.join(lines), MOST))


def _describe_methods(rows: Sequence[MethodResult]) -> Iterator[str]:
    broken = [row for row in rows if row.outcome is not TaskOutcome.SUCCESS]
    for row in broken[:MOST_TESTS]:
        why = row.detail.clause if row.detail else row.outcome.clause
        yield _format_line(row.test_method, why, row.said)
    yield from _summarise_rest(len(broken), len(rows) - len(broken))


def _describe_suite(suite: SuiteResult) -> Iterator[str]:
    if suite.outcome is SuiteOutcome.SUCCESS:
        return
    broken = [test for test in suite.tests if not test.passes]
    if not broken:
        why = suite.detail.clause if suite.detail else suite.outcome.clause
        yield _format_line('the file', why, suite.said)
        return
    for test in broken[:MOST_TESTS]:
        yield _format_line(test.test_method, str(_describe_failure(test)), test.signature or '')
    yield from _summarise_rest(len(broken), len(suite.tests) - len(broken))


def _describe_failure(test: SuiteTest) -> str:
    if test.tampered is not None:
        return 'interfered with how it is run'
    return test.unstable or str(test.outcome)


def _summarise_rest(broken: int, passing: int) -> Iterator[str]:
    if broken > MOST_TESTS:
        yield f'- and {broken - MOST_TESTS} more that do not pass'
    if broken and passing:
        yield f'- {passing} others pass'


def _format_line(name: str, why: str, said: str) -> str:
    text = ' '.join(f'{name}: {why}; {said}'.rstrip('; ').split())
    return f'- {_shorten(text, MOST_OF_ONE)}'


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f'{text[: most - 1]}…'
