"""How many pairs of a walk have two ends that build, and why the others do not.

    python -m benchmarks.yield_of_builds OUT.csv NAME=CLONE ... [--commits N] [--sample N] [--ends N]

Only builds: no test is compiled or run. One row for each pair of the walk `parents` from HEAD over so
many commits (0: all), or for each of a sample of those pairs drawn by seed, as it comes; with `--ends`
one sample of the newest N pairs and one of the oldest N. Pairs that
OUT.csv has with the same JDKs at hand are not built again. In the end it prints OUT.csv as a table.
$COEVO_JDKS says which JDKs may be used.
"""

from __future__ import annotations

import argparse
import csv
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.builds import Build
from coevo.languages.java.engine import JavaBuilder
from coevo.languages.java.revisions.builds_by_jdk import BuildsByJdk
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.model.records import Pair
from coevo.model.words import Walk
from miners.cloning.clones import obtain_clone
from miners.walks.pairs import Route, visit_route


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One pair; `old` and `new` are `built`, or why not. `jdks` are those at hand, `jdk` was used."""

    repo: str
    jdks: str
    old_rev: str
    new_rev: str
    old: str
    new: str
    old_builder: str
    new_builder: str
    modules: int  # at new
    jdk: str
    overrides: str
    cpu_seconds: float

    @property
    def whole(self) -> bool:
        return self.old == self.new == 'built'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    parser.add_argument('clones', nargs='*', metavar='NAME=CLONE')
    parser.add_argument('--commits', type=int, default=100)
    parser.add_argument('--sample', type=int, metavar='N')
    parser.add_argument('--ends', type=int, metavar='N')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--store', type=Path, default=Path('/var/tmp/coevo-yield'))
    arguments = parser.parse_args()
    for clone in arguments.clones:
        name, _, source = clone.partition('=')
        measure(arguments, name, source)
    for line in summary(read(arguments.out)):
        print(line)


def measure(arguments: argparse.Namespace, name: str, source: str) -> None:
    """Build both ends of every pair that is not in the table yet, oldest first."""
    clone = obtain_clone(source, store=arguments.store, name=name)
    repository = Repository(clone.git_dir)
    route = Route(
        repo=name,
        language='java',
        walk=Walk.PARENTS,
        ref=clone.default_ref,
        commits=arguments.commits or None,
    )
    found = [row for row in read(arguments.out) if row.repo == name and row.jdks == at_hand()]
    known = {(row.old_rev, row.new_rev) for row in found}
    walked = visit_route(repository, route).pairs[::-1]
    pairs = [
        pair
        for pair in drawn(walked, arguments)
        if (pair.old.rev[:12], pair.new.rev[:12]) not in known
    ]
    uses = Counter(rev for pair in pairs for rev in (pair.old.rev, pair.new.rev))
    with ExitStack() as stack:
        builds_by_jdk = BuildsByJdk(JavaRunContext(repository, sandbox='bubblewrap', stack=stack))
        builder = JavaBuilder(builds_by_jdk)
        stack.callback(builder.close)
        for pair in pairs:
            try:
                built = builder.build(pair)
                append(arguments.out, row_of(pair, built.old, built.new))
            except CorruptObject as error:
                print(f'{name} {pair.new.rev[:12]} is left out: {error}')
            for rev in (pair.old.rev, pair.new.rev):
                uses[rev] -= 1
                if not uses[rev]:
                    builds_by_jdk.forget_revision(rev)


def drawn(walked: Sequence[Pair], arguments: argparse.Namespace) -> Iterator[Pair]:
    """Oldest first; what the two ends of a short walk share is drawn once."""
    places = range(len(walked))
    ends = arguments.ends
    groups = [places[:ends], places[max(ends, len(walked) - ends) :]] if ends else [places]
    for group in groups:
        size = min(arguments.sample or len(group), len(group))
        for place in sorted(random.Random(arguments.seed).sample(group, size)):
            yield walked[place]


def at_hand() -> str:
    return ' '.join(str(feature) for feature in sorted({jdk.feature for jdk in find_jdks()}))


def row_of(pair: Pair, old: Build, new: Build) -> Built:
    return Built(
        repo=pair.repo,
        jdks=at_hand(),
        old_rev=pair.old.rev[:12],
        new_rev=pair.new.rev[:12],
        old=old.summary,
        new=new.summary,
        old_builder=old.builder,
        new_builder=new.builder,
        modules=len(new.modules),
        jdk=new.runtime,
        overrides=' '.join(sorted({*old.overrides, *new.overrides})),
        cpu_seconds=round(old.cpu_seconds + new.cpu_seconds, 2),
    )


# -- the table -----------------------------------------------------------------------------------


def append(file: Path, row: Built) -> None:
    new = not file.exists()
    with file.open('a', newline='') as out:
        writer = csv.DictWriter(out, [field.name for field in fields(Built)], lineterminator='\n')
        if new:
            writer.writeheader()
        writer.writerow(asdict(row))


def read(file: Path) -> list[Built]:
    if not file.exists():
        return []
    with file.open(newline='') as lines:
        return [_typed(row) for row in csv.DictReader(lines)]


def _typed(row: dict[str, Any]) -> Built:
    numbers = {'modules': int(row['modules']), 'cpu_seconds': float(row['cpu_seconds'])}
    return Built(**{**row, **numbers})


def summary(rows: Sequence[Built]) -> Iterator[str]:
    """Per repository: pairs, those of which both ends build, JDKs by pairs, reasons by revisions."""
    yield (
        '| repository | JDKs at hand | pairs | both ends build | modules | used | by `mvn` '
        '| CPU s | reasons |'
    )
    yield '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for name, jdks_there in sorted({(row.repo, row.jdks) for row in rows}):
        own = [row for row in rows if (row.repo, row.jdks) == (name, jdks_there)]
        whole = sum(row.whole for row in own)
        ends = {(row.old_rev, row.old) for row in own} | {(row.new_rev, row.new) for row in own}
        reasons = Counter(reason for _, reason in ends if reason != 'built')
        jdks = Counter(str(Jdk(home=Path(), version=row.jdk).feature) for row in own)
        commands = sum('mvn' in (row.old_builder, row.new_builder) for row in own)
        cells = (
            name,
            jdks_there,
            str(len(own)),
            f'{whole} ({whole / len(own):.0%})',
            str(max(row.modules for row in own)),
            _counts(jdks),
            str(commands),
            f'{sum(row.cpu_seconds for row in own):.0f}',
            _counts(reasons),
        )
        yield f'| {" | ".join(cells)} |'


def _counts(counter: Counter[str]) -> str:
    return ', '.join(f'{name}: {count}' for name, count in counter.most_common())


if __name__ == '__main__':
    main()
