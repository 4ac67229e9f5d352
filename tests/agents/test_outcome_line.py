"""The line that `coevo run` ends with."""

from __future__ import annotations

import dataclasses

from coevo.agents.costs import Usage
from coevo.agents.records import Attempt, Ending
from coevo.agents.summary import format_outcome_line
from coevo.evaluation.evaluation import Evaluation
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from tests.evaluation.rows import row


def attempt(task_id: str, *, tokens: int = 1000, unmetered: int = 0) -> Attempt:
    usage = (Usage(model='m', input=tokens, output=34),) if tokens else ()
    return Attempt(
        task_id=task_id,
        ending=Ending.COMPLETED,
        patch='',
        status=0,
        seconds=20.4,
        cost_usd=None,
        rounds=len(usage),
        unmetered=unmetered,
        usage=usage,
        refused=(),
        trouble=(),
    )


def line(rows: list[MethodResult], *attempts: Attempt) -> str:
    evaluation = Evaluation(rows=tuple(rows), judged=len(rows), recalled=0)
    return format_outcome_line(evaluation, attempts, {one.task_id for one in attempts})


def test_one_strict_success_is_said_with_seconds_and_tokens() -> None:
    rows = [row('a', success_strict=True)]
    assert line(rows, attempt('a')) == 'success 1 of 1, strict 1 of 1, 20 s, 1,034 tokens'


def test_a_task_is_a_success_only_with_all_of_its_methods() -> None:
    rows = [
        row('a', 'T#x', success_strict=True),
        row('a', 'T#y', TaskOutcome.EXEC_FAIL, success_strict=False),
        row('b', success_strict=None),
    ]
    said = 'success 1 of 2, strict 0 of 1 (1 unknown), 41 s, 2,068 tokens'
    assert line(rows, attempt('a'), attempt('b')) == said


def test_a_task_that_cannot_be_asked_counts_as_neither() -> None:
    rows = [
        row('a', success_strict=True),
        row('b', 'T#x', TaskOutcome.EXEC_FAIL, success_strict=False),
        row('b', 'T#y', strict_askable=False),
    ]
    said = 'success 1 of 2, strict 1 of 1 (1 unknown), 41 s, 2,068 tokens'
    assert line(rows, attempt('a'), attempt('b')) == said


def test_a_task_without_a_verdict_counts_nowhere_and_is_named() -> None:
    rows = [row('a', success_strict=True), row('b', outcome=TaskOutcome.INFRA)]
    said = 'success 1 of 1, strict 1 of 1, 1 could not be graded, 41 s, 2,068 tokens'
    assert line(rows, attempt('a'), attempt('b')) == said


def test_tasks_of_earlier_calls_and_later_attempts_are_left_out() -> None:
    rows = [row('a', success_strict=True), row('a', success_strict=False, attempt=2), row('b')]
    said = 'success 1 of 1, strict 1 of 1, 20 s, 1,034 tokens'
    assert line(rows, attempt('a')) == said


def test_unknown_tokens_and_costs_are_said() -> None:
    rows = [row('a')]
    silent = attempt('a', tokens=0, unmetered=1)
    assert line(rows, silent) == 'success 1 of 1, strict unknown, 20 s, tokens unknown'
    priced = dataclasses.replace(attempt('a', unmetered=2), cost_usd=0.5)
    assert line(rows, priced).endswith(', 1,034 tokens and 2 answers without a count, $0.50')
