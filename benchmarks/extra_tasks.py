"""What a store has beyond the published tasks, of the same repositories and revisions.

    python -m benchmarks.extra_tasks STORE GOLD.jsonl CLONES [--also STORE ...]

A task is all test methods of one track in one test file of one pair. Tracks are those of the row
(`track`), so what lost its track for its cause is not counted. A pair is published if both its Java
states are the ends of a published one. Walks repeat each other: no sum over them makes sense.
`edits` counts a change of the same test from the same to the same text once, in whichever pairs.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from benchmarks.published import State
from benchmarks.published import States
from benchmarks.published import open_clone
from benchmarks.stores import segments
from coevo.model.method_rows import MethodRow
from coevo.model.records import Track
from coevo.model.records import Walk
from coevo.model.segment import Segment
from coevo.storage.store import Store

Ends = tuple[State, State]
Task = tuple[str, str, str]  # pair, test file, track
Method = tuple[str, str, str, str]  # and the test method's name


@dataclass(slots=True)
class Count:
    """What one walk has of one track: tasks, methods and edits."""

    tasks: set[Task] = field(default_factory=set)
    methods: set[Method] = field(default_factory=set)
    edits: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, row: MethodRow) -> None:
        task = row.pair_id, row.test_file, str(row.track)
        self.tasks.add(task)
        self.methods.add((*task, row.method_id))
        place = row.repo, row.test_file, row.test_class, row.test_method, row.parameters
        self.edits.add((*place, row.track, row.old_source, row.new_source))

    def __str__(self) -> str:
        return f'{len(self.tasks)} / {len(self.methods)} / {len(self.edits)}'


@dataclass(slots=True)
class Counts:
    """Of methods that are published, of others at published pairs, and of those at other pairs."""

    published: Count = field(default_factory=Count)
    same_pair: Count = field(default_factory=Count)
    other_pair: Count = field(default_factory=Count)


class List:
    """The published pairs and methods of one repository, by Java states; renamed files count."""

    def __init__(self, gold: Path, repo: str, states: States) -> None:
        self.pairs: set[Ends] = set()
        self.methods: set[tuple[Ends, str, str, str]] = set()
        for line in gold.read_text().splitlines():
            row = json.loads(line)
            if row['repo'] == repo:
                ends = states(row['rev1']), states(row['rev2'])
                track = row['track'].removeprefix('test_')
                self.pairs.add(ends)
                self.methods |= {
                    (ends, track, row['test_file'], method.rpartition('#')[2])
                    for method in row['test_methods']
                }


def counted(
    segment: Segment, states: States, published: List
) -> Iterator[tuple[Track, MethodRow, str]]:
    """The rows with a track, each with the name of the count that it belongs to."""
    ends = states.pair(segment.pair)
    for row in segment.methods:
        if row.track is None:
            continue
        if (ends, row.track, row.test_file, row.test_method) in published.methods:
            yield row.track, row, 'published'
        else:
            yield row.track, row, 'same_pair' if ends in published.pairs else 'other_pair'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('gold', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('--also', type=Path, action='append', default=[], metavar='STORE')
    arguments = parser.parse_args()
    stores = [Store(path) for path in (arguments.store, *arguments.also)]
    found: dict[tuple[Walk, Track], Counts] = defaultdict(Counts)
    pairs: Counter[Walk] = Counter()
    known: dict[str, tuple[States, List]] = {}
    for segment in segments(stores, tuple(Walk)):
        repo, walk = segment.pair.repo, segment.pair.walk
        if repo not in known:
            states = States(open_clone(arguments.clones, repo))
            known[repo] = states, List(arguments.gold, repo, states)
        pairs[walk] += 1
        for track, row, name in counted(segment, *known[repo]):
            count: Count = getattr(found[walk, track], name)
            count.add(row)
    print('Tasks / methods / edits.\n')
    print('| walk | pairs | track | published | others at published pairs | at other pairs |')
    print('| --- | --- | --- | --- | --- | --- |')
    for (walk, track), counts in sorted(found.items()):
        parts = counts.published, counts.same_pair, counts.other_pair
        print(f'| {walk} | {pairs[walk]} | {track} | {" | ".join(map(str, parts))} |')


if __name__ == '__main__':
    main()
