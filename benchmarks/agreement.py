"""Does the engine agree with an oracle? Cells of a mined store, drawn by seed, run again and compared.

    python -m benchmarks.agreement draw STORE RESULTS.csv [--repo OWNER/NAME] [--seed N] [--runtimes 8 11]
    python -m benchmarks.agreement sum RESULTS.csv

The sample is stratified by repository, cell and outcome. A tree is built once for a few methods of
a cell. Where the engine needed a workaround, the oracle runs the cell as it is and with the same workaround. `draw`
resumes.
Of Java the oracle is Maven and JUnit's console on the pair's own JDK, of Python `python -m pytest ID` in a fresh virtual
environment, of Go `go test -run ^NAME$`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.mined import REV, MinedCell, group_cells, list_mined_cells, open_clone
from benchmarks.oracles.benches import DATED, Benches, is_workaround, shorten_runtime
from benchmarks.oracles.driver import Answer, Place, Ruling
from benchmarks.tables import Row, append_rows, print_table, read_rows
from coevo.git.repository import Repository
from coevo.model.errors import Transient
from coevo.model.words import Outcome
from coevo.storage.store import Store
from packagers.card import compute_upper_bound

KEY = ('repo', 'old', 'new', 'cell', 'method')
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellSample:
    """How much to draw of each repository; of what does not compile, one tree says it for all."""

    seed: int
    cells: int
    per_tree: int
    compile_errors_per_tree: int = 2


def draw_cells(cells: Sequence[MinedCell], sample: CellSample, repo: str) -> list[MinedCell]:
    """Draw from the strata in turn, each time a few cells of one tree, until there are enough."""
    chance = random.Random(f'{sample.seed} {repo}')
    strata = group_cells(cells, lambda cell: (cell.cell, cell.outcome, cell.unit_outcome))
    for members in strata.values():
        chance.shuffle(members)
    drawn: list[MinedCell] = []
    while any(strata.values()) and len(drawn) < sample.cells:
        for key in sorted(strata):
            if strata[key]:
                chosen, strata[key] = _draw_tree(strata[key], sample)
                drawn += chosen
    return drawn[: sample.cells]


def _draw_tree(
    members: Sequence[MinedCell], sample: CellSample
) -> tuple[list[MinedCell], list[MinedCell]]:
    """Draw a few cells of a stratum's first tree; give them, and what is left of the stratum."""
    same = [cell for cell in members if cell.place == members[0].place]
    is_broken = members[0].unit_outcome == Outcome.COMPILE_ERROR
    chosen = same[: sample.compile_errors_per_tree if is_broken else sample.per_tree]
    spent = same if is_broken else chosen
    return chosen, [cell for cell in members if cell not in spent]


def draw(arguments: argparse.Namespace) -> None:
    """Draw cells and ask the oracle about those that the results do not have."""
    known = {_take_key(row) for row in read_rows(arguments.results)}
    sample = CellSample(seed=arguments.seed, cells=arguments.cells, per_tree=arguments.per_tree)
    with ExitStack() as stack:
        benches = Benches(stack)
        for partition in Store(arguments.store).list_partitions():
            if arguments.repo not in (None, partition.repo):
                continue
            cells = [
                cell
                for cell in list_mined_cells(arguments.store, partition, arguments.profile)
                if not arguments.runtimes or shorten_runtime(cell.pair) in arguments.runtimes
            ]
            drawn = draw_cells(cells, sample, partition.repo)
            for (*_, place), chosen in group_cells(drawn, _key_tree).items():
                asked = [cell for cell in chosen if _make_key(cell) not in known]
                if not asked:
                    continue
                try:
                    _ask_of_tree(benches, arguments, place, asked)
                except Transient as error:
                    print('not asked:', partition.repo, place, error, flush=True)


def _key_tree(cell: MinedCell) -> tuple[str, str | None, Place]:
    """Name what one tree and runtime serve; where dates decide on libraries, a pair has its own."""
    pair = cell.pair.pair_id if cell.pair.language in DATED else ''
    return pair, cell.pair.runtime, cell.place


def _ask_of_tree(
    benches: Benches, arguments: argparse.Namespace, place: Place, cells: Sequence[MinedCell]
) -> None:
    clone = open_clone(arguments.store, cells[0].pair.repo)
    for cell, answer, ruling, again in judge(benches, clone, place, cells):
        row = _build_row(cell, answer, ruling, again)
        append_rows(arguments.results, [row])
        text = {name: str(value) for name, value in row.items()}
        if differs(text):
            print('differs:', *(f'{name}={value}' for name, value in text.items()), flush=True)
            print(answer.log or (again or ruling).log, flush=True)


