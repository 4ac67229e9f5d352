"""The summary of a run of attempts, as text and as JSON, and the last line that `coevo run` prints."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.agents.records import Attempt, Ending
from coevo.agents.run import AgentSettings
from coevo.evaluation.evaluation import Evaluation
from coevo.evaluation.measuring.strict import decide_task_strict
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.model.families import Family


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class TroubledTask:
    """A task that could not be attempted for now, and the reason."""

    task_id: str
    reason: str

    def __str__(self) -> str:
        return f'{self.task_id}: {self.reason}'


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """The state of a run's folder after a call.

    attempts_now     number of attempts made by this call
    attempts_before  number of attempts finished by earlier calls
    without          tasks without a start state, each with the reason
    troubled         tasks that could not be attempted for now, one for each attempt
    bugs             records of bugs in coevo that ended attempts
    billed_usd       cost of all rounds, including interrupted attempts; None without prices
    only_after       the cutoff after which the tasks became public, if the command named one
    """

    predictions: Path
    attempts: tuple[Attempt, ...]
    attempts_now: int
    attempts_before: int
    without: tuple[str, ...]
    troubled: tuple[TroubledTask, ...]
    bugs: tuple[str, ...]
    billed_usd: float | None
    network: str
    only_after: str | None = None


def format_attempt_line(found: Attempt) -> str:
    """Return the progress line for a finished attempt."""
    cost = '' if found.cost_usd is None else f', ${found.cost_usd:.2f}'
    name = found.task_id if found.attempt == 1 else f'{found.task_id}, attempt {found.attempt},'
    if found.rejection is not None:
        return f'{name} {found.ending}: the endpoint does not take the prompt ({found.rejection})'
    answer = 'no patch' if not found.patch else f'{found.patch.count(chr(10))} lines of patch'
    answered = found.rounds + found.unmetered
    rounds = '1 round' if answered == 1 else f'{answered} rounds'
    return f'{name} {found.ending}: {answer}, {rounds}{cost}, {found.seconds:.0f} s'


def describe_network(settings: AgentSettings) -> str:
    """Return what the agent could reach, in words for reports; `none` without an endpoint."""
    if settings.endpoint is None:
        return 'none'
    return f'{settings.endpoint.description} alone, by a relay outside of the sandbox'


def build_report(summary: RunSummary) -> Mapping[str, object]:
    """Return the totals of a run for `report.json`."""
    attempts = summary.attempts
    costs = [attempt.cost_usd for attempt in attempts if attempt.cost_usd is not None]
    return {
        'attempts': len(attempts),
        'endings': dict(sorted(Counter(str(attempt.ending) for attempt in attempts).items())),
        'models': sorted({usage.model for attempt in attempts for usage in attempt.usage}),
        'network': summary.network,
        **({'only_after': summary.only_after} if summary.only_after else {}),
        'rounds': sum(attempt.rounds for attempt in attempts),
        'unmetered': sum(attempt.unmetered for attempt in attempts),
        'tokens': sum(attempt.tokens for attempt in attempts),
        'cost_usd': round(sum(costs), 6) if costs else None,
        'billed_usd': summary.billed_usd,
        'refused': sorted({why for attempt in attempts for why in attempt.refused}),
        'without_start_state': summary.without,
        'troubled': tuple(map(str, summary.troubled)),
        'bugs': len(summary.bugs),
    }


def format_closing_lines(summary: RunSummary) -> list[str]:
    """Return the lines that `coevo run` prints at the end."""
    endings = Counter(str(attempt.ending) for attempt in summary.attempts)
    tokens = sum(attempt.tokens for attempt in summary.attempts)
    rounds = sum(attempt.rounds for attempt in summary.attempts)
    seconds = sum(attempt.seconds for attempt in summary.attempts)
    lines = [
        f'{len(summary.attempts)} attempts: {summary.attempts_now} now, {summary.attempts_before} before; '
        + ', '.join(f'{count} {ending}' for ending, count in sorted(endings.items())),
        f'{rounds} rounds, {tokens} tokens, {seconds:.0f} s of agent time'
        + ('' if summary.billed_usd is None else f', ${summary.billed_usd:.2f} billed in all'),
        f'network: {summary.network}',
    ]
    lines += [f'no start state could be made: {attempt}' for attempt in summary.without]
    if summary.bugs:
        lines.append(
            f'{len(summary.bugs)} attempts ended with a bug in coevo; the next run repeats '
            'them. Please report these files: ' + ', '.join(summary.bugs)
        )
    return [*lines, f'predictions: {summary.predictions}']


def format_outcome_line(
    evaluation: Evaluation, attempts: Iterable[Attempt], tasks: Collection[str]
) -> str:
    """Return the line about the first attempts at these tasks.

    A task is a success if all of its test methods are. Strict success is counted over the tasks of
    which it can be asked, since gold has it, and for which it is known. Tasks that could not be
    graded count nowhere; the line says how many they are.
    """
    successes, strict, unjudged = _judge_success_and_strict_success(evaluation, tasks)
    known = [value for value in strict.values() if value is not None]
    task_attempts = [attempt for attempt in attempts if attempt.task_id in tasks]
    parts = [f'success {sum(successes.values())} of {len(successes)}']
    parts += [_format_strict_success(known, len(strict))] if strict else []
    parts += [f'{unjudged} could not be graded'] if unjudged else []
    refused = sum(attempt.ending is Ending.REFUSED for attempt in task_attempts)
    parts += [f'{refused} refused by the endpoint'] if refused else []
    parts.append(f'{sum(attempt.seconds for attempt in task_attempts):.0f} s')
    parts.append(_format_tokens(task_attempts))
    costs = [attempt.cost_usd for attempt in task_attempts if attempt.cost_usd is not None]
    parts += [f'${sum(costs):.2f}'] if costs else []
    return ', '.join(parts)


def _format_strict_success(known: Sequence[bool], tasks: int) -> str:
    if not known:
        return 'strict unknown'
    unknown = f' ({tasks - len(known)} unknown)' if len(known) < tasks else ''
    return f'strict {sum(known)} of {len(known)}{unknown}'


def _judge_success_and_strict_success(
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
