"""Snapshots for the tests of the site: a small one with dates over years, and one of many tasks."""

from __future__ import annotations

import dataclasses
import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coevo.evaluation.outcomes import AttemptProtocol, TaskOutcome
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import write_or_remove_suites, write_results
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.model.families import SuiteAdequacy
from coevo.model.records import compute_short_hash
from coevo.model.segment import Segment
from coevo.model.words import BreakageCause
from coevo.storage.store import Store
from packagers import manifests, release
from packagers.rows import Rows, sort_rows
from tests import segments, snapshots
from tests.evaluation.rows import row
from tests.evaluation.test_families import suite

OTHER = 'example/tram'
# Shown as it is, never as markup.
HOSTILE = '<img src="x" onerror="document.title = 0"> '
FIRST = datetime(2013, 5, 20, 23, 30, tzinfo=UTC)


def make(folder: Path) -> Path:
    """Eight pairs of one repository and eight of another, 200 days apart, from 2013 on."""
    store = Store(folder / 'store')
    found = [_dated(number) for number in range(1, 17)]
    with store.lock_partition(segments.PARTITION):
        store.merge_walk_into_stored(segments.PARTITION, segments.walk(*range(1, 9)))
        for segment in found[:8]:
            store.write_segment_unless_intact(segments.PARTITION, segment)
        store.compact_segments(segments.PARTITION)
    segments.fill_elsewhere(store, OTHER, *found[8:], head=17)
    snapshots.write_unverified(store, folder / 'snapshot', '2024-06')
    return folder / 'snapshot'


def _dated(number: int) -> Segment:
    """Of every third pair the cause is another one, which takes no track here; every fifth is none."""
    segment = segments.segment(number, key=f'key-{number}')
    date = FIRST + timedelta(days=200 * number, hours=number)
    dates = dict.fromkeys(('new_author_date', 'new_committer_date'), date)
    related = number % 5 > 0  # or the old revision is no ancestor of the new one
    cause = BreakageCause.FIXTURE if number % 3 == 0 else BreakageCause.PRODUCTION
    methods = tuple(
        dataclasses.replace(
            row,
            cause=cause if row.track else None,
            new_source=f'{HOSTILE}{row.new_source}',
            old_is_ancestor=related,
        )
        for row in segment.methods
    )
    before = segment.pair.old_committer_date
    assert before is not None
    gap = round((date - before).total_seconds() / 3600, 3)
    pair = dataclasses.replace(segment.pair, gap_hours=gap, old_is_ancestor=related, **dates)
    return dataclasses.replace(segment, pair=pair, methods=methods)


def score(
    folder: Path,
    snapshot: Path,
    harness: str,
    successes: int,
    *,
    tasks: int = 10,
    model: str = 'Model 1',
    cutoff: str | None = '2024-04-30',
    strict: bool = False,
) -> Path:
    """Results of one update task in each of so many repositories, of which the first succeed.

    Each was public on the 15th of a month from 2024-01 on. `strict`: all successes are, else every
    other one.
    """
    sha256 = hashlib.sha256((snapshot / 'manifest.json').read_bytes()).hexdigest()
    found = [
        row(
            f'task{number}',
            outcome=TaskOutcome.SUCCESS if number < successes else TaskOutcome.EXEC_FAIL,
            success_strict=strict or number % 2 == 0 if number < successes else False,
            repo=f'example/line-{number}',
            contamination_date=datetime(2024, 1 + number, 15, tzinfo=UTC),
            snapshot_sha256=sha256,
            harness=harness,
            model=model,
            model_cutoff=cutoff,
            model_cutoff_source=cutoff and 'https://example.org/models',
            cost_usd=number / 4,
            tokens=1000 * number,
        )
        for number in range(tasks)
    ]
    suites = [
        dataclasses.replace(
            one,
            snapshot_sha256=sha256,
            cutoff=found[0].cutoff,
            harness=harness,
            model=model,
            model_cutoff=cutoff,
            model_cutoff_source=found[0].model_cutoff_source,
        )
        for one in scored_suites(successes)
    ]
    write_results(folder, found)
    write_or_remove_suites(folder, suites)
    write_report(folder, found, suites)
    return folder


def scored_suites(successes: int) -> list[SuiteResult]:
    """Of ten suites so many cover 8 of 10 lines; the others do not compile, and the first of these
    does when it is attempted again."""
    worth = SuiteAdequacy(tests=1, passing=1, lines=10, covered_lines=8)
    first = [
        suite(number, adequacy=worth)
        if number < successes
        else suite(number, SuiteOutcome.CMPL_FAIL)
        for number in range(10)
    ]
    again = [
        dataclasses.replace(
            suite(number, adequacy=worth) if number == successes else failed,
            attempt=2,
            protocol=AttemptProtocol.FEEDBACK,
        )
        for number, failed in enumerate(first)
        if number >= successes
    ]
    return first + again


def many(folder: Path, tasks: int) -> Path:
    """A snapshot of so many tasks, two for each pair, over 60 repositories and 15 years."""
    found = [segments.segment(number) for number in range(1, tasks // 2 + 1)]
    pairs, methods = [], []
    for number, segment in enumerate(found):
        repo = f'example/line-{number % 60:02}'
        date = FIRST + timedelta(hours=25 * number)
        pair_id = compute_short_hash(repo, segment.pair.pair_id)
        dates = dict.fromkeys(('new_author_date', 'new_committer_date'), date)
        pairs.append(dataclasses.replace(segment.pair, repo=repo, pair_id=pair_id, **dates))
        methods += [
            dataclasses.replace(
                row,
                repo=repo,
                pair_id=pair_id,
                # Of every tenth pair nobody knows.
                contamination_date=date - timedelta(days=number % 7) if number % 10 else None,
            )
            for row in segment.methods
        ]
    repositories = [
        dataclasses.replace(segments.repository(), repo=repo)
        for repo in {row.repo for row in pairs}
    ]
    rows = Rows(
        repositories=sort_rows('repositories', repositories),
        pairs=sort_rows('pairs', pairs),
        methods=sort_rows('methods', methods),
        cells=(),
        drops=(),
        timings=(),
        environments=(),
    )
    made = snapshots.build_family(rows).tasks
    rows = dataclasses.replace(rows, tasks=sort_rows('tasks', made))
    about = manifests.SnapshotDetails(month='2026-11', parameters={}, unmined={})
    release.write_snapshot(folder / 'many', rows, about)
    return folder / 'many'
