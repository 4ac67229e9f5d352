"""What deciding a pair costs: CPU seconds of the engine, and of its language's plain commands on the same cells and methods.

    python -m benchmarks.cost measure STORE RESULTS.csv [--repo OWNER/NAME] [--pairs N] [--methods N] [--seed N]
    python -m benchmarks.cost sum RESULTS.csv

Pairs of a mined store are drawn by seed. The engine's seconds are those that its store has of them, by step: builds,
compiling, three runs of each test in each cell, and its own thread; nothing is mined again. Plain is one
fresh process for each cell and method (`oracles/`), in trees that are built before, once for each cell and module; of Go that
build has packages of the standard library in it, which the engine has at hand, so compare its runs alone.
Of each tree a few methods are run: the others are taken to cost the mean of those behind the first.
Of Java the oracle is asked with the JVM's default flags and with C1. A task's cost is that of its whole pair: `sum` divides
the seconds of all drawn pairs, studies among them, by their methods that have a track. `measure` resumes.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.mined import (
    REV,
    MinedCell,
    group_cells,
    list_mined_cells,
    open_clone,
    sample_pairs,
)
from benchmarks.oracles.benches import DATED, Benches
from benchmarks.oracles.java_cell import Flags
from benchmarks.tables import Row, append_rows, print_table, read_rows
from coevo.engine.results import Step
from coevo.model.segment import Segment
from coevo.storage.store import Store
from flows.budgets import OWN, select_disjoint_timings

ONE_PASS = (Step.BUILD, Step.COMPILE, Step.RUN_GIVEN)
REPEATS = (Step.RUN_REVERSED, Step.RUN_ALONE, Step.RUN_REPEATED, Step.RUN_FOR_CAUSE)
_UNITS = ('engine', 'plain')


def measure(arguments: argparse.Namespace) -> None:
    """Ask the oracles about pairs that the results do not have."""
    known = {row['pair'] for row in read_rows(arguments.results)}
    store = Store(arguments.store)
    with ExitStack() as stack:
        benches = Benches(stack)
        for partition in store.list_partitions():
            if arguments.repo not in (None, partition.repo):
                continue
            segments = {each.pair.pair_id: each for each in store.load_current_segments(partition)}
            cells = list_mined_cells(arguments.store, partition, arguments.profile)
            chance = random.Random(f'{arguments.seed} {partition.repo}')
            for drawn in sample_pairs(cells, arguments.pairs, chance):
                pair = drawn[0].pair
                if pair.pair_id in known:
                    continue
                for flags in (Flags.C1,) if pair.language in DATED else tuple(Flags):
                    row = {
                        **sum_engine(segments[pair.pair_id]),
                        'cells': len(drawn),
                        'flags': '' if pair.language in DATED else str(flags),
                        **_sum_plain(benches, arguments, drawn, flags),
                    }
                    print(row, flush=True)
                    append_rows(arguments.results, [row])


def sum_engine(segment: Segment) -> dict[str, object]:
    """Sum up what the store has of a pair; `engine` is what decides it, `whole` studies, too."""
    spent: defaultdict[str, float] = defaultdict(float)
    for timing in select_disjoint_timings(segment.timings):
        spent[timing.step] += timing.cpu_seconds
    pair = segment.pair
    one_pass = sum(spent[step] for step in ONE_PASS)
    repeats = sum(spent[step] for step in REPEATS)
    return {
        'repo': pair.repo,
        'language': pair.language,
        'pair': pair.pair_id,
        'new': pair.new_rev[:REV],
        'labelled': len(segment.methods),
        'with_track': sum(method.track is not None for method in segment.methods),
        'one_pass': round(one_pass, 2),
        'repeats': round(repeats, 2),
        'own': round(spent[OWN], 2),
        'whole': round(sum(spent.values()), 2),
        'engine': round(one_pass + repeats + spent[OWN], 2),
    }


def _sum_plain(
    benches: Benches, arguments: argparse.Namespace, cells: Sequence[MinedCell], flags: Flags
) -> dict[str, object]:
    """Sum up builds and runs over the trees of a pair, and count outcomes that are not the engine's."""
    clone = open_clone(arguments.store, cells[0].pair.repo)
    builds, runs, measured, differing = 0.0, 0.0, 0, 0
    trees = group_cells(cells, lambda cell: cell.place)
    for place, members in trees.items():
        chance = random.Random(f'{arguments.seed} {place}')
        chosen = chance.sample(members, min(arguments.methods, len(members)))
        targets = [cell.target for cell in chosen]
        answer = benches.run(clone, chosen[0].pair, place, targets, flags)
        seconds = [ruling.seconds for ruling in answer.rulings]
        rest = statistics.fmean(seconds[1:] or seconds)
        builds += answer.build_seconds
        runs += seconds[0] + rest * (len(members) - 1)
        measured += len(chosen)
        differing += sum(
            ruling.outcome != cell.unit_outcome
            for cell, ruling in zip(chosen, answer.rulings, strict=True)
        )
    return {
        'trees': len(trees),
        'measured': measured,
        'differing': differing,
        'plain_builds': round(builds, 2),
        'plain_runs': round(runs, 2),
        'plain': round(builds + runs, 2),
    }


