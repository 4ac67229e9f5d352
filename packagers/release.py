"""Release a store: an immutable, checksummed snapshot, with the same bytes on every machine.

    SNAPSHOT/data/TABLE/*.parquet        the tables; tasks have a file for each track
    SNAPSHOT/manifest.json               its input, and the checksum of every other file
    SNAPSHOT/README.md, croissant.json   the dataset card, for people and for machines

Only `data/timings` is outside of the checksums, since its seconds differ from run to run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from coevo.model import licences
from coevo.model.errors import Fatal, UnsoundSnapshot
from coevo.model.schema import TABLES
from coevo.snapshots.code_free.hydration import ATTRIBUTION
from coevo.snapshots.cutoffs import compute_first_clean_moment
from coevo.snapshots.snapshot import MANIFEST
from coevo.snapshots.verification import verify_folder
from coevo.storage import durable, months
from coevo.storage.months import MonthCohort
from coevo.storage.place import Root
from coevo.storage.store import Partition, Store
from packagers import card, croissant, manifests, publishing
from packagers.assembly import assemble_release_rows
from packagers.code_free import refuse_unsound_edition, write_edition_files
from packagers.funnel import KeptOut, RepositoryNews, count_kept_out, count_news, describe_kept_out
from packagers.licensing import (
    FindLicenceFiles,
    build_sections,
    list_attributed_pairs,
    render_attribution,
)
from packagers.months import check_month
from packagers.plan import ReleasePlan
from packagers.row_files import write_table
from packagers.rows import Rows, gather_rows
from packagers.withdrawal import apply_earlier_snapshot, load_earlier_snapshot

PRIVATE = (
    'It is private: it holds all rows, whatever the licence, is for you alone, and coevo neither publishes '
    'nor lists it.'
)

# The number of repositories that a sentence names.
_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseReport:
    """The result of a release; `written` is false if the same snapshot existed already.

    fixed    whether the month had been released before, so that its content was fixed
    reached  until when each walk knows all commits, if a month was requested
    without_url  repositories without a URL, which readers of the snapshot cannot clone
    mixed    a sentence for each language whose pairs were mined by several versions of the code
    kept_out  what licences keep out of it
    withheld  the number of tasks whose texts it withholds, by licence
    is_private  whether it is for the store's owner alone
    cohort   the repositories that the month had to hold; None if that is unknown
    """

    snapshot: Root
    written: bool
    rows: Mapping[str, int]
    new: int
    withdrawn: int
    reissued: int
    unmined: tuple[tuple[Partition, int], ...]
    month: str
    fixed: bool
    reached: Mapping[Partition, datetime | None]
    news: tuple[RepositoryNews, ...]
    without_url: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    kept_out: tuple[KeptOut, ...] = ()
    withheld: Mapping[str, int] = field(default_factory=dict)
    is_private: bool = False
    cohort: MonthCohort | None = None

    @property
    def is_complete(self) -> bool:
        """True unless the month's cohort lacks a repository."""
        return self.cohort is None or self.cohort.is_complete

    @property
    def sentence(self) -> str:
        """A summary of the release for the user."""
        counts = ', '.join(f'{self.rows[name]} {name}' for name in ('tasks', 'methods', 'pairs'))
        done = 'written' if self.written else 'already there, with the same bytes'
        missing = ''.join(
            f'\nnot mined yet, hence missing in it: {count} pair{"" if count == 1 else "s"} of '
            f'{partition.repo} ({partition.walk})'
            for partition, count in self.unmined
        )
        changes = (
            f'{self.new} tasks are new, {self.withdrawn} withdrawn, {self.reissued} issued anew'
        )
        mixed = ''.join(f'\nwarning: {sentence}' for sentence in self.mixed)
        sentences = (*self._describe_withheld(), *describe_kept_out(self.kept_out))
        kept_out = ''.join(f'\n{sentence}' for sentence in sentences)
        private = f'\n{PRIVATE}' if self.is_private else ''
        return (
            f'{self.snapshot}: {counts}; {done}\n{changes}{self._cohort_note}{missing}{mixed}{self._month_note}'
            f'{self._url_warning}{kept_out}{private}'
        )

    def _describe_withheld(self) -> Iterator[str]:
        if self.withheld:
            named = ', '.join(f'{name} {count}' for name, count in sorted(self.withheld.items()))
            yield (
                f'texts of {sum(self.withheld.values())} of {self.rows["tasks"]} tasks are withheld, since '
                f'no permissive licence covers them ({named}): `coevo get {self.snapshot} '
                '--out DIR` fills them in from clones'
            )

    @property
    def _cohort_note(self) -> str:
        if self.cohort is None:
            return ''
        notes = ''.join(f'\n{note}' for note in self.cohort.notes)
        if self.is_complete:
            return f'\nall {len(self.cohort.members)} repositories of the month are in it{notes}'
        return f'\nincomplete: {self.cohort.missing_sentence}{notes}'

    @property
    def _month_note(self) -> str:
        if self.fixed:
            return f'\n{self.month} was released before: what was mined since is left to the next month'
        last = compute_first_clean_moment(self.month) - timedelta(microseconds=1)
        return ''.join(
            f'\n{partition.repo} ({partition.walk}) is known until {reached:%Y-%m-%d} only: mine it '
            'again to have what it had later in a month to come'
            for partition, reached in sorted(self.reached.items())
            if reached is not None and reached < last
        )

    @property
    def _url_warning(self) -> str:
        if not self.without_url or self.is_private:
            return ''
        named = ', '.join(self.without_url[:_NAMED])
        more = len(self.without_url) - _NAMED
        return (
            f'\nwarning: no URL is known of {named}{f" and {more} more" if more > 0 else ""}, so nobody '
            'else can attempt or score its tasks; release again with --url REPO=URL'
        )


