"""`coevo doctor`: check what this machine has of coevo's requirements, and advise on the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from coevo.languages.runtimes import DoctorFinding, read_first_output_line
from coevo.options.parser import suggest_extra
from coevo.sandboxes.clock import find_libraries
from coevo.storage.disk import find_cache_folder, find_work_root

GIB = 1 << 30
ENOUGH_DISK = 5 * GIB  # clones, builds and the libraries of a few hundred revisions
ENOUGH_MEMORY = 4 * GIB  # Maven and two test processes

# The isolation that a sandbox needs: a new root, no network, its own processes.
BUBBLEWRAP = ('--unshare-all', '--die-with-parent', '--ro-bind', '/', '/', '--proc', '/proc')


def examine_machine() -> tuple[DoctorFinding, ...]:
    """Check programs, languages, disk and memory; return all findings in a fixed order.

    A missing program is a finding and does not stop further checks.
    """
    return tuple(_list_findings())


def _list_findings() -> Iterator[DoctorFinding]:
    yield _check_git()
    yield from _check_languages()
    yield _check_bubblewrap()
    yield _check_docker()
    yield _check_libfaketime()
    yield _check_disk('disk for the tool cache', find_cache_folder())
    yield _check_disk('disk for the work', find_work_root())
    yield _check_memory()


def _check_git() -> DoctorFinding:
    version = read_first_output_line('git', '--version')
    if version is None:
        return DoctorFinding(name='git', good=False, state='not found', advice='install git')
    return DoctorFinding(name='git', good=True, state=version.removeprefix('git version '))


def _check_languages() -> Iterator[DoctorFinding]:
    """Check each language's requirements; without the extra `evaluate` no language is available."""
    try:
        from coevo.languages.table import LANGUAGES
    except ModuleNotFoundError as error:
        yield DoctorFinding(
            name='languages',
            good=False,
            state=f'the Python package {error.name} is not installed',
            advice=suggest_extra('evaluate'),
        )
        return
    for language in LANGUAGES.values():
        yield from language.inspect_machine()


def _check_bubblewrap() -> DoctorFinding:
    version = read_first_output_line('bwrap', '--version')
    advice = 'install bubblewrap, or use Docker (--sandbox docker)'
    if version is None:
        return DoctorFinding(name='bubblewrap', good=False, state='not found', advice=advice)
    if read_first_output_line('bwrap', *BUBBLEWRAP, 'true') is None:
        return DoctorFinding(
            name='bubblewrap',
            good=False,
            state=f'{version} is there but cannot start a sandbox',
            advice='allow unprivileged user namespaces (in a container: --privileged), or choose '
            'Docker (--sandbox docker)',
        )
    return DoctorFinding(
        name='bubblewrap', good=True, state=f'{version.removeprefix("bubblewrap ")}, starts'
    )


def _check_docker() -> DoctorFinding:
    version = read_first_output_line('docker', 'version', '--format', '{{.Server.Version}}')
    if not version:
        return DoctorFinding(
            name='Docker',
            good=False,
            needed=False,
            state='no daemon answers',
            advice='needed for --sandbox docker only',
        )
    return DoctorFinding(name='Docker', good=True, state=f'daemon {version}', needed=False)


def _check_libfaketime() -> DoctorFinding:
    library_paths = find_libraries()
    if library_paths:
        return DoctorFinding(
            name='libfaketime', good=True, state=str(library_paths[0]), needed=False
        )
    return DoctorFinding(
        name='libfaketime',
        good=False,
        needed=False,
        state='not found',
        advice='install it (apt install libfaketime); without it no repair becomes a task',
    )


def _check_disk(name: str, folder: Path) -> DoctorFinding:
    there = next(candidate for candidate in (folder, *folder.parents) if candidate.is_dir())
    free = shutil.disk_usage(there).free
    state = f'{free / GIB:.1f} GiB free for {folder}'
    if free >= ENOUGH_DISK:
        return DoctorFinding(name=name, good=True, state=state)
    variable = 'COEVO_CACHE' if folder == find_cache_folder() else 'COEVO_WORK'
    return DoctorFinding(
        name=name,
        good=False,
        state=state,
        advice=f'free some space, or set another folder in {variable}',
    )


def _check_memory() -> DoctorFinding:
    size = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    state = f'{size / GIB:.1f} GiB'
    if size >= ENOUGH_MEMORY:
        return DoctorFinding(name='memory', good=True, state=state)
    return DoctorFinding(name='memory', good=False, state=state, advice='mine with --jobs 1')
