"""JUnit XML, made of result rows: a suite for each attempt at a task, a case for each target.

coevo writes it itself. Nothing in it was written by the process that ran the tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.storage import durable

NAME = 'junit.xml'

# A test that ran without success is a failure, one that could not run is an error.
_ELEMENT = {
    TaskOutcome.REDUNDANT: 'failure',
    TaskOutcome.WEAKENED: 'failure',
    TaskOutcome.EXEC_FAIL: 'failure',
    TaskOutcome.CMPL_FAIL: 'error',
    TaskOutcome.HRNS_FAIL: 'error',
    TaskOutcome.INFRA: 'skipped',
}


def write_junit(folder: Path, rows: Sequence[MethodResult]) -> Path:
    """Write `junit.xml` for all rows, which are sorted by task and attempt, and return its path."""
    root = ElementTree.Element('testsuites', _count_outcomes(rows))
    for (task_id, attempt), group in groupby(rows, key=lambda row: (row.task_id, row.attempt)):
        cases = list(group)
        name = task_id if attempt == 1 else f'{task_id}, attempt {attempt}'
        suite = ElementTree.SubElement(root, 'testsuite', {'name': name, **_count_outcomes(cases)})
        suite.extend(_make_cases(cases))
    ElementTree.indent(root)
    path = folder / NAME
    durable.write_durably(
        path, [ElementTree.tostring(root, encoding='utf-8', xml_declaration=True)]
    )
    return path


def _count_outcomes(rows: Sequence[MethodResult]) -> dict[str, str]:
    kinds = [_ELEMENT.get(row.outcome) for row in rows]
    return {
        'tests': str(len(rows)),
        'failures': str(kinds.count('failure')),
        'errors': str(kinds.count('error')),
        'skipped': str(kinds.count('skipped')),
        'time': f'{sum(row.seconds for row in rows):.3f}',
    }


def _make_cases(rows: Sequence[MethodResult]) -> Iterator[ElementTree.Element]:
    for row in rows:
        owner, _, name = row.test_method.partition('#')
        case = ElementTree.Element(
            'testcase', {'classname': owner, 'name': name, 'time': f'{row.seconds:.3f}'}
        )
        kind = _ELEMENT.get(row.outcome)
        if kind is not None:
            words = ': '.join(filter(None, (row.outcome, row.detail)))
            element = ElementTree.SubElement(case, kind, {'type': row.outcome, 'message': words})
            element.text = row.said
        if row.output:
            ElementTree.SubElement(case, 'system-out').text = row.output
        yield case
