"""What a release of many methods costs, and what asking it costs.

    python -m benchmarks.large_snapshot write METHODS FOLDER   a made-up store, then its release
    python -m benchmarks.large_snapshot ask FOLDER             `clean` against a scan by hand, HTTP

Rows are made up; store, release and files are the real ones. A process of its own does each part, so
that its peak of memory is its own.
"""

from __future__ import annotations

import dataclasses
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

import coevo
from coevo.model.method_rows import MethodRow
from coevo.model.records import compute_method_id, compute_short_hash
from coevo.model.segment import Segment
from coevo.model.words import MethodChange, Walk
from coevo.storage.store import Partition, Store
from coevo.storage.walks import WalkRecord
from packagers.plan import ReleasePlan
from packagers.release import release_snapshot
from packagers.rows import Rows
from tests import segments, snapshots
from tests.web_server import Site

REPOSITORIES = 200
METHODS_PER_PAIR = 50
_KINDS = (
    (MethodChange.CHANGED, segments.UPDATE),
    (MethodChange.CHANGED, segments.REFINEMENT),
    (MethodChange.INSERTED, segments.GENERATION),
)
_WORDS = [f'name{number}' for number in range(3000)]
_START = datetime(2012, 1, 1, tzinfo=UTC)


def write_store(count: int, folder: Path) -> None:
    """Write a store with so many methods."""
    store = Store(folder / 'store')
    per_repository = count // METHODS_PER_PAIR // REPOSITORIES
    for number in range(REPOSITORIES):
        repo = f'example/r{number:03}'
        partition = Partition(repo=repo, language='java', walk=Walk.PARENTS)
        pairs = [_make_segment(repo, pair) for pair in range(1, per_repository + 1)]
        with store.lock_partition(partition):
            store.merge_walk_into_stored(partition, _make_walk(repo, pairs))
            for segment in pairs:
                store.write_segment_unless_intact(partition, segment)
            store.compact_segments(partition)


def _make_walk(repo: str, pairs: list[Segment]) -> WalkRecord:
    return WalkRecord(
        repository=segments.repository(repo=repo),
        pairs=tuple((segment.pair.new_rev, segment.pair.pair_id) for segment in pairs),
        drops=(),
    )


def _make_segment(repo: str, number: int) -> Segment:
    chance = random.Random(f'{repo} {number}')
    date = _START + timedelta(days=chance.random() * 5200)
    old, new = (compute_short_hash(repo, str(each)) * 3 for each in (number - 1, number))
    ends: dict[str, Any] = {'old_rev': old[:40], 'new_rev': new[:40]}
    pair_id = compute_short_hash(repo, 'java', ends['old_rev'], ends['new_rev'])
    dates: dict[str, Any] = {
        f'{end}_{who}_date': date for end in ('old', 'new') for who in ('author', 'committer')
    }
    of_pair = {'repo': repo, 'pair_id': pair_id, **ends}
    methods = tuple(_make_method(chance, of_pair, number, each) for each in range(METHODS_PER_PAIR))
    return Segment(
        key=f'key-{number}',
        pair=segments.pair(1, **of_pair, **dates, gap_hours=0.0, candidates=len(methods)),
        methods=methods,
        cells=tuple(row for item in methods for row in segments.cell_rows(item)),
        drops=(),
        environments=tuple(
            dataclasses.replace(item, pair_id=pair_id) for item in segments.segment(1).environments
        ),
        timings=(),
    )


def _make_method(
    chance: random.Random, of_pair: dict[str, Any], number: int, each: int
) -> MethodRow:
    change, cells = _KINDS[each % len(_KINDS)]
    name = f'test{each}'
    text = ' '.join(chance.choices(_WORDS, k=chance.randint(20, 80)))
    row = segments.method(1, name, change, cells)
    row = dataclasses.replace(row, test_file=f'src/test/java/ferry/Test{each // 5}.java')
    return dataclasses.replace(
        row,
        **of_pair,
        method_id=compute_method_id(of_pair['pair_id'], change, row),
        new_source=f'void {name}() {{ {text} }}',
        old_source=f'void {name}() {{ {text[50:]} }}' if row.old_source else None,
        mutation=None,
    )


