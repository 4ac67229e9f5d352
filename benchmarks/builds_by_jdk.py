"""What building a revision and compiling its tests costs on each JDK, the same revisions on all.

    python -m benchmarks.builds_by_jdk OUT.csv NAME=CLONE ... [--jdks 8,11,17] [--revisions N]
        [--skip N]

N revisions of the first-parent line of HEAD, oldest first, the newest SKIP left out; one warm JVM for
each JDK, as in a run. Each JDK has its turn at a revision before any goes on to the next, so that a
busy machine is busy for all. One more revision before them, which fetches libraries and warms up,
is not counted. In the end it prints CPU seconds over revisions that fare alike on all JDKs, and their
ratios to those on 17.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from itertools import islice
from pathlib import Path
from statistics import median

from coevo.git.repository import Repository
from coevo.languages.cells import CellKey
from coevo.languages.java.jdk_worker import JdkWorker
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.jdks import PREFERRED, Jdk, find_jdks
from miners.cloning.clones import obtain_clone

_SECONDS = ('build_seconds', 'tests_seconds', 'seconds')


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One revision on one JDK; CPU seconds of the build, then of compiling all its tests."""

    repo: str
    rev: str
    jdk: int
    builder: str
    build: str  # `built`, or why not
    unit_ok: int  # modules whose tests compile
    build_seconds: float
    tests_seconds: float

    @property
    def seconds(self) -> float:
        return self.build_seconds + self.tests_seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    parser.add_argument('clones', nargs='*', metavar='NAME=CLONE')
    parser.add_argument('--jdks', default='8,11,17')
    parser.add_argument('--revisions', type=int, default=20)
    parser.add_argument('--skip', type=int, default=0)
    parser.add_argument('--store', type=Path, default=Path('/var/tmp/coevo-builds'))
    arguments = parser.parse_args()
    for clone in arguments.clones:
        name, _, source = clone.partition('=')
        for cost in measure(arguments, name, source):
            append(arguments.out, cost)
    for line in summary(read(arguments.out)):
        print(line)


def measure(arguments: argparse.Namespace, name: str, source: str) -> Iterator[Cost]:
    clone = obtain_clone(source, store=arguments.store, name=name)
    repository = Repository(clone.git_dir)
    line = (rev for rev, _ in repository.iterate_log(clone.default_ref, first_parent=True))
    revs = [*islice(line, arguments.skip, arguments.skip + arguments.revisions + 1)][::-1]
    known = {jdk.feature: jdk for jdk in reversed(find_jdks())}
    jdks = [known[int(text)] for text in arguments.jdks.split(',')]
    with ExitStack() as stack:
        run = JavaRunContext(repository, sandbox='bubblewrap', stack=stack)
        workers = {jdk: JdkWorker(SharedBuilds(run, jdk)) for jdk in jdks}
        for worker in workers.values():
            stack.callback(worker.close)
        for place, rev in enumerate(revs):
            costs = [cost_of(name, rev, jdk, worker) for jdk, worker in workers.items()]
            if place:
                yield from costs


def cell(rev: str, module: str) -> CellKey:
    return CellKey(tests_rev=rev, code_rev=rev, module=module)


def cost_of(name: str, rev: str, jdk: Jdk, worker: JdkWorker) -> Cost:
    build = worker.build(rev)
    modules = [module for module, failure in build.modules.items() if failure is None]
    compiled = [worker.cells.get_cell(cell(rev, module)).compiled for module in modules]
    worker.cells.remove_other_revisions(())
    return Cost(
        repo=name,
        rev=rev[:12],
        jdk=jdk.feature,
        builder=build.builder,
        build=build.summary,
        unit_ok=sum(one.unit_ok for one in compiled),
        build_seconds=round(build.cpu_seconds, 2),
        tests_seconds=round(sum(one.cpu_seconds for one in compiled), 2),
    )


# -- the table -----------------------------------------------------------------------------------


def append(file: Path, row: Cost) -> None:
    new = not file.exists()
    with file.open('a', newline='') as out:
        writer = csv.DictWriter(out, [field.name for field in fields(Cost)], lineterminator='\n')
        if new:
            writer.writeheader()
        writer.writerow(asdict(row))


def read(file: Path) -> list[Cost]:
    with file.open(newline='') as lines:
        return [
            Cost(
                repo=row['repo'],
                rev=row['rev'],
                jdk=int(row['jdk']),
                builder=row['builder'],
                build=row['build'],
                unit_ok=int(row['unit_ok']),
                build_seconds=float(row['build_seconds']),
                tests_seconds=float(row['tests_seconds']),
            )
            for row in csv.DictReader(lines)
        ]


def summary(rows: Sequence[Cost]) -> Iterator[str]:
    """Per repository and JDK, over revisions that were built and compiled alike on all JDKs."""
    yield '| repository | revisions | JDK | by | build | tests | both | median ratio to 17 | sums |'
    yield '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for repo in dict.fromkeys(row.repo for row in rows):
        own = [row for row in rows if row.repo == repo]
        revs = {rev: [row for row in own if row.rev == rev] for rev in {row.rev for row in own}}
        alike = {
            rev: {row.jdk: row for row in costs}
            for rev, costs in revs.items()
            if len({(row.build, row.unit_ok) for row in costs}) == 1 and costs[0].build == 'built'
        }
        for jdk in sorted({row.jdk for row in own}):
            pairs = [(costs[jdk], costs[PREFERRED]) for costs in alike.values()]
            if not pairs:
                continue
            ratios = median(one.seconds / base.seconds for one, base in pairs)
            cells = (
                repo,
                f'{len(pairs)} of {len(revs)}',
                str(jdk),
                ', '.join(sorted({one.builder for one, _ in pairs})),
                *(f'{sum(getattr(one, name) for one, _ in pairs):.1f}' for name in _SECONDS),
                f'{ratios:.2f}',
                f'{sum(o.seconds for o, _ in pairs) / sum(b.seconds for _, b in pairs):.2f}',
            )
            yield f'| {" | ".join(cells)} |'


if __name__ == '__main__':
    main()
