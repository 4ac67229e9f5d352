"""For every published test method that a store lacks under its track: exactly one cause.

    python -m benchmarks.explain_misses STORE GOLD.jsonl CLONES MISSES.csv [--faults FAULTS.csv] [--also STORE ...]

CLONES is a folder of clones named OWNER+NAME (or OWNER+NAME/repo), as for the scoring program.
Denominator 2 is asked of the walk `states`, 1 of `window` and `states`, whose pairs are its
neighbours, 3 of `parents`, as far as the stores hold them. FAULTS.csv holds published methods that were looked at by hand
(`benchmarks.injected`), with the evidence against them.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks import tables
from benchmarks.published import Published, State, States, open_clone, published
from benchmarks.stores import segments
from coevo.git.repository import Repository
from coevo.model.drops import Drop
from coevo.model.labels import CELL_ORDER
from coevo.model.method_rows import MethodRow
from coevo.model.records import Candidate, Commit, Pair, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import MethodChange, Walk
from coevo.storage.store import Store
from miners.diffs.changes import diff_pair

WALKS = {1: (Walk.WINDOW, Walk.STATES), 2: (Walk.STATES,), 3: (Walk.PARENTS,)}
KEY = ('repo', 'track', 'old_rev', 'new_rev', 'test_file', 'test_method')
SORTED = ('denominator', *KEY)
BUILT = 'built'
TRACKS = ('generation', 'update')

Share = tuple[int, str, str]
"""Denominator, repository, track."""


class Cause(StrEnum):
    NOT_ADJACENT = 'not_adjacent'
    PUBLISHED_LIST = 'fault_of_the_published_list'
    DOES_NOT_BUILD = 'does_not_build'
    DROPPED = 'dropped'
    LABELS_DIFFER = 'labels_differ'
    NOT_FOUND = 'not_found'


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    method: Published
    cause: Cause
    detail: str


class Mined:
    """What partitions say of their pairs, found by the Java states of their ends."""

    def __init__(
        self, stores: Sequence[Store], repo: str, walks: Collection[Walk], repository: Repository
    ) -> None:
        self._repository = repository
        self._states = States(repository)
        self._pairs: dict[tuple[State, State], list[Segment]] = defaultdict(list)
        self._candidates: dict[str, tuple[Candidate, ...]] = {}
        for segment in segments(stores, walks, repo):
            self._pairs[self._states.pair(segment.pair)].append(segment)
        self._ends = {end for pair in self._pairs for end in pair}

    def segments(self, method: Published) -> Sequence[Segment]:
        return self._pairs.get(self._states.pair(method), ())

    def absent(self, method: Published) -> str:
        """Which end of a pair the walk does not have."""
        ends = {'old': method.old_rev, 'new': method.new_rev}
        lost = [end for end, rev in ends.items() if self._states(rev) not in self._ends]
        return f'steps {method.steps}' + ''.join(f', {end} is not in the walk' for end in lost)

    def candidates(self, segment: Segment, method: Published) -> Iterator[tuple[str, Candidate]]:
        """Those of the published name, with their method ids."""
        row = segment.pair
        pair = Pair(
            repo=row.repo,
            language='java',
            walk=row.walk,
            old=self._commit(row.old_rev),
            new=self._commit(row.new_rev),
            old_is_ancestor=row.old_is_ancestor,
        )
        if row.pair_id not in self._candidates:
            self._candidates[row.pair_id] = diff_pair(self._repository, pair).candidates
        for item in self._candidates[row.pair_id]:
            if (item.method.test_file, item.method.test_method) == (
                method.test_file,
                method.test_method,
            ):
                yield compute_candidate_id(pair, item), item

    def _commit(self, rev: str) -> Commit:
        return self._repository.get_commit(rev)


def misses(
    mined: Mined, methods: Sequence[Published], faults: Mapping[tuple[str, ...], str]
) -> Iterator[Miss]:
    for method in methods:
        segments = mined.segments(method)
        if any(_is_found(row, method) for segment in segments for row in segment.methods):
            continue
        evidence = faults.get(key_of(method))
        if evidence is not None:
            cause, detail = Cause.PUBLISHED_LIST, evidence
        elif not segments:
            cause, detail = Cause.NOT_ADJACENT, mined.absent(method)
        else:
            cause, detail = _explain(mined, segments[0], method)
        yield Miss(method=method, cause=cause, detail=detail)


def key_of(method: Published) -> tuple[str, ...]:
    return tuple(str(getattr(method, name)) for name in KEY)


def _is_named(row: MethodRow, method: Published) -> bool:
    return (row.test_file, row.test_method) == (method.test_file, method.test_method)


def _is_found(row: MethodRow, method: Published) -> bool:
    return _is_named(row, method) and row.track_by_module == method.track


def _explain(mined: Mined, segment: Segment, method: Published) -> tuple[Cause, str]:
    """The first thing that stands in the way, in the order of the funnel."""
    drops = {drop.key: drop for drop in segment.drops}
    if (drop := drops.get(segment.pair.pair_id)) is not None:
        return Cause.DROPPED, _drop(drop)
    found = list(mined.candidates(segment, method))
    if not found:
        return Cause.NOT_FOUND, 'no candidate of that name'
    for _, candidate in found:
        if (stood := _stood_before(candidate, method)) is not None:
            return Cause.PUBLISHED_LIST, stood
    pair = segment.pair
    ends = (('old', pair.build_old), ('new', pair.build_new))
    broken = [f'{end}: {build}' for end, build in ends if build not in (None, BUILT)]
    if broken:
        return Cause.DOES_NOT_BUILD, ', '.join(broken)
    for id_, _ in found:
        for row in segment.methods:
            if row.method_id == id_:
                return Cause.LABELS_DIFFER, _cells(row)
        if id_ in drops:
            return Cause.DROPPED, _drop(drops[id_])
    return Cause.NOT_FOUND, 'neither a row nor a drop'


def _stood_before(candidate: Candidate, method: Published) -> str | None:
    """Where a test that is published as new stood at old."""
    if method.track != 'generation' or candidate.old is None:
        return None
    if candidate.change is MethodChange.CONTEXT_CHANGED:
        return None
    edited = (
        'with an equal body' if candidate.change is MethodChange.UNCHANGED else 'renamed, edited'
    )
    return f'no new test: at old {candidate.old.test_file}#{candidate.old.test_method}, {edited}'


def _drop(drop: Drop) -> str:
    return ': '.join(filter(None, (drop.stage, drop.reason, drop.detail)))


def _cells(row: MethodRow) -> str:
    cells = [
        f'{cell}={getattr(row, cell)}/{getattr(row, f"{cell}_unit")}'
        for cell in CELL_ORDER
        if getattr(row, cell) is not None
    ]
    return f'{row.change}, {row.label_by_module}: {" ".join(cells)}'


def _asked(stores: Sequence[Store]) -> Iterator[tuple[int, str]]:
    """Each denominator with each repository that was mined under one of its walks."""
    partitions = {partition for store in stores for partition in store.list_partitions()}
    for number, walks in WALKS.items():
        for repo in sorted({p.repo for p in partitions if p.walk in walks}):
            yield number, repo


def _row(number: int, miss: Miss) -> dict[str, object]:
    key = zip(KEY, key_of(miss.method), strict=True)
    return {'denominator': number, **dict(key), 'cause': miss.cause, 'detail': miss.detail}


def _faults(path: Path | None) -> dict[tuple[str, ...], str]:
    rows = tables.read(path) if path else []
    return {tuple(row[name] for name in KEY): row['evidence'] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('gold', type=Path)
    parser.add_argument('clones', type=Path)
    parser.add_argument('misses', type=Path)
    parser.add_argument('--faults', type=Path)
    parser.add_argument('--also', type=Path, action='append', default=[], metavar='STORE')
    arguments = parser.parse_args()
    stores = [Store(path) for path in (arguments.store, *arguments.also)]
    faults = _faults(arguments.faults)
    everything = list(published(arguments.gold))
    found: dict[Share, list[Miss]] = {}
    asked: Counter[Share] = Counter()
    for number, repo in _asked(stores):
        methods = [m for m in everything if m.repo == repo and number in m.denominators]
        mined = Mined(stores, repo, WALKS[number], open_clone(arguments.clones, repo))
        missed = list(misses(mined, methods, faults))
        for track in TRACKS:
            share = number, repo, track
            asked[share] = sum(method.track == track for method in methods)
            found[share] = [miss for miss in missed if miss.method.track == track]
    rows = [_row(share[0], miss) for share, group in found.items() for miss in group]
    tables.write(
        arguments.misses, sorted(rows, key=lambda row: [str(row[name]) for name in SORTED])
    )
    print_recall(asked, found)


def print_recall(asked: Mapping[Share, int], found: Mapping[Share, Sequence[Miss]]) -> None:
    """By denominator and track: raw, the mean over repositories, and what the misses are."""
    head = (
        *('denominator', 'track', 'found', 'recall', 'mean over repositories'),
        *("without the list's faults", 'missed, by cause'),
    )
    print(f'| {" | ".join(head)} |\n|{" --- |" * len(head)}')
    for number in WALKS:
        for tracks in (*((track,) for track in TRACKS), TRACKS):
            shares = [s for s in asked if s[0] == number and s[2] in tracks]
            if not any(asked[share] for share in shares):
                continue
            of = sum(asked[share] for share in shares)
            causes = Counter(miss.cause for share in shares for miss in found[share])
            here = of - causes.total()
            name = tracks[0] if len(tracks) == 1 else 'all'
            print(
                f'| {number} | {name} | {here} of {of} | {_percent(here, of)} '
                f'| {_percent(*_mean(shares, asked, found))} '
                f'| {_percent(here, of - causes[Cause.PUBLISHED_LIST])} '
                f'| {", ".join(f"{cause}: {n}" for cause, n in causes.most_common())} |'
            )


def _mean(
    shares: Sequence[Share], asked: Mapping[Share, int], found: Mapping[Share, Sequence[Miss]]
) -> tuple[float, float]:
    """The sum of the repositories' recalls, and of how many repositories."""
    recalls = []
    for repo in sorted({repo for _, repo, _ in shares}):
        own = [share for share in shares if share[1] == repo]
        of = sum(asked[share] for share in own)
        if of:
            recalls.append(1 - sum(len(found[share]) for share in own) / of)
    return sum(recalls), len(recalls)


def _percent(part: float, whole: float) -> str:
    return f'{100 * part / whole:.1f} %'


if __name__ == '__main__':
    main()
