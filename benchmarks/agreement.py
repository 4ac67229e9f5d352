"""Does the engine agree with an oracle? Cells of a mined store, drawn by seed, run again and compared.

    python -m benchmarks.agreement draw STORE RESULTS.csv [--repo OWNER/NAME] [--seed N] [--runtimes 8 11]
    python -m benchmarks.agreement refresh STORE RESULTS.csv
    python -m benchmarks.agreement arbitrate STORE RESULTS.csv
    python -m benchmarks.agreement sum RESULTS.csv

The sample is stratified by repository, cell and outcome. A tree is built once for a few methods of
a cell. Where the engine needed a workaround, the oracle runs the cell as it is and with the same workaround. `refresh`
reads anew what the engine says of the drawn cells, `arbitrate` asks oracle B where the two differ.
Of Java the oracle is A on the pair's own JDK, of Python `python -m pytest ID` in a fresh virtual environment,
of Go `go test -run ^NAME$`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.mined import MinedCell, mined_cells, open_clone, pair_of, partitions
from benchmarks.oracles.cell import Answer, Bench, Flags, Oracle, Place, Ruling, Target
from benchmarks.oracles.go_cell import GoBench
from benchmarks.oracles.python_cell import PytestBench
from benchmarks.tables import Row, append, read, write
from coevo.git.repository import Repository
from coevo.languages.golang.language import NAME as GO
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.languages.java.tools.jdks import Jdk, find_alike_jdks, find_jdks
from coevo.languages.python.language import NAME as PYTHON
from coevo.model.errors import Fatal, Transient
from coevo.model.words import Outcome
from packagers.card import compute_upper_bound

# Languages with one oracle, for which the date of a pair decides on libraries.
WITHOUT_ANOTHER = (GO, PYTHON)

KEY = ('repo', 'old', 'new', 'cell', 'method')
Key = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """How much to draw of each repository; of what does not compile, one tree says it for all."""

    seed: int
    cells: int
    per_tree: int
    compile_errors_per_tree: int = 2


def draw(cells: Sequence[MinedCell], sample: Sample, repo: str) -> list[MinedCell]:
    """From the strata in turn, each time a few cells of one tree, until there are enough."""
    chance = random.Random(f'{sample.seed} {repo}')
    strata: dict[tuple[str, str, str], list[MinedCell]] = {}
    for one in cells:
        strata.setdefault((one.cell, one.outcome, one.unit_outcome), []).append(one)
    for members in strata.values():
        chance.shuffle(members)
    drawn: list[MinedCell] = []
    while any(strata.values()) and len(drawn) < sample.cells:
        for key in sorted(strata):
            drawn += _draw_tree(strata, key, sample)
    return drawn[: sample.cells]


def _draw_tree(
    strata: dict[tuple[str, str, str], list[MinedCell]], key: tuple[str, str, str], sample: Sample
) -> list[MinedCell]:
    if not strata[key]:
        return []
    place = strata[key][0].place
    same = [one for one in strata[key] if one.place == place]
    broken = key[2] == Outcome.COMPILE_ERROR
    chosen = same[: sample.compile_errors_per_tree if broken else sample.per_tree]
    gone = same if broken else chosen
    strata[key] = [one for one in strata[key] if one not in gone]
    return chosen


class Benches:
    """The oracles, each made ready when it is first asked."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._by_runtime: dict[str, Bench] = {}

    def java(self, runtime: str) -> Bench:
        """Of the JDK that a pair was run on, by its version; Fatal if none like it is here."""
        if runtime not in self._by_runtime:
            near = find_alike_jdks(runtime, find_jdks())
            if not near:
                raise Fatal(f'no JDK like {runtime} was found; `coevo jdks install` brings one')
            self._by_runtime[runtime] = Bench(self._stack, jdk=near[0])
        return self._by_runtime[runtime]

    @cached_property
    def python(self) -> PytestBench:
        return PytestBench(self._stack)

    @cached_property
    def go(self) -> GoBench:
        return GoBench(self._stack)


