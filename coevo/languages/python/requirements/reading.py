"""All places of a revision in which projects say what they and their tests need."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.requirements.ini_files import (
    load_requirement_list,
    parse_setup_cfg,
    parse_tox_ini,
)
from coevo.languages.python.requirements.setup_py import find_list_names, parse_setup_py
from coevo.languages.python.requirements.stated import (
    FILES,
    Needs,
    StatedRequirements,
    filter_for_tests,
    merge_requirements,
)
from coevo.languages.python.requirements.toml_files import parse_pipfile, parse_pyproject
from coevo.languages.python.requirements.workflows import is_workflow, parse_workflow

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


def load_needs(repository: Repository, rev: str, folder: str = '.') -> Needs:
    """What the project in a folder of a revision needs."""
    return merge_requirements(_RequirementFiles(repository, rev, folder).load_all())


class _RequirementFiles:
    def __init__(self, repository: Repository, rev: str, folder: str) -> None:
        self._repository, self._tree = repository, repository.tree(rev)
        self._prefix = '' if folder == '.' else f'{folder}/'

    def load_all(self) -> Iterator[StatedRequirements]:
        says_runtime = False
        for name, reader in (
            ('pyproject.toml', parse_pyproject),
            ('setup.cfg', parse_setup_cfg),
            ('setup.py', parse_setup_py),
            ('tox.ini', parse_tox_ini),
            ('Pipfile', parse_pipfile),
        ):
            source = self._load_file(self._prefix + name)
            if source is not None:
                requirements = self._expand_lists(reader(source))
                says_runtime = says_runtime or bool(requirements.runtime)
                yield requirements
        if not says_runtime:
            named = StatedRequirements(runtime=tuple(self._load_build_lists()))
            says_runtime = bool(named.runtime)
            yield named
        yield from self._load_test_lists(told=says_runtime)
        for path in self._tree if not self._prefix else ():
            if is_workflow(path):
                yield self._expand_lists(parse_workflow(self._load_file(path) or b''))

    def _load_build_lists(self) -> Iterator[str]:
        """What stands in the lists that a program of the build names, of a project that says nowhere else what it
        needs."""
        for program in _BUILD_PROGRAMS:
            source = self._load_file(self._prefix + program)
            for name in find_list_names(source) if source is not None else ():
                if not _TEST_LIST.fullmatch(name.rpartition('/')[2]):
                    for path in self._find_list_paths(name):
                        yield from filter_for_tests(load_requirement_list(path, self._load_file))

    def _find_list_paths(self, name: str) -> tuple[str, ...]:
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

    def _expand_lists(self, stated: StatedRequirements) -> StatedRequirements:
        """With the lines of the lists that a file names instead of requirements."""
        return replace(
            stated,
            runtime=tuple(self._expand_lines(stated.runtime)),
            groups={
                name: tuple(self._expand_lines(lines)) for name, lines in stated.groups.items()
            },
        )

    def _expand_lines(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if not line.strip().startswith(FILES):
                yield line
                continue
            for name in line.strip().removeprefix(FILES).split(','):
                path = self._prefix + posixpath.normpath(name.strip())
                yield from load_requirement_list(path, self._load_file)

    def _load_test_lists(self, *, told: bool) -> Iterator[StatedRequirements]:
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
            yield StatedRequirements(
                groups={kind: tuple(load_requirement_list(path, self._load_file))}
            )
        if (self._prefix + 'requirements.txt') in self._tree:
            lines = tuple(load_requirement_list(self._prefix + 'requirements.txt', self._load_file))
            yield (
                StatedRequirements(groups={'tests': lines})
                if told
                else StatedRequirements(runtime=filter_for_tests(lines))
            )

    def _load_file(self, path: str) -> bytes | None:
        entry = self._tree.get(path)
        if entry is None or entry.mode == LINK:
            return None
        content = self._repository.blob(entry.oid)
        return content if len(content) <= _MOST_BYTES else None
