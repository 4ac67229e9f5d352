"""What a verdict costs: CPU seconds of the engine, of oracle A and of oracle B, on the same pairs.

    python -m benchmarks.cost measure CLONE OWNER/NAME FOLDER --commits N [--pairs N] [--methods N]
    python -m benchmarks.cost sum FOLDER

The engine mines a walk afresh, as anybody would, before and after the oracles; they run sampled
pairs of that walk, with default flags and with C1 in turn. Of a cell's methods the oracles run a
few, drawn by seed: the others are taken to cost the mean of those behind the first. The oracles run on
the JDK that the engine chose for the pair.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks import cost_summary
from benchmarks.agreement import Benches
from benchmarks.cost_summary import METHOD_CELLS, RUN_CELLS
from benchmarks.mined import MinedCell, mined_cells, open_clone, partitions
from benchmarks.oracles.cell import Bench, Flags, Oracle, Place, Target
from benchmarks.tables import append
from coevo.git.repository import Repository
from coevo.model.words import Outcome
from coevo.storage.store import Store
from miners.cloning.clones import obtain_clone

ENGINE = 'cost_engine.csv'
ORACLES = 'cost_oracles.csv'


def measure(arguments: argparse.Namespace) -> None:
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(dir='/var/tmp')))
        root.chmod(0o711)
        first = _mine(arguments, arguments.keep or root / 'first', 'before')
        (partition,) = partitions(first)
        cells = list(mined_cells(first, partition, arguments.profile))
        benches = Benches(stack)
        repository = open_clone(first, arguments.repo)
        for pair_cells in _drawn(cells, arguments):
            bench = benches.java(pair_cells[0].runtime)
            for place, members in _by_place(pair_cells).items():
                _run_oracles(bench, repository, arguments, place, members)
        if not arguments.once:
            _mine(arguments, root / 'second', 'after')


def _mine(arguments: argparse.Namespace, store: Path, when: str) -> Path:
    """Mine the walk into an empty store; the clone is made before, as A would need one too."""
    obtain_clone(str(arguments.clone), store=store, name=arguments.repo)
    used = store.with_suffix('.json')
    command = [
        *(sys.executable, '-m', 'benchmarks.metered', str(used), f'{store}-cache'),
        *('mine', str(arguments.clone)),
        *('--name', arguments.repo, '--store', str(store), '--commits', str(arguments.commits)),
        *('--jobs', '1', '--profile', arguments.profile),
        *(('--until', arguments.until) if arguments.until else ()),
        *(('--walk', arguments.walk) if arguments.walk else ()),
        *(('--ref', arguments.ref) if arguments.ref else ()),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    row = {'repo': arguments.repo, 'run': when}
    whole = [
        {**row, 'new': '', 'step': step, 'seconds': round(seconds, 2), 'count': 1}
        for step, seconds in json.loads(used.read_text()).items()
    ]
    append(arguments.folder / ENGINE, [*whole, *_timings(store, row)])
    return store


def _timings(store: Path, row: dict[str, object]) -> Iterator[dict[str, object]]:
    (partition,) = partitions(store)
    for segment in Store(store).load_segments(partition):
        mark = {**row, 'new': segment.pair.new_rev[:12]}
        for timing in segment.timings:
            seconds = round(timing.cpu_seconds, 2)
            yield {**mark, 'step': timing.step, 'seconds': seconds, 'count': timing.count}
        for step, ran in ((METHOD_CELLS, False), (RUN_CELLS, True)):
            cells = {
                (cell.method_id, cell.cell)
                for cell in segment.cells
                if not ran or cell.unit_outcome not in (Outcome.COMPILE_ERROR, Outcome.UNBUILDABLE)
            }
            yield {**mark, 'step': step, 'seconds': 0.0, 'count': len(cells)}


def _drawn(cells: Sequence[MinedCell], arguments: argparse.Namespace) -> list[list[MinedCell]]:
    """The cells of a few pairs, all methods of each."""
    by_pair: dict[str, list[MinedCell]] = {}
    for one in cells:
        by_pair.setdefault(one.pair.pair_id, []).append(one)
    ids = sorted(by_pair)
    chance = random.Random(f'{arguments.seed} {arguments.repo}')
    return [by_pair[name] for name in chance.sample(ids, min(arguments.pairs, len(ids)))]


def _by_place(cells: Sequence[MinedCell]) -> dict[Place, list[MinedCell]]:
    found: dict[Place, list[MinedCell]] = {}
    for one in cells:
        found.setdefault(one.place, []).append(one)
    return found


def _run_oracles(
    bench: Bench,
    repository: Repository,
    arguments: argparse.Namespace,
    place: Place,
    members: Sequence[MinedCell],
) -> None:
    chance = random.Random(f'{arguments.seed} {place}')
    chosen = chance.sample(list(members), min(arguments.methods, len(members)))
    targets = [Target(method=one.method) for one in chosen]
    for oracle in Oracle:
        for flags in Flags:
            answer = bench.run(oracle, flags, repository, place, targets)
            seconds = [ruling.seconds for ruling in answer.rulings]
            rest = statistics.fmean(seconds[1:] or seconds)
            total = answer.build_seconds + seconds[0] + rest * (len(members) - 1)
            row = {
                'repo': arguments.repo,
                'new': members[0].pair.new_rev[:12],
                'cell': members[0].cell,
                'module': place.module,
                'oracle': oracle.name,
                'flags': flags,
                'methods': len(members),
                'measured': len(chosen),
                'build': round(answer.build_seconds, 2),
                'first': round(seconds[0], 2),
                'others': round(rest, 2),
                'total': round(total, 2),
                'same': sum(
                    ruling.outcome == one.unit_outcome
                    for ruling, one in zip(answer.rulings, chosen, strict=True)
                ),
            }
            append(arguments.folder / ORACLES, [row])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser('measure')
    command.add_argument('clone', type=Path)
    command.add_argument('repo')
    command.add_argument('folder', type=Path)
    command.add_argument('--commits', type=int, required=True)
    command.add_argument('--until')
    command.add_argument('--walk')
    command.add_argument('--ref')
    command.add_argument('--profile', default='default')
    command.add_argument('--pairs', type=int, default=2)
    command.add_argument('--methods', type=int, default=3, help='of each cell')
    command.add_argument('--keep', type=Path, metavar='STORE', help='where the first store stays')
    command.add_argument('--once', action='store_true', help='do not mine again afterwards')
    command.add_argument('--seed', type=int, default=4)
    command.set_defaults(run=measure)
    summary = commands.add_parser('sum')
    summary.add_argument('folder', type=Path)
    summary.set_defaults(
        run=lambda a: cost_summary.print_summary(a.folder / ENGINE, a.folder / ORACLES)
    )
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == '__main__':
    main()