def _date_rows(rows: Rows) -> Iterator[MethodRow]:
    dates = {pair.pair_id: pair.new_committer_date for pair in rows.pairs}
    for row in rows.methods:
        yield dataclasses.replace(
            row, contamination_date=dates[row.pair_id], contamination_basis='with_pulls'
        )


def release(folder: Path) -> None:
    """Release the store."""
    plan = ReleasePlan(
        snapshot=folder / 'snapshot',
        date=_date_rows,
        build=snapshots.build_families,
        licence=snapshots.licence,
        size=snapshots.size,
        families=snapshots.families,
        month='2026-11',
    )
    print(release_snapshot(Store(folder / 'store'), plan).sentence, file=sys.stderr)


def ask(folder: Path) -> None:
    """Print the ratio of `clean` to a scan by hand, paired; then shares of bytes over HTTP."""
    snapshot, query = (
        folder / 'snapshot',
        'SELECT track, language, count(*), max(length(new_source))',
    )
    by_hand = f"""{query} FROM read_parquet('{snapshot}/data/methods/*.parquet')
        WHERE contamination_date >= TIMESTAMPTZ '2025-07-01 00:00:00Z' GROUP BY ALL ORDER BY ALL"""
    by_macro = f"{query} FROM clean('2025-06') GROUP BY ALL ORDER BY ALL"
    plain, ours = duckdb.connect(), coevo.open(snapshot)
    plain.execute("SET TimeZone = 'UTC'")
    assert plain.execute(by_hand).fetchall() == ours.execute(by_macro).fetchall()
    ratios = sorted(
        _measure_cpu(partial(_fetch, ours, by_macro))
        / _measure_cpu(partial(_fetch, plain, by_hand))
        for _ in range(15)
    )
    print(
        f'clean against a scan by hand: median {ratios[7]:.2f}, {ratios[0]:.2f}..{ratios[-1]:.2f}'
    )
    _ask_over_http(snapshot)


def _ask_over_http(snapshot: Path) -> None:
    size = sum(file.stat().st_size for file in (snapshot / 'data' / 'methods').iterdir())
    questions = {
        'count by label': 'SELECT label, count(*) FROM methods GROUP BY ALL',
        'updates of a month, with texts': """SELECT old_source, new_source FROM clean('2026-02')
            WHERE track = 'update'""",
        'one repository, updates': """SELECT new_source FROM methods
            WHERE repo = 'example/r007' AND track = 'update'""",
    }
    with closing(Site(snapshot)) as site:
        for name, sql in questions.items():
            with closing(coevo.open(site.url)) as connection:
                site.bytes = 0
                site.asked.clear()
                rows = len(connection.execute(sql).fetchall())
            share = 100 * site.bytes / size
            print(f'{name}: {rows} rows, {share:.1f} % of {size} bytes, {len(site.asked)} requests')


def _fetch(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    connection.execute(sql).fetchall()


def _measure_cpu(call: partial[None]) -> float:
    before = time.process_time()
    call()
    return time.process_time() - before


def _run_alone(part: str, *words: str) -> None:
    """Run a part in a process of its own; print its CPU seconds and its peak of memory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, '-m', 'benchmarks.large_snapshot', part, *words]
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        json.dumps({'part': part, 'cpu_seconds': round(seconds), 'peak_mib': after.ru_maxrss >> 10})
    )


def main() -> None:
    match sys.argv[1:]:
        case ['write', count, folder]:
            _run_alone('store', count, folder)
            _run_alone('release', folder)
        case ['store', count, folder]:
            write_store(int(count), Path(folder))
        case ['release', folder]:
            release(Path(folder))
        case ['ask', folder]:
            ask(Path(folder))
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main()
