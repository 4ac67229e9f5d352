"""Check labels and drops of a store: draw rows by seed, and run them with the oracle of their language.

    python -m benchmarks.validity draw STORE RESULTS.csv [--walk states] [--seconds N]
    python -m benchmarks.validity sum RESULTS.csv
    python -m benchmarks.validity unaffected STORE RESULTS.csv [--walk states] [--seconds N] [--rows 200]

Of each label 50 rows, at most 10 of a repository and 5 of a pair; of each of the five commonest
reasons of the stages filter, label and track 100 drops, at most 25 of a repository and 10 of a pair.
Labels are drawn where the two compile verdicts agree in all deciding cells, since Maven knows one
only. The deciding cells of a row are run, once, in a tree for each cell; the label is what the
label table makes of them. `draw` resumes, and stops after N CPU seconds of the oracle. What has been
asked counts, of other stores, too: draw of one after the other until all quotas are met.

`unaffected` draws methods with that label, repositories in turn, and runs the old test on the new code
(`t_old_c_new`), which the engine does not always run for them. Each has to pass.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.mined import REV, locate_cell, open_clone
from benchmarks.oracles.benches import Benches, load_pair
from benchmarks.oracles.driver import Place
from benchmarks.oracles.java_cell import CellTarget
from benchmarks.tables import Row, append_rows, print_table, read_rows
from coevo.engine.groups import list_cells_of_candidate
from coevo.git.repository import Repository
from coevo.model.errors import Transient
from coevo.model.labels import TRACKS, correct_change_by_cells, decide_label
from coevo.model.method_rows import MethodRow, list_deciding_cells_of_row
from coevo.model.pair_rows import PairRow
from coevo.model.records import Candidate, compute_candidate_id
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


# How many rows of one label, or of one reason, are drawn: in all, of a repository, of a pair.
QUOTAS = {Kind.LABEL: (50, 10, 5), Kind.DROP: (100, 25, 10)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRow:
    """A row to ask of: `name` is its label, or stage and reason of its drop."""

    kind: Kind
    name: str
    pair: PairRow
    method_id: str
    row: MethodRow | None

    @property
    def stratum(self) -> tuple[str, str]:
        return self.kind, self.name


# Runs rows of one pair; returns rows of results and the CPU seconds of the oracle.
Question = Callable[
    [Benches, Repository, Sequence[DrawnRow]], tuple[list[dict[str, object]], float]
]


# -- drawing -----------------------------------------------------------------------------------


def list_rows(segment: Segment) -> Iterator[DrawnRow]:
    """List what can be drawn of a pair."""
    for row in segment.methods:
        if row.label is not None and _do_verdicts_agree(row):
            yield DrawnRow(
                kind=Kind.LABEL, name=row.label, pair=segment.pair, method_id=row.method_id, row=row
            )
    rows = {row.method_id: row for row in segment.methods}
    for drop in segment.drops:
        if drop.stage in DROP_STAGES:
            yield DrawnRow(
                kind=Kind.DROP,
                name=f'{drop.stage}: {drop.reason}',
                pair=segment.pair,
                method_id=drop.key,
                row=rows.get(drop.key),
            )


def _do_verdicts_agree(row: MethodRow) -> bool:
    return all(
        getattr(row, str(cell)) == getattr(row, f'{cell}_unit')
        for cell in list_deciding_cells_of_row(row)
    )


def draw_rows(
    store: Store, walk: Walk, seed: int, asked: Sequence[Row]
) -> Iterator[list[DrawnRow]]:
    """Draw rows, a list for each pair, until each stratum's quota is met.

    Pairs are looked at in an order drawn by seed, repositories in turn; given in turn, too, those with most labels first.

    asked  rows of the results, which count and are not drawn again
    """
    waiting = {
        partition.repo: _shuffle_pairs(
            store.load_current_segments(partition), f'{seed} {partition.repo}'
        )
        for partition in store.list_partitions()
        if partition.walk is walk
    }
    wanted = {(Kind.LABEL, str(name)) for name in Label} | _find_commonest_drops(waiting)
    counts = Counter(level for row in asked for level in _list_levels(row))
    known = {(row['kind'], row['method_id']) for row in asked}
    drawn: dict[str, list[list[DrawnRow]]] = defaultdict(list)
    while any(waiting.values()):
        for repo, pairs in waiting.items():
            rows = [
                row
                for row in (pairs.pop() if pairs else ())
                if row.stratum in wanted
                and (row.kind, row.method_id) not in known
                and _take_room(counts, row)
            ]
            if rows:
                drawn[repo].append(rows)
    yield from _take_in_turn([sorted(pairs, key=_weigh) for pairs in drawn.values()])


def draw_unaffected_rows(
    store: Store, walk: Walk, seed: int, asked: Sequence[Row], wanted: int
) -> Iterator[list[DrawnRow]]:
    """Draw rows labelled unaffected until there are `wanted`, at most five of a pair, repositories in turn.

    asked  rows of the results, which count and are not drawn again
    """
    known = {row['method_id'] for row in asked}
    queues = [
        _draw_unaffected_of_repository(store, partition, seed, known)
        for partition in store.list_partitions()
        if partition.walk is walk
    ]
    left = wanted - len(asked)
    for rows in _take_in_turn(queues):
        if left <= 0:
            return
        yield rows[:left]
        left -= len(rows)


def _draw_unaffected_of_repository(
    store: Store, partition: Partition, seed: int, known: Collection[str]
) -> list[list[DrawnRow]]:
    pairs = _shuffle_pairs(store.load_current_segments(partition), f'{seed} {partition.repo}')
    labels = (
        [row for row in rows if row.stratum == (Kind.LABEL, Label.UNAFFECTED)] for rows in pairs
    )
    drawn = ([row for row in rows if row.method_id not in known][:5] for rows in labels)
    return [rows for rows in drawn if rows]


def _take_in_turn(queues: Sequence[list[list[DrawnRow]]]) -> Iterator[list[DrawnRow]]:
    """Take the last of each queue in turn until all are empty."""
    while any(queues):
        yield from (queue.pop() for queue in queues if queue)


def _shuffle_pairs(segments: Iterator[Segment], seed: str) -> list[list[DrawnRow]]:
    chance = random.Random(seed)
    pairs = [list(list_rows(segment)) for segment in segments]
    for rows in pairs:
        chance.shuffle(rows)
    chance.shuffle(pairs)
    return pairs


def _find_commonest_drops(waiting: Mapping[str, list[list[DrawnRow]]]) -> set[tuple[str, str]]:
    rows = (row for pairs in waiting.values() for pair in pairs for row in pair)
    counts = Counter(row.stratum for row in rows if row.kind is Kind.DROP)
    return {stratum for stratum, _ in counts.most_common(REASONS)}


def _take_room(counts: Counter[tuple[str, ...]], row: DrawnRow) -> bool:
    """Whether no quota of the row is full; if none is, it counts from now on."""
    levels = _list_levels({**_describe_place(row), 'kind': row.kind, 'name': row.name})
    limits = QUOTAS[row.kind]
    if any(counts[level] >= limit for level, limit in zip(levels, limits, strict=True)):
        return False
    counts.update(levels)
    return True


def _list_levels(row: Mapping[str, str]) -> list[tuple[str, ...]]:
    """List what has a quota: the stratum, its part of a repository, and of a pair."""
    stratum = (str(row['kind']), row['name'])
    return [stratum, (*stratum, row['repo']), (*stratum, row['repo'], row['old'], row['new'])]


def _describe_place(row: DrawnRow) -> dict[str, str]:
    pair = row.pair
    return {'repo': pair.repo, 'old': pair.old_rev[:REV], 'new': pair.new_rev[:REV]}


def _weigh(rows: Sequence[DrawnRow]) -> tuple[int, int]:
    return sum(row.kind is Kind.LABEL for row in rows), len(rows)


# -- asking ------------------------------------------------------------------------------------


def ask(
    benches: Benches, repository: Repository, drawn: Sequence[DrawnRow]
) -> tuple[list[dict[str, object]], float]:
    """Run the deciding cells of rows of one pair; return rows of results and the oracle's CPU seconds."""
    known, outcomes, seconds = _run_cells(benches, repository, drawn, list_cells_of_candidate)
    return [_build_row(row, known[row.method_id], outcomes) for row in drawn], seconds


