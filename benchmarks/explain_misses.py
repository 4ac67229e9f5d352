"""For every published test method that a snapshot lacks under its track: what became of it.

    python benchmarks/explain_misses.py SNAPSHOT GOLD.jsonl CLONES [--denominator 1|2|3]

CLONES is a folder of clones named OWNER+NAME (or OWNER+NAME/repo), as for the scoring program.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coevo
from coevo.git import Repository

Row = dict[str, Any]


def java_state(repository: Repository, rev: str) -> tuple[tuple[str, str], ...]:
    """The Java files of a revision, by path and content."""
    tree = repository.tree(rev)
    return tuple((path, tree[path].oid) for path in sorted(tree) if path.endswith('.java'))


def published(gold: Path, denominator: int, repos: set[str]) -> Iterator[Row]:
    """One row for each published method of a test file that kept its path."""
    for line in gold.read_text().splitlines():
        row = json.loads(line)
        counted = {1: True, 2: row['java_state_steps'] == 1}
        counted[3] = bool(row['first_parent_edge_same_java'])
        if row['repo'] in repos and counted[denominator] and not row['test_file_renamed_from']:
            for method in row['test_methods']:
                yield {**row, 'method': method.rpartition('#')[2]}


def rows_of(connection: Any, sql: str) -> list[Row]:
    return list(connection.execute(sql).to_arrow_table().to_pylist())


def explain(row: Row, pairs: dict[Any, str], methods: list[Row]) -> str | None:
    """None where it is there; else the pair, the method's labels and cells, or its absence."""
    pair_id = pairs.get((row['old_state'], row['new_state']))
    if pair_id is None:
        return 'pair not adjacent in this walk'
    own = [m for m in methods if m['pair_id'] == pair_id and m['test_method'] == row['method']]
    track = row['track'].removeprefix('test_')
    if any(m['track_by_module'] == track for m in own):
        return None
    if not own:
        return 'not a row: dropped or no candidate'
    found = own[0]
    cells = ' '.join(
        f'{cell}={found[cell]}/{found[cell + "_unit"]}'
        for cell in ('told_cold', 'tnew_cnew', 'told_cnew', 'tnew_cold')
        if found[cell]
    )
    return f'change {found["change"]}, by module {found["label_by_module"]}: {cells}'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('snapshot', type=Path)
    parser.add_argument('gold', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('--denominator', type=int, choices=(1, 2, 3), default=2)
    arguments = parser.parse_args()
    connection = coevo.open(arguments.snapshot)
    mined = rows_of(connection, 'SELECT repo, pair_id, old_rev, new_rev FROM pairs')
    methods = rows_of(connection, 'SELECT * FROM methods')
    reasons = {
        row['key']: f'{row["reason"]} {row["detail"]}'.strip()
        for row in rows_of(connection, 'SELECT key, reason, detail FROM drops')
    }
    totals: Counter[str] = Counter()
    for repo in sorted({row['repo'] for row in mined}):
        folder = arguments.clones / repo.replace('/', '+')
        repository = Repository(folder / 'repo' if (folder / 'repo').is_dir() else folder)
        pairs = {
            (java_state(repository, row['old_rev']), java_state(repository, row['new_rev'])): row[
                'pair_id'
            ]
            for row in mined
            if row['repo'] == repo
        }
        for row in published(arguments.gold, arguments.denominator, {repo}):
            row['old_state'] = java_state(repository, row['rev1'])
            row['new_state'] = java_state(repository, row['rev2'])
            why = explain(row, pairs, methods)
            totals[f'{repo} {"found" if why is None else "missed"}'] += 1
            if why is not None:
                pair = pairs.get((row['old_state'], row['new_state']), '')
                dropped = reasons.get(pair, '')
                print(f'{repo} {row["track"]} {row["rev1"][:8]}..{row["rev2"][:8]}', end=' ')
                print(f'{row["method"]} (pair {pair}): {why} {dropped}'.rstrip())
    for name, count in sorted(totals.items()):
        print(f'{count:5} {name}')


if __name__ == '__main__':
    main()
