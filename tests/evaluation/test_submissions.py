"""Targets in submitted files, and rows of what was seen of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.evaluation.assignments import (
    Assignment,
    Target,
    load_assignments,
    locate_target,
    name_targets,
)
from coevo.evaluation.judging.outcomes import GradingResult, TargetResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import MOST_OUTPUT, MOST_SAID, ResultHeader, make_rows
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import list_expected_throws
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome
from tests import snapshots

FILE = b"""package p;
class ATest {
    @Test void one() {}
    @ParameterizedTest void rows(int n) {}
    @Test void twice() {}
    @Test void twice(TestInfo info) {}
    class Inner { @Test void deep() {} }
}
"""


@pytest.fixture(scope='module')
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return load_assignments(snapshots.make(tmp_path_factory.mktemp('made'), 1))[0]


def target(assignment: Assignment, owner: str, name: str, *parameters: str) -> Target:
    one = assignment.targets[0]
    row = replace(one.row, test_class=owner, test_method=name, parameters=parameters)
    return replace(one, row=row)


@pytest.mark.parametrize(
    ('owner', 'name', 'parameters', 'there'),
    [
        ('p.ATest', 'one', (), ()),
        ('p.ATest', 'one', ('Path',), ()),  # gold's parameters are nobody's to guess
        ('p.ATest', 'rows', (), ('int',)),
        ('p.ATest', 'twice', ('TestInfo',), ('TestInfo',)),
        ('p.ATest', 'twice', ('Path',), None),  # which of the two is not to be told
        ('p.ATest$Inner', 'deep', (), ()),
        ('p.ATest', 'deep', (), None),
        ('p.BTest', 'one', (), None),
    ],
)
def test_target_is_found_in_the_submitted_file_by_its_name(
    assignment: Assignment,
    owner: str,
    name: str,
    parameters: tuple[str, ...],
    there: tuple[str, ...] | None,
) -> None:
    found = locate_target(parse(FILE), target(assignment, owner, name, *parameters))
    assert (found.parameters if found else None) == there


def test_overloaded_targets_get_distinct_names_in_results(assignment: Assignment) -> None:
    row = assignment.targets[0].row
    made = [
        replace(row, test_class=owner, test_method=name, parameters=parameters)
        for owner, name, parameters in (
            ('p.ATest', 'a', ()),
            ('p.ATest', 'a', ('int', 'Path')),
            ('p.ATest', 'b', ('int',)),
            ('p.ATest$Inner', 'a', ()),
        )
    ]
    names = [one.name for one in name_targets(made)]
    assert names == ['ATest#a()', 'ATest#a(int,Path)', 'ATest#b', 'ATest$Inner#a']


@pytest.mark.parametrize(
    ('source', 'names'),
    [
        ('@Test(expected = IllegalStateException.class) void a() {}', ('IllegalStateException',)),
        (
            '@Test(expectedExceptions = {java.io.IOException.class, Bad.class}) void a() {}',
            ('Bad', 'java.io.IOException'),
        ),
        (
            '@Rule ExpectedException thrown = none(); void a() { thrown.expectMessage("x"); }',
            ('Throwable',),
        ),
        ('void a() { assertThrows(Bad.class, b); }', ()),
    ],
)
def test_expected_exceptions_of_a_test_are_listed(source: str, names: tuple[str, ...]) -> None:
    assert list_expected_throws(source.encode()) == names


def test_endless_exception_name_is_scanned_without_delay() -> None:
    assert list_expected_throws(b'expected = ' + b'a' * 500_000) == ()


def test_result_rows_have_bounded_printable_texts(assignment: Assignment) -> None:
    verdict = Verdict(outcome=Outcome.FAIL, signature='a\x00', message='\x1b[31m' + 'm' * 9000)
    seen = TargetResult(
        submitted=True,
        new=verdict,
        new_module_ok=True,
        output='first' + '\x00\x08' + 'o' * 20000 + 'last',
        cpu_seconds=1.0,
    )
    judgement = GradingResult(
        seen={one.name: seen for one in assignment.targets}, cpu_seconds=2.0, seconds=3.0
    )
    prediction = Prediction(task_id=assignment.task_id, patch=b'')
    header = ResultHeader(snapshot_sha256='0' * 64, sandbox='bubblewrap')
    (row, *_) = make_rows(header, assignment, prediction, judgement)
    assert len(row.output) == MOST_OUTPUT + 1
    assert row.output.endswith('last')
    assert 'first' not in row.output
    assert len(row.said) == MOST_SAID + 1
    assert not any(ord(letter) < 32 for letter in row.said + row.output)
    assert row.cpu_seconds == pytest.approx(1.0 + 2.0 / len(assignment.targets), abs=0.001)