def judge(
    benches: Benches, clone: Repository, place: Place, cells: Sequence[MinedCell]
) -> Iterator[tuple[MinedCell, Answer, Ruling, Ruling | None]]:
    """What the oracle says of each cell of a tree, and of those that were worked around, with the workaround."""
    if cells[0].pair.language in WITHOUT_ANOTHER:
        pair = pair_of(clone, cells[0].pair)
        bench_of = benches.go if pair.language == GO else benches.python
        answer = bench_of.run(clone, pair, place, [one.method for one in cells])
        yield from (
            (one, answer, said, None) for one, said in zip(cells, answer.rulings, strict=True)
        )
        return
    worked_around = [one for one in cells if one.override in WORKAROUNDS]
    targets = [Target(method=one.method) for one in cells]
    bench = benches.java(cells[0].runtime)
    targets += [_worked_around(bench, one) for one in worked_around]
    answer = bench.run(Oracle.A, Flags.C1, clone, place, targets)
    again = dict(zip(map(id, worked_around), answer.rulings[len(cells) :], strict=True))
    for one, ruling in zip(cells, answer.rulings, strict=False):
        yield one, answer, ruling, again.get(id(one))


def _worked_around(bench: Bench, cell: MinedCell) -> Target:
    workaround = WORKAROUNDS[cell.override or '']
    return Target(
        method=cell.method,
        first=tuple(map(bench.library, workaround.libraries)),
        options=workaround.jvm_options,
    )


def engine_columns(cell: MinedCell) -> dict[str, object]:
    return {
        'engine': cell.outcome,
        'engine_unit': cell.unit_outcome,
        'signature': cell.signature or '',
        'agreed': cell.agreed,
        'override': cell.override or '',
    }


def row_of(
    key: Key, cell: MinedCell, answer: Answer, ruling: Ruling, worked_around: Ruling | None
) -> dict[str, object]:
    return {
        **dict(zip(KEY, key, strict=True)),
        'module': cell.method.module,
        'runtime': _feature(cell),
        **engine_columns(cell),
        'oracle': ruling.outcome,
        'exception': ruling.exception,
        'oracle_cured': worked_around.outcome if worked_around else '',
        'surefire': '',
        'build_seconds': round(answer.build_seconds, 2),
        'seconds': round(ruling.seconds, 2),
    }


def differs(row: Row) -> bool:
    """The engine's verdict by module is compared: Maven's is the only one that the oracle has."""
    return row['engine_unit'] != (row['oracle_cured'] or row['oracle'])


def run(arguments: argparse.Namespace) -> None:
    known = {key_of(row) for row in read(arguments.results)}
    sample = Sample(seed=arguments.seed, cells=arguments.cells, per_tree=arguments.per_tree)
    with ExitStack() as stack:
        benches = Benches(stack)
        for partition in partitions(arguments.store):
            if arguments.repo in (None, partition.repo):
                cells = [
                    cell
                    for cell in mined_cells(arguments.store, partition, arguments.profile)
                    if not arguments.runtimes or _feature(cell) in arguments.runtimes
                ]
                drawn = draw(cells, sample, partition.repo)
                for (*_, place), chosen in _by_tree(drawn).items():
                    todo = [one for one in chosen if cell_key(partition.repo, one) not in known]
                    try:
                        _judge_place(benches, arguments, partition.repo, place, todo)
                    except Transient as error:
                        print('not asked:', partition.repo, place, error, flush=True)


def _feature(cell: MinedCell) -> str:
    """Such as 8 or 17: what JDK a cell ran on, or which CPython (3.11) or Go (1.26)."""
    if cell.pair.language in WITHOUT_ANOTHER:
        return '.'.join(cell.runtime.split('.')[:2])
    return Jdk(home=Path(), version=cell.runtime).release


def _judge_place(
    benches: Benches,
    arguments: argparse.Namespace,
    repo: str,
    place: Place,
    cells: Sequence[MinedCell],
) -> None:
    if not cells:
        return
    clone = open_clone(arguments.store, repo)
    for cell, answer, ruling, worked_around in judge(benches, clone, place, cells):
        row = row_of(cell_key(repo, cell), cell, answer, ruling, worked_around)
        append(arguments.results, [row])
        text = {name: str(value) for name, value in row.items()}
        if differs(text):
            print('differs:', *(f'{name}={value}' for name, value in text.items()), flush=True)
            print(answer.log or (worked_around or ruling).log, flush=True)


def _by_tree(cells: Sequence[MinedCell]) -> dict[tuple[str, str, Place], list[MinedCell]]:
    """By what one tree and runtime serve; where dates decide on libraries, a pair has its own."""
    found: dict[tuple[str, str, Place], list[MinedCell]] = {}
    for one in cells:
        pair = one.pair.pair_id if one.pair.language in WITHOUT_ANOTHER else ''
        found.setdefault((pair, one.runtime, one.place), []).append(one)
    return found


