"""What a release of many small repositories takes: descriptors, processes, memory, CPU seconds.

    python -m benchmarks.many_repositories write COUNT FOLDER           repositories, and a store of them
    python -m benchmarks.many_repositories release COUNT FOLDER OUT.csv [--descriptors 256]

Repositories are of the tests' toy language. Each has its own commits and its own clone, a LICENSE, a
pair with one task, and 40 further files of 12 kB, so that a clone has something to keep in memory. All
of them are mined in the sandbox. A release takes a copy of the store with the first COUNT repositories,
in a process of its own under a limit of descriptors; the peaks are those of samples, 20 a second.

    peak_mib           resident memory of the release and all that it started, pages of files included
    own_mib            that of the release's own process
    descriptors        that its own process had open
    processes          that it had started and that had not ended
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from benchmarks.refusals import print_fatal
from benchmarks.tables import append_rows
from coevo.model.errors import Fatal
from coevo.model.profiles import load_profile
from coevo.storage.place import encode_folder_name
from coevo.storage.store import Store
from flows.options import MineOptions, ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.languages import toys
from tests.languages.table import known_toy

_FILES, _LINES, _WORDS = 40, 20, 150
_SECONDS = 0.05
_AT_ONCE = 4


@dataclass(slots=True, kw_only=True)
class Peaks:
    """The most that was seen of a process and of those that it started; memory in bytes."""

    memory: int = 0
    own: int = 0
    descriptors: int = 0
    processes: int = 0

    def watch(self, pid: int) -> None:
        """Keep what is more than before; what has ended is passed over."""
        with suppress(psutil.NoSuchProcess):
            release = psutil.Process(pid)
            own, below = release.memory_info().rss, release.children(recursive=True)
            self.descriptors = max(self.descriptors, release.num_fds())
            self.own = max(self.own, own)
            self.memory = max(self.memory, own + sum(map(_measure_memory, below)))
            self.processes = max(self.processes, len(below))


def _measure_memory(process: psutil.Process) -> int:
    """Resident bytes; 0 of a process that has ended."""
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


def write_store(count: int, folder: Path) -> None:
    """Write and mine so many repositories; those that are there already stay."""
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / 'store')
    mined = {each.repo for each in store.list_partitions() if not store.list_unmined_pairs(each)}
    wanted = [number for number in range(count) if _make_name(number) not in mined]
    with ProcessPoolExecutor(max_workers=_AT_ONCE) as pool:
        for number in pool.map(partial(_write_and_mine, folder), wanted):
            print(_make_name(number), flush=True)


def _write_and_mine(folder: Path, number: int) -> int:
    bare = folder / 'repositories' / f'{number}.git'
    shutil.rmtree(bare, ignore_errors=True)
    bare.mkdir(parents=True)
    _run_git(bare, 'init', '-q', '--bare', '-b', 'main')
    _run_git(bare, 'fast-import', '--quiet', stdin=''.join(_write_commits(number)))
    asked = MineOptions(
        source=str(bare),
        store=folder / 'store',
        name=_make_name(number),
        profile=load_profile('quick'),
        local=folder / 'store',
    )
    with known_toy():
        report = mine(asked)
    if report.executed != 1:
        raise Fatal(
            f'{_make_name(number)} gave {report.executed} pairs, not one: see what mining says'
        )
    return number


def _make_name(number: int) -> str:
    return f'many/r{number:05}'


def _write_commits(number: int) -> Iterator[str]:
    """Write two commits for `git fast-import`: the second changes what a toy says, and its test with it."""
    for step in range(2):
        when = 1_700_000_000 + 3600 * (2 * number + step)
        yield f'commit refs/heads/main\ncommitter A <a@example.org> {when} +0000\ndata 4\nstep\n'
        for path, text in _make_files(number, step).items():
            yield f'M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n'


def _make_files(number: int, step: int) -> dict[str, str]:
    changing = {
        **toys.source('Till', f'price: {number}-{step}'),
        **toys.tests('Till', f'follows: is Till.price {number}-{step}'),
    }
    if step:
        return changing
    lines = [f'line{at}: {f"{number} " * _WORDS}' for at in range(_LINES)]
    further = (toys.source(f'Shelf{at}', f'name: {at}', *lines) for at in range(_FILES))
    return {
        **toys.BUILD,
        **changing,
        **{path: text for file in further for path, text in file.items()},
    }


def _run_git(bare: Path, *words: str, stdin: str = '') -> None:
    subprocess.run(('git', '-C', bare, *words), input=stdin, text=True, check=True)


def measure_release(count: int, folder: Path, descriptors: int) -> dict[str, object]:
    """Release the first repositories of a store in a process of its own; give a row of figures."""
    work = folder / f'of-{count}'
    shutil.rmtree(work, ignore_errors=True)
    _copy_store(folder / 'store', work / 'store', count)
    command = (sys.executable, '-m', 'benchmarks.many_repositories', 'alone', str(work))
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    peaks = Peaks()
    with subprocess.Popen((*command, str(descriptors))) as release:
        while release.poll() is None:
            peaks.watch(release.pid)
            time.sleep(_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        'repositories': count,
        'limit': descriptors,
        'status': release.returncode,
        'cpu_seconds': round(_sum_cpu(after) - _sum_cpu(before), 1),
        'seconds': round(time.monotonic() - began, 1),
        'peak_mib': peaks.memory >> 20,
        'own_mib': peaks.own >> 20,
        'descriptors': peaks.descriptors,
        'processes': peaks.processes,
    }


def _copy_store(store: Path, target: Path, count: int) -> None:
    """Copy a store with the first repositories alone; files are shared where they are never changed."""
    names = [encode_folder_name(_make_name(number)) for number in range(count)]
    missing = [name for name in names if not (store / 'clones' / f'{name}.git').is_dir()]
    if missing:
        raise Fatal(f'{store} has no {missing[0]}: write {count} repositories first')
    (target / 'clones').mkdir(parents=True)
    shutil.copy(store / 'store.json', target)
    for name in names:
        for path in (f'partitions/{name}', f'clones/{name}.git'):
            shutil.copytree(store / path, target / path, symlinks=True)


def release(work: Path, descriptors: int) -> None:
    """Release a store with so many descriptors."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    with known_toy():
        report = publish_release(ReleaseOptions(store=work / 'store', snapshot=work / 'snapshot'))
    print(report.sentence.partition('\n')[0], flush=True)


def _sum_cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parts = parser.add_subparsers(dest='part', required=True)
    for name in ('write', 'release'):
        part = parts.add_parser(name)
        part.add_argument('count', type=int)
        part.add_argument('folder', type=Path)
    part.add_argument('out', type=Path)
    part.add_argument('--descriptors', type=int, default=256)
    alone = parts.add_parser('alone')
    alone.add_argument('work', type=Path)
    alone.add_argument('descriptors', type=int)
    words = parser.parse_args()
    with print_fatal('many_repositories'):
        if words.part == 'write':
            write_store(words.count, words.folder.absolute())
        elif words.part == 'release':
            row = measure_release(words.count, words.folder.absolute(), words.descriptors)
            print(row, flush=True)
            append_rows(words.out, [row])
        else:
            release(words.work, words.descriptors)


if __name__ == '__main__':
    main()
