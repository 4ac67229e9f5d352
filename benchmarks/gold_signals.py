"""What mutants and reversals say of the gold tests of a store, and what they cost.

    python -m benchmarks.gold_signals STORE OUT.csv [--pairs N] [--methods N] [--runs N]

Of each repository a few pairs with tracks are drawn by their ids, and a few methods of each. One row
for each method; CPU seconds are those of its pair, shared equally. Pairs that OUT.csv has are not
measured again. In the end it prints OUT.csv as a table.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.mined import open_clone
from benchmarks.mined import pair_of
from benchmarks.mined import partitions
from benchmarks.tables import Row
from benchmarks.tables import append
from benchmarks.tables import read
from coevo.git.repository import Repository
from coevo.languages.java.maven.builder import JavaBuilder
from coevo.languages.java.maven.builds_by_jdk import BuildsByJdk
from coevo.languages.java.maven.run_context import JavaRunContext
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Mutation
from coevo.model.quality import ReversalStatus
from coevo.model.records import TestMethod
from coevo.model.segment import Segment
from coevo.storage.store import Store

_COUNTS = tuple(Mutation.__dataclass_fields__)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('out', type=Path)
    parser.add_argument('--pairs', type=int, default=3)
    parser.add_argument('--methods', type=int, default=3)
    parser.add_argument('--runs', type=int, default=500, help='of mutants, and of reversals')
    arguments = parser.parse_args()
    known = {row['pair_id'] for row in read(arguments.out)}
    for partition in partitions(arguments.store):
        segments = Store(arguments.store).segments(partition)
        drawn = _drawn(segments, arguments.pairs)
        todo = [one for one in drawn if one.pair.pair_id not in known]
        if todo:
            repository = open_clone(arguments.store, partition.repo)
            for segment in todo:
                rows = _measure(repository, segment, arguments.methods, arguments.runs)
                append(arguments.out, rows)
    print(_table(read(arguments.out)))


def _drawn(segments: Iterator[Segment], count: int) -> list[Segment]:
    """The pairs of lowest id, which is a hash, among those that have methods to measure."""
    found = [segment for segment in segments if _tracked(segment)]
    return sorted(found, key=lambda one: one.pair.pair_id)[:count]


def _tracked(segment: Segment) -> list[MethodRow]:
    rows = [row for row in segment.methods if row.track and row.dependencies]
    return sorted(rows, key=lambda row: row.method_id)


def _measure(
    repository: Repository, segment: Segment, methods: int, runs: int
) -> list[dict[str, object]]:
    chosen = _tracked(segment)[:methods]
    tests = [_gold(row) for row in chosen]
    with ExitStack() as stack:
        builder = JavaBuilder(
            BuildsByJdk(JavaRunContext(repository, sandbox='bubblewrap', stack=stack))
        )
        stack.callback(builder.close)
        pair = pair_of(repository, segment.pair)
        built = builder.build(pair)
        if built.new.failure is not None:
            return []
        runner = EditedCellRunner(built=built, repository=repository)
        mutants = measure_mutants(runner, tests, runs)
        for_mutants, runner.cpu_seconds = runner.cpu_seconds, 0.0
        reversals = measure_reversals(runner, tests, runs)
    return [
        {
            'repo': row.repo,
            'pair_id': row.pair_id,
            'method_id': row.method_id,
            'track': row.track,
            **_counted(mutants.mutations[row.method_id]),
            **_statuses(one.status for one in reversals if one.method_id == row.method_id),
            'mutants_cpu_seconds': f'{for_mutants / len(chosen):.1f}',
            'reversals_cpu_seconds': f'{runner.cpu_seconds / len(chosen):.1f}',
        }
        for row in chosen
    ]


def _gold(row: MethodRow) -> GoldTest:
    return GoldTest(
        method_id=row.method_id,
        method=TestMethod(
            module=row.module,
            test_file=row.test_file,
            test_class=row.test_class,
            test_method=row.test_method,
            parameters=row.parameters,
        ),
        dependencies=row.dependencies,
    )


def _counted(mutation: Mutation | None) -> dict[str, object]:
    return {name: getattr(mutation, name, None) for name in _COUNTS}


def _statuses(found: Iterator[ReversalStatus]) -> dict[str, int]:
    counts = Counter(found)
    return {f'reversals_{status}': counts[status] for status in ReversalStatus}


# -- the table -----------------------------------------------------------------------------------


def _table(rows: Sequence[Row]) -> str:
    head = ('repo', 'methods', 'with mutants', *_COUNTS, *ReversalStatus, 'CPU s per method')
    lines = ['| ' + ' | '.join(head) + ' |', '| ' + ' | '.join('---' for _ in head) + ' |']
    for repo in (*sorted({row['repo'] for row in rows}), 'all'):
        lines.append(_line(repo, [row for row in rows if repo in (row['repo'], 'all')]))
    return '\n'.join(lines)


def _line(repo: str, rows: Sequence[Row]) -> str:
    columns = [*_COUNTS, *(f'reversals_{status}' for status in ReversalStatus)]
    seconds = [
        float(row['mutants_cpu_seconds']) + float(row['reversals_cpu_seconds']) for row in rows
    ]
    cells = [
        repo,
        len(rows),
        sum(int(row['count'] or 0) > 0 for row in rows),
        *(sum(int(row[name] or 0) for row in rows) for name in columns),
        f'{sum(seconds) / max(1, len(rows)):.1f}',
    ]
    return '| ' + ' | '.join(map(str, cells)) + ' |'


if __name__ == '__main__':
    main()
