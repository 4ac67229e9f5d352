"""Records of attempts, and their lines in a predictions file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coevo.agents.costs import Usage
from coevo.evaluation.outcomes import AttemptProtocol

# Digits of US dollars; one token costs millionths of a dollar.
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An agent's answer to a task, and what it cost.

    attempt    number of the attempt, from 1
    seed       the seed that the agent was given, if any
    patch      a unified diff against the start state; empty if nothing was changed, None if the
               files could not be taken over
    ending     its value is the prediction's `exit_status`
    status     exit status of the agent's command; None if it was stopped or reported none
    seconds    elapsed time of the agent's command
    cost_usd   by the user's prices; None without prices
    rounds     number of calls that a model answered
    unmetered  rounds whose answer gave no usage
    usage      tokens, summed by model
    refused    reasons why calls were not forwarded, each once, sorted
    trouble    kinds of failures of the endpoint, each once, sorted
    rejection  why the endpoint refused the prompt; None if it did not
    """

    task_id: str
    attempt: int = 1
    seed: int | None = None
    protocol: AttemptProtocol = AttemptProtocol.ONCE
    ending: Ending
    patch: str | None
    status: int | None
    seconds: float
    cost_usd: float | None
    rounds: int
    unmetered: int
    usage: tuple[Usage, ...]
    refused: tuple[str, ...]
    trouble: tuple[str, ...]
    rejection: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Task and number, which identify the attempt."""
        return self.task_id, self.attempt

    @property
    def tokens(self) -> int:
        """All input tokens, cached or not, and all output tokens."""
        return sum(usage.tokens for usage in self.usage)

    def to_json(self) -> str:
        """Return the attempt as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True) + '\n'


def parse_attempt(text: str) -> Attempt:
    """Parse the output of `Attempt.to_json`.

    Raises: ValueError, TypeError or KeyError for anything else.
    """
    row: dict[str, Any] = json.loads(text)
    return Attempt(
        **{
            **row,
            'ending': Ending(row['ending']),
            'protocol': AttemptProtocol(row.get('protocol', AttemptProtocol.ONCE)),
            'usage': tuple(Usage(**counts) for counts in row['usage']),
            'refused': tuple(row['refused']),
            'trouble': tuple(row['trouble']),
        }
    )


def format_prediction_line(found: Attempt, harness: str, model: str | None) -> str:
    """Return a line of `predictions.jsonl`, which `coevo evaluate` reads."""
    row: Mapping[str, object] = {
        'task_id': found.task_id,
        'patch': found.patch,
        'model': model,
        'harness': harness,
        'exit_status': str(found.ending),
        'cost_usd': None if found.cost_usd is None else round(found.cost_usd, _DIGITS),
        'tokens': found.tokens if found.rounds else None,
        'seconds': round(found.seconds, 3),
    }
    return json.dumps({**row, **_make_series_fields(found)}) + '\n'


def _make_series_fields(found: Attempt) -> Mapping[str, object]:
    """Return the fields that describe an attempt in a series; empty if it is the only attempt."""
    if (found.attempt, found.seed, found.protocol) == (1, None, AttemptProtocol.ONCE):
        return {}
    return {'attempt': found.attempt, 'seed': found.seed, 'protocol': str(found.protocol)}


class Ending(StrEnum):
    """The ending of an attempt; the values are the `exit_status` of predictions.

    In all cases the files that the agent left are its answer, if they could be taken over.
    """

    COMPLETED = 'completed'  # the agent's command ended with status 0
    FAILED = 'failed'  # the agent's command ended with another status
    TIME_CAP = 'time_cap'
    COST_CAP = 'cost_cap'
    MEMORY = 'memory'  # out of memory: all processes were killed, and the files are lost
    LOST = 'lost'  # the agent ended the sandbox, so that its files could not be taken over
    TOO_LARGE = 'too_large'  # the agent wrote more to the project's files than a patch may contain
    REFUSED = 'refused'  # the endpoint refused the prompt, such as one that is too long


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An endpoint's refusal of a call.

    status  the HTTP status
    reason  what the endpoint says, in one short line
    """

    status: int
    reason: str

    @property
    def concerns_prompt(self) -> bool:
        """True if another prompt may be accepted."""
        return self.status in _OF_THE_PROMPT

    def __str__(self) -> str:
        return f'HTTP {self.status}: {self.reason}'


# Bad request, content too large, content that cannot be processed.
_OF_THE_PROMPT = (400, 413, 422)
