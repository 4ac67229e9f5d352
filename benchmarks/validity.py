"""Do labels and drops hold? Rows of a store, drawn by seed, asked again of oracle A.

    python -m benchmarks.validity draw STORE RESULTS.csv [--seconds N]
    python -m benchmarks.validity sum RESULTS.csv

Of each label 50 rows, at most 10 of a repository and 5 of a pair; of each of the five commonest
reasons of the stages filter, label and track 100 drops, at most 25 of a repository and 10 of a pair.
Labels are drawn where the two compile verdicts agree in all deciding cells, since Maven knows one
only. The deciding cells of a row are run, once, in a tree for each cell; the label is what the
label table makes of them. `draw` resumes, and stops after N CPU seconds of the oracle. What has been
asked counts, of other stores, too: draw of one after the other until all quotas are met.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks import tables
from benchmarks.mined import open_clone, pair_of
from benchmarks.oracles.cell import Bench, Flags, Oracle, Place, Target
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.model.drops import Drop
from coevo.model.errors import Transient
from coevo.model.labels import TRACKS, decide_label, list_deciding_cells
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.records import Candidate, TestMethod, compute_candidate_id
from coevo.model.segment import Segment
from coevo.model.words import Cell, Label, Outcome, Stage, Walk
from coevo.storage.store import Partition, Store
from miners.diffs.changes import diff_pair
from packagers.card import compute_upper_bound

SEED = 5
DROP_STAGES = (Stage.FILTER, Stage.LABEL, Stage.TRACK)
REASONS = 5


class Kind(StrEnum):
    LABEL = 'label'
    DROP = 'drop'


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How many rows of one label, or of one reason, are drawn."""

    all: int
    of_a_repository: int
    of_a_pair: int


