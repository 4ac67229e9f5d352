"""Find modules that tests import and no package provides, and the requirements that bring them.

A revision may say what its tests need in a place that is not read as such: an extra beside the one
for tests, a session that only some run. A module that is missing is brought from any group that
names it, else by the distribution of its name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from packaging.utils import canonicalize_name

from coevo.git.repository import Repository
from coevo.languages.python.reading.module_paths import get_module_paths
from coevo.languages.python.reading.modules import parse_module_contents
from coevo.languages.python.reading.trees import PythonTree, open_tree
from coevo.languages.python.requirements.stated import (
    Needs,
    clean_requirement,
    drop_non_test_tools,
    get_requirement_name,
    is_for_tests,
)
from coevo.languages.reading import Side

# Distributions whose names do not show the module that they bring.
_DISTRIBUTIONS = {
    'Crypto': 'pycryptodome',
    'OpenSSL': 'pyopenssl',
    'PIL': 'pillow',
    'attr': 'attrs',
    'bs4': 'beautifulsoup4',
    'cv2': 'opencv-python-headless',
    'dateutil': 'python-dateutil',
    'dotenv': 'python-dotenv',
    'fitz': 'pymupdf',
    'git': 'gitpython',
    'github': 'pygithub',
    'jose': 'python-jose',
    'jwt': 'pyjwt',
    'magic': 'python-magic',
    'multipart': 'python-multipart',
    'pkg_resources': 'setuptools',
    'serial': 'pyserial',
    'skimage': 'scikit-image',
    'sklearn': 'scikit-learn',
    'slugify': 'python-slugify',
    'yaml': 'pyyaml',
    'zmq': 'pyzmq',
}
# Modules of the standard library that not all interpreters from 3.11 to 3.14 have. With them the list
# is the same whichever of these runs coevo.
_OF_SOME = frozenset(
    {'asynchat', 'asyncore', 'cgi', 'crypt', 'distutils', 'imp', 'nntplib', 'pipes', 'smtpd'}
    | {'telnetlib', 'uu', 'xdrlib', 'dummy_threading', 'formatter', 'parser', 'symbol', 'binhex'}
    | {'aifc', 'audioop', 'cgitb', 'chunk', 'imghdr', 'lib2to3', 'mailcap', 'msilib', 'nis'}
    | {'ossaudiodev', 'sndhdr', 'spwd', 'sunau', 'annotationlib', 'compression'}
)
_STANDARD = frozenset(sys.stdlib_module_names) | _OF_SOME
_MODULE_NAME = re.compile(r'[A-Za-z][A-Za-z0-9_]*')


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingModules:
    """Modules that are neither the project's nor installed, by their full names.

    needed  whether a test file cannot be loaded without the module: its import is not conditional
    """

    needed: Mapping[str, bool]

    @property
    def tops(self) -> frozenset[str]:
        """The top-level names of the modules."""
        return frozenset(name.partition('.')[0] for name in self.needed)


def find_missing_modules(
    repository: Repository, rev: str, folder: str, site: Path
) -> MissingModules:
    """Return the modules that a project's tests import and that nothing provides.

    Imports of the tests are followed into the project's code. Neither the project, nor the
    installed packages, nor the standard library has such a module.

    folder  of the project
    site    the folder of the installed packages
    """
    there = {entry.name.partition('.')[0] for entry in site.iterdir()}
    return _join_imports(
        unknown
        for unknown in _list_unknown_imports(repository, rev, folder)
        if unknown.is_foreign
        and (unknown.is_in_test or not unknown.is_conditional)
        and unknown.top not in there
        and unknown.top not in _STANDARD
        and _MODULE_NAME.fullmatch(unknown.top)
    )


def find_missing_own_modules(
    repository: Repository, rev: str, folder: str, tops: Collection[str]
) -> MissingModules:
    """Return the modules that a project's tests import from its own packages and that no file is.

    A build may generate them. Imports of the tests are followed into the project's code.

    folder  of the project
    tops    names of its top-level packages
    """
    return _join_imports(
        unknown
        for unknown in _list_unknown_imports(repository, rev, folder)
        if '.' in unknown.name and unknown.top in tops
    )


def _join_imports(imports: Iterable[UnknownImport]) -> MissingModules:
    """Return the modules of imports; one is needed if any of its imports is unconditional."""
    needed: dict[str, bool] = {}
    for unknown in imports:
        needed[unknown.name] = needed.get(unknown.name, False) or not unknown.is_conditional
    return MissingModules(needed=dict(sorted(needed.items())))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownImport:
    """An import of a module that is no file of the tree.

    name            the full name
    is_conditional  whether the file can be loaded without it
    is_in_test      whether a test file imports it
    is_foreign      whether no folder and no Python file of the tree has the top-level name
    """

    name: str
    is_conditional: bool
    is_in_test: bool
    is_foreign: bool

    @property
    def top(self) -> str:
        """The top-level name."""
        return self.name.partition('.')[0]


@lru_cache(maxsize=8)
def _list_unknown_imports(
    repository: Repository, rev: str, folder: str
) -> tuple[UnknownImport, ...]:
    """Return the imports of a project that are no files of the tree.

    Cached, since both packages and generated modules are looked for.
    """
    return tuple(_ImportWalk(open_tree(repository, rev), folder).list_unknown_imports())


class _ImportWalk:
    """The imports of a project's test files, and of the code that they import."""

    def __init__(self, tree: PythonTree, folder: str) -> None:
        self._tree, self._prefix = tree, '' if folder == '.' else f'{folder}/'
        paths = frozenset(path for path in tree.entries if path.endswith('.py'))
        self._paths = get_module_paths(paths, tree.module_folders)
        self._own = {part.removesuffix('.py') for path in paths for part in path.split('/')}

    def list_unknown_imports(self) -> Iterator[UnknownImport]:
        """Yield the imports of modules that are no files of the tree.

        Unconditional imports of the project's own modules are followed.
        """
        tests = [p for p in self._tree.list_paths(Side.TEST) if p.startswith(self._prefix)]
        seen, queue = set(tests), list(tests)
        while queue:
            path = queue.pop()
            is_test = path in self._tree.paths_by_side[Side.TEST]
            for name, is_conditional in self._list_imports_with_conditionality(path):
                other = self._find_project_module(name, path)
                if other is None:
                    yield UnknownImport(
                        name=name,
                        is_conditional=is_conditional,
                        is_in_test=is_test,
                        is_foreign=name.partition('.')[0] not in self._own,
                    )
                elif other not in seen and not is_conditional:
                    seen.add(other)
                    queue.append(other)

    def _list_imports_with_conditionality(self, path: str) -> Iterator[tuple[str, bool]]:
        """Yield the full name of each import, and whether it is indented: under a condition."""
        source = self._tree.read_content(path)
        imports = self._tree.parse_alone(path).imports
        for imported, full in zip(
            imports, parse_module_contents(source, path).imports, strict=True
        ):
            at = imported.start_byte
            yield full.text, source[at - 1 : at] not in (b'', b'\n', b'\r', b';')

    def _find_project_module(self, name: str, importer: str) -> str | None:
        return self._paths.find_module_path(name, importer) or self._paths.find_module_path(
            name.rpartition('.')[0], importer
        )