def release_snapshot(store: Store, plan: ReleasePlan) -> ReleaseReport:
    """Make the snapshot of what a store holds, verify it, publish it, and report on it.

    The plan may limit it to a month.

    Raises: Fatal if another snapshot is at the target; UnsoundSnapshot if the new one does not
    verify, in which case none is published.
    """
    publishing.check_snapshot_target(plan.snapshot)
    with publishing.make_scratch_folder(plan.snapshot) as scratch_folder:
        if plan.month:
            check_month(plan.month)
        rows = assemble_release_rows(gather_rows(store, scratch_folder.parent, plan.cut), plan)
        month = plan.month or _find_newest_month(rows)
        earlier = (
            load_earlier_snapshot(plan.previous, month, scratch_folder.parent)
            if plan.previous
            else None
        )
        rows = apply_earlier_snapshot(earlier, rows, month)
        parameters = {**plan.parameters, 'licences_accepted': ' '.join(sorted(plan.accepted))}
        about = manifests.SnapshotDetails(
            month=month,
            parameters=parameters,
            unmined=rows.unmined,
            reached=plan.cut.reached if plan.cut else {},
            news=count_news(earlier, rows, month),
            is_private=plan.is_private,
            cohort=plan.cut.cohort if plan.cut else None,
        )
        write_snapshot(scratch_folder, rows, about, plan.find_licence_files)
        _refuse_unsound_snapshot(scratch_folder, plan.snapshot)
        folder = write_edition_if_texts_withheld(scratch_folder, rows, plan)
        written = _publish_and_fix_month(store, folder, plan)
    counts = {name: len(getattr(rows, name)) for name in TABLES}
    withdrawn_rows = [row for row in rows.withdrawn if row.table == 'tasks' and row.month == month]
    now = [row.reissued for row in withdrawn_rows]
    return ReleaseReport(
        snapshot=plan.snapshot,
        written=written,
        rows=counts,
        new=sum(task.released == month for task in rows.tasks),
        withdrawn=now.count(False),
        reissued=now.count(True),
        unmined=tuple(rows.unmined.items()),
        month=month,
        fixed=plan.cut is not None and plan.cut.fixed is not None,
        reached=about.reached,
        news=about.news,
        without_url=tuple(sorted({row.repo for row in rows.repositories if row.url is None})),
        mixed=tuple(card.describe_mixed_code(rows.pairs)),
        kept_out=tuple(count_kept_out(rows, plan.is_silent)),
        is_private=plan.is_private,
        cohort=about.cohort,
        withheld={} if plan.is_private else _count_withheld_tasks(rows),
    )


def _count_withheld_tasks(rows: Rows) -> Mapping[str, int]:
    """Return the number of tasks whose texts are withheld, by licence."""
    return Counter(
        task.license or 'none at the commit'
        for task in rows.tasks
        if not _is_permissive(task.license)
    )


