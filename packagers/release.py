"""Release a store: an immutable, checksummed snapshot that is the same whoever makes it.

    SNAPSHOT/data/TABLE/*.parquet        the tables; tasks have a file for each track
    SNAPSHOT/manifest.json               what it was made of, and the checksum of every other file
    SNAPSHOT/README.md, croissant.json   the dataset card, for people and for machines

`data/timings` alone is outside of the checksums: seconds are not the same twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.errors import Unsound
from coevo.model.schema import TABLES
from coevo.snapshots.forms import is_month
from coevo.snapshots.snapshot import MANIFEST
from coevo.snapshots.verification import check
from coevo.storage import durable
from coevo.storage.place import Root
from coevo.storage.store import Partition
from coevo.storage.store import Store
from packagers import card
from packagers import croissant
from packagers import manifests
from packagers import publishing
from packagers.assembly import assemble
from packagers.parquet import write_table
from packagers.plan import ReleasePlan
from packagers.rows import Rows
from packagers.rows import gather
from packagers.withdrawal import follow
from packagers.withdrawal import read_earlier


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseReport:
    """What a release did; `written` is false where the same snapshot was there already."""

    snapshot: Root
    written: bool
    rows: Mapping[str, int]
    new: int
    withdrawn: int
    reissued: int
    unmined: tuple[tuple[Partition, int], ...]

    @property
    def sentence(self) -> str:
        counts = ', '.join(f'{self.rows[name]} {name}' for name in ('tasks', 'methods', 'pairs'))
        done = 'written' if self.written else 'already there, with the same bytes'
        missing = ''.join(
            f'\n{count} pairs of {partition.repo} ({partition.walk}) are not mined yet: they are '
            'missing in it'
            for partition, count in self.unmined
        )
        news = f'{self.new} tasks are new, {self.withdrawn} withdrawn, {self.reissued} issued anew'
        return f'{self.snapshot}: {counts}; {done}\n{news}{missing}'


def release(store: Store, plan: ReleasePlan) -> ReleaseReport:
    """Write the snapshot of all that a store holds; Fatal if another one is there.

    Unsound if it does not verify; then there is none.
    """
    publishing.check(plan.snapshot)
    with publishing.scratch(plan.snapshot) as made:
        rows = assemble(gather(store, made.parent), plan)
        month = _checked(plan.month) if plan.month else _newest(rows)
        earlier = read_earlier(plan.previous, month, made.parent) if plan.previous else None
        rows = follow(earlier, rows, month)
        parameters = {**plan.parameters, 'licences_accepted': ' '.join(sorted(plan.accepted))}
        about = manifests.About(month=month, parameters=parameters, unmined=rows.unmined)
        write(made, rows, about)
        _refuse_unsound(made, plan.snapshot)
        written = publishing.put(made, plan.snapshot)
    counts = {name: len(getattr(rows, name)) for name in TABLES}
    gone = [row for row in rows.withdrawn if row.table == 'tasks' and row.month == month]
    now = [row.reissued for row in gone]
    return ReleaseReport(
        snapshot=plan.snapshot,
        written=written,
        rows=counts,
        new=sum(task.released == month for task in rows.tasks),
        withdrawn=now.count(False),
        reissued=now.count(True),
        unmined=tuple(rows.unmined.items()),
    )


def write(folder: Path, rows: Rows, about: manifests.About) -> None:
    """Everything of a snapshot into a new folder."""
    files = [
        file
        for name in TABLES
        for file in write_table(folder, name, getattr(rows, name), rows.space)
    ]
    data = manifests.checksums(folder, files)
    _text(folder / 'croissant.json', croissant.text(about.month, data))
    _text(folder / 'README.md', card.text(rows, about))
    texts = [folder / 'croissant.json', folder / 'README.md']
    checked = data | manifests.checksums(folder, texts)
    _text(folder / MANIFEST, manifests.text(rows, about, checked))
    for path in sorted(folder.rglob('*'), reverse=True):
        durable.sync(path)


def _refuse_unsound(made: Path, target: Root) -> None:
    """Nothing has its name before it is what it claims."""
    findings = check(made, made.parent)
    if findings:
        first = findings[0]
        raise Unsound(
            f'the snapshot would not be good ({first.table}: {first.rule}: {first.row} '
            f'{first.detail}) and {target} was not written; tell those who maintain coevo, and mine '
            'what it names again'
        )


def _text(path: Path, text: str) -> None:
    durable.write(path, [text.encode()])


def _checked(month: str) -> str:
    if not is_month(month):
        raise Fatal(f'{month!r} is no month: write it as 2024-06')
    return month


def _newest(rows: Rows) -> str:
    dates = [row.cutoff for row in rows.repositories if row.cutoff is not None]
    if not dates:
        raise Fatal('No commit in the store has a date: say the month of the snapshot by --month')
    return f'{max(dates):%Y-%m}'
