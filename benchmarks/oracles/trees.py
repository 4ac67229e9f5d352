"""A cell as a plain tree: a revision of the code with the whole test tree of another one."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from coevo.git.repository import Repository
from coevo.languages.reading import LanguageReading

_DEFAULT = 'src/test'

# Folders of tests that a POM names literally, as most do that name any.
_NAMED = re.compile(
    r'<testSourceDirectory>\s*(?:\$\{(?:project\.)?basedir\}/)?([^<${}]+?)/?\s*</testSourceDirectory>'
    r'|<testResource>\s*<directory>\s*(?:\$\{(?:project\.)?basedir\}/)?([^<${}]+?)/?\s*</directory>'
)


def write_cell(repository: Repository, tests_rev: str, code_rev: str, folder: Path) -> None:
    """Write a tree that does not exist yet; `folder`'s parent does."""
    repository.materialise(code_rev, folder)
    if tests_rev == code_rev:
        return
    for place in _list_test_folders(repository, code_rev):
        shutil.rmtree(folder / place, ignore_errors=True)
    with TemporaryDirectory(dir=folder.parent) as scratch:
        donor = Path(scratch, 'donor')
        repository.materialise(tests_rev, donor)
        for place in _list_test_folders(repository, tests_rev):
            if (donor / place).is_dir():
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copytree(donor / place, folder / place, symlinks=True, dirs_exist_ok=True)
    _open_to_all(folder)


def write_cell_by_files(
    reading: LanguageReading, repository: Repository, tests_rev: str, code_rev: str, folder: Path
) -> None:
    """Do the same for a language of which single files, not folders, belong to the tests."""
    repository.materialise(code_rev, folder)
    if tests_rev == code_rev:
        return
    for path in _list_tests(reading, repository, code_rev):
        (folder / path).unlink(missing_ok=True)
    with TemporaryDirectory(dir=folder.parent) as scratch:
        donor = Path(scratch, 'donor')
        repository.materialise(tests_rev, donor)
        for path in _list_tests(reading, repository, tests_rev):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(donor / path, folder / path, follow_symlinks=False)
    _open_to_all(folder)


def _list_tests(reading: LanguageReading, repository: Repository, rev: str) -> Iterator[str]:
    tree = reading.open_tree(repository, rev)
    return (path for path in repository.tree(rev) if not tree.belongs_to_code(path))


def _list_test_folders(repository: Repository, rev: str) -> Iterator[str]:
    """List each module's, relative to the tree, outer ones first."""
    for path in sorted(repository.tree(rev)):
        module, _, name = path.rpartition('/')
        if name == 'pom.xml' and _DEFAULT not in module:
            named = _NAMED.findall(repository.load_text(rev, path) or '')
            for place in dict.fromkeys([_DEFAULT, *(a or b for a, b in named)]):
                if '..' not in place and not place.startswith('/'):
                    yield f'{module}/{place}' if module else place


def _open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob('*')):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
