"""Release a store: an immutable, checksummed snapshot that is the same whoever makes it.

    SNAPSHOT/data/TABLE/*.parquet        the tables; tasks have a file for each track
    SNAPSHOT/manifest.json               what it was made of, and the checksum of every other file
    SNAPSHOT/README.md, croissant.json   the dataset card, for people and for machines

`data/timings` alone is outside of the checksums: seconds are not the same twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.errors import Unsound
from coevo.model.schema import TABLES
from coevo.model.tables import MethodRow
from coevo.model.tables import RepositoryRow
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
from packagers.built import Built
from packagers.licensing import Licence
from packagers.licensing import fill_licences
from packagers.licensing import withhold
from packagers.near_duplicates import near_duplicates
from packagers.parquet import write_table
from packagers.reverified import reverify
from packagers.rows import Rows
from packagers.rows import gather
from packagers.rows import mark_duplicates
from packagers.rows import ordered
from packagers.withdrawal import follow
from packagers.withdrawal import read_earlier

# Methods with their contamination columns filled, in any order.
Date = Callable[[Rows], Sequence[MethodRow]]
# The family of each of some repositories: forks and their like have the same one.
Families = Callable[[Sequence[str]], Mapping[str, str]]
Size = Callable[[str, str], tuple[int, int] | None]
Build = Callable[[Rows], Built]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """One release.

    licence     of a repository at a revision
    size        Java files and lines of a repository at a revision; None where there is no telling
    families    by repository, of all that there are: its family
    accepted    SPDX ids that will do though the OSI has not approved them
    month       of the snapshot, YYYY-MM; None is that of the newest commit visited
    previous    an earlier snapshot: what it had and this one has not is withdrawn
    parameters  what else decided the data, for the manifest
    """

    snapshot: Root
    date: Date
    build: Build
    licence: Licence
    size: Size
    families: Families
    accepted: tuple[str, ...] = ()
    month: str | None = None
    previous: Root | None = None
    parameters: Mapping[str, str | int | float | None] = field(default_factory=dict)


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
    rows = assemble(gather(store), plan)
    month = _checked(plan.month) if plan.month else _newest(rows)
    rows = follow(read_earlier(plan.previous, month) if plan.previous else None, rows, month)
    parameters = {**plan.parameters, 'licences_accepted': ' '.join(sorted(plan.accepted))}
    about = manifests.About(month=month, parameters=parameters, unmined=rows.unmined)
    with publishing.scratch(plan.snapshot) as made:
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


def assemble(rows: Rows, plan: ReleasePlan) -> Rows:
    """The rows with the columns and the tasks that only all of them together give."""
    rows = reverify(rows)
    families = plan.families(sorted({row.repo for row in rows.repositories}))
    rows = dataclasses.replace(
        rows,
        repositories=tuple(
            _sized(dataclasses.replace(row, family=families[row.repo]), plan.size)
            for row in rows.repositories
        ),
    )
    rows = withhold(fill_licences(rows, plan.licence), plan.accepted)
    rows = dataclasses.replace(rows, methods=ordered('methods', plan.date(rows)))
    rows = dataclasses.replace(rows, methods=mark_duplicates(rows))
    near = near_duplicates(rows.methods)
    built = plan.build(rows)
    leak = {task.task_id: task.leak for task in built.tasks}
    methods = (
        dataclasses.replace(
            row,
            near_duplicate_of=near.get((row.method_id, row.walk)),
            task_id=built.ids.get((row.method_id, row.walk)),
            task_coverage=built.coverage.get((row.method_id, row.walk)),
            leak=leak.get(built.ids.get((row.method_id, row.walk), '')),
        )
        for row in rows.methods
    )
    return dataclasses.replace(
        rows,
        methods=tuple(methods),
        tasks=ordered('tasks', built.tasks),
        drops=ordered('drops', (*rows.drops, *built.drops)),
    )


def _sized(row: RepositoryRow, size: Size) -> RepositoryRow:
    files, lines = size(row.repo, row.head) or (None, None)
    return dataclasses.replace(row, java_files=files, java_lines=lines)


def write(folder: Path, rows: Rows, about: manifests.About) -> None:
    """Everything of a snapshot into a new folder."""
    files = [file for name in TABLES for file in write_table(folder, name, getattr(rows, name))]
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
    findings = check(made)
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