def run_old_tests_on_new_code(
    benches: Benches, repository: Repository, drawn: Sequence[DrawnRow]
) -> tuple[list[dict[str, object]], float]:
    """Run `t_old_c_new` of rows of one pair; return rows of results and the oracle's CPU seconds."""
    cell = Cell.T_OLD_C_NEW
    known, outcomes, seconds = _run_cells(benches, repository, drawn, lambda _: (cell,))
    rows: list[dict[str, object]] = [
        {
            **_describe_place(row),
            'method': _name_method(known[row.method_id]),
            'method_id': row.method_id,
            'engine': (row.row and row.row.t_old_c_new) or 'not run',
            'oracle': outcomes[row.method_id, cell],
        }
        for row in drawn
    ]
    return rows, seconds


def _run_cells(
    benches: Benches,
    repository: Repository,
    drawn: Sequence[DrawnRow],
    list_cells: Callable[[Candidate], Iterable[Cell]],
) -> tuple[dict[str, Candidate], dict[tuple[str, Cell], Outcome], float]:
    """Run cells of rows of one pair, in a tree for each cell.

    Returns:
        The pair's candidates by method ID; outcomes by method ID and cell; CPU seconds of the oracle.
    """
    pair = load_pair(repository, drawn[0].pair)
    known = {
        compute_candidate_id(pair, candidate): candidate
        for candidate in diff_pair(repository, pair).candidates
    }
    trees: dict[Place, list[tuple[str, Cell, CellTarget]]] = defaultdict(list)
    for row in drawn:
        candidate = known[row.method_id]
        for cell in list_cells(candidate):
            method = candidate.new if cell.tests_are_new else candidate.old
            assert method is not None, 'a cell to run has a test at its revision'
            target = CellTarget(method=method, override=row.row.override if row.row else None)
            trees[locate_cell(row.pair, cell, method)].append((row.method_id, cell, target))
    outcomes: dict[tuple[str, Cell], Outcome] = {}
    seconds = 0.0
    for place, members in trees.items():
        targets = [target for _, _, target in members]
        answer = benches.run(repository, drawn[0].pair, place, targets)
        seconds += answer.seconds
        for (method_id, cell, _), ruling in zip(members, answer.rulings, strict=True):
            outcomes[method_id, cell] = ruling.outcome
    return known, outcomes, seconds


