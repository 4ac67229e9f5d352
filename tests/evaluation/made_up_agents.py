"""Made-up results whose true effect of contamination is known: agents that know answers from before a day."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from coevo.evaluation.contamination import AttemptedTask

CUTOFF = datetime(2024, 7, 1, tzinfo=UTC)
_YEARS = 4
_BEGIN = CUTOFF - timedelta(days=365 * _YEARS // 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What decides whether a task is solved, all in shares of success.

    gain    of tasks whose answer was public before the cutoff: the truth that is to be found
    drift   over the four years, of all tasks alike: none of contamination
    """

    gain: float
    drift: float = 0.0
    repositories: int = 40
    seed: int = 0


def results(world: World) -> list[AttemptedTask]:
    """Older repositories are easier, and larger changes are harder and newer: both look like a gain."""
    lot = random.Random(world.seed)
    found = []
    for number in range(world.repositories):
        ease, centre = _repository(lot)
        for task in range(lot.randint(10, 60)):
            found.append(_task(lot, world, number, task, ease, centre))
    return found


def _repository(lot: random.Random) -> tuple[float, float]:
    """How easy its tasks are, and when most of them were made, 0 to 1."""
    centre = lot.uniform(0.2, 0.8)
    return 0.55 - 0.4 * (centre - 0.5) + lot.uniform(-0.15, 0.15), centre


def _task(
    lot: random.Random, world: World, number: int, task: int, ease: float, centre: float
) -> AttemptedTask:
    when = min(max(lot.gauss(centre, 0.2), 0.0), 1.0)
    date = _BEGIN + timedelta(days=when * 365 * _YEARS)
    lines = 4 ** (1 + (lot.random() < 0.3 + 0.4 * when) + (lot.random() < 0.3)) + lot.randint(0, 3)
    chance = ease - 0.003 * min(lines, 64) + world.drift * (0.5 - when)
    chance += world.gain * (date < CUTOFF)
    return AttemptedTask(
        task_id=f'{number}-{task}',
        repo=f'made/up{number:02}',
        family='update',
        changed_lines=lines,
        date=date,
        success=float(lot.random() < chance),
    )
