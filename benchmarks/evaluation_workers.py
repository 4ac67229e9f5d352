"""An evaluation of 100 tasks of 12 repositories under a server: on one worker, on two, and as a command.

    python -m benchmarks.evaluation_workers FOLDER OUT.csv

Tasks are of the tests' toy language and judged with their gold, so that nearly all that is seen is what
orchestration costs. Each worker does one part at a time; all write into one folder. CPU seconds: of the
workers with all that they started (`working`), and of the server. Rows are compared but for their seconds.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil

from benchmarks import tables
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import load_results
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.faults.chain import TOY
from tests.languages.table import known_toy
from tests.prefect_server import Server, deploy, logged, prefect_server, worker
from tests.projects import QUICK, write

REPOSITORIES, PAIRS, PARTS = 12, 9, 4
_LEAST = 100
_PATIENCE = 7200.0  # seconds of wall time, on a busy machine


def main() -> None:
    folder, out = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    snapshot = _snapshot(folder)
    by_count: dict[int, list[MethodResult]] = {}
    for row, found in _rows(folder, snapshot):
        print(row, flush=True)
        tables.append(out, [row])
        by_count[len(by_count)] = found
    first, *others = by_count.values()
    assert all(one == first for one in others), 'rows differ'
    print(f'{len(first)} rows, the same {len(by_count)} times')


def _snapshot(folder: Path) -> Path:
    """One task for each pair of twelve repositories."""
    store, snapshot = folder / 'store', folder / 'snapshot'
    with known_toy():
        for number in range(REPOSITORIES):
            steps = [TOY.step(1000 * number + step) for step in range(PAIRS + 1)]
            source = write(folder / 'repositories' / f'r{number}', steps)
            mine(MineOptions(source=str(source), store=store, profile=QUICK, name=f'ada/r{number}'))
        report = publish_release(ReleaseOptions(store=store, snapshot=snapshot))
    assert report.rows['tasks'] >= _LEAST, report
    return snapshot


def _rows(folder: Path, snapshot: Path) -> Iterator[tuple[dict[str, object], list[MethodResult]]]:
    yield _by_command(folder, snapshot)
    with prefect_server(folder / 'live', None, COEVO_JOBS='1', **TOY.environment) as server:
        deploy(server)
        server.prefect('deployment', 'schedule', 'pause', '--all')
        for count in (1, 2):
            yield _under(server, folder, snapshot, count)


def _by_command(folder: Path, snapshot: Path) -> tuple[dict[str, object], list[MethodResult]]:
    out, began, before = folder / 'results-command', time.monotonic(), _ended(psutil.Process())
    words = ('evaluate', str(snapshot), 'gold', '--out', str(out), '--jobs', '1')
    command = (sys.executable, '-m', 'tests.languages.coevo_with_toy', *words, *_words(folder, out))
    with logged(folder / 'command.log', command, os.environ) as process:
        assert process.wait() == 0, (folder / 'command.log').read_text()
    return _row('command', 0, out, _ended(psutil.Process()) - before, 0.0, began)


def _under(
    server: Server, folder: Path, snapshot: Path, count: int
) -> tuple[dict[str, object], list[MethodResult]]:
    """All parts by so many workers, each of which does one at a time."""
    out, began = folder / f'results-{count}', time.monotonic()
    asked = {'snapshot': str(snapshot), 'out': str(out), 'parts': PARTS}
    before, known = _used(psutil.Process(server.pid)), {*server.runs('evaluate-part/part')}
    with ExitStack() as stack:
        started = (worker(server, f'{count}-{number}', limit=1) for number in range(count))
        workers = [psutil.Process(stack.enter_context(one).pid) for one in started]
        whole = server.start('evaluate/whole', **asked, words=_words(folder, out))
        server.wait(whole, _PATIENCE)
        for run in {*server.runs('evaluate-part/part')} - known:
            server.wait(run, _PATIENCE)
        while any(
            one.children() for one in workers
        ):  # what a process used is added up when it is over
            time.sleep(0.2)
        working = sum(map(_used, workers))
    spent = _used(psutil.Process(server.pid)) - before
    return _row(f'{count} workers', count, out, working, spent, began)


def _words(folder: Path, out: Path) -> list[str]:
    """More options of `coevo evaluate`: nothing that was judged before is known."""
    cache = folder / f'cache-{out.name}'
    return ['--no-adequacy', '--store', str(folder / 'store'), '--cache', str(cache)]


def _row(
    what: str, workers: int, out: Path, working: float, server: float, began: float
) -> tuple[dict[str, object], list[MethodResult]]:
    rows = [_timeless(row) for row in load_results(out)]
    row = {
        'what': what,
        'workers': workers,
        'methods': len(rows),
        'success': sum(one.outcome is TaskOutcome.SUCCESS for one in rows),
        'working_cpu_seconds': round(working, 1),
        'server_cpu_seconds': round(server, 1),
        'seconds': round(time.monotonic() - began, 1),
    }
    return row, rows


def _timeless(row: MethodResult) -> MethodResult:
    """Without what is not the same twice."""
    return replace(row, cpu_seconds=0.0, seconds=0.0)


def _ended(process: psutil.Process) -> float:
    """CPU seconds of what a process has started that is over."""
    times = process.cpu_times()
    return float(times.children_user + times.children_system)


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system) + _ended(process)


if __name__ == '__main__':
    main()
