"""What deciding a pair of Go costs: CPU seconds of the engine, and of plain `go test`, on the same cells and methods.

    python -m benchmarks.go_cost run STORE RESULTS.csv [--repo OWNER/NAME] [--pairs 5] [--seed N] [--profile quick]
    python -m benchmarks.go_cost sum RESULTS.csv

Pairs of a mined store are drawn by seed. The engine's seconds are those that its store has of them: builds, compiling, and
three runs of each test in each cell. Plain is `go test -run ^NAME$`, once for each cell and method, after one
`go test -run ^$` for each tree, whose seconds stand apart: it compiles what of the standard library the engine has at hand.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.mined import MinedCell, mined_cells, open_clone, pair_of, partitions
from benchmarks.oracles.cell import Place
from benchmarks.oracles.go_cell import GoBench
from benchmarks.tables import Row, append, read
from coevo.engine.results import Step
from coevo.languages.golang.language import NAME as GO
from coevo.storage.store import Partition, Store

DECIDING = (
    *(Step.BUILD, Step.COMPILE, Step.RUN_GIVEN, Step.RUN_REVERSED, Step.RUN_ALONE),
    *(Step.RUN_REPEATED, Step.RUN_FOR_CAUSE),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser('run')
    verb.add_argument('store', type=Path)
    verb.add_argument('results', type=Path)
    verb.add_argument('--repo')
    verb.add_argument('--pairs', type=int, default=5)
    verb.add_argument('--seed', type=int, default=1)
    verb.add_argument('--profile', default='quick')
    verb.set_defaults(do=_run)
    verb = verbs.add_parser('sum')
    verb.add_argument('results', type=Path)
    verb.set_defaults(do=lambda arguments: print('\n'.join(summary(read(arguments.results)))))
    arguments = parser.parse_args()
    arguments.do(arguments)


def _run(arguments: argparse.Namespace) -> None:
    known = {row['pair'] for row in read(arguments.results)}
    with ExitStack() as stack:
        bench = GoBench(stack)
        for partition in partitions(arguments.store):
            if partition.language != GO or arguments.repo not in (None, partition.repo):
                continue
            cells = _by_pair(mined_cells(arguments.store, partition, arguments.profile))
            costs = _costs(arguments.store, partition)
            chance = random.Random(f'{arguments.seed} {partition.repo}')
            drawn = chance.sample(sorted(cells), min(arguments.pairs, len(cells)))
            for pair_id in drawn:
                if pair_id not in known:
                    row = _row(bench, arguments.store, cells[pair_id], costs[pair_id])
                    print(row, flush=True)
                    append(arguments.results, [row])


def _by_pair(cells: Iterator[MinedCell]) -> dict[str, list[MinedCell]]:
    found: dict[str, list[MinedCell]] = {}
    for one in cells:
        found.setdefault(one.pair.pair_id, []).append(one)
    return found


def _costs(store: Path, partition: Partition) -> dict[str, float]:
    return {
        segment.pair.pair_id: sum(
            one.cpu_seconds for one in segment.timings if one.step in DECIDING
        )
        for segment in Store(store).load_segments(partition)
    }


def _row(
    bench: GoBench, store: Path, cells: Sequence[MinedCell], engine: float
) -> dict[str, object]:
    row = cells[0].pair
    clone = open_clone(store, row.repo)
    by_place: dict[Place, list[MinedCell]] = {}
    for one in cells:
        by_place.setdefault(one.place, []).append(one)
    answers = [
        bench.run(clone, pair_of(clone, row), place, [one.method for one in there])
        for place, there in by_place.items()
    ]
    plain = sum(ruling.seconds for answer in answers for ruling in answer.rulings)
    return {
        'repo': row.repo,
        'pair': row.pair_id,
        'trees': len(by_place),
        'cells': len(cells),
        'engine': f'{engine:.2f}',
        'plain': f'{plain:.2f}',
        'first_of_trees': f'{sum(one.build_seconds for one in answers):.2f}',
    }


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """Medians over pairs, by repository and of all."""
    yield '| repository | pairs | cells | engine | plain | per cell: engine | plain | plain / engine |'
    yield '| --- | --- | --- | --- | --- | --- | --- | --- |'
    for repo in (*sorted({row['repo'] for row in rows}), ''):
        own = [row for row in rows if repo in ('', row['repo'])]
        engine, plain, cells = (
            sum(float(row[name]) for row in own) for name in ('engine', 'plain', 'cells')
        )
        ratio = statistics.median(float(row['plain']) / float(row['engine']) for row in own)
        yield (
            f'| {repo or "all"} | {len(own)} | {cells:.0f} | {engine:.1f} | {plain:.1f} '
            f'| {engine / cells:.3f} | {plain / cells:.3f} | {ratio:.1f} |'
        )


if __name__ == '__main__':
    main()
