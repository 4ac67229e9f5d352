"""`report.json`: every figure of an evaluation, from the rows of its results alone.

    write_report(folder, rows) -> Report    writes folder/report.json; same rows, same bytes
    make_report(rows) -> Report             the same without a file
    load_report(folder)                     the content of a file, as JSON
    tables.print_report(report, console)    the tables for a terminal

Nothing in it depends on a clock, on measured times, or on the order of the rows.
`report.schema.json` describes the file. `methods.sql`, `suites.sql` and `attempts.sql` define how
the figures are counted.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.figures import (
    Figures,
    Rows,
    Suites,
    collect_figures,
    fill_record,
    open_results,
)
from coevo.evaluation.reporting.records import BootstrapSettings, Exposure, Report, SystemSummary
from coevo.evaluation.results import RESULTS_VERSION
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.errors import Fatal
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.storage import durable
from coevo.storage.bounded_reading import load_file, parse_json

if TYPE_CHECKING:
    import duckdb

_Value = TypeVar('_Value', int, str, str | None)

NAME = 'report.json'
# Increased when a field is removed or changes its meaning, or when the page needs a new field.
REPORT_VERSION = 4

# Limits for reports from outside. A report of 100 attempts at 10,000 tasks takes some MB.
_MOST_BYTES, _MOST_VALUES = 256 << 20, 5_000_000


def write_report(folder: Path, rows: Rows, suites: Suites = ()) -> Report:
    """Write `report.json` and return its content; the same rows give the same bytes."""
    report = make_report(rows, suites)
    durable.write_durably(folder / NAME, [encode_report(report)])
    return report


# Where the folder of a run or a submission has its results.
_RESULTS = 'results'


def load_report(folder: Path) -> Mapping[str, Any]:
    """Return the content of `report.json`.

    Raises: Fatal if there is no such file, or one of another version.
    """
    path = folder / NAME
    try:
        content = parse_json(load_file(path, most=_MOST_BYTES), most_values=_MOST_VALUES)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except OSError:
        raise Fatal(
            f'{folder} has no {NAME}; name a folder that `coevo evaluate --out` wrote'
        ) from None
    except (ValueError, RecursionError):  # not JSON, or JSON that a browser does not accept
        content = None
    if not _is_report(content):
        if (folder / _RESULTS / NAME).is_file():
            raise Fatal(
                f'{path} has the totals of a run; name the folder of its results: '
                f'{folder / _RESULTS}'
            )
        raise Fatal(
            f'{path} is not a report of version {REPORT_VERSION}; write it again with `coevo '
            f'report regrade {folder}`'
        )
    return content


def _is_report(found: object) -> TypeGuard[Mapping[str, Any]]:
    return (
        isinstance(found, dict)
        and found.get('report_version') == REPORT_VERSION
        and isinstance(found.get('snapshot_sha256'), str)
    )


def encode_report(report: Report) -> bytes:
    """Return the bytes of the file, with the fields in the order of their records."""
    text = json.dumps(dataclasses.asdict(report), indent=1, ensure_ascii=False, allow_nan=False)
    return f'{text}\n'.encode()


def make_report(rows: Rows, suites: Suites = ()) -> Report:
    """Make the report on rows of methods and `suites` of suite tasks.

    Raises: Fatal if there are no rows, or if they are of more than one evaluation.
    """
    attempted = sorted(rows, key=lambda row: row.key)
    suites_attempted = sorted(suites, key=lambda row: row.key)
    ordered = [row for row in attempted if row.attempt == 1]
    of_suites = [row for row in suites_attempted if row.attempt == 1]
    everything: Sequence[MethodResult | SuiteResult] = (*ordered, *of_suites)
    if not everything:
        raise Fatal('the results have no rows; evaluate a snapshot with at least one task')
    all_rows: Sequence[MethodResult | SuiteResult] = (*attempted, *suites_attempted)
    versions = {row.results_version for row in ordered} or {RESULTS_VERSION}
    names = (f'{row.task_id} {row.method_id} {row.test_method}' for row in ordered)
    return fill_record(
        Report,
        report_version=REPORT_VERSION,
        results_version=_get_only_value(versions, 'results versions'),
        engine_versions=sorted({row.engine_version for row in everything}),
        sandboxes=sorted({row.sandbox for row in everything}),
        snapshot_sha256=_get_only_value({row.snapshot_sha256 for row in everything}, 'snapshots'),
        tasks_sha256=_hash_lines((*names, *(row.task_id for row in of_suites))),
        predictions_sha256=_hash_lines(map(_format_prediction_line, all_rows)),
        outcomes_sha256=_hash_lines(
            (*map(_format_outcome_line, attempted), *map(_format_suite_line, suites_attempted))
        ),
        exposure=_summarise_exposure(
            everything, _get_only_value({row.cutoff for row in everything}, 'cutoffs')
        ),
        systems=_list_systems(everything),
        tasks=len({row.task_id for row in everything}),
        methods=len(ordered),
        repositories=len({row.repo for row in everything}),
        intervals=BootstrapSettings(),
        figures=_collect_figures(attempted, suites_attempted),
    )


def _collect_figures(rows: Rows, suites: Suites) -> Figures:
    several = max((row.attempt for part in (rows, suites) for row in part), default=1) > 1
    scripts = (
        ['methods', 'suites', 'attempts']
        if several
        else ['methods'] * bool(rows) + ['suites'] * bool(suites)
    )
    with open_results(scripts, [rows], suites) as connection:
        if several:
            _insert_pass_shares(connection)
        return collect_figures(connection, scripts)


def _insert_pass_shares(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the table `pass_at` for the numbers of attempts that occur.

    SQL would round such quotients differently.
    """
    pairs = connection.execute('SELECT DISTINCT judged, solving FROM attempted_tasks').fetchall()
    draws = [(n, c, k, compute_pass_at_k(n, c, k)) for n, c in pairs for k in range(1, n + 1)]
    columns = list(zip(*draws, strict=True)) or [()] * 4
    connection.execute(
        'INSERT INTO pass_at SELECT unnest(?), unnest(?), unnest(?), unnest(?)', columns
    )


