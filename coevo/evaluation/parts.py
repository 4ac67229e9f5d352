"""Parts of an evaluation: tasks split by repository, so that machines share the work, and their
results merged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import (
    load_results,
    load_suites,
    write_junit,
    write_or_remove_suites,
    write_results,
)
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.model.errors import Fatal


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPart:
    """One part of an evaluation; `number` counts from 1 to `count`."""

    number: int
    count: int


def parse_part(text: str) -> EvaluationPart:
    """Return the part that a text such as `2/4` names.

    Raises: Fatal if the text names no part.
    """
    match = re.fullmatch(r'([1-9]\d{0,5})/([1-9]\d{0,5})', text, re.ASCII)
    if match is None or int(match[1]) > int(match[2]):
        raise Fatal(f'--part {text!r} is not a part; write 2/4 for the second of four parts')
    return EvaluationPart(number=int(match[1]), count=int(match[2]))


def select_tasks(part: EvaluationPart, wanted: Sequence[Assignment]) -> tuple[Assignment, ...]:
    """Return the tasks of a part, in their order.

    Parts are disjoint and together have all wanted tasks.

    A repository is in one part as a whole. The largest ones are placed first, each into the part
    that has the fewest tasks so far.

    Raises: Fatal if there are more parts than repositories.
    """
    sizes = Counter(assignment.task.repo for assignment in wanted)
    if part.count > len(sizes):
        raise Fatal(
            f'the tasks are of {len(sizes)} repositories, which is too few for {part.count} '
            'parts; use fewer parts'
        )
    loads = [0] * part.count
    repos: set[str] = set()
    for repo, size in sorted(sizes.items(), key=lambda item: (-item[1], item[0])):
        at = min(range(part.count), key=loads.__getitem__)
        loads[at] += size
        if at == part.number - 1:
            repos.add(repo)
    return tuple(assignment for assignment in wanted if assignment.task.repo in repos)


Row = TypeVar('Row', MethodResult, SuiteResult)

# The fields that are equal in all rows of one evaluation.
_COMMON = ('snapshot_sha256', 'sandbox', 'cutoff', 'results_version')
# The fields that must be equal in two rows of one method or suite. Costs may differ.
_VERDICT = ('prediction_sha256', 'outcome', 'detail', 'model', 'engine_version')


def merge_result_folders(folders: Sequence[Path], out: Path) -> Report:
    """Merge the results in `folders`, and write the files of one evaluation into `out`.

    A row that several folders have is taken once. If coevo was in trouble in one folder, the row of
    another folder is taken.

    Raises: Fatal if the parts are of different evaluations or disagree about a row.
    """
    methods = [(folder, load_results(folder)) for folder in folders]
    _check_same_evaluation(methods)
    merged = _join_rows(methods, lambda row: f'{row.test_method} of {_describe_attempt(row)}')
    # Suites of different evaluations are rejected when the report is made.
    parts = [(folder, load_suites(folder)) for folder in folders]
    suites = _join_rows(parts, lambda row: f'the suite of {_describe_attempt(row)}')
    out.mkdir(parents=True, exist_ok=True)
    write_results(out, merged)
    write_junit(out, merged)
    write_or_remove_suites(out, suites)
    return write_report(out, merged, suites)


def _join_rows(
    found: Iterable[tuple[Path, Sequence[Row]]], named: Callable[[Row], str]
) -> tuple[Row, ...]:
    """Return the rows of all folders by key, each once; `named` describes a row for messages.

    Raises: Fatal if two folders disagree about a row.
    """
    rows: dict[tuple[Any, ...], tuple[Path, Row]] = {}
    for folder, part in found:
        for row in part:
            known = rows.get(row.key)
            if known is None or _is_in_trouble(known[1]):
                rows[row.key] = folder, row
            elif not _is_in_trouble(row):
                _check_equal_verdicts(known, (folder, row), named(row))
    return tuple(row for _, (_, row) in sorted(rows.items()))


def _describe_attempt(row: MethodResult | SuiteResult) -> str:
    return f'task {row.task_id}' + (f', attempt {row.attempt}' if row.attempt > 1 else '')


def _check_same_evaluation(found: Iterable[tuple[Path, Sequence[MethodResult]]]) -> None:
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


def _check_equal_verdicts(one: tuple[Path, Row], other: tuple[Path, Row], what: str) -> None:
    for name in _VERDICT:
        if getattr(one[1], name) != getattr(other[1], name):
            raise Fatal(
                f'{one[0]} and {other[0]} disagree about {what} '
                f'({name} is {getattr(one[1], name)} and {getattr(other[1], name)}): '
                'leave one of them out, or evaluate that task again'
            )


def _is_in_trouble(row: MethodResult | SuiteResult) -> bool:
    return row.outcome in (TaskOutcome.INFRA, SuiteOutcome.INFRA)