def _build_row(
    drawn: DrawnRow, candidate: Candidate, outcomes: Mapping[tuple[str, Cell], Outcome]
) -> dict[str, object]:
    deciding = list_cells_of_candidate(candidate)
    cells = {cell: outcomes[drawn.method_id, cell] for cell in deciding}
    label = decide_label(correct_change_by_cells(candidate.change, cells), cells)
    method, row = candidate.method, drawn.row
    return {
        'kind': drawn.kind,
        'name': drawn.name,
        **_describe_place(drawn),
        'method': f'{method.test_class}#{method.test_method}({",".join(method.parameters)})',
        'method_id': drawn.method_id,
        'change': candidate.change,
        'engine': ' '.join(f'{cell}={getattr(row, str(cell))}' for cell in deciding) if row else '',
        'oracle': ' '.join(f'{cell}={outcome}' for cell, outcome in cells.items()),
        'oracle_label': label if isinstance(label, Label) else '',
        'oracle_track': TRACKS.get(label, '') if isinstance(label, Label) else '',
    }


def _name_method(candidate: Candidate) -> str:
    return f'{candidate.method.test_class}#{candidate.method.test_method}'


def draw(arguments: argparse.Namespace) -> None:
    """Draw rows and ask about them until the quotas are met or the seconds are spent."""
    pairs = draw_rows(Store(arguments.store), arguments.walk, SEED, read_rows(arguments.results))
    for row in _ask_about_pairs(arguments, pairs, ask):
        if not holds({name: str(value) for name, value in row.items()}):
            print(*row.values(), flush=True)