QUOTAS = {
    Kind.LABEL: Quota(all=50, of_a_repository=10, of_a_pair=5),
    Kind.DROP: Quota(all=100, of_a_repository=25, of_a_pair=10),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A row to ask of: `name` is its label, or the reason of its drop."""

    kind: Kind
    name: str
    pair: PairRow
    method_id: str
    row: MethodRow | None


Stratum = tuple[Kind, str]
Level = tuple[str, ...]

# Characters of a revision in the results.
REV = 12


def strata(segment: Segment) -> Iterator[tuple[Stratum, Drawn]]:
    for row in segment.methods:
        if row.label is not None and _both_verdicts_agree(row):
            yield _drawn(Kind.LABEL, row.label, segment, row.method_id, row)
    rows = {row.method_id: row for row in segment.methods}
    for drop in segment.drops:
        if drop.stage in DROP_STAGES:
            yield _drawn(Kind.DROP, reason_of(drop), segment, drop.key, rows.get(drop.key))


def _drawn(
    kind: Kind, name: str, segment: Segment, id_: str, row: MethodRow | None
) -> tuple[Stratum, Drawn]:
    found = Drawn(kind=kind, name=name, pair=segment.pair, method_id=id_, row=row)
    return (kind, name), found


def reason_of(drop: Drop) -> str:
    return f'{drop.stage}: {drop.reason}'


def _both_verdicts_agree(row: MethodRow) -> bool:
    return all(
        getattr(row, str(cell)) == getattr(row, f'{cell}_unit')
        for cell in list_deciding_cells(row.change)
    )


def draw(
    store: Store, seed: int, asked: Sequence[Mapping[str, str]]
) -> dict[Partition, list[Drawn]]:
    """Pairs in an order drawn by seed, repositories in turn; each stratum until its quota is met.

    asked  rows of the results, which count and are not drawn again
    """
    partitions = [p for p in store.list_partitions() if p.walk is Walk.STATES]
    waiting = {p: _shuffled(store, p, seed) for p in partitions}
    wanted = {(Kind.LABEL, str(name)) for name in Label} | _commonest(waiting)
    counts = Counter(
        key for row in asked for key in _levels(Kind(row['kind']), row['name'], _place(row))
    )
    known = {(row['kind'], row['method_id']) for row in asked}
    found: dict[Partition, list[Drawn]] = defaultdict(list)
    while any(waiting.values()):
        for partition in partitions:
            if waiting[partition]:
                for stratum, row in waiting[partition].pop():
                    new = stratum in wanted and (row.kind, row.method_id) not in known
                    if new and _has_room(counts, row):
                        found[partition].append(row)
    return found


def _shuffled(store: Store, partition: Partition, seed: int) -> list[list[tuple[Stratum, Drawn]]]:
    chance = random.Random(f'{seed} {partition.repo}')
    pairs = [list(strata(segment)) for segment in store.load_segments(partition)]
    for rows in pairs:
        chance.shuffle(rows)
    chance.shuffle(pairs)
    return pairs


def _commonest(waiting: Mapping[Partition, list[list[tuple[Stratum, Drawn]]]]) -> set[Stratum]:
    counts = Counter(
        stratum
        for pairs in waiting.values()
        for rows in pairs
        for stratum, _ in rows
        if stratum[0] is Kind.DROP
    )
    return {stratum for stratum, _ in counts.most_common(REASONS)}


def _has_room(counts: Counter[Level], row: Drawn) -> bool:
    quota = QUOTAS[row.kind]
    place = (row.pair.repo, row.pair.old_rev[:REV], row.pair.new_rev[:REV])
    levels = _levels(row.kind, row.name, place)
    limits = (quota.all, quota.of_a_repository, quota.of_a_pair)
    if any(counts[level] >= limit for level, limit in zip(levels, limits, strict=True)):
        return False
    counts.update(levels)
    return True


def _levels(kind: Kind, name: str, place: tuple[str, str, str]) -> tuple[Level, Level, Level]:
    """What has a quota: the stratum, its part of a repository, and of a pair."""
    repo, _, _ = place
    return (kind, name), (kind, name, repo), (kind, name, *place)


def _place(row: Mapping[str, str]) -> tuple[str, str, str]:
    return row['repo'], row['old'], row['new']


# -- asking ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A drawn row with what the diff says of it."""

    drawn: Drawn
    candidate: Candidate

    @property
    def cells(self) -> tuple[Cell, ...]:
        return list_deciding_cells(self.candidate.change)

    def place(self, cell: Cell) -> Place:
        pair = self.drawn.pair
        return Place(
            tests_rev=pair.new_rev if cell.tests_are_new else pair.old_rev,
            code_rev=pair.new_rev if cell.code_is_new else pair.old_rev,
            module=self._method(cell).module,
        )

    def target(self, bench: Bench, cell: Cell) -> Target:
        """With the workaround that the engine applied, if it did."""
        row = self.drawn.row
        workaround = WORKAROUNDS.get(row.override or '') if row else None
        if workaround is None:
            return Target(method=self._method(cell))
        return Target(
            method=self._method(cell),
            first=tuple(map(bench.library, workaround.libraries)),
            options=workaround.jvm_options,
        )

    def _method(self, cell: Cell) -> TestMethod:
        found = self.candidate.new if cell.tests_are_new else self.candidate.old
        assert found is not None, 'a deciding cell has a test at its revision'
        return found


@dataclass(slots=True)
class Budget:
    seconds: float

    @property
    def is_spent(self) -> bool:
        return self.seconds <= 0


def questions(store: Path, drawn: Sequence[Drawn]) -> list[Question]:
    repository = open_clone(store, drawn[0].pair.repo)
    found: list[Question] = []
    by_pair: dict[str, list[Drawn]] = defaultdict(list)
    for one in drawn:
        by_pair[one.pair.pair_id].append(one)
    for rows in by_pair.values():
        pair = pair_of(repository, rows[0].pair)
        known = {
            compute_candidate_id(pair, item): item
            for item in diff_pair(repository, pair).candidates
        }
        found += [Question(drawn=one, candidate=known[one.method_id]) for one in rows]
    return found


def ask(
    bench: Bench, store: Path, asked: Sequence[Question], budget: Budget
) -> dict[tuple[int, Cell], Outcome]:
    """What oracle A says of each deciding cell of questions about one pair."""
    trees: dict[Place, list[tuple[Question, Cell]]] = defaultdict(list)
    for question in asked:
        for cell in question.cells:
            trees[question.place(cell)].append((question, cell))
    said: dict[tuple[int, Cell], Outcome] = {}
    repository = open_clone(store, asked[0].drawn.pair.repo)
    for place, members in trees.items():
        targets = [question.target(bench, cell) for question, cell in members]
        answer = bench.run(Oracle.A, Flags.C1, repository, place, targets)
        budget.seconds -= answer.seconds
        for (question, cell), ruling in zip(members, answer.rulings, strict=True):
            said[id(question), cell] = ruling.outcome
    return said


def result(question: Question, said: Mapping[tuple[int, Cell], Outcome]) -> dict[str, object]:
    drawn, candidate = question.drawn, question.candidate
    cells = {cell: said[id(question), cell] for cell in question.cells}
    found = decide_label(candidate.change, cells)
    method = candidate.method
    return {
        'kind': drawn.kind,
        'name': drawn.name,
        'repo': drawn.pair.repo,
        'old': drawn.pair.old_rev[:REV],
        'new': drawn.pair.new_rev[:REV],
        'method': f'{method.test_class}#{method.test_method}({",".join(method.parameters)})',
        'method_id': drawn.method_id,
        'change': candidate.change,
        'engine': _engine(drawn.row, question.cells),
        'oracle': ' '.join(f'{cell}={outcome}' for cell, outcome in cells.items()),
        'oracle_label': found if isinstance(found, Label) else '',
        'oracle_track': TRACKS.get(found, '') if isinstance(found, Label) else '',
    }


def _engine(row: MethodRow | None, cells: Sequence[Cell]) -> str:
    if row is None:
        return ''
    return ' '.join(f'{cell}={getattr(row, str(cell))}' for cell in cells)


def run(arguments: argparse.Namespace) -> None:
    found = draw(Store(arguments.store), SEED, tables.read(arguments.results))
    budget = Budget(arguments.seconds)
    with ExitStack() as stack:
        bench = Bench(stack)
        for todo in _in_turn(found):
            if budget.is_spent:
                return
            asked = questions(arguments.store, todo)
            try:
                said = ask(bench, arguments.store, asked, budget)
            except Transient as trouble:
                print('not asked:', todo[0].pair.repo, todo[0].pair.pair_id, trouble, flush=True)
                continue
            rows = [result(question, said) for question in asked]
            tables.append(arguments.results, rows)
            for row in rows:
                if not holds({name: str(value) for name, value in row.items()}):
                    print(*row.values(), flush=True)


def _in_turn(found: Mapping[Partition, Sequence[Drawn]]) -> Iterator[list[Drawn]]:
    """The rows of one pair after the other, repositories in turn, those with most labels first."""
    queues: list[list[list[Drawn]]] = []
    for rows in found.values():
        pairs: dict[str, list[Drawn]] = defaultdict(list)
        for one in rows:
            pairs[one.pair.pair_id].append(one)
        queues.append(sorted(pairs.values(), key=_worth))  # the last is popped first
    while any(queues):
        for queue in queues:
            if queue:
                yield queue.pop()


def _worth(rows: Sequence[Drawn]) -> tuple[int, int]:
    return sum(one.kind is Kind.LABEL for one in rows), len(rows)


# -- summing up --------------------------------------------------------------------------------


def holds(row: Mapping[str, str]) -> bool:
    """A label holds if the oracle's cells give the same, a drop if they give no track."""
    if row['kind'] == Kind.LABEL:
        return row['oracle_label'] == row['name']
    return not row['oracle_track']


def summarise(arguments: argparse.Namespace) -> None:
    rows = tables.read(arguments.results)
    print('| | asked | repositories | pairs | differ | at most (95 %) | the oracle says |')
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for kind, name in sorted({(row['kind'], row['name']) for row in rows}, reverse=True):
        group = [row for row in rows if (row['kind'], row['name']) == (kind, name)]
        wrong = sum(not holds(row) for row in group)
        said = Counter(row['oracle_label'] or 'no label' for row in group)
        print(
            f'| {kind} {name} | {len(group)} | {len({row["repo"] for row in group})} '
            f'| {len({(row["repo"], row["new"]) for row in group})} | {wrong} '
            f'| {100 * compute_upper_bound(wrong, len(group)):.1f} % '
            f'| {", ".join(f"{label} {count}" for label, count in said.most_common())} |'
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser('draw')
    drawing.set_defaults(run=run)
    drawing.add_argument('store', type=Path)
    drawing.add_argument('results', type=Path)
    drawing.add_argument('--seconds', type=float, default=4000.0)
    summing = commands.add_parser('sum')
    summing.set_defaults(run=summarise)
    summing.add_argument('results', type=Path)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
