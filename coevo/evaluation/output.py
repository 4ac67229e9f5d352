"""The files that an evaluation writes, and the summary that it prints at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from coevo.display.terminal import escape_controls
from coevo.evaluation import junit_xml
from coevo.evaluation.evaluation import Evaluation
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import report
from coevo.evaluation.reporting.cells import pluralise
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.results import write_results
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.evaluation.suites.results import write_suites


def write_evaluation(out: Path, evaluation: Evaluation) -> Report:
    """Write the results, then `junit.xml` and `report.json`, and return the report.

    The results are `results.parquet` and, if there are suites, `suites.parquet`.
    """
    write_results(out, evaluation.rows)
    write_suites(out, evaluation.suites)
    junit_xml.write_junit(out, evaluation.rows)
    return report.write_report(out, evaluation.rows, evaluation.suites)


def summarise_evaluation(evaluation: Evaluation, out: Path) -> Iterator[str]:
    """Yield sentences for the user: outcomes, costs, and what to do about trouble."""
    rows, suites = evaluation.rows, evaluation.suites
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    if rows:
        outcomes = Counter(row.outcome for row in rows)
        tasks = len({row.task_id for row in rows})
        times = f', {max(row.attempt for row in rows)} attempts at most'
        times = times if any(row.attempt > 1 for row in rows) else ''
        counts = ', '.join(f'{name} {outcomes[name]}' for name in TaskOutcome if outcomes[name])
        yield f'{pluralise(tasks, "task")}, {pluralise(len(rows), "method")}{times}: {counts}'
    if suites:
        yield f'{pluralise(len(suites), "suite")}: {_describe_suites(suites)}'
    verdicts = sum(row.cpu_seconds for row in both)
    adequacy = sum(row.adequacy.cpu_seconds for row in rows if row.adequacy)
    pit_kills = [row.adequacy.pit for row in rows if row.adequacy and row.adequacy.pit]
    by_pit = f', {sum(kills.cpu_seconds for kills in pit_kills):.0f} for PIT' if pit_kills else ''
    what = 'attempt' if any(row.attempt > 1 for row in both) else 'task'
    yield (
        f'{pluralise(evaluation.judged, what)} graded now, {evaluation.recalled} graded '
        f'before; together they took {verdicts:.0f} CPU seconds for verdicts, {adequacy:.0f} '
        f'for adequacy{by_pit}'
    )
    unanswered = {row.task_id for row in both if row.detail is Detail.NO_PREDICTION}
    if unanswered:
        yield (
            f'{pluralise(len(unanswered), "task")} without a prediction: their methods count as '
            'hrns_fail'
        )
    tampered = Counter(row.tampered for row in rows if row.detail is Detail.TAMPERED)
    tampered += Counter(test.tampered for row in suites for test in row.tests if test.tampered)
    if tampered:
        kinds = ', '.join(f'{kind} {count}' for kind, count in sorted(tampered.items()))
        yield f'tampered: {kinds}'
    yield from describe_trouble(evaluation)
    if evaluation.bugs:
        records = ', '.join(sorted(evaluation.bugs.values()))
        yield (
            f'{pluralise(len(evaluation.bugs), what)} ended with a bug in coevo; please report '
            f'{records}'
        )
    files = (
        'results.parquet',
        *(('suites.parquet',) if suites else ()),
        'report.json',
        'junit.xml',
    )
    yield f'{out}: {", ".join(files)}'


def describe_trouble(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence for each attempt that coevo's own trouble kept from being graded.

    A last sentence says what to do. Nothing is yielded if there is no such attempt.
    """
    both: Sequence[MethodResult | SuiteResult] = (*evaluation.rows, *evaluation.suites)
    troubled = (row for row in both if row.outcome in (TaskOutcome.INFRA, SuiteOutcome.INFRA))
    trouble = {(row.task_id, row.attempt, row.detail, row.said) for row in troubled}
    for task_id, attempt, detail, message in sorted(trouble):
        which = f'{task_id}, attempt {attempt},' if attempt > 1 else task_id
        yield f'{which} could not be graded ({detail}): {escape_controls(message)}'
    if trouble:
        yield 'What could not be graded counts nowhere; run the same command to try again.'


def _describe_suites(suites: Sequence[SuiteResult]) -> str:
    outcomes = Counter(row.outcome for row in suites)
    return ', '.join(f'{name} {outcomes[name]}' for name in SuiteOutcome if outcomes[name])
