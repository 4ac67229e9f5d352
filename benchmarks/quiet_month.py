"""A month in which few of many repositories changed: what it costs with and without leaving the others alone.

    python -m benchmarks.quiet_month FOLDER OUT.csv [SAMPLE]

200 repositories of the tests' toy language, served by the tests' GitHub, are crawled and mined. In each of the
last three months 20 of them had two new pairs; then comes a month with 20 others. Its round is done twice, from copies of one store, each repository in a process of its own as flow runs do it:

    all   every candidate is validated, every valid one mined, as before crawls told what was pushed to;
          of those without a push SAMPLE (20), of which all of them are reckoned
    due   what `flows.candidates.find_due_repositories` says, as `spread` does it now

Requests are counted by the server: of its Git, each repository is asked for its refs once, and what is more are
fetches. CPU seconds are those of this process and all that it starts, the server among them. The forecast
is that of the store before that month.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from benchmarks import tables
from coevo.git.repository import Repository
from coevo.languages.table import get_engine_version
from coevo.model.profiles import load_profile
from coevo.storage.clone_folders import locate_clone
from coevo.storage.store import Store
from flows import candidates
from flows.batches.batch import run_job
from flows.batches.contained import BatchLimits
from flows.batches.jobs import BatchJob, JobOutcome, Verb
from flows.crawling.crawls import CrawledRepository
from flows.discovery import CrawlOptions, crawl
from flows.forecast import Machines, forecast_costs
from flows.options import MineOptions
from flows.pipeline import mine
from flows.validations import (
    SuiteCounts,
    Validation,
    ValidationSeconds,
    write_latest,
    write_validation,
)
from miners.discovery.candidate_profiles import load_profile as load_candidates
from miners.discovery.github_tokens import GitHubToken
from tests.faults.chain import EVERYWHERE
from tests.github_server import Budgets, Hosted, Server, World, serving
from tests.languages import toys
from tests.languages.table import known_toy

COUNT, CHANGED = 200, 20
SAMPLE = 20
# Days ago: the pushes of the three months before, each to other repositories; and those that all began with.
_PUSHES, _FIRST = (80, 50, 20), 300
_PAIRS_PUSHED, _AT_ONCE = 2, 3
_NOW = datetime.now(tz=UTC).replace(microsecond=0)
_TIP = 'from refs/heads/main^0\n'
_LIMITS = BatchLimits(seconds=3600, memory_gib=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Of a stretch of work."""

    api_requests: int
    talks: int
    cpu_seconds: float


