"""Memory and disk of one `coevo mine` at their highest, sampled from outside.

    python benchmarks/footprint.py CLONE STORE [option of mine ...]

Memory is the resident memory of the miner and all processes below it, shared pages once for each
that maps them, so an upper bound; the sandboxes' file systems lie in memory too and are counted
apart. Disk is the run's work folder, the store, and what the caches grew by.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from coevo.storage.folders import find_cache_folder

_MEMORY_SECONDS = 0.5
_DISK_SECONDS = 15.0
_SANDBOX_FOLDERS = ('w', 'tmp', 'dev/shm')

# The host's own file systems.
_DISKS = {Path(name).stat().st_dev for name in ('/', '/tmp', '/var/tmp', '/dev/shm')}


class Peak(dict[str, float]):
    """The highest value seen of each quantity."""

    def see(self, name: str, value: float) -> None:
        self[name] = max(value, self.get(name, 0.0))


def processes(root: int) -> list[psutil.Process]:
    try:
        top = psutil.Process(root)
        return [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def sample_memory(root: int, peak: Peak) -> None:
    resident, spaces = 0, {}
    living = processes(root)
    for process in living:
        try:
            resident += process.memory_info().rss
            spaces[str(Path(f'/proc/{process.pid}/ns/mnt').readlink())] = process.pid
        except (psutil.NoSuchProcess, OSError):
            continue
    own = str(Path('/proc/self/ns/mnt').readlink())
    in_files = sum(used_in(pid) for space, pid in spaces.items() if space != own)
    peak.see('resident_bytes', resident)
    peak.see('sandbox_file_bytes', in_files)
    peak.see('memory_bytes', resident + in_files)
    peak.see('processes', len(living))


def used_in(pid: int) -> int:
    """Bytes in the file systems that a sandbox keeps in memory."""
    total = 0
    for name in _SANDBOX_FOLDERS:
        place = Path(f'/proc/{pid}/root/{name}')
        try:
            if place.stat().st_dev in _DISKS:
                continue  # bwrap has not changed its root yet
            found = os.statvfs(place)
        except OSError:
            continue
        total += (found.f_blocks - found.f_bfree) * found.f_frsize
    return total


def disk_bytes(folder: Path) -> int:
    done = subprocess.run(
        ['du', '-s', '--block-size=1', str(folder)], capture_output=True, text=True, check=False
    )
    return int(done.stdout.split()[0]) if done.stdout else 0


def sample_disk(folders: dict[str, Path], peak: Peak) -> None:
    found = {name: disk_bytes(folder) for name, folder in folders.items()}
    for name, value in found.items():
        peak.see(f'{name}_bytes', value)
    peak.see('disk_bytes', sum(found.values()))


def watch(mining: subprocess.Popen[bytes], folders: dict[str, Path]) -> Peak:
    peak, over = Peak(), threading.Event()

    def watch_disk() -> None:
        while not over.wait(_DISK_SECONDS):
            sample_disk(folders, peak)

    thread = threading.Thread(target=watch_disk)
    thread.start()
    while mining.poll() is None:
        sample_memory(mining.pid, peak)
        time.sleep(_MEMORY_SECONDS)
    over.set()
    thread.join()
    sample_disk(folders, peak)
    return peak


def lines(peak: Peak, started: float) -> Iterator[tuple[str, float]]:
    yield from sorted(peak.items())
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    yield 'reaped_cpu_seconds', round(used.ru_utime + used.ru_stime, 1)
    yield 'wall_seconds', round(time.monotonic() - started, 1)


def main() -> None:
    clone, store, *options = sys.argv[1:]
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='coevo-footprint-', dir='/var/tmp') as work:
        Path(work).chmod(0o711)
        folders = {'work': Path(work), 'store': Path(store)}
        caches = {name: find_cache_folder() / name for name in ('maven', 'archives')}
        before = {name: disk_bytes(folder) for name, folder in caches.items()}
        call = 'import coevo.command.main; raise SystemExit(coevo.command.main.main())'
        command = [sys.executable, '-c', call, 'mine', clone, '--store', store, *options]
        mining = subprocess.Popen(command, env={**os.environ, 'COEVO_WORK': work})
        peak = watch(mining, folders)
        for name, folder in caches.items():
            peak.see(f'{name}_growth_bytes', disk_bytes(folder) - before[name])
    json.dump(dict(lines(peak, started)), sys.stdout, indent=2)
    print()


if __name__ == '__main__':
    main()
