"""The dates of a snapshot's tasks, found anew in clones: the date it has, the date by today's rule, the commit.

    python -m benchmarks.redated SNAPSHOT CLONES [--since 2026-01-01]

CLONES holds a folder `OWNER+NAME/repo` or `OWNER+NAME.git` for each repository of a task (`docs/contamination.md`
has the rule). A body is searched for in the clone of its own repository and in all the others.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from coevo.git.repository import Repository
from coevo.languages.table import name_parser_version
from coevo.model import codec
from coevo.model.families import Family
from coevo.model.method_rows import MethodRow
from coevo.model.task_rows import TaskRow
from coevo.storage import dates
from coevo.storage.store import Store
from miners.dates.clone_search import SearchedClone
from miners.dates.dating import load_wanted_prints, search_for_store, update_wanted_bodies
from miners.discovery.crawls import list_refs
from packagers.dating import DateJoin, find_earliest


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('snapshot', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument(
        '--since', type=datetime.fromisoformat, default=datetime(2026, 1, 1, tzinfo=UTC)
    )
    asked = parser.parse_args(arguments)
    tasks = [
        task
        for task in _read(asked.snapshot, 'tasks', TaskRow)
        if task.family == Family.COEVOLUTION
    ]
    named = {id_ for task in tasks for id_ in task.method_ids}
    methods = [row for row in _read(asked.snapshot, 'methods', MethodRow) if row.method_id in named]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        clones = {repo: _clone(asked.clones, repo) for repo in sorted({t.repo for t in tasks})}
        _search(store, methods, clones)
        dated = list(DateJoin(store.storage, clones).date_methods(methods))
        _print(tasks, dated, _deciders(store, clones, dated), asked.since.astimezone(UTC))
    return 0


def _read(snapshot: Path, table: str, record: type) -> list:  # type: ignore[type-arg]
    return list(codec.decode_table(record, pq.read_table(snapshot / 'data' / table)))


def _clone(folder: Path, repo: str) -> SearchedClone:
    name = repo.replace('/', '+')
    places = (folder / name / 'repo', folder / f'{name}.git')
    repository = Repository(next(place for place in places if place.is_dir()))
    now = datetime.now(tz=UTC)
    return SearchedClone(repository=repository, crawled_at=now, refs=list_refs(repository))


def _search(
    store: Store, methods: Sequence[MethodRow], clones: Mapping[str, SearchedClone]
) -> None:
    by_place = defaultdict[tuple[str, str], list[MethodRow]](list)
    for row in methods:
        by_place[row.repo, row.language].append(row)
    for (repo, language), rows in by_place.items():
        update_wanted_bodies(store, repo, language, clones[repo], rows)
    wanted = load_wanted_prints(store)
    for repo, clone in clones.items():
        begun = time.process_time()
        search_for_store(store, repo, clone, wanted)
        print(f'{repo}: {time.process_time() - begun:.1f} CPU s', file=sys.stderr, flush=True)


def _deciders(
    store: Store, clones: Mapping[str, SearchedClone], rows: Sequence[MethodRow]
) -> dict[str, str]:
    """By method_id, the clone and the commit of the earliest body."""
    found: dict[str, str] = {}
    for row in rows:
        version = name_parser_version(row.language)
        wanted = dates.load_wanted_bodies(store.storage, row.repo, row.language, version)
        assert wanted is not None
        own = {each.key: each for each in wanted.rows}[dates.compute_method_key(row)]
        seen = [
            (each.moment or datetime.min.replace(tzinfo=UTC), repo, each)
            for repo in clones
            if (held := dates.load_seen_bodies(store.storage, repo, row.language, version))
            for each in held.seen
            if each.body in own.test
        ]
        _, repo, first = min(seen, key=lambda each: each[:2])
        why = f' ({first.no_date})' if first.no_date else ''
        found[row.method_id] = f'{repo} {first.rev[:10]}{why}'
    return found


def _print(
    tasks: Sequence[TaskRow],
    dated: Sequence[MethodRow],
    deciders: Mapping[str, str],
    since: datetime,
) -> None:
    by_id = {row.method_id: row for row in dated}
    new_dates: list[datetime | None] = []
    for task in sorted(tasks, key=lambda each: (each.repo, each.task_id)):
        rows = [by_id[id_] for id_ in task.method_ids]
        new = find_earliest(row.contamination_date for row in rows)
        first = min(rows, key=lambda row: str(row.contamination_date or ''))
        new_dates.append(new)
        shown = (_day(task.contamination_date), _day(new), deciders[first.method_id])
        print(task.task_id, task.repo, task.language, *shown)
    old_dates = [task.contamination_date for task in tasks]
    clean = [sum(d is not None and d >= since for d in each) for each in (old_dates, new_dates)]
    print(f'{len(tasks)} tasks; public since {since:%Y-%m-%d} at the earliest: {clean[0]} by the')
    print(f"dates of the snapshot, {clean[1]} by today's rule")


def _day(date: datetime | None) -> str:
    return f'{date:%Y-%m-%d}' if date else 'unknown'


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