def find_missing_requirements(needs: Needs, missing: MissingModules) -> dict[str, str]:
    """Return the requirements that bring missing modules, by the names of their packages, sorted.

    A group for tests or developers that names a module is taken as a whole. A module without which
    a test file does not load is also taken from any other group, by its one line, or from the index
    by its name. Packages that `needs` already has are left out, and of a group the tools that no
    test imports; a tool without which a test file does not load is none of these.
    """
    known = {get_requirement_name(line) for line in (*needs.runtime, *needs.tests)}
    lines: dict[str, None] = {}
    for name, is_needed in missing.needed.items():
        requirements = _find_group_requirements(needs.groups, name, is_needed=is_needed)
        if not requirements and is_needed:
            requirements = (_name_distribution(name.partition('.')[0]),)
        usual = drop_non_test_tools(requirements)
        lines |= dict.fromkeys(
            line
            for line in map(clean_requirement, requirements)
            if line
            and (
                line in usual or (is_needed and _provides_module(get_requirement_name(line), name))
            )
        )
    added: dict[str, str] = {}
    for line in lines:
        package = get_requirement_name(line)
        if package not in known:
            added.setdefault(package, line)
    return dict(sorted(added.items()))


def _find_group_requirements(
    groups: Sequence[tuple[str, tuple[str, ...]]], module: str, *, is_needed: bool
) -> tuple[str, ...]:
    naming = [
        (group, lines, line)
        for group, lines in groups
        for line in lines
        if _provides_module(get_requirement_name(line), module)
    ]
    for group, lines, _ in naming:
        if is_for_tests(group):
            return lines
    return (naming[0][2],) if naming and is_needed else ()


def _provides_module(package: str, module: str) -> bool:
    """Return whether a distribution has the name of a module, or of one around it.

    Example: the distribution `ruamel-yaml` brings `ruamel.yaml`.
    """
    top = module.partition('.')[0]
    dotted = canonicalize_name(module)
    return package in _list_distribution_names(top) or (
        '-' in package and f'{dotted}-'.startswith(f'{package}-')
    )


def _list_distribution_names(top: str) -> Collection[str]:
    plain = canonicalize_name(top)
    return {plain, f'python-{plain}', f'py{plain}', _name_distribution(top)}


def _name_distribution(top: str) -> str:
    return _DISTRIBUTIONS.get(top, canonicalize_name(top))
