"""What is read of a report that PIT wrote, or somebody in its place."""

from __future__ import annotations

import pytest

from coevo.languages.java.pit import parse_report

MUTANT = """<mutation detected='true' status='{status}' numberOfTestsRun='1'>
<sourceFile>Till.java</sourceFile><mutatedClass>shop.Till</mutatedClass>
<mutatedMethod>&#60;init&#62;</mutatedMethod><methodDescription>()V</methodDescription>
<lineNumber>{line}</lineNumber><mutator>m.MathMutator</mutator>
<indexes><index>5</index><index>9</index></indexes><blocks><block>0</block></blocks>
<killingTest/><description>Replaced</description></mutation>"""


def report(status: str, line: str = '4', head: str = '') -> bytes:
    mutant = MUTANT.format(status=status, line=line)
    return f'<?xml version="1.0"?>{head}<mutations partial="true">{mutant}</mutations>'.encode()


@pytest.mark.parametrize(
    ('status', 'killed'),
    [
        ('KILLED', True),
        ('TIMED_OUT', True),
        ('MEMORY_ERROR', True),
        ('SURVIVED', False),
        ('NO_COVERAGE', False),
        # what PIT calls detected, though no test has seen it
        ('NON_VIABLE', None),
        ('RUN_ERROR', None),
        ('NOT_STARTED', None),
    ],
)
def test_mutant_status_says_whether_a_test_killed_it(status: str, killed: bool | None) -> None:
    (found,) = parse_report(report(status)) or ()

    assert found.killed is killed
    assert (found.type, found.method, found.line, found.index) == ('shop.Till', '<init>', 4, '5,9')


@pytest.mark.parametrize(
    'content',
    [
        b'',
        report('KILLED')[:-9],
        report('KILLED', line='x'),
        report('KILLED', line=''),
        report('KILLED').replace(b"status='KILLED'", b''),
        report('KILLED', head='<!DOCTYPE m [<!ENTITY a "aaaa">]>'),
    ],
)
def test_malformed_pit_report_is_not_read(content: bytes) -> None:
    assert parse_report(content) is None


def test_pit_report_without_mutants_is_read() -> None:
    assert parse_report(b'<mutations partial="true"></mutations>') == ()
