"""The funnel of a store by stage, unit and reason, and what a labelled method cost by step.

    python -m benchmarks.funnel STORE WALK [--also STORE ...] [--profile NAME]

Tables in Markdown, a column for each repository. Pairs that no store has were not mined: they are
diffed and filtered here, with the named profile (testevo), and what is to be run of them leaves the
funnel as `not_run`. CPU seconds are those of the sandboxed programs and of the thread that mined the
pair; what the cache had costs none.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mined import open_clone
from benchmarks.stores import segments as segments_of
from benchmarks.unmined import filtered
from coevo.engine.results import Step
from coevo.git.repository import Repository
from coevo.languages.java import language as java
from coevo.model.profiles import Profile, load_profile
from coevo.model.segment import Segment
from coevo.model.words import Stage, Walk
from coevo.storage.place import find_local_folder
from coevo.storage.store import Partition, Store, WalkRecord
from flows.funnel import build_funnel, count_labels
from flows.timings import DIFF, OWN, PARTS

STEPS = (*(step for step in Step if step not in PARTS), OWN)
NAMES = {
    OWN: 'our own thread',
    DIFF: 'diff, part of the thread',
    Step.TESTS: 'the tests themselves, part of the runs',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One repository's counts, by (stage, what) and by step."""

    repo: str
    pairs: int
    mined: int
    counts: Mapping[tuple[str, str], int]
    labels: Mapping[str, int]
    seconds: Mapping[str, float]
    labelled: int


def column(
    stores: Sequence[Store], record: WalkRecord, repository: Repository, profile: Profile
) -> Column:
    known = record.repository
    mined = list(segments_of(stores, (known.walk,), known.repo))
    of_walk = {pair_id for _, pair_id in record.pairs}
    mined = [segment for segment in mined if segment.pair.pair_id in of_walk]
    done = {segment.pair.pair_id for segment in mined}
    segments = [*mined, *filtered(repository, record, profile, done)]
    counts: dict[tuple[str, str], int] = {}
    for stage in build_funnel(record.drops, segments):
        counts[stage.stage, 'entered'] = stage.entered
        counts |= {(stage.stage, f'dropped: {reason}'): n for reason, n in stage.dropped}
        counts[stage.stage, 'kept'] = stage.kept_count
    return Column(
        repo=known.repo,
        pairs=len(segments),
        mined=len(mined),
        counts=counts,
        labels=dict(count_labels(segments)),
        seconds=_seconds(segments),
        labelled=sum(len(segment.methods) for segment in segments),
    )


def _seconds(segments: Iterable[Segment]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for segment in segments:
        for row in segment.timings:
            found[row.step] += row.cpu_seconds
    return found


def total(columns: Sequence[Column]) -> Column:
    counts: Counter[tuple[str, str]] = Counter()
    named: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    for one in columns:
        counts.update(one.counts)
        named.update(one.labels)
        for step, spent in one.seconds.items():
            seconds[step] += spent
    return Column(
        repo='all',
        pairs=sum(one.pairs for one in columns),
        mined=sum(one.mined for one in columns),
        counts=counts,
        labels=named,
        seconds=seconds,
        labelled=sum(one.labelled for one in columns),
    )


def funnel_rows(columns: Sequence[Column]) -> Iterator[list[str]]:
    *_, everything = columns
    for stage in Stage:
        reasons = [
            what
            for (of, what), _ in sorted(
                everything.counts.items(), key=lambda item: (-item[1], item[0])
            )
            if of == stage and what.startswith('dropped')
        ]
        if (stage, 'entered') in everything.counts:
            for what in ('entered', *reasons, 'kept'):
                yield [
                    stage,
                    stage.unit,
                    what,
                    *(str(one.counts.get((stage, what), 0)) for one in columns),
                ]


def label_rows(columns: Sequence[Column]) -> Iterator[list[str]]:
    *_, everything = columns
    for name in sorted(everything.labels, key=lambda name: -everything.labels[name]):
        yield [name, *(str(one.labels.get(name, 0)) for one in columns)]


def cost_rows(columns: Sequence[Column]) -> Iterator[list[str]]:
    for step in (*STEPS, *PARTS):
        if any(one.seconds.get(step) for one in columns):
            yield [
                NAMES.get(step, step),
                *(_per_method(one, one.seconds.get(step, 0.0)) for one in columns),
            ]
    sums = [sum(one.seconds.get(step, 0.0) for step in STEPS) for one in columns]
    yield ['**all**', *map(_per_method, columns, sums)]
    yield ['labelled methods', *(str(one.labelled) for one in columns)]
    yield ['CPU seconds', *(f'{seconds:.0f}' for seconds in sums)]


def _per_method(one: Column, seconds: float) -> str:
    return f'{seconds / one.labelled:.3f}' if one.labelled else '-'


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    print(f'| {" | ".join(head)} |\n|{" --- |" * len(head)}')
    for row in rows:
        print(f'| {" | ".join(row)} |')
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('walk', type=Walk)
    parser.add_argument('--also', type=Path, action='append', default=[], metavar='STORE')
    parser.add_argument('--profile', default='testevo')
    arguments = parser.parse_args()
    stores = [Store(path) for path in (arguments.store, *arguments.also)]
    profile = load_profile(arguments.profile)
    found = [
        column(stores, record, open_clone(path, record.repository.repo), profile)
        for record, path in _records(stores, arguments.walk)
    ]
    columns = [*found, total(found)]
    names = [one.repo.rpartition('/')[2] for one in columns]
    print(f'### Funnel, walk `{arguments.walk}`\n')
    print_table(('stage', 'unit', '', *names), funnel_rows(columns))
    print(f'### Labels, walk `{arguments.walk}`\n')
    print_table(('label', *names), label_rows(columns))
    print(f'### CPU seconds per labelled method, walk `{arguments.walk}`\n')
    print_table(('step', *names), cost_rows(columns))
    print_table(('', *names), [['pairs mined', *(f'{c.mined} of {c.pairs}' for c in columns)]])


def _records(stores: Sequence[Store], walk: Walk) -> Iterator[tuple[WalkRecord, Path]]:
    """The walk of each repository in the first store that has it, and where its clone lies."""
    first: dict[str, Store] = {}
    for store in stores:
        for partition in store.list_partitions():
            if partition.walk is walk:
                first.setdefault(partition.repo, store)
    for repo, store in sorted(first.items()):
        partition = Partition(repo=repo, language=java.NAME, walk=walk)
        yield store.load_walk(partition), find_local_folder(store.root)


if __name__ == '__main__':
    main()
