"""Which pairs of mined stores are built with the interpreters that a machine has: none of their tests is run.

    COEVO_PYTHONS=3.11 python -m benchmarks.python_builds OUT.csv CLONES STORE ... [--most 8] [--seed 1]

CLONES has a folder OWNER+NAME/repo for each repository. Of the pairs of each that were executed, in whichever store, some are
drawn by seed. A row is a pair: what `$COEVO_PYTHONS` was, the interpreter, and of both ends `built` or the reason.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import closing
from pathlib import Path

from benchmarks.tables import Row
from benchmarks.tables import append
from coevo.git.repository import Repository
from coevo.languages.builds import Build
from coevo.languages.engine import RunSettings
from coevo.languages.python import language
from coevo.model.pair_rows import PairRow
from coevo.model.records import Pair
from coevo.storage.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('stores', type=Path, nargs='+')
    parser.add_argument('--most', type=int, default=8)
    parser.add_argument('--seed', type=int, default=1)
    arguments = parser.parse_args()
    for repo, rows in sorted(_executed(arguments.stores).items()):
        chosen = random.Random(arguments.seed).sample(rows, min(arguments.most, len(rows)))
        clone = arguments.clones / repo.replace('/', '+') / 'repo'
        for row in _built(Repository(clone), chosen):
            append(arguments.out, [row])
            print(row, flush=True)


def _executed(folders: list[Path]) -> dict[str, list[PairRow]]:
    """Pairs with a build, by repository, in a fixed order."""
    found: dict[str, dict[str, PairRow]] = {}
    for folder in folders:
        store = Store(folder)
        for partition in store.partitions():
            for segment in store.segments(partition):
                if segment.pair.build_old is not None:
                    pairs = found.setdefault(partition.repo, {})
                    pairs[segment.pair.pair_id] = segment.pair
    return {repo: [rows[key] for key in sorted(rows)] for repo, rows in found.items()}


def _built(repository: Repository, rows: list[PairRow]) -> Iterator[Row]:
    with ExitStack() as stack:
        settings = RunSettings(repository=repository, sandbox='bubblewrap')
        builder = stack.enter_context(closing(language.engine(settings, stack).builder()))
        for row in rows:
            pair = Pair(
                repo=row.repo,
                language=language.NAME,
                walk=row.walk,
                old=repository.commit(row.old_rev),
                new=repository.commit(row.new_rev),
                old_is_ancestor=row.old_is_ancestor,
            )
            built = builder.build(pair)
            yield {
                'pythons': os.environ.get('COEVO_PYTHONS', 'all'),
                'repo': row.repo,
                'new': row.new_rev[:12],
                'day': str(row.new_committer_date)[:10],
                'runtime': built.new.runtime or built.old.runtime,
                'old': _said(built.old),
                'new_end': _said(built.new),
                'before': f'{row.build_old} {row.build_new}',
            }


def _said(build: Build) -> str:
    lacking = f'runtime_missing {build.runtime_lacking}' if build.runtime_lacking else None
    return lacking or build.summary


if __name__ == '__main__':
    main()