def compute_pass_at_k(attempts: int, solving: int, drawn: int) -> float:
    """Return the share of draws of k of n attempts with a solving one, if c of n solve the task.

    That is 1 - C(n - c, k) / C(n, k) (Chen et al., https://arxiv.org/abs/2107.03374).
    """
    return 1.0 - math.comb(attempts - solving, drawn) / math.comb(attempts, drawn)


def _list_systems(rows: Sequence[MethodResult | SuiteResult]) -> Sequence[SystemSummary]:
    """Return the harnesses and models of the predictions; a task without a prediction has none."""
    system_by_task = {row.task_id: (row.harness, row.model) for row in rows}
    trained = {row.model: (row.model_cutoff, row.model_cutoff_source) for row in rows}
    counted = Counter(system_by_task.values())
    named = [pair for pair in counted if pair != (None, None)] or list(counted)
    return [
        SystemSummary(
            harness=harness,
            model=model,
            tasks=counted[harness, model],
            cutoff=trained[model][0],
            cutoff_source=trained[model][1],
        )
        for harness, model in sorted(named, key=lambda pair: (pair[0] or '', pair[1] or ''))
    ]


def _format_prediction_line(row: MethodResult | SuiteResult) -> str:
    return f'{row.task_id} {row.prediction_sha256}{_format_attempt_unless_first(row)}'


def _format_outcome_line(row: MethodResult) -> str:
    strict = 'strict' if row.success_strict else ''
    return f'{row.task_id} {row.method_id} {row.test_method} {row.outcome} {strict}{_format_attempt_unless_first(row)}'


def _format_attempt_unless_first(row: MethodResult | SuiteResult) -> str:
    """Return the number of an attempt, empty for the first.

    So the hash of first attempts is the same with and without further attempts.
    """
    return '' if row.attempt == 1 else f' {row.attempt}'


def _format_suite_line(row: SuiteResult) -> str:
    passing = (test.test_method for test in row.tests if test.passes)
    maintained = (str(maintained_test.outcome) for maintained_test in row.maintained or ())
    demanded = (test.test_method for test in row.demanded or () if test.holds)
    words = ' '.join((*passing, *maintained, *demanded))
    return f'{row.task_id} {row.attempt} {row.outcome} {words}'


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256(''.join(f'{line}\n' for line in sorted(set(lines))).encode()).hexdigest()


def _get_only_value(found: set[_Value], what: str) -> _Value:
    if len(found) != 1:
        raise Fatal(f'the results mix {len(found)} {what}; evaluate each by itself')
    return found.pop()


def _is_after_model_cutoff(row: MethodResult | SuiteResult) -> bool:
    """Return whether a task became public strictly after the end of the cutoff's day or month.

    The cutoff is the training cutoff of the row's model. A task without a date is never clean, and
    neither is any task of a model without a cutoff.
    """
    if row.contamination_date is None or row.model_cutoff is None:
        return False
    return row.contamination_date >= compute_first_clean_moment(row.model_cutoff)


def _summarise_exposure(rows: Iterable[MethodResult | SuiteResult], cutoff: str | None) -> Exposure:
    tasks = {row.task_id: row for row in rows}.values()
    dates = sorted(row.contamination_date for row in tasks if row.contamination_date is not None)
    return Exposure(
        first=dates[0].isoformat() if dates else None,
        last=dates[-1].isoformat() if dates else None,
        unknown=len(tasks) - len(dates),
        clean=sum(map(_is_after_model_cutoff, tasks)),
        cutoff=cutoff,
    )