def judge(
    benches: Benches, clone: Repository, place: Place, cells: Sequence[MinedCell]
) -> Iterator[tuple[MinedCell, Answer, Ruling, Ruling | None]]:
    """Say what the oracle says of each cell of a tree, and of those that were worked around, with the workaround."""
    worked_around = [cell for cell in cells if is_workaround(cell.override)]
    targets = [cell.target for cell in cells]
    targets += [replace(cell.target, override=cell.override) for cell in worked_around]
    answer = benches.run(clone, cells[0].pair, place, targets)
    again = dict(zip(map(id, worked_around), answer.rulings[len(cells) :], strict=True))
    for cell, ruling in zip(cells, answer.rulings, strict=False):
        yield cell, answer, ruling, again.get(id(cell))


def _build_row(
    cell: MinedCell, answer: Answer, ruling: Ruling, again: Ruling | None
) -> dict[str, object]:
    return {
        **dict(zip(KEY, _make_key(cell), strict=True)),
        'module': cell.method.module,
        'runtime': shorten_runtime(cell.pair),
        **_describe_engine(cell),
        'oracle': ruling.outcome,
        'exception': ruling.exception,
        'oracle_cured': again.outcome if again else '',
        'build_seconds': round(answer.build_seconds, 2),
        'seconds': round(ruling.seconds, 2),
    }


def _describe_engine(cell: MinedCell) -> dict[str, object]:
    return {
        'engine': cell.outcome,
        'engine_unit': cell.unit_outcome,
        'signature': cell.signature or '',
        'agreed': cell.agreed,
        'override': cell.override or '',
    }


def differs(row: Row) -> bool:
    """Whether the verdicts by module differ: Maven's is the only one that the oracle has."""
    return row['engine_unit'] != (row['oracle_cured'] or row['oracle'])


def _make_key(cell: MinedCell) -> Key:
    pair = cell.pair
    return pair.repo, pair.old_rev[:REV], pair.new_rev[:REV], str(cell.cell), cell.name


def _take_key(row: Row) -> Key:
    return tuple(row[name] for name in KEY)


def summarise(arguments: argparse.Namespace) -> None:
    """Print counts by repository, cell and outcome, the differences, and the bound of their share."""
    rows = read_rows(arguments.results)
    different = [row for row in rows if differs(row)]
    for field in ('repo', 'runtime', 'cell', 'engine_unit'):
        drawn = Counter(row.get(field, '') for row in rows)
        wrong = Counter(row.get(field, '') for row in different)
        print_table(
            (field, 'cells', 'different'),
            [(name, drawn[name], wrong[name]) for name in sorted(drawn)],
        )
    trees = {(row['repo'], row['new'], row['cell'], row['module']) for row in rows}
    share = compute_upper_bound(len(different), len(rows))
    print(f'{len(rows)} cells in {len(trees)} trees, {len(different)} different;', end=' ')
    print(f'with 95 % confidence at most {100 * share:.2f} % of such a sample differ')
    worked_around = [row for row in rows if row['override']]
    as_it_is = sum(row['oracle'] != row['engine_unit'] for row in worked_around)
    print(
        f'{len(worked_around)} cells were worked around, {as_it_is} differ where the oracle is not'
    )
    for row in different:
        print(*(f'{name}={value}' for name, value in row.items()))


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    verbs = parser.add_subparsers(required=True)
    drawing = verbs.add_parser('draw')
    drawing.set_defaults(run=draw)
    drawing.add_argument('store', type=Path)
    drawing.add_argument('results', type=Path)
    drawing.add_argument('--profile', default='default')
    drawing.add_argument('--repo')
    drawing.add_argument('--runtimes', nargs='+', default=(), metavar='N', help='such as 8 11')
    drawing.add_argument('--seed', type=int, default=4)
    drawing.add_argument('--cells', type=int, default=36, help='of each repository')
    drawing.add_argument('--per-tree', type=int, default=3, help='of a cell and outcome')
    summing = verbs.add_parser('sum')
    summing.set_defaults(run=summarise)
    summing.add_argument('results', type=Path)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