class Meter:
    """What the server was asked, and what this process and its children used, since a moment."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asked, self._git, self._cpu = len(server.asked), len(server.git.requests), _cpu()

    def read(self) -> Spent:
        git = self._server.git.requests[self._git :]
        return Spent(
            api_requests=len(self._server.asked) - self._asked,
            talks=sum(line.startswith('GET') for line in git),
            cpu_seconds=round(_cpu() - self._cpu, 1),
        )


def main() -> None:
    folder, out = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    sample = int(sys.argv[3]) if len(sys.argv) > 3 else SAMPLE
    root = str(Path(__file__).parents[1])
    os.environ['PYTHONPATH'] = os.pathsep.join((str(EVERYWHERE), root))
    shutil.rmtree(folder, ignore_errors=True)
    with known_toy(), _github(folder / 'github') as server:
        for row in _rows(folder, server, sample):
            print(row, flush=True)
            tables.append(out, [row])


def _github(repositories: Path) -> AbstractContextManager[Server]:
    plenty = {'search': 10**9, 'core': 10**9, 'graphql': 10**9}
    world = World.of(_hosted(number) for number in range(COUNT))
    server = Server(world=world, budgets=Budgets(limits=plenty), repositories=repositories)
    for number in range(COUNT):
        _publish(repositories, number)
    return serving(server)


def _hosted(number: int) -> Hosted:
    return Hosted(
        id=number + 1,
        owner=f'owner{number % 10}',
        name=f'r{number}',
        stars=1000 + number,
        language='Toy',
        files=('LICENSE', 'toy.build'),
        pushed_at=_stamp(_days_ago(number)),
    )


def _days_ago(number: int) -> int:
    """When it was pushed to last: three groups in the months before, and the others long ago."""
    group = number // CHANGED
    return _PUSHES[group - 1] if 1 <= group <= len(_PUSHES) else _FIRST


def _stamp(days_ago: int) -> str:
    return f'{_NOW - timedelta(days=days_ago):%Y-%m-%dT%H:%M:%SZ}'


def _changed(world: World) -> list[Hosted]:
    return [world[number + 1] for number in range(CHANGED)]


def _publish(repositories: Path, number: int) -> None:
    bare = repositories / f'{_hosted(number).full_name}.git'
    bare.mkdir(parents=True)
    _git(bare, 'init', '-q', '--bare', '-b', 'main')
    _write(bare, number, range(1), _FIRST, parent='')
    if _days_ago(number) != _FIRST:
        _write(bare, number, range(1, 1 + _PAIRS_PUSHED), _days_ago(number), parent=_TIP)


def _push(repositories: Path, number: int) -> None:
    bare = repositories / f'{_hosted(number).full_name}.git'
    _write(bare, number, range(100, 100 + _PAIRS_PUSHED), 0, parent=_TIP)


def _write(bare: Path, number: int, steps: range, days_ago: int, *, parent: str) -> None:
    """Commits that each change what a toy says, and its test with it; one process of Git writes them."""
    stream = []
    for step in steps:
        when = _NOW - timedelta(days=days_ago, hours=1) + timedelta(minutes=step % 50)
        stream.append(f'commit refs/heads/main\ncommitter A <a@example.org> {when:%s} +0000\n')
        stream.append(f'data 4\nstep\n{parent}')
        parent = ''  # Git goes on from what it wrote itself
        for path, text in _files(number, step).items():
            data = text.encode()
            stream.append(f'M 100644 inline {path}\ndata {len(data)}\n{text}\n')
    _git(bare, 'fast-import', '--quiet', stdin=''.join(stream))


def _files(number: int, step: int) -> dict[str, str]:
    return {
        **toys.BUILD,
        **toys.source('Till', f'last: {number}-{step}'),
        **toys.tests('Till', f'rings: is Till.last {number}-{step}'),
    }


def _git(bare: Path, *words: str, stdin: str = '') -> None:
    subprocess.run(('git', '-C', bare, *words), input=stdin, text=True, check=True)


def _rows(folder: Path, server: Server, sample: int) -> Iterator[dict[str, object]]:
    store = folder / 'due'
    yield _row('backfill', COUNT, server, partial(_backfill, store, server))
    found = forecast_costs(Store(store), store, Machines(count=1, cores=2))
    assert found is not None
    print(found, flush=True)
    for one in _changed(server.world):
        _push(folder / 'github', one.id - 1)
        one.pushed_at = _stamp(0)
    yield _row('crawl', COUNT, server, partial(_crawl, store, server))
    everything = folder / 'all'
    shutil.copytree(store, everything)
    due = {
        verb: candidates.find_due_repositories(store, verb, 'quick')
        for verb in (Verb.VALIDATE, Verb.MINE)
    }
    for verb, wanted in due.items():
        assert len(wanted.repositories) == CHANGED, wanted
        names = wanted.repositories
        yield _row(f'{verb} due', CHANGED, server, partial(_do, store, verb, names))
    quiet = sorted(due[Verb.MINE].unchanged)[:: (COUNT - CHANGED) // sample][:sample]
    for verb, wanted in due.items():
        names = wanted.repositories
        yield _row(
            f'{verb} all: with a push', CHANGED, server, partial(_do, everything, verb, names)
        )
        yield _row(f'{verb} all: without', sample, server, partial(_do, everything, verb, quiet))
    yield {
        'what': 'forecast of the month',
        'repositories': found.month.repositories,
        'pairs': found.month.pairs,
        'cpu_seconds': round(found.month.cpu_hours * 3600, 1),
    }


def _row(what: str, count: int, server: Server, work: Callable[[], int]) -> dict[str, object]:
    meter, began = Meter(server), time.monotonic()
    pairs = work()
    spent = meter.read()
    return {
        'what': what,
        'repositories': count,
        'pairs': pairs,
        'api_requests': spent.api_requests,
        'questions': min(count, spent.talks),
        'fetches': max(0, spent.talks - count),
        'cpu_seconds': spent.cpu_seconds,
        'seconds': round(time.monotonic() - began, 1),
    }


def _backfill(store: Path, server: Server) -> int:
    """By plain calls, and with validations that are written: what it costs is not what is asked here."""
    _crawl(store, server)
    pairs = 0
    for name, one in candidates.index_candidates(store).items():
        asked = MineOptions(
            source=one.clone_url,
            store=store,
            name=name,
            pushed=one.pushed_at,
            profile=load_profile('quick'),
        )
        pairs += mine(asked).executed
        _prove(store, one)
    return pairs


def _prove(store: Path, one: CrawledRepository) -> None:
    repository = Repository(locate_clone(store, one.repo))
    found = Validation(
        repo=one.repo,
        rev=repository.resolve('refs/heads/main'),
        ref='refs/heads/main',
        committed=None,
        suite=SuiteCounts(passed=1),
        sandbox='bubblewrap',
        engine_version=get_engine_version('toy'),
        language='toy',
    )
    write_validation(store, found, ValidationSeconds(build=0.0, suite=0.0))
    write_latest(store, found, one.pushed_at)


def _crawl(store: Path, server: Server) -> int:
    """It executes no pair."""
    report = crawl(
        CrawlOptions(
            store=store,
            profile=load_candidates('toy', EVERYWHERE / 'candidates.toml'),
            tokens=(GitHubToken(number=1, secret='any'),),
            api=server.api,
        )
    )
    assert report.kept == COUNT, report
    return 0


def _do(store: Path, verb: Verb, names: Sequence[str]) -> int:
    """Each in a process of its own, three at a time; how many pairs were executed."""
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        known = candidates.index_candidates(store)
        return sum(pool.map(partial(_do_one, store, verb), [known[name] for name in names]))


def _do_one(store: Path, verb: Verb, one: CrawledRepository) -> int:
    job = BatchJob(
        verb=verb,
        source=one.clone_url,
        store=str(store),
        profile='quick',
        repo=one.repo,
        pushed=one.pushed_at,
    )
    result = run_job(job, _LIMITS)
    assert result.outcome is JobOutcome.DONE, result
    return result.mined.executed if result.mined else 0


def _cpu() -> float:
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


if __name__ == '__main__':
    main()