def _is_permissive(licence: str | None) -> bool:
    return licence is not None and licences.is_permissive(licence)


def write_snapshot(
    folder: Path,
    rows: Rows,
    about: manifests.SnapshotDetails,
    find_files: FindLicenceFiles = lambda repo, rev: (),
) -> None:
    """Write all files of a snapshot into a new folder, with all texts.

    find_files  returns the licence files that ATTRIBUTION shows; a private release has no such file
    """
    files = [
        file
        for name in TABLES
        for file in write_table(folder, name, getattr(rows, name), rows.space)
    ]
    data = manifests.compute_checksums(folder, files)
    _write_text(
        folder / 'croissant.json',
        croissant.render_croissant(about.month, data, _collect_licences(rows)),
    )
    _write_text(folder / 'README.md', card.render_card(rows, about))
    texts = [folder / 'croissant.json', folder / 'README.md']
    if not about.is_private:
        sections = build_sections(list_attributed_pairs(folder), find_files)
        _write_text(folder / ATTRIBUTION, render_attribution(sections))
        texts.append(folder / ATTRIBUTION)
    checked = data | manifests.compute_checksums(folder, texts)
    _write_text(folder / MANIFEST, manifests.render_manifest(rows, about, checked))
    durable.sync_tree_to_disk(folder)


def write_edition_if_texts_withheld(full: Path, rows: Rows, plan: ReleasePlan) -> Path:
    """Return the folder to publish: `full`, or a new edition of it beside `full`.

    It holds the texts of rows under permissive licences. Where rows are under others, it withholds
    theirs, and says how they are made from public clones. A private release is never cut.
    """
    if plan.is_private:
        return full
    published = {pair.pair_id for pair in list_attributed_pairs(full)}
    filled: dict[str, set[str]] = defaultdict(set)
    for pair in rows.pairs:
        if _is_permissive(pair.license) and pair.pair_id in published:
            filled[pair.repo].add(pair.pair_id)
    if published == {pair_id for pair_ids in filled.values() for pair_id in pair_ids}:
        return full
    if plan.clone is None:
        raise Fatal('rows are under licences that are not permissive, and no clone has their texts')
    edition = full.parent / 'edition'
    write_edition_files(full, edition, plan.clone, plan.find_licence_files, filled)
    refuse_unsound_edition(full, edition, plan.clone, plan.snapshot)
    return edition


def _collect_licences(rows: Rows) -> set[str]:
    return {task.license for task in rows.tasks if task.license is not None}


def _refuse_unsound_snapshot(made: Path, target: Root) -> None:
    """Raise UnsoundSnapshot unless the snapshot verifies; this happens before it gets its name."""
    findings = verify_folder(made, made.parent)
    if findings:
        first = findings[0]
        raise UnsoundSnapshot(
            f'the snapshot would not be good ({first.table}: {first.rule}: {first.row} '
            f'{first.detail}) and {target} was not written; tell those who maintain coevo, and mine '
            'what it names again'
        )


def _write_text(path: Path, text: str) -> None:
    durable.write_durably(path, [text.encode()])


def _publish_and_fix_month(store: Store, made: Path, plan: ReleasePlan) -> bool:
    """Publish a snapshot and fix the content of its month; return whether it was written.

    The store records the month first, so that a run after a kill in between gives the same bytes.
    If publishing fails, the record is removed again.
    """
    if plan.cut is None or plan.cut.fixed is not None:
        return publishing.publish_folder(made, plan.snapshot)
    plan.cut.add_dates(plan.known_dates())
    if not months.write_month_once_or_compare(store.storage, plan.cut.build_record()):
        raise Fatal(
            f'{plan.cut.month} was released by another process meanwhile: run again to get the same'
        )
    try:
        return publishing.publish_folder(made, plan.snapshot)
    except Fatal:
        months.forget_month(store.storage, plan.cut.month)
        raise


def _find_newest_month(rows: Rows) -> str:
    dates = [row.cutoff for row in rows.repositories if row.cutoff is not None]
    if not dates:
        raise Fatal('No commit in the store has a date: say the month of the snapshot by --month')
    return f'{max(dates):%Y-%m}'