def summarise(arguments: argparse.Namespace) -> None:
    """Print sums and the median of paired ratios by repository and flags, and what a method costs."""
    rows = read_rows(arguments.results)
    head = ('repository', 'flags', 'pairs', 'cells', 'engine', 'plain', 'per cell: engine', 'plain')
    names = ('plain / engine', 'plain / one pass', 'plain runs / engine', 'CPU s a labelled method')
    keys = sorted({(row['repo'], row['flags']) for row in rows})
    keys += [('', flags) for flags in sorted({row['flags'] for row in rows})]
    print_table(
        (*head, *names, 'a method with a track', 'outcomes that differ'),
        [tuple(sum_group(rows, *key)) for key in keys],
    )


def sum_group(rows: Sequence[Row], repo: str, flags: str) -> Iterator[object]:
    """Sum up the rows of a repository, of all if it is empty: the cells of a line of the table."""
    group = [row for row in rows if repo in ('', row['repo']) and row['flags'] == flags]
    sums = {
        name: sum(float(row[name]) for row in group)
        for name in ('cells', 'whole', 'labelled', 'with_track', 'measured', 'differing', *_UNITS)
    }
    yield from (repo or 'all', flags, len(group), f'{sums["cells"]:.0f}')
    yield from (f'{sums[name]:.1f}' for name in _UNITS)
    yield from (f'{sums[name] / sums["cells"]:.3f}' for name in _UNITS)
    for plain, engine in (('plain', 'engine'), ('plain', 'one_pass'), ('plain_runs', 'engine')):
        ratios = [float(row[plain]) / float(row[engine]) for row in group if float(row[engine])]
        yield f'{statistics.median(ratios):.1f}' if ratios else '-'
    for count in ('labelled', 'with_track'):
        yield f'{sums["whole"] / sums[count]:.2f}' if sums[count] else '-'
    yield f'{sums["differing"]:.0f} of {sums["measured"]:.0f}'


def main() -> None:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    verbs = parser.add_subparsers(required=True)
    measuring = verbs.add_parser('measure')
    measuring.set_defaults(run=measure)
    measuring.add_argument('store', type=Path)
    measuring.add_argument('results', type=Path)
    measuring.add_argument('--repo')
    measuring.add_argument('--pairs', type=int, default=5, help='of each repository')
    measuring.add_argument('--methods', type=int, default=3, help='of each cell')
    measuring.add_argument('--seed', type=int, default=4)
    measuring.add_argument('--profile', default='default')
    summing = verbs.add_parser('sum')
    summing.set_defaults(run=summarise)
    summing.add_argument('results', type=Path)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
