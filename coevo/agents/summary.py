"""The summary of a run of attempts, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.agents.records import Attempt
from coevo.agents.run import AgentSettings


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


def format_attempt_line(found: Attempt) -> str:
    """Return the progress line for a finished attempt."""
    cost = '' if found.cost_usd is None else f', ${found.cost_usd:.2f}'
    answer = 'no patch' if not found.patch else f'{found.patch.count(chr(10))} lines of patch'
    rounds = '1 round' if found.rounds == 1 else f'{found.rounds} rounds'
    name = found.task_id if found.attempt == 1 else f'{found.task_id}, attempt {found.attempt},'
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
