"""Events of a run of `mvn test`: what is ill-formed is ignored, and the end names its reason."""

from __future__ import annotations

from typing import Any

import pytest

from coevo.languages.core.test_runs import RunResult
from coevo.languages.java.umpire import ProjectReport, explain_incomplete_run
from coevo.model.words import Outcome

OUTCOME = {'e': 'outcome', 'class': 'shop.A', 'method': 'a', 'parameters': '', 'outcome': 'pass'}
BUILT = {'e': 'module', 'status': 'built', 'mojo': None, 'kind': None, 'exceptions': None}
FAILED = {
    **BUILT,
    'status': 'failed',
    'exceptions': ['org.apache.maven.plugin.MojoFailureException'],
}
SUREFIRE = {**FAILED, 'mojo': 'maven-surefire-plugin:test'}
LISTENING = {'e': 'listening'}


def heard(*events: dict[str, Any]) -> ProjectReport:
    report = ProjectReport()
    for event in events:
        report.handle_event(event)
    return report


def test_worst_outcome_of_a_method_counts() -> None:
    report = heard(OUTCOME, {**OUTCOME, 'outcome': 'fail'}, {**OUTCOME, 'outcome': 'skipped'})
    assert report.methods == {('shop.A', 'a'): {'': Outcome.FAIL}}


@pytest.mark.parametrize(
    'event',
    [
        {'e': 'outcome'},
        {**OUTCOME, 'outcome': 'compile_error'},
        {**OUTCOME, 'outcome': ['pass']},
        {**OUTCOME, 'class': None},
        {**OUTCOME, 'method': 1},
        {**OUTCOME, 'parameters': ['int']},
        {**BUILT, 'status': 1},
        {**BUILT, 'mojo': ['a']},
        {**FAILED, 'exceptions': 7},
        {**FAILED, 'exceptions': [7]},
    ],
)
def test_event_with_values_of_another_kind_is_ignored(event: dict[str, Any]) -> None:
    report = heard(event)
    assert (report.methods, report.classes, report.started) == ({}, {}, False)


@pytest.mark.parametrize(
    ('status', 'events', 'failure'),
    [
        ('exit:0', (LISTENING, BUILT), None),
        ('exit:1', (LISTENING, SUREFIRE), None),
        ('exit:0', (BUILT,), 'no_test_run'),
        ('exit:1', (), 'no_report'),
        ('cpu', (LISTENING,), 'cpu'),
        ('exit:1', ({**FAILED, 'mojo': 'a-maven-plugin:run'},), 'a-maven-plugin:run'),
        ('exit:1', ({**FAILED, 'kind': 'library_missing'},), 'library_missing'),
        ('exit:1', ({**FAILED, 'mojo': '\x1b[31m' * 99},), 'no_report'),
        ('exit:1', ({**SUREFIRE, 'exceptions': ['a.b.MojoExecutionException']},), SUREFIRE['mojo']),
        ('exit:1', ({**BUILT, 'status': 'skipped'},), 'skipped'),
    ],
)
def test_end_of_a_run_names_why_the_tests_did_not_run(
    status: str, events: tuple[dict[str, Any], ...], failure: str | None
) -> None:
    done = RunResult(heard=heard(*events), status=status, cpu_seconds=1.0, noise='')
    assert explain_incomplete_run(done) == failure
