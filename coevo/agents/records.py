"""What is kept of an attempt, and the line of a predictions file that it makes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from coevo.agents.prices import Usage
from coevo.evaluation.outcomes import AttemptProtocol

# Of US dollars: prices are of a million tokens.
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An agent's answer to a task, and what it took.

    attempt    its number, from 1; `seed`: what it was told to draw by
    patch      a unified diff against the start state; empty if nothing was changed, None if nothing
               could be taken over
    ending     its value is the prediction's `exit_status`
    status     of the agent's command, None where it was stopped or did not say
    seconds    wall time of the agent's command
    cost_usd   by the user's prices; None without any
    rounds     calls that a model answered; `usage` sums them by model
    unmetered  rounds of which nobody knows what they used
    refused    why calls were not passed on, each once, sorted
    trouble    what the endpoint did not answer, each kind once, sorted
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

    @property
    def key(self) -> tuple[str, int]:
        return self.task_id, self.attempt

    @property
    def tokens(self) -> int:
        """All that went in, cached or not, and all that came out."""
        return sum(usage.tokens for usage in self.usage)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=1, sort_keys=True) + '\n'


def parse_attempt(text: str) -> Attempt:
    """What `Attempt.text` wrote; ValueError, TypeError or KeyError for anything else."""
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
    """A line of `predictions.jsonl`, as `coevo evaluate` reads it."""
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
    """Nothing of an attempt that is the only one."""
    if (found.attempt, found.seed, found.protocol) == (1, None, AttemptProtocol.ONCE):
        return {}
    return {'attempt': found.attempt, 'seed': found.seed, 'protocol': str(found.protocol)}


# How an attempt ended; the values stand in predictions as `exit_status`.


class Ending(StrEnum):
    """Whatever it is, what the agent left until then is its answer, where there is any."""

    COMPLETED = 'completed'  # the agent's command ended with status 0
    FAILED = 'failed'  # it ended with another one
    TIME_CAP = 'time_cap'
    COST_CAP = 'cost_cap'
    MEMORY = 'memory'  # all its processes were killed, and its files with them
    LOST = 'lost'  # it ended the sandbox itself, so that nothing could be taken over
    TOO_LARGE = 'too_large'  # it wrote more into files of the project than a patch may have
