"""`coevo merge`: results of several machines as those of one evaluation, by the keys of their rows."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence
from pathlib import Path

from coevo.evaluation.junit_xml import write_junit
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import TaskOutcome
from coevo.evaluation.reporting.report import Report
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import read_results
from coevo.evaluation.results import write_results
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import read_suites
from coevo.evaluation.suites.results import write_suites
from coevo.model.errors import Fatal

# What all rows of one evaluation have in common.
_COMMON = ('snapshot_sha256', 'sandbox', 'cutoff', 'results_version')
# What makes two judgements of one method the same, whatever they cost.
_VERDICT = ('prediction_sha256', 'outcome', 'detail', 'model', 'engine_version')


def merge(folders: Sequence[Path], out: Path) -> Report:
    """Write the files of one evaluation into `out`; Fatal where the parts are of different ones.

    A method that several have is taken once: where one of them had trouble of ours, as another judged it.
    """
    found = [(folder, read_results(folder)) for folder in folders]
    _check_common(found)
    rows: dict[tuple[str, ...], tuple[Path, MethodResult]] = {}
    for folder, part in found:
        for row in part:
            known = rows.get(row.key)
            if known is None or _is_in_trouble(known[1]):
                rows[row.key] = folder, row
            elif not _is_in_trouble(row):
                _check_same(known, (folder, row))
    merged = tuple(row for _, (_, row) in sorted(rows.items()))
    out.mkdir(parents=True, exist_ok=True)
    write_results(out, merged)
    write_junit(out, merged)
    suites = _merged_suites(folders)
    write_suites(out, suites)
    return write_report(out, merged, suites)


def _merged_suites(folders: Sequence[Path]) -> tuple[SuiteResult, ...]:
    """The same of suites; of different evaluations the report knows."""
    found: dict[tuple[str, int], SuiteResult] = {}
    for folder in folders:
        for row in read_suites(folder):
            known = found.get(row.key)
            if known is None or known.outcome is SuiteOutcome.INFRA:
                found[row.key] = row
            elif row.outcome is not SuiteOutcome.INFRA and _said(row) != _said(known):
                raise Fatal(
                    f'{folder} and a folder before it disagree about the suite of task {row.task_id}: '
                    'leave one of them out, or evaluate that task again'
                )
    return tuple(row for _, row in sorted(found.items()))


def _said(row: SuiteResult) -> tuple[object, ...]:
    return tuple(getattr(row, name) for name in _VERDICT)


def _check_common(found: Iterable[tuple[Path, Sequence[MethodResult]]]) -> None:
    first: tuple[Path, MethodResult] | None = None
    for folder, part in found:
        for row in part:
            first = first or (folder, row)
            for name in _COMMON:
                if getattr(row, name) != getattr(first[1], name):
                    raise Fatal(
                        f'{first[0]} and {folder} are of different evaluations ({name} is '
                        f'{getattr(first[1], name)} and {getattr(row, name)}): merge parts of one'
                    )


def _check_same(one: tuple[Path, MethodResult], other: tuple[Path, MethodResult]) -> None:
    for name in _VERDICT:
        if getattr(one[1], name) != getattr(other[1], name):
            raise Fatal(
                f'{one[0]} and {other[0]} disagree about {one[1].test_method} of task '
                f'{one[1].task_id} ({name} is {getattr(one[1], name)} and {getattr(other[1], name)}): '
                'leave one of them out, or evaluate that task again'
            )


def _is_in_trouble(row: MethodResult) -> bool:
    return row.outcome is TaskOutcome.INFRA
