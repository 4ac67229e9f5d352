"""How many pairs of a walk have two ends that build, and why the other revisions do not.

    python -m benchmarks.yield_of_builds OUT.csv NAME=CLONE ... [--commits N] [--jobs N]

Only builds: no test is compiled or run. One row for each revision of the walk's pairs, as it comes;
revisions that OUT.csv has are not built again. `--summary` prints the tables of OUT.csv.
"""

from __future__ import annotations

import argparse
import csv
import queue
import threading
from collections import Counter
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import fields
from pathlib import Path

from coevo.git import Repository
from coevo.languages.base import Build
from coevo.languages.java_maven import JavaWorkshop
from coevo.languages.java_maven import Yard
from coevo.records import Walk
from miners.clones import obtain
from miners.pairs import Route
from miners.pairs import visit


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """One revision; `reasons` are those of its modules that failed, each once."""

    repo: str
    rev: str
    old_ends: str  # the old revisions that it is paired with, shortened
    built: bool
    modules: int
    failed: int
    reasons: str
    builder: str
    jdk: str
    overrides: str
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('out', type=Path)
    parser.add_argument('clones', nargs='*', metavar='NAME=CLONE')
    parser.add_argument('--commits', type=int, default=100)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--store', type=Path, default=Path('/var/tmp/coevo-yield'))
    arguments = parser.parse_args()
    for clone in arguments.clones:
        name, _, source = clone.partition('=')
        measure(arguments, name, source)
    for line in summary(read(arguments.out)):
        print(line)


def measure(arguments: argparse.Namespace, name: str, source: str) -> None:
    """Build every revision of a repository's walk that is not in the table yet."""
    clone = obtain(source, store=arguments.store, name=name)
    repository = Repository(clone.git_dir)
    route = Route(repo=name, walk=Walk.PARENTS, ref=clone.default_ref, commits=arguments.commits)
    pairs = visit(repository, route).pairs
    known = {row.rev for row in read(arguments.out) if row.repo == name}
    partners: dict[str, list[str]] = {}
    for pair in reversed(pairs):
        partners.setdefault(pair.old.rev, [])
        partners.setdefault(pair.new.rev, []).append(pair.old.rev[:12])
    todo = [rev for rev in partners if rev[:12] not in known]
    for rev, build in builds(repository, todo, arguments.jobs):
        append(arguments.out, row_of(name, rev, partners[rev], build))


def builds(repository: Repository, revs: Sequence[str], jobs: int) -> Iterator[tuple[str, Build]]:
    todo: queue.SimpleQueue[str] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[str, Build]] = queue.SimpleQueue()
    for rev in revs:
        todo.put(rev)
    with ExitStack() as stack:
        yard = Yard(repository, sandbox='bubblewrap', stack=stack)

        def loop() -> None:
            workshop = JavaWorkshop(yard)
            while not todo.empty():
                try:
                    rev = todo.get_nowait()
                except queue.Empty:
                    break
                done.put((rev, workshop.build(rev)))
            workshop.close()

        threads = [threading.Thread(target=loop, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for _ in revs:
            rev, build = done.get()
            yield rev, build
            yard.forget(rev)


def row_of(name: str, rev: str, partners: Sequence[str], build: Build) -> Built:
    failed = sorted({reason for reason in build.modules.values() if reason})
    reasons = [build.failure] if build.failure else failed
    return Built(
        repo=name,
        rev=rev[:12],
        old_ends=' '.join(partners),
        built=build.failure is None and not failed,
        modules=len(build.modules),
        failed=sum(reason is not None for reason in build.modules.values()),
        reasons=' '.join(reasons),
        builder=build.builder,
        jdk=build.jdk,
        overrides=' '.join(build.overrides),
        cpu_seconds=round(build.cpu_seconds, 2),
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
        return [
            Built(
                repo=row['repo'],
                rev=row['rev'],
                old_ends=row['old_ends'],
                built=row['built'] == 'True',
                modules=int(row['modules']),
                failed=int(row['failed']),
                reasons=row['reasons'],
                builder=row['builder'],
                jdk=row['jdk'],
                overrides=row['overrides'],
                cpu_seconds=float(row['cpu_seconds']),
            )
            for row in csv.DictReader(lines)
        ]


def summary(rows: Sequence[Built]) -> Iterator[str]:
    """Per repository: pairs, those of which both ends build, revisions, reasons, CPU seconds."""
    yield '| repository | pairs | both ends build | revisions | built | CPU s | reasons |'
    yield '| --- | --- | --- | --- | --- | --- | --- |'
    for name in sorted({row.repo for row in rows}):
        own = {row.rev: row for row in rows if row.repo == name}
        pairs = [(old, row.rev) for row in own.values() for old in row.old_ends.split()]
        whole = sum(own[old].built and own[new].built for old, new in pairs if old in own)
        reasons = Counter(row.reasons for row in own.values() if not row.built)
        told = ', '.join(f'{reason} {count}' for reason, count in reasons.most_common())
        share = f'{whole} ({whole / len(pairs):.0%})' if pairs else '0'
        built = sum(row.built for row in own.values())
        cpu = sum(row.cpu_seconds for row in own.values())
        yield f'| {name} | {len(pairs)} | {share} | {len(own)} | {built} | {cpu:.0f} | {told} |'


if __name__ == '__main__':
    main()
