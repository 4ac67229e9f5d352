"""What orchestration costs: CPU seconds for a flow run, a repository and a pair, against plain calls.

    python -m benchmarks.orchestration OUT.csv

Repositories are written here, so small that mining costs next to nothing: with a walk of `PAIRS` pairs
whose changes are comments, and with no pair at all. Each size of a batch is mined in three ways, one after
the other, in stores of their own: by plain calls in this process, each in a contained process
(`flows.batches.batch.run_job`), and by a flow run under a server and a worker. What is more than for the plain
calls is the way's own; differences between the sizes tell what belongs to a run, a repository and a pair.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from coevo.model.profiles import load_profile
from flows.batches.batch import run_job
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob, JobOutcome, Verb
from flows.options import MineOptions
from flows.pipeline import mine
from tests.prefect_server import Server, deploy, prefect_server, worker
from tests.projects import pom, source, write

PAIRS = 40
# Repositories of a batch, and pairs of each of them.
SIZES = ((1, 0), (4, 0), (8, 0), (1, PAIRS), (4, PAIRS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU seconds: of the process that mines or the flow's with all it starts, and of the rest."""

    way: str
    repositories: int
    pairs: int
    working: float
    server: float
    worker: float
    seconds: float


def main() -> None:
    with tempfile.TemporaryDirectory(prefix='coevo-orchestration-', dir='/var/tmp') as folder:
        costs = list(_measure(Path(folder)))
    with Path(sys.argv[1]).open('w', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(Cost.__slots__)
        writer.writerows([getattr(one, name) for name in Cost.__slots__] for one in costs)


def _measure(folder: Path) -> Iterator[Cost]:
    repositories = {
        pairs: [_repository(folder / f'{pairs}-{number}', pairs) for number in range(8)]
        for pairs in (0, PAIRS)
    }
    store = folder / 'live'
    with prefect_server(folder / 'server', COEVO_STORE=str(store), COEVO_JOBS='1') as server:
        deploy(server)
        with worker(server, 'worker') as process:
            under = _Under(server=server, worker=psutil.Process(process.pid))
            for number, (count, pairs) in enumerate(SIZES):
                # of another name in each size, and so mined anew
                names = [f'size{number}/n{one}' for one in range(count)]
                batch = dict(zip(names, repositories[pairs][:count], strict=True))
                yield _plain(batch, pairs, folder / 'plain')
                yield _contained(batch, pairs, folder / 'contained')
                yield under.mine(_named(batch, folder / f'copies{number}'), pairs)


def _repository(folder: Path, pairs: int) -> Path:
    return write(
        folder, [{'pom.xml': pom(), **source('Till', f'    // {n}\n')} for n in range(pairs + 1)]
    )


def _named(batch: Mapping[str, Path], folder: Path) -> list[str]:
    """Copies, from whose paths a flow run takes the names of the repositories."""
    copies = [folder / name.replace('/', '-') for name in batch]
    for copy, path in zip(copies, batch.values(), strict=True):
        shutil.copytree(path, copy)
    return list(map(str, copies))


def _plain(batch: Mapping[str, Path], pairs: int, store: Path) -> Cost:
    def work() -> None:
        for name, path in batch.items():
            profile = load_profile('quick')
            mine(MineOptions(source=str(path), store=store, profile=profile, name=name))

    return _cost('plain', len(batch), pairs, work)


def _contained(batch: Mapping[str, Path], pairs: int, store: Path) -> Cost:
    limits = BatchLimits(seconds=600, memory_gib=4)

    def work() -> None:
        for name, path in batch.items():
            job = BatchJob(
                verb=Verb.MINE, source=str(path), store=str(store), profile='quick', repo=name
            )
            result = run_job(job, limits)
            assert result.outcome is JobOutcome.DONE, result

    return _cost('contained', len(batch), pairs, work)


def _cost(way: str, count: int, pairs: int, work: Callable[[], None]) -> Cost:
    before, began = _used(psutil.Process()), time.monotonic()
    work()
    return Cost(
        way=way,
        repositories=count,
        pairs=pairs,
        working=round(_used(psutil.Process()) - before, 2),
        server=0.0,
        worker=0.0,
        seconds=round(time.monotonic() - began, 1),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Under:
    """A server and a worker that are up."""

    server: Server
    worker: psutil.Process

    def mine(self, repositories: Sequence[str], pairs: int) -> Cost:
        server = psutil.Process(self.server.pid)
        before, began = (_used(server), *_halves(self.worker)), time.monotonic()
        run = self.server.start('mine/batch', repositories=repositories, profile='quick')
        message = self.server.wait(run)
        assert message.startswith(f'{len(repositories)} done'), message
        while self.worker.children():  # what a process used is added up when it is over
            time.sleep(0.1)
        after = (_used(server), *_halves(self.worker))
        spent = [round(late - early, 2) for early, late in zip(before, after, strict=True)]
        return Cost(
            way='prefect',
            repositories=len(repositories),
            pairs=pairs,
            working=spent[2],
            server=spent[0],
            worker=spent[1],
            seconds=round(time.monotonic() - began, 1),
        )


def _halves(process: psutil.Process) -> tuple[float, float]:
    """Of a process alone, and of those that it has started and that are over."""
    times = process.cpu_times()
    return times.user + times.system, times.children_user + times.children_system


def _used(process: psutil.Process) -> float:
    return sum(_halves(process))


if __name__ == '__main__':
    main()
