"""What became of the pairs of mined stores, as one long table: funnel, reasons, labels, outcomes, CPU seconds.

    python -m benchmarks.shapes OUT.csv END=STORE ...

A row is a repository, an end of its history (`new`, `old`) or another word for a store, what is counted, and the count. Drops of the label stage
have their detail up to the first colon or `@`, since what follows names things of the repository.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.tables import Row, write
from coevo.model.segment import Segment
from coevo.model.words import Stage
from coevo.storage.store import Partition, Store
from flows.funnel import build_funnel, count_labels
from flows.timings import select_disjoint_timings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    parser.add_argument('stores', nargs='+', metavar='END=STORE')
    arguments = parser.parse_args()
    rows: list[Row] = []
    for word in arguments.stores:
        end, _, folder = word.partition('=')
        store = Store(Path(folder))
        for partition in store.list_partitions():
            rows += [
                {'repo': partition.repo, 'end': end, **row} for row in _counted(store, partition)
            ]
    write(arguments.out, rows)


def _counted(store: Store, partition: Partition) -> Iterator[Row]:
    segments = list(store.load_segments(partition))
    for step in build_funnel(store.load_walk(partition).drops, segments):
        yield _row(f'{step.stage} entered', '', step.entered)
        yield _row(f'{step.stage} kept', '', step.kept_count)
        for reason, count in step.dropped:
            yield _row(f'{step.stage} dropped', reason, count)
    yield from (_row('label', name, count) for name, count in count_labels(segments))
    executed = [one for one in segments if one.cells or _is_tried(one)]
    yield _row('pairs executed', '', len(executed))
    for name, count in sorted(_details(segments).items()):
        yield _row('label dropped, detail', name, count)
    yield from (_row('build', name, count) for name, count in sorted(_builds(executed).items()))
    outcomes = Counter(f'{cell.cell} {cell.outcome}' for one in segments for cell in one.cells)
    yield from (_row('runs', name, count) for name, count in sorted(outcomes.items()))
    seconds = sum(
        row.cpu_seconds for one in executed for row in select_disjoint_timings(one.timings)
    )
    yield _row('CPU seconds', '', round(seconds, 1))
    if executed:
        yield _row('CPU seconds, an executed pair', '', round(seconds / len(executed), 1))


def _is_tried(segment: Segment) -> bool:
    return any(drop.stage is Stage.LABEL for drop in segment.drops)


def _details(segments: list[Segment]) -> Counter[str]:
    drops = (drop for one in segments for drop in one.drops if drop.stage is Stage.LABEL)
    return Counter(f'{drop.reason} {_kind(drop.detail or "")}'.strip() for drop in drops)


def _kind(detail: str) -> str:
    return re.split('[:@]', detail)[0]


def _builds(segments: list[Segment]) -> Counter[str]:
    ends = ((one.pair.build_old, one.pair.build_new) for one in segments)
    return Counter(_kind(build or 'none') for pair in ends for build in pair)


def _row(what: str, name: str, count: float) -> Row:
    return {'what': what, 'name': name, 'count': str(count)}


if __name__ == '__main__':
    main()
