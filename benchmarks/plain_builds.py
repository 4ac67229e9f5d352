"""Whether plain Maven compiles the revisions that a table of `yield_of_builds` names.

    python -m benchmarks.plain_builds YIELD.csv OUT.csv NAME=CLONE ... [--built N] [--seed N]

All revisions that coevo did not build with all JDKs at hand, and N drawn by seed of those that it did.
`mvn compile` of the tree as it is, with no property and no flag, on one JDK after the other until one
compiles it: first the one that coevo used, then the oldest. Revisions that OUT.csv has are not asked
again. In the end it prints how the two agree, and what Maven compiles and coevo does not.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.oracles.cell import Bench
from benchmarks.tables import Row, append, read
from benchmarks.yield_of_builds import read as read_yield
from coevo.git.repository import Repository
from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.model.errors import Transient


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class End:
    """A revision, the JDK that coevo used last, and `built` or why not."""

    repo: str
    rev: str
    jdk: int
    coevo: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('yields', type=Path)
    parser.add_argument('out', type=Path)
    parser.add_argument('clones', nargs='*', metavar='NAME=CLONE')
    parser.add_argument('--built', type=int, default=200)
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    clones = dict(clone.split('=', 1) for clone in arguments.clones)
    with ExitStack() as stack:
        ask(arguments, clones, stack)
    print(*summary(read(arguments.out)), sep='\n')


def ask(arguments: argparse.Namespace, clones: Mapping[str, str], stack: ExitStack) -> None:
    benches = {jdk.feature: Bench(stack, jdk=jdk) for jdk in reversed(find_jdks())}
    known = {(row['repo'], row['rev']) for row in read(arguments.out)}
    for end in chosen(arguments):
        if end.repo in clones and (end.repo, end.rev) not in known:
            repository = Repository(Path(clones[end.repo]))
            append(arguments.out, [asked(end, repository, benches)])


def chosen(arguments: argparse.Namespace) -> Sequence[End]:
    """All that coevo does not build, and as many as are wanted of the others."""
    ends = sorted(set(_ends(arguments.yields)))
    built = [end for end in ends if end.coevo == 'built']
    size = min(arguments.built, len(built))
    sample = set(random.Random(arguments.seed).sample(built, size))
    return [end for end in ends if end.coevo != 'built' or end in sample]


def _ends(yields: Path) -> Iterator[End]:
    rows = read_yield(yields)
    most = max((len(row.jdks.split()) for row in rows), default=0)
    for row in rows:
        if len(row.jdks.split()) == most:
            feature = Jdk(home=Path(), version=row.jdk).feature
            for rev, coevo in ((row.old_rev, row.old), (row.new_rev, row.new)):
                yield End(repo=row.repo, rev=rev, jdk=feature, coevo=coevo)


def asked(end: End, repository: Repository, benches: Mapping[int, Bench]) -> Row:
    """One row: the JDK on which Maven compiles it, or the end of what it said on the last one."""
    said = ''
    for feature in sorted(benches, key=lambda feature: (feature != end.jdk, feature)):
        try:
            compiled = benches[feature].compile(repository, end.rev)
        except Transient as error:
            said = str(error)
            continue
        if compiled.built:
            return _row(end, 'built', feature, '')
        said = compiled.log[-400:]
    return _row(end, 'not built', end.jdk, said)


def _row(end: End, maven: str, jdk: int, said: str) -> Row:
    return {
        'repo': end.repo,
        'rev': end.rev,
        'coevo': end.coevo,
        'coevo_jdk': str(end.jdk),
        'maven': maven,
        'maven_jdk': str(jdk),
        'said': ' '.join(said.split()),
    }


def summary(rows: Sequence[Row]) -> Iterator[str]:
    counts = Counter(
        ('built' if row['coevo'] == 'built' else 'not built', row['maven']) for row in rows
    )
    yield '| coevo | plain Maven | revisions |'
    yield '| --- | --- | --- |'
    for (ours, theirs), count in sorted(counts.items()):
        yield f'| {ours} | {theirs} | {count} |'
    for row in rows:
        if row['coevo'] != 'built' and row['maven'] == 'built':
            yield f'Maven alone: {row["repo"]} {row["rev"]} on {row["maven_jdk"]}: {row["coevo"]}'


if __name__ == '__main__':
    main()
