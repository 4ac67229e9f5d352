"""The last line of `coevo run`, such as `success 1 of 1, strict 1 of 1, 41 s, 1,034 tokens`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from coevo.agents.records import Attempt
from coevo.evaluation.evaluation import Evaluation
from coevo.evaluation.measuring.strict import decide_task_strict
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.model.families import Family


def format_outcome_line(
    evaluation: Evaluation, attempts: Iterable[Attempt], tasks: Collection[str]
) -> str:
    """Return the line about the first attempts at these tasks.

    A task is a success if all of its test methods are. Strict success is counted over the tasks of
    which it can be asked, since gold has it, and for which it is known. Tasks that could not be
    graded count nowhere; the line says how many they are.
    """
    successes, strict, unjudged = _judge_tasks(evaluation, tasks)
    known = [value for value in strict.values() if value is not None]
    asked = [attempt for attempt in attempts if attempt.task_id in tasks]
    parts = [f'success {sum(successes.values())} of {len(successes)}']
    parts += [_format_strict(known, len(strict))] if strict else []
    parts += [f'{unjudged} could not be graded'] if unjudged else []
    parts.append(f'{sum(attempt.seconds for attempt in asked):.0f} s')
    parts.append(_format_tokens(asked))
    costs = [attempt.cost_usd for attempt in asked if attempt.cost_usd is not None]
    parts += [f'${sum(costs):.2f}'] if costs else []
    return ', '.join(parts)


def _format_strict(known: Sequence[bool], tasks: int) -> str:
    if not known:
        return 'strict unknown'
    unknown = f' ({tasks - len(known)} unknown)' if len(known) < tasks else ''
    return f'strict {sum(known)} of {len(known)}{unknown}'


def _judge_tasks(
    evaluation: Evaluation, tasks: Collection[str]
) -> tuple[Mapping[str, bool], Mapping[str, bool | None], int]:
    """Return success and strict success by task, and the number of tasks without a verdict."""
    rows: dict[str, list[MethodResult]] = defaultdict(list)
    for row in evaluation.rows:
        if row.task_id in tasks and row.attempt == 1:
            rows[row.task_id].append(row)
    judged = {
        task_id: methods
        for task_id, methods in rows.items()
        if all(method.outcome is not TaskOutcome.INFRA for method in methods)
    }
    successes = {
        task_id: all(method.outcome is TaskOutcome.SUCCESS for method in methods)
        for task_id, methods in judged.items()
    }
    strict = {task_id: decide_task_strict(methods) for task_id, methods in judged.items()}
    unjudged = len(rows) - len(judged)
    for suite in evaluation.suites:
        if suite.task_id not in tasks or suite.attempt != 1:
            continue
        if suite.outcome is SuiteOutcome.INFRA:
            unjudged += 1
        else:
            successes[suite.task_id] = suite.outcome is SuiteOutcome.SUCCESS
            if suite.family is Family.IMPLEMENT:
                strict[suite.task_id] = suite.success_strict
    return successes, strict, unjudged


def _format_tokens(attempts: Sequence[Attempt]) -> str:
    tokens = sum(attempt.tokens for attempt in attempts)
    unmetered = sum(attempt.unmetered for attempt in attempts)
    if unmetered and not tokens:
        return 'tokens unknown'
    return f'{tokens:,} tokens' + (f' and {unmetered} answers without a count' if unmetered else '')
