"""Runtimes made of Debian packages, unpacked into one folder that needs nothing else.

    FOLDER/…                    the content of the runtime's home in its packages
    FOLDER/coevo/lib/…          the C library and other libraries that it was linked to
    FOLDER/coevo/packages.json  the suite, and the packages with versions and checksums

The module knows nothing about any language. A folder gets its final name only when it is complete,
so an interrupted installation is never used.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from coevo.debian.apt import Apt, DebianPackage, list_suites_to_search
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say
from coevo.storage.durable import build_folder_once

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


OWN = 'coevo'
_LIBRARIES = f'{OWN}/lib'
_RECORD = f'{OWN}/packages.json'
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRecipe:
    """A recipe for unpacking a runtime.

    what       its name for messages, such as `JDK 8`
    packages   the runtime's own packages; the suite must have all of them
    libraries  packages of libraries that it is linked to; those that the suite lacks are left out
    home       a pattern of the runtime's home in its packages; the first match counts
    finish     called with the unpacked home and the root of all packages, for further changes
    """

    what: str
    packages: tuple[str, ...]
    libraries: tuple[str, ...]
    home: str
    finish: Callable[[Path, Path], None] = lambda home, root: None


def install_bundle(recipe: BundleRecipe, folder: Path, say: Say) -> Path:
    """Return the folder of a runtime. Install the runtime if the folder does not exist.

    Raises: Fatal if no suite has the packages or space is lacking; Transient if the archive cannot
    be reached or a package cannot be unpacked.
    """
    if folder.is_dir():
        return folder
    try:
        with build_folder_once(folder) as new:
            if new is not None:
                _build_bundle(recipe, new, folder, say)
    except OSError as error:
        raise Fatal(
            f'{recipe.what} could not be unpacked into {folder.parent}: {error.strerror}; '
            'free some space there, or set another folder in COEVO_CACHE'
        ) from error
    return folder


def load_bundle_record(folder: Path) -> tuple[str, tuple[DebianPackage, ...]] | None:
    """Return the suite and packages that a folder was made from; None if it is not a bundle."""
    try:
        content = json.loads((folder / _RECORD).read_bytes())
    except FileNotFoundError:
        return None
    packages = tuple(DebianPackage(**package) for package in content['packages'])
    return content['suite'], packages


def _build_bundle(recipe: BundleRecipe, new: Path, final: Path, say: Say) -> None:
    scratch = new.parent
    for number, suite in enumerate(list_suites_to_search()):
        apt = Apt(suite, scratch / str(number))
        say(f'looking for {recipe.what} in {suite.name}')
        apt.update()
        candidates = apt.find_candidates((*recipe.packages, *recipe.libraries))
        if set(recipe.packages) <= candidates.keys():
            packages = [candidates[name] for name in sorted(candidates)]
            _check_space(packages, scratch)
            say(f'fetching {recipe.what}, {_sum_download_mb(packages)} MB')
            root = scratch / 'root'
            for file in apt.download(packages):
                _unpack_package(file, root)
                file.unlink()
            _arrange_files(recipe, root, new, final)
            text = json.dumps(
                {'suite': suite.name, 'packages': [asdict(package) for package in packages]}
            )
            (new / _RECORD).write_text(text + '\n')
            return
    raise Fatal(
        f'no package archive of this machine has {" and ".join(recipe.packages)}; install '
        f'{recipe.what} by hand'
    )


def _check_space(packages: Sequence[DebianPackage], place: Path) -> None:
    wanted = sum(package.download_bytes + package.installed_bytes for package in packages)
    free = shutil.disk_usage(place).free
    if free < wanted:
        raise Fatal(
            f'{wanted // _MIB} MB are needed below {place.parent} and {free // _MIB} are '
            'free; free some space, or set another folder in COEVO_CACHE'
        )


def _sum_download_mb(packages: Sequence[DebianPackage]) -> int:
    return sum(package.download_bytes for package in packages) // _MIB


def _unpack_package(file: Path, root: Path) -> None:
    done = subprocess.run(
        ['dpkg-deb', '--extract', file, root],
        check=False,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Transient(f'{file.name} could not be unpacked: {done.stderr.strip()}')


def _arrange_files(recipe: BundleRecipe, root: Path, new: Path, final: Path) -> None:
    """Move the runtime's home and its libraries to their places, and relink the programs.

    new    the folder that gets them
    final  where that folder will be in the end
    Raises: Fatal if the packages do not contain the home.
    """
    homes = sorted(path for path in root.glob(recipe.home) if not path.is_symlink())
    if not homes:
        raise Fatal(f'the packages of {recipe.what} have no {recipe.home}; install it by hand')
    for path in sorted(homes[0].iterdir()):
        path.rename(new / path.name)
    libraries = new / _LIBRARIES
    libraries.mkdir(parents=True)
    for file in sorted(root.glob('usr/lib/*-linux-gnu*/*.so*')):
        file.rename(libraries / file.name)
    replace_or_remove_outside_links(new, root)
    recipe.finish(new, root)
    relink_programs(new, libraries, final)


def replace_or_remove_outside_links(home: Path, root: Path) -> None:
    """Replace links that lead out of a home, or nowhere, so that the home needs nothing else.

    An absolute link becomes a copy of its file from the unpacked packages, else from the machine.
    It is removed if neither has a file there, and so is a relative link that leads out.
    """
    for path in sorted(path for path in home.rglob('*') if path.is_symlink()):
        target = path.readlink()
        if not target.is_absolute():
            if path.resolve().is_relative_to(home.resolve()) and path.exists():
                continue
            path.unlink()
            continue
        inside = root / str(target).lstrip('/')
        path.unlink()
        source = inside if inside.is_file() else target
        if source.is_file():
            shutil.copyfile(source, path)
