"""What this machine has of what coevo needs, and what to do about the rest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from coevo.languages.java.tools import refactoring_miner
from coevo.languages.java.tools.jdks import choose_jdk
from coevo.languages.java.tools.jdks import find_jdks
from coevo.model.errors import Fatal
from coevo.sandboxes.libfaketime import libraries
from coevo.storage.folders import cache_folder
from coevo.storage.folders import work_root

GIB = 1 << 30
ENOUGH_DISK = 5 * GIB  # clones, builds and the libraries of a few hundred revisions
ENOUGH_MEMORY = 4 * GIB  # Maven and two test processes beside it
PATIENCE = 20  # seconds for a tool to say its version

# All that a sandboxed program would see first: a new root, no network, its own processes.
BUBBLEWRAP = ('--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc')


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One thing looked for. `advice` says what to do, None where nothing is to be done."""

    name: str
    good: bool
    state: str
    advice: str | None = None
    needed: bool = True  # False: coevo does without it, or with another in its place

    def __str__(self) -> str:
        mark = 'ok' if self.good else 'MISSING' if self.needed else 'no'
        line = f'{mark:8}{self.name}: {self.state}'
        return line if self.advice is None else f'{line}; {self.advice}'


def examine() -> tuple[DoctorFinding, ...]:
    """Every finding, in a fixed order; each is looked at even if one before it is missing."""
    return tuple(_findings())


def _findings() -> Iterator[DoctorFinding]:
    yield _git()
    yield from _jdks()
    yield _maven()
    yield _bubblewrap()
    yield _docker()
    yield _libfaketime()
    yield _disk('disk for the tool cache', cache_folder())
    yield _disk('disk for the work', work_root())
    yield _memory()
    yield _tool_cache()
    yield _refactoring_miner()


def _first_line(*command: str) -> str | None:
    """The first line that a command prints; None if it is not there, fails or hangs."""
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    plain = re.sub(r'\x1b\[[0-9;]*m', '', done.stdout)
    lines = [line for line in plain.splitlines() if line.strip()]
    return None if done.returncode else lines[0].strip() if lines else ''


def _git() -> DoctorFinding:
    version = _first_line('git', '--version')
    if version is None:
        return DoctorFinding(name='git', good=False, state='not found', advice='install git')
    return DoctorFinding(name='git', good=True, state=version.removeprefix('git version '))


def _jdks() -> Iterator[DoctorFinding]:
    jdks = find_jdks()
    try:
        chosen = choose_jdk(jdks)
    except Fatal as error:
        yield DoctorFinding(
            name='JDK', good=False, state='none is 17 or newer', advice=str(error).split('; ')[-1]
        )
        chosen = None
    for jdk in jdks:
        note = ', the one that our programs run on' if jdk == chosen else ''
        yield DoctorFinding(name='JDK', good=True, state=f'{jdk.version} in {jdk.home}{note}')


def _maven() -> DoctorFinding:
    version = _first_line('mvn', '--batch-mode', '--version')
    if version is None:
        return DoctorFinding(
            name='Maven', good=False, state='not found', advice='install it (apt install maven)'
        )
    return DoctorFinding(name='Maven', good=True, state=version.removeprefix('Apache Maven '))


def _bubblewrap() -> DoctorFinding:
    version = _first_line('bwrap', '--version')
    advice = 'install bubblewrap, or use Docker (--sandbox docker)'
    if version is None:
        return DoctorFinding(name='bubblewrap', good=False, state='not found', advice=advice)
    if _first_line('bwrap', *BUBBLEWRAP, 'true') is None:
        return DoctorFinding(
            name='bubblewrap',
            good=False,
            state=f'{version} is there but cannot start a sandbox',
            advice='allow unprivileged user namespaces (in a container: --privileged), or use '
            'Docker (--sandbox docker)',
        )
    return DoctorFinding(
        name='bubblewrap', good=True, state=f'{version.removeprefix("bubblewrap ")}, starts'
    )


def _docker() -> DoctorFinding:
    version = _first_line('docker', 'version', '--format', '{{.Server.Version}}')
    if not version:
        return DoctorFinding(
            name='Docker',
            good=False,
            needed=False,
            state='no daemon answers',
            advice='needed for --sandbox docker only',
        )
    return DoctorFinding(name='Docker', good=True, state=f'daemon {version}', needed=False)


def _libfaketime() -> DoctorFinding:
    found = libraries()
    if found:
        return DoctorFinding(name='libfaketime', good=True, state=str(found[0]), needed=False)
    return DoctorFinding(
        name='libfaketime',
        good=False,
        needed=False,
        state='not found',
        advice='install it (apt install libfaketime): without it no repair becomes a task',
    )


def _disk(name: str, folder: Path) -> DoctorFinding:
    there = next(one for one in (folder, *folder.parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    state = f'{free / GIB:.1f} GiB free for {folder}'
    if free >= ENOUGH_DISK:
        return DoctorFinding(name=name, good=True, state=state)
    variable = 'COEVO_CACHE' if folder == cache_folder() else 'COEVO_WORK'
    return DoctorFinding(
        name=name,
        good=False,
        state=state,
        advice=f'free some, or name a folder elsewhere in {variable}',
    )


def _memory() -> DoctorFinding:
    size = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    state = f'{size / GIB:.1f} GiB'
    if size >= ENOUGH_MEMORY:
        return DoctorFinding(name='memory', good=True, state=state)
    return DoctorFinding(name='memory', good=False, state=state, advice='mine with --jobs 1')


def _tool_cache() -> DoctorFinding:
    tools = cache_folder() / 'tools'
    filled = any(tools.glob('programs-*/worker.jar'))
    return DoctorFinding(
        name='tool cache',
        good=filled,
        needed=False,
        state=f'{"filled" if filled else "still empty"}: {tools}',
        advice=None if filled else 'the first run of `coevo mine` fills it',
    )


def _refactoring_miner() -> DoctorFinding:
    """RefactoringMiner runs in a JVM of its own through JPype: jars, package and JDK must be there."""
    name = f'RefactoringMiner {refactoring_miner.version()}'
    lacking = list(_lacking())
    return DoctorFinding(
        name=name,
        good=not lacking,
        needed=False,
        state=f'no {" and no ".join(lacking)}'
        if lacking
        else 'its jars, JPype and a JDK are there',
        advice='refactorings are unknown without, and withhold tracks; the first run of `coevo mine`'
        ' fetches the jars, `make setup` the rest'
        if lacking
        else None,
    )


def _lacking() -> Iterator[str]:
    if not refactoring_miner.is_fetched():
        yield 'jars in the tool cache'
    if find_spec('jpype') is None:
        yield 'JPype'
    if not any(jdk.runs_tools for jdk in find_jdks()):
        yield 'JDK 17 or newer'
