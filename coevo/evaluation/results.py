"""The files of an evaluation: `results.parquet`, from which every figure follows, and
`suites.parquet`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.codec import decode_table
from coevo.model.errors import Fatal
from coevo.model.schema import build_arrow_schema, build_table
from coevo.storage import durable

# `results.parquet`, the rows of an evaluation from which every figure follows, and the same rows as
# JUnit XML.

Row = TypeVar('Row')

# Increased when a column is removed or changes its meaning.
RESULTS_VERSION = 4

# JUnit XML, made of result rows: a suite for each attempt at a task, a case for each target.
#
# coevo writes it itself. Nothing in it was written by the process that ran the tests.

NAME = 'results.parquet'

_VERSION = b'coevo.results_version'


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat(Generic[Row]):
    """A Parquet file of results: its record type, its name, and the metadata key of its version."""

    record: type[Row]
    name: str
    key: bytes
    version: int


_FORM = TableFormat(record=MethodResult, name=NAME, key=_VERSION, version=RESULTS_VERSION)


def write_results(folder: Path, rows: Sequence[MethodResult]) -> Path:
    """Write `results.parquet` and return its path; the same rows give the same bytes.

    The rows are sorted by their key.
    """
    return write_rows(folder, _FORM, sorted(rows, key=lambda row: row.key))


def write_rows(folder: Path, form: TableFormat[Row], rows: Sequence[Row]) -> Path:
    """Write rows into a table of results, in the order given, and return its path."""
    content = build_table(form.record, rows).replace_schema_metadata(
        {form.key: str(form.version).encode()}
    )
    sink = io.BytesIO()
    pq.write_table(content, sink, compression='zstd')
    path = folder / form.name  # own name: one of the tables of results
    durable.write_durably(path, [sink.getvalue()])
    return path


def find_results_folder(folder: Path) -> Path:
    """Return the folder `results` in a folder if only that one has results, else the folder itself.

    The output of a `coevo run` has its results in such a folder.
    """
    inner = folder / 'results'
    return inner if not (folder / NAME).is_file() and (inner / NAME).is_file() else folder


def load_results(folder: Path) -> tuple[MethodResult, ...]:
    """Return the rows of a folder of results.

    Raises: Fatal if there is no file, or if it is damaged or of another version.
    """
    return load_rows(folder, _FORM)


def load_rows(folder: Path, form: TableFormat[Row]) -> tuple[Row, ...]:
    """Return the rows of a table of results.

    Raises: Fatal if there is no file, or if it is damaged or of another version.
    """
    path = folder / form.name  # own name: one of the tables of results
    if not path.is_file():
        raise Fatal(f'{folder} has no {form.name}; name a folder that `coevo evaluate --out` wrote')
    try:
        content = pq.read_table(path, partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise _make_damage_error(path, error) from None
    version = (content.schema.metadata or {}).get(form.key, b'?').decode('utf-8', 'replace')
    if version != str(form.version):
        raise Fatal(
            f'{path} has results of version {version}, but this coevo reads version '
            f'{form.version}; evaluate again'
        )
    return _parse_rows(path, form, content)


def _parse_rows(path: Path, form: TableFormat[Row], content: pa.Table) -> tuple[Row, ...]:
    """Return the rows of a table.

    Raises: Fatal if a column or a value is not as coevo writes it.
    """
    wanted = {field.name: field for field in build_arrow_schema(form.record)}
    for field in content.schema:
        if field.name in wanted and not _has_column_type(field, wanted[field.name]):
            raise Fatal(
                f'{path} is damaged: the column {field.name} has another type; evaluate again'
            )
    try:
        return decode_table(form.record, content)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise _make_damage_error(path, error) from None


def _has_column_type(found: pa.Field, wanted: pa.Field) -> bool:
    """Return whether a column has the wanted type and nulls; a struct may lack fields."""
    if found.nullable and not wanted.nullable:
        return False
    ours, theirs = wanted.type, found.type
    if pa.types.is_list(ours):
        return pa.types.is_list(theirs) and _has_column_type(theirs.value_field, ours.value_field)
    if not pa.types.is_struct(ours):
        return bool(theirs.equals(ours))
    known = {child.name: child for child in ours}
    return pa.types.is_struct(theirs) and all(
        child.name in known and _has_column_type(child, known[child.name]) for child in theirs
    )


def _make_damage_error(path: Path, error: Exception) -> Fatal:
    (first_line, *_) = str(error).splitlines() or ['']
    return Fatal(f'{path} cannot be read ({first_line}); evaluate again')


JUNIT_NAME = 'junit.xml'

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
    root = ElementTree.Element('testsuites', _count_outcomes_for_junit(rows))
    for (task_id, attempt), group in groupby(rows, key=lambda row: (row.task_id, row.attempt)):
        cases = list(group)
        name = task_id if attempt == 1 else f'{task_id}, attempt {attempt}'
        suite = ElementTree.SubElement(
            root, 'testsuite', {'name': name, **_count_outcomes_for_junit(cases)}
        )
        suite.extend(_make_cases(cases))
    ElementTree.indent(root)
    path = folder / JUNIT_NAME
    durable.write_durably(
        path, [ElementTree.tostring(root, encoding='utf-8', xml_declaration=True)]
    )
    return path


def _count_outcomes_for_junit(rows: Sequence[MethodResult]) -> dict[str, str]:
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


# `suites.parquet`: the suites of an evaluation, a row for each task and attempt.

# Increased when a column is removed or changes its meaning.
SUITES_VERSION = 3

SUITES_NAME = 'suites.parquet'

_SUITES_FORM = TableFormat(
    record=SuiteResult, name=SUITES_NAME, key=b'coevo.suites_version', version=SUITES_VERSION
)


def write_or_remove_suites(folder: Path, rows: Sequence[SuiteResult]) -> None:
    """Write the rows sorted by their key; without rows, remove an earlier file."""
    if rows:
        write_rows(folder, _SUITES_FORM, sorted(rows, key=lambda row: row.key))
    else:
        (folder / SUITES_NAME).unlink(missing_ok=True)


def load_suites(folder: Path) -> tuple[SuiteResult, ...]:
    """Return the rows of a folder; none if no suite was graded.

    Raises: Fatal if the file is damaged or of another version.
    """
    return load_rows(folder, _SUITES_FORM) if (folder / SUITES_NAME).is_file() else ()
