"""A shop whose one change of prices is a task of each track; mined and released for real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.start_states import restore_start_file
from coevo.evaluation.records import Prediction
from coevo.git.patches import make_file_patch
from coevo.model.words import Track
from coevo.snapshots import snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.once import mined_once
from tests.projects import NAME, junit, pom, source, write

FILES = {
    Track.UPDATE: 'src/test/java/shop/PriceTest.java',
    Track.GENERATION: 'src/test/java/shop/RoundTest.java',
    Track.EXTENSION: 'src/test/java/shop/LargeTest.java',
    Track.REPAIR: 'src/test/java/shop/FaultTest.java',
}
PRODUCTION = 'src/main/java/shop/Till.java'

_OLD = {
    'pom.xml': pom(),
    **source('Till', '    public static int price(int n) { return 10 * n; }\n'),
    **source('Coin', '    public static int worth() { return 10; }\n'),
    **junit(
        'PriceTest',
        'costs: assertEquals(10, Till.price(1));',
        'sums: assertEquals(20, Till.price(2));',
        'nothing: assertEquals(0, Till.price(0));',
    ),
    **junit('RoundTest', 'stands: assertEquals(0, Till.price(0));'),
    **junit(
        'LargeTest',
        'large: assertEquals(0, 5 * Till.price(0));',
        'stands: assertEquals(0, Till.price(0));',
    ),
    **junit(
        'FaultTest', 'adds: assertEquals(3, 1 + 1);', 'stands: assertEquals(0, Till.price(0));'
    ),
}
_NEW: dict[str, str | None] = {
    'src/main/java/shop/Coin.java': None,
    **source('Till', '    public static int price(int n) { return 12 * n; }\n'),
    **junit(
        'PriceTest',
        'costs: assertEquals(12, Till.price(1));',
        'sums: assertEquals(24, Till.price(2));',
        'nothing: assertEquals(0, Till.price(0));',
    ),
    **junit(
        'RoundTest',
        'stands: assertEquals(0, Till.price(0));',
        'dozen: assertEquals(12, Till.price(1));',
        'gross: assertEquals(144, Till.price(12));',
    ),
    **junit(
        'LargeTest',
        'large: assertEquals(0, 5 * Till.price(0)); assertEquals(1200, Till.price(100));',
        'stands: assertEquals(0, Till.price(0));',
    ),
}
_MENDED = junit(
    'FaultTest', 'adds: assertEquals(2, 1 + 1);', 'stands: assertEquals(0, Till.price(0));'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A released snapshot with one task a track, and the store that it was made of."""

    snapshot: Path
    store: Path
    tasks: Mapping[Track, Assignment]
    starts: Mapping[Track, str]

    def gold(self, track: Track) -> Prediction:
        task = self.tasks[track].task
        return Prediction(task_id=task.task_id, patch=task.test_patch.encode())

    def submission(self, track: Track, text: str | None) -> Prediction:
        """A prediction that makes the test file another one; None deletes it."""
        patch = make_file_patch(FILES[track], self.starts[track], text)
        return Prediction(task_id=self.tasks[track].task_id, patch=patch.encode())


def make_shop(folder: Path) -> None:
    """Mine and release it."""
    repository = write(folder / 'repository', [_OLD, {**_NEW, **_MENDED}])
    mined_once(repository, folder / 'store')
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))


def open_shop(folder: Path) -> Shop:
    """The shop that was made in a folder."""
    found = load_assignments(folder / 'snapshot')
    tasks = {one.task.track: one for one in found}
    assert set(tasks) == set(Track), snapshot.open_snapshots(folder / 'snapshot').sql('FROM drops')
    starts = {}
    with open_task_repository([one.task for one in found], folder / 'store') as clone:
        for one in found:
            start = restore_start_file(clone, one.task)
            assert start is not None
            starts[one.task.track] = start.decode()
    assert tasks[Track.UPDATE].task.repo == NAME
    return Shop(snapshot=folder / 'snapshot', store=folder / 'store', tasks=tasks, starts=starts)
