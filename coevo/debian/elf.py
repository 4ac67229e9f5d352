"""Make programs and libraries use the C library they were linked to, wherever they are moved."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from coevo.model.errors import Fatal

_MAGIC = b'\x7fELF'


def relink_programs(folder: Path, libraries: Path, final: Path) -> None:
    """Make all programs and libraries below a folder use the libraries of one of its folders.

    libraries  the folder of libraries, below `folder`
    final      where `folder` will be in the end; programs name their interpreter by that path

    Raises: Fatal if patchelf is missing.
    """
    library_folder = final / libraries.relative_to(folder)
    for file in _list_dynamic_files(folder):
        if file.is_relative_to(libraries):
            continue
        # --force-rpath writes DT_RPATH, which also holds for libraries that a program loads later:
        # native code of a test, linked to no particular place, must find the same C library.
        search = ':'.join(filter(None, (_query_elf('--print-rpath', file), str(library_folder))))
        options = ['--force-rpath', '--set-rpath', search]
        interpreter = _query_elf('--print-interpreter', file)
        if interpreter:
            options += ['--set-interpreter', str(library_folder / Path(interpreter).name)]
        _run_patchelf(*options, str(file)).check_returncode()


def _list_dynamic_files(folder: Path) -> Iterator[Path]:
    """Return the programs and shared libraries below a folder.

    Links, object files and debugging information are left out.
    """
    files = (path for path in sorted(folder.rglob('*')) if not path.is_symlink())
    return (
        path for path in files if _is_elf(path) and _query_elf('--print-rpath', path) is not None
    )


def _is_elf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open('rb') as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _query_elf(question: str, file: Path) -> str | None:
    """Return patchelf's output for a query; None if the file has no such part."""
    done = _run_patchelf(question, str(file))
    return None if done.returncode else done.stdout.strip()


def _run_patchelf(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sysconfig.get_path('scripts')) / 'patchelf'
    try:
        return subprocess.run(
            [program, *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise Fatal(
            f'{program} was not found; install the Python package patchelf (`make setup` does)'
        ) from None