def draw_unaffected(arguments: argparse.Namespace) -> None:
    """Draw unaffected rows, run the old tests on the new code, and print each that does not pass."""
    pairs = draw_unaffected_rows(
        Store(arguments.store), arguments.walk, SEED, read_rows(arguments.results), arguments.rows
    )
    for row in _ask_about_pairs(arguments, pairs, run_old_tests_on_new_code):
        if row['oracle'] is not Outcome.PASS:
            print(*row.values(), flush=True)
    counts = Counter((row['engine'], row['oracle']) for row in read_rows(arguments.results))
    print_table(('engine', 'oracle', 'rows'), [(*key, n) for key, n in sorted(counts.items())])


def _ask_about_pairs(
    arguments: argparse.Namespace, pairs: Iterator[list[DrawnRow]], question: Question
) -> Iterator[dict[str, object]]:
    """Ask about each pair's rows until the oracle's seconds are spent; write and give what it answers."""
    left = arguments.seconds
    with ExitStack() as stack:
        benches = Benches(stack)
        while left > 0 and (drawn := next(pairs, None)):
            pair = drawn[0].pair
            try:
                rows, spent = question(benches, open_clone(arguments.store, pair.repo), drawn)
            except Transient as trouble:
                print('not asked:', pair.repo, pair.pair_id, trouble, flush=True)
                continue
            left -= spent
            append_rows(arguments.results, rows)
            yield from rows


# -- summing up --------------------------------------------------------------------------------


def holds(row: Mapping[str, str]) -> bool:
    """Whether a label's cells give the same by the oracle, or a drop's give no track."""
    if row['kind'] == Kind.LABEL:
        return row['oracle_label'] == row['name']
    return not row['oracle_track']


def summarise(arguments: argparse.Namespace) -> None:
    """Print what was asked and what differs, by label and by reason."""
    rows = read_rows(arguments.results)
    head = ('', 'asked', 'repositories', 'pairs', 'differ', 'at most (95 %)', 'the oracle says')
    strata = sorted({(row['kind'], row['name']) for row in rows}, reverse=True)
    print_table(head, [_sum_stratum(rows, *stratum) for stratum in strata])


def _sum_stratum(rows: Sequence[Row], kind: str, name: str) -> tuple[object, ...]:
    group = [row for row in rows if (row['kind'], row['name']) == (kind, name)]
    wrong = sum(not holds(row) for row in group)
    said = Counter(row['oracle_label'] or 'no label' for row in group)
    return (
        f'{kind} {name}',
        len(group),
        len({row['repo'] for row in group}),
        len({(row['repo'], row['new']) for row in group}),
        wrong,
        f'{100 * compute_upper_bound(wrong, len(group)):.1f} %',
        ', '.join(f'{label} {count}' for label, count in said.most_common()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    verbs = parser.add_subparsers(required=True)
    for name, run in (('draw', draw), ('unaffected', draw_unaffected)):
        verb = verbs.add_parser(name)
        verb.set_defaults(run=run)
        verb.add_argument('store', type=Path)
        verb.add_argument('results', type=Path)
        verb.add_argument('--walk', type=Walk, default=Walk.STATES)
        verb.add_argument('--seconds', type=float, default=4000.0)
    verbs.choices['unaffected'].add_argument('--rows', type=int, default=200)
    summing = verbs.add_parser('sum')
    summing.set_defaults(run=summarise)
    summing.add_argument('results', type=Path)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
