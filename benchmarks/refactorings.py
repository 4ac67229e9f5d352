"""RefactoringMiner over real pairs: what it costs, and whether the files that differ are enough.

    python -m benchmarks.refactorings time RESULTS.csv CLONE... [--pairs N]
    python -m benchmarks.refactorings check RESULTS.csv CHECKED.csv CLONE... [--pairs N]
    python -m benchmarks.refactorings kill RESULTS.csv CLONE...
    python -m benchmarks.refactorings sum RESULTS.csv CHECKED.csv

A clone is a bare one in a folder OWNER+NAME. Pairs are those of the walk `states` with Java files
that stand at both ends and differ, drawn by seed, as many of each clone. `check` asks again for some of
them in the opposite order, and gives all Java files of both trees instead of those that differ.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from itertools import chain
from itertools import zip_longest
from pathlib import Path

import psutil

from benchmarks.tables import Row
from benchmarks.tables import append
from benchmarks.tables import read
from coevo.git.repository import Repository
from coevo.languages.java.refactorings.miner import SUFFIX
from coevo.languages.java.refactorings.miner import RefactoringMiner
from coevo.languages.java.refactorings.process import MinerLimits
from coevo.languages.refactorings import Refactoring
from coevo.languages.refactorings import Refactorings
from coevo.model.records import Pair
from coevo.model.records import Walk
from coevo.model.records import short_hash
from miners.diffs.renaming import ends
from miners.diffs.renaming import renamed_only
from miners.diffs.transfers import declaration_of
from miners.diffs.transfers import transfers_of
from miners.diffs.transfers import undone
from miners.walks.pairs import Route
from miners.walks.pairs import visit

SEED = 5
LARGEST_TREE = 400  # Java files of both ends together, for a comparison with whole trees
COLD_START = 6  # CPU seconds in which the first pair of a worker is surely done
MIB = 1 << 20
MATCHES = ('Rename Method', 'Move Method', 'Move And Rename Method', 'Pull Up Method')

Clones = Mapping[str, Repository]


def clones(folders: Sequence[Path]) -> Clones:
    """Repositories by the name that the folder around them has."""
    return {folder.parent.name.replace('+', '/'): Repository(folder) for folder in folders}


def drawn(opened: Clones) -> Iterator[Pair]:
    """Pairs in an order drawn by seed, of each clone in turn."""
    lots = []
    for name, repository in sorted(opened.items()):
        pairs = list(
            visit(repository, Route(repo=name, language='java', walk=Walk.STATES, ref='HEAD')).pairs
        )
        random.Random(f'{SEED} {name}').shuffle(pairs)
        lots.append(pair for pair in pairs if _stands_at_both_ends(opened[pair.repo], pair))
    for turn in zip_longest(*lots):
        yield from (pair for pair in turn if pair is not None)


def _stands_at_both_ends(repository: Repository, pair: Pair) -> bool:
    changes = repository.changed(pair.old.rev, pair.new.rev)
    return any(c.path.endswith(SUFFIX) and c.old_oid and c.new_oid for c in changes)


# -- cost --------------------------------------------------------------------------------------


def measure(arguments: argparse.Namespace) -> None:
    opened = clones(arguments.clones)
    done = {(row['repo'], row['old'], row['new']) for row in read(arguments.results)}
    with RefactoringMiner() as miner:
        for number, pair in enumerate(drawn(opened)):
            if number >= arguments.pairs:
                return
            if (pair.repo, pair.old.rev, pair.new.rev) not in done:
                append(arguments.results, [_timed(miner, opened[pair.repo], pair)])


def _timed(miner: RefactoringMiner, repository: Repository, pair: Pair) -> dict[str, object]:
    changes = [c for c in repository.changed(pair.old.rev, pair.new.rev) if c.path.endswith(SUFFIX)]
    blobs = [oid for c in changes for oid in (c.old_oid, c.new_oid) if oid is not None]
    fresh = miner.process.pid is None
    begun = time.monotonic()
    found = miner.find(repository, pair.old.rev, pair.new.rev)
    wall = time.monotonic() - begun
    return {
        'repo': pair.repo,
        'old': pair.old.rev,
        'new': pair.new.rev,
        'files': len(changes),
        'bytes': sum(len(repository.blob(oid)) for oid in blobs),
        'status': found.status,
        'why': found.why or '',
        'refactorings': len(found.found),
        'digest': short_hash(repr(found.found)),
        'cpu_seconds': f'{found.cpu_seconds:.3f}',
        'wall_seconds': f'{wall:.3f}',
        'fresh': int(fresh),
        'memory_mib': _memory_mib(miner.process.pid),
        'peak_mib': _peak_mib(miner.process.pid),
    }


def _memory_mib(pid: int | None) -> int:
    return 0 if pid is None else psutil.Process(pid).memory_info().rss // MIB


def _peak_mib(pid: int | None) -> int:
    """The most that the worker ever held."""
    if pid is None:
        return 0
    status = Path(f'/proc/{pid}/status').read_text()
    (line,) = (line for line in status.splitlines() if line.startswith('VmHWM:'))
    return int(line.split()[1]) // 1024


# -- agreement ---------------------------------------------------------------------------------


def check(arguments: argparse.Namespace) -> None:
    opened = clones(arguments.clones)
    rows = [row for row in read(arguments.results) if row['status'] == 'found']
    rows = [row for row in rows if row['repo'] in opened]
    done = {(row['repo'], row['old'], row['new']) for row in read(arguments.checked)}
    with RefactoringMiner() as miner:
        for number, row in enumerate(_small(opened, reversed(rows))):
            if number >= arguments.pairs:
                return
            if (row['repo'], row['old'], row['new']) not in done:
                append(arguments.checked, [_checked(miner, opened[row['repo']], row)])


def _small(opened: Clones, rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        trees = [opened[row['repo']].tree(row[end]) for end in ('old', 'new')]
        if sum(path.endswith(SUFFIX) for path in chain(*trees)) <= LARGEST_TREE:
            yield row


def _checked(miner: RefactoringMiner, repository: Repository, row: Row) -> dict[str, object]:
    again = miner.find(repository, row['old'], row['new'])
    whole = miner.compare(*(_java(repository, row[end]) for end in ('old', 'new')))
    lost, gained = _difference(whole, again), _difference(again, whole)
    return {
        'repo': row['repo'],
        'old': row['old'],
        'new': row['new'],
        'files': row['files'],
        'found': len(again.found),
        'same_again': int(short_hash(repr(again.found)) == row['digest']),
        'whole_status': whole.why or whole.status,
        'whole_found': len(whole.found),
        'only_whole': len(lost),
        'only_changed': len(gained),
        'types_only_whole': '; '.join(sorted(lost.elements())),
        'types_only_changed': '; '.join(sorted(gained.elements())),
        **_refactored_only(again.found),
        'cpu_seconds': f'{again.cpu_seconds:.3f}',
        'whole_cpu_seconds': f'{whole.cpu_seconds:.3f}',
    }


def _refactored_only(found: Sequence[Refactoring]) -> dict[str, object]:
    """How many of the methods that are listed as renamed or moved, and of transfers, are no more."""
    matched = [end for one in found if one.type in MATCHES and (end := ends(one)) is not None]
    pairs = [(declaration_of(left), declaration_of(right)) for left, right in matched]
    transfers = list(transfers_of(found))
    return {
        'methods': len(pairs),
        'methods_equal': sum(renamed_only(found, *pair) for pair in pairs),
        'transfers': len(transfers),
        'transfers_pure': sum(each.pure is True for each in transfers),
        'transfers_same': sum(undone([each], found) for each in transfers),
    }


def _java(repository: Repository, rev: str) -> dict[str, bytes]:
    tree = repository.tree(rev)
    return {path: repository.blob(e.oid) for path, e in tree.items() if path.endswith(SUFFIX)}


def _difference(one: Refactorings, other: Refactorings) -> Counter[str]:
    """Types of what the first has and the second has not."""
    return Counter(each.type for each in set(one.found) - set(other.found))


# -- what goes wrong ---------------------------------------------------------------------------


def kill(arguments: argparse.Namespace) -> None:
    opened = clones(arguments.clones)
    rows = sorted(read(arguments.results), key=lambda row: float(row['cpu_seconds']))
    cheap, dear = rows[len(rows) // 2], rows[-1]
    limit = max(float(dear['cpu_seconds']) / 4, COLD_START)
    with RefactoringMiner(MinerLimits(cpu_seconds=limit)) as miner:
        for row in (cheap, dear, cheap):
            begun, pid = time.monotonic(), miner.process.pid
            found = miner.find(opened[row['repo']], row['old'], row['new'])
            taken = time.monotonic() - begun
            left = '' if pid is None else f', its worker {"lives" if _lives(pid) else "is gone"}'
            print(f'{row["new"][:9]} limit {limit:.1f} CPU s: {_said(found)}, {taken:.1f} s{left}')
    os.environ['COEVO_JDKS'] = 'none'
    with RefactoringMiner() as miner:
        said = Counter(
            _said(miner.find(opened[row['repo']], row['old'], row['new'])) for row in rows
        )
    print(f'without a JDK: {dict(said)}')


def _said(found: Refactorings) -> str:
    return f'{found.status} {found.why}' if found.why else f'{found.status} {len(found.found)}'


def _lives(pid: int) -> bool:
    return psutil.pid_exists(pid)


# -- summary -----------------------------------------------------------------------------------


def summarise(arguments: argparse.Namespace) -> None:
    rows, checked = read(arguments.results), read(arguments.checked)
    print('| repository | pairs | found | unknown | refactorings | median CPU s | p90 | highest |')
    print('| --- | --- | --- | --- | --- | --- | --- | --- |')
    for repo in sorted({row['repo'] for row in rows}):
        print(_line(repo, [row for row in rows if row['repo'] == repo]))
    print(_line('all', rows))
    peak = max(int(row['peak_mib']) for row in rows)
    print(f'\npeak {peak} MiB; unknown: {dict(Counter(r["why"] for r in rows if r["why"]))}')
    known = [row for row in checked if row['whole_status'] == 'found']
    same = [row for row in known if row['only_whole'] == row['only_changed'] == '0']
    again = [row for row in checked if row['same_again'] == '1']
    for name in ('methods', 'methods_equal', 'transfers', 'transfers_pure', 'transfers_same'):
        print(f'{name}: {sum(int(row[name]) for row in checked)}')
    print(f'whole trees: {len(same)} of {len(known)} equal; again: {len(again)} of {len(checked)}')


def _line(name: str, rows: Sequence[Row]) -> str:
    seconds = sorted(float(row['cpu_seconds']) for row in rows if row['status'] == 'found')
    return (
        f'| {name} | {len(rows)} | {len(seconds)} | {len(rows) - len(seconds)} '
        f'| {sum(int(row["refactorings"]) for row in rows)} | {statistics.median(seconds):.2f} '
        f'| {seconds[int(len(seconds) * 0.9)]:.2f} | {seconds[-1]:.1f} |'
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog='benchmarks.refactorings')
    verbs = parser.add_subparsers(required=True)
    for name, run, pairs in (('time', measure, 500), ('check', check, 120), ('kill', kill, 0)):
        verb = verbs.add_parser(name)
        verb.add_argument('results', type=Path)
        if name == 'check':
            verb.add_argument('checked', type=Path)
        verb.add_argument('clones', nargs='+', type=Path)
        verb.add_argument('--pairs', type=int, default=pairs)
        verb.set_defaults(run=run)
    verb = verbs.add_parser('sum')
    verb.add_argument('results', type=Path)
    verb.add_argument('checked', type=Path)
    verb.set_defaults(run=summarise)
    arguments = parser.parse_args(argv)
    arguments.run(arguments)
    return 0


if __name__ == '__main__':
    sys.exit(main())
