"""A snapshot of as many tasks as wanted, all of one pair, mined and released for real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import load_assignments
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.projects import junit, mined, pom, source, write


@dataclass(frozen=True, slots=True, kw_only=True)
class Errands:
    """A released snapshot and the store that it was made of; `tasks` in the order of attempts."""

    snapshot: Path
    store: Path
    tasks: tuple[TaskRow, ...]


def released(folder: Path, number: int) -> Errands:
    """The first task is a generation, the others are updates and generations by turns."""
    old: dict[str, str] = {'pom.xml': pom()}
    new: dict[str, str] = {}
    for each in range(number):
        made = _update(each) if each % 2 else _generation(each)
        old, new = {**old, **made[0]}, {**new, **made[1]}
    repository = write(folder / 'repository', [old, new])
    mined(repository, folder / 'store')
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    found = tuple(one.task for one in load_assignments(folder / 'snapshot'))
    assert len(found) == number
    assert {task.track for task in found} <= {Track.UPDATE, Track.GENERATION}
    return Errands(snapshot=folder / 'snapshot', store=folder / 'store', tasks=found)


Ends = tuple[Mapping[str, str], Mapping[str, str]]


def _update(each: int) -> Ends:
    return tuple(  # type: ignore[return-value]
        {
            **source(f'Price{each}', f'    public static int of(int n) {{ return {by} * n; }}\n'),
            **junit(f'Price{each}Test', f'costs: assertEquals({by}, Price{each}.of(1));'),
        }
        for by in (10, 12)
    )


def _generation(each: int) -> Ends:
    stands = f'stands: assertEquals(0, Round{each}.of(0));'
    dozen = f'dozen: assertEquals(12, Round{each}.of(1));'
    return (
        {
            **source(f'Round{each}', '    public static int of(int n) { return 10 * n; }\n'),
            **junit(f'Round{each}Test', stands),
        },
        {
            **source(f'Round{each}', '    public static int of(int n) { return 12 * n; }\n'),
            **junit(f'Round{each}Test', stands, dozen),
        },
    )