def cell_key(repo: str, cell: MinedCell) -> Key:
    return repo, cell.pair.old_rev[:12], cell.pair.new_rev[:12], str(cell.cell), cell.name


def key_of(row: Row) -> Key:
    repo, old, new, cell, method = (row[name] for name in KEY)
    return repo, old, new, cell, method


def refresh(arguments: argparse.Namespace) -> None:
    """What the engine says now; a cell that it no longer runs is taken out, and said."""
    now = _mined_by_key(arguments)
    rows: list[dict[str, object]] = []
    for row in read(arguments.results):
        if key_of(row) in now:
            rows.append({**row, **engine_columns(now[key_of(row)])})
        else:
            print('not run any more:', *key_of(row))
    write(arguments.results, rows)


def arbitrate(arguments: argparse.Namespace) -> None:
    """Ask `mvn test` about every difference."""
    cells = _mined_by_key(arguments)
    without_another = {
        one.pair.repo for one in cells.values() if one.pair.language in WITHOUT_ANOTHER
    }
    rows: list[Row] = []
    with ExitStack() as stack:
        benches = Benches(stack)
        for row in read(arguments.results):
            if differs(row) and not row['surefire'] and row['repo'] not in without_another:
                cell = cells[key_of(row)]
                clone = open_clone(arguments.store, row['repo'])
                target = Target(method=cell.method)
                bench = benches.java(cell.runtime)
                answer = bench.run(Oracle.B, Flags.C1, clone, cell.place, [target])
                row['surefire'] = answer.rulings[0].outcome
                print(*row.values(), answer.rulings[0].log, flush=True)
            rows.append(row)
    write(arguments.results, rows)


def _mined_by_key(arguments: argparse.Namespace) -> dict[Key, MinedCell]:
    drawn = {row['repo'] for row in read(arguments.results)}
    return {
        cell_key(partition.repo, cell): cell
        for partition in partitions(arguments.store)
        if partition.repo in drawn
        for cell in mined_cells(arguments.store, partition, arguments.profile)
    }


def summarise(arguments: argparse.Namespace) -> None:
    """Counts by repository, cell and outcome, the differences, and the bound of their share."""
    rows = read(arguments.results)
    for field in ('repo', 'runtime', 'cell', 'engine_unit'):
        _print_counts(rows, field)
    different = [row for row in rows if differs(row)]
    trees = {(row['repo'], row['new'], row['cell'], row['module']) for row in rows}
    share = compute_upper_bound(len(different), len(rows))
    print(f'{len(rows)} cells in {len(trees)} trees, {len(different)} different;', end=' ')
    print(f'with 95 % confidence at most {100 * share:.2f} % of such a sample differ')
    worked_around = [row for row in rows if row['override']]
    as_it_is = sum(row['oracle'] != row['engine_unit'] for row in worked_around)
    print(f'{len(worked_around)} cells were cured, {as_it_is} differ where the oracle is not')
    for row in different:
        print(*(f'{name}={value}' for name, value in row.items()))


def _print_counts(rows: Sequence[Row], field: str) -> None:
    drawn = Counter(row.get(field, '') for row in rows)
    wrong = Counter(row.get(field, '') for row in rows if differs(row))
    print(f'| {field} | cells | different |\n| --- | --- | --- |')
    for name in sorted(drawn):
        print(f'| {name} | {drawn[name]} | {wrong[name]} |')
    print()


COMMANDS = {'draw': run, 'refresh': refresh, 'arbitrate': arbitrate, 'sum': summarise}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    for name, command in COMMANDS.items():
        one = commands.add_parser(name)
        one.set_defaults(run=command)
        if name != 'sum':
            one.add_argument('store', type=Path)
            one.add_argument('--profile', default='default')
        one.add_argument('results', type=Path)
        if name == 'draw':
            one.add_argument('--repo')
            one.add_argument('--runtimes', nargs='+', default=(), metavar='N', help='such as 8 11')
            one.add_argument('--seed', type=int, default=4)
            one.add_argument('--cells', type=int, default=36, help='of each repository')
            one.add_argument('--per-tree', type=int, default=3, help='of a cell and outcome')
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
