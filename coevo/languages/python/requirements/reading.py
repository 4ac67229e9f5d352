"""All places of a revision in which projects say what they and their tests need."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import replace

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.requirements.ini_files import requirement_list
from coevo.languages.python.requirements.ini_files import setup_cfg
from coevo.languages.python.requirements.ini_files import tox_ini
from coevo.languages.python.requirements.setup_py import named_lists
from coevo.languages.python.requirements.setup_py import setup_py
from coevo.languages.python.requirements.stated import FILES
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.requirements.stated import Stated
from coevo.languages.python.requirements.stated import for_tests
from coevo.languages.python.requirements.stated import merged
from coevo.languages.python.requirements.toml_files import pipfile
from coevo.languages.python.requirements.toml_files import pyproject
from coevo.languages.python.requirements.workflows import is_workflow
from coevo.languages.python.requirements.workflows import workflow

# What a project is built by; the folder of one is a module.
BUILD_FILES = ('pyproject.toml', 'setup.py', 'setup.cfg')

_TEST_LIST = re.compile(
    r'(requirements/|reqs/|tests?/)?(requirements[-_.]?)?(tests?|testing|dev|develop|ci)[-_.]?'
    r'(requirements)?\.(txt|in|pip)|tests?/requirements\.(txt|in)'
)
_MOST_BYTES = 1 << 20

# setuptools' own, and what hatch runs for metadata that change (hatch.pypa.io, "Metadata hook plugins").
_BUILD_PROGRAMS = ('setup.py', 'hatch_build.py')
_OF_REQUIREMENTS = re.compile(r'(^|/)[\w-]*req(uirement)?s?[\w.-]*(/|\.\w+$)')


def needs(repository: Repository, rev: str, folder: str = '.') -> Needs:
    """What the project in a folder of a revision needs."""
    return merged(_Files(repository, rev, folder).stated())


class _Files:
    def __init__(self, repository: Repository, rev: str, folder: str) -> None:
        self._repository, self._tree = repository, repository.tree(rev)
        self._prefix = '' if folder == '.' else f'{folder}/'

    def stated(self) -> Iterator[Stated]:
        told = False
        for name, reader in (
            ('pyproject.toml', pyproject),
            ('setup.cfg', setup_cfg),
            ('setup.py', setup_py),
            ('tox.ini', tox_ini),
            ('Pipfile', pipfile),
        ):
            source = self._read(self._prefix + name)
            if source is not None:
                found = self._with_lists(reader(source))
                told = told or bool(found.runtime)
                yield found
        if not told:
            named = Stated(runtime=tuple(self._named()))
            told = bool(named.runtime)
            yield named
        yield from self._lists(told=told)
        for path in self._tree if not self._prefix else ():
            if is_workflow(path):
                yield self._with_lists(workflow(self._read(path) or b''))

    def _named(self) -> Iterator[str]:
        """What stands in the lists that a program of the build names, of a project that says nowhere else what it
        needs."""
        for program in _BUILD_PROGRAMS:
            source = self._read(self._prefix + program)
            for name in named_lists(source) if source is not None else ():
                if not _TEST_LIST.fullmatch(name.rpartition('/')[2]):
                    for path in self._places(name):
                        yield from for_tests(requirement_list(path, self._read))

    def _places(self, name: str) -> tuple[str, ...]:
        """The path as it is named, or the only one that ends so: it may be put together."""
        if self._prefix + name in self._tree and _OF_REQUIREMENTS.search(name):
            return (self._prefix + name,)
        below = [
            path
            for path in self._tree
            if path.startswith(self._prefix)
            and path.endswith(f'/{name}')
            and _OF_REQUIREMENTS.search(path.removeprefix(self._prefix))
        ]
        return tuple(below) if len(below) == 1 else ()

    def _with_lists(self, stated: Stated) -> Stated:
        """With the lines of the lists that a file names instead of requirements."""
        return replace(
            stated,
            runtime=tuple(self._lines(stated.runtime)),
            groups={name: tuple(self._lines(lines)) for name, lines in stated.groups.items()},
        )

    def _lines(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if not line.strip().startswith(FILES):
                yield line
                continue
            for name in line.strip().removeprefix(FILES).split(','):
                path = self._prefix + posixpath.normpath(name.strip())
                yield from requirement_list(path, self._read)

    def _lists(self, *, told: bool) -> Iterator[Stated]:
        """The lists for tests; of compiled ones (.txt beside .in) the source.

        told  whether the project says elsewhere what it needs: its plain list is then for who works on it
        """
        for path in self._tree:
            name = path.removeprefix(self._prefix)
            if not path.startswith(self._prefix) or not _TEST_LIST.fullmatch(name):
                continue
            if path.endswith('.txt') and f'{path[:-4]}.in' in self._tree:
                continue
            kind = 'dev' if 'dev' in name else 'tests'
            yield Stated(groups={kind: tuple(requirement_list(path, self._read))})
        if (self._prefix + 'requirements.txt') in self._tree:
            lines = tuple(requirement_list(self._prefix + 'requirements.txt', self._read))
            yield Stated(groups={'tests': lines}) if told else Stated(runtime=for_tests(lines))

    def _read(self, path: str) -> bytes | None:
        entry = self._tree.get(path)
        if entry is None or entry.mode == LINK:
            return None
        content = self._repository.blob(entry.oid)
        return content if len(content) <= _MOST_BYTES else None
