"""The layout of a tree: which files belong to the tests, what tests can import, and what an
installation would add.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from coevo.languages.python.collection import ALWAYS_SETTINGS, DEFAULT, find_collection_rules
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.stated_roots import find_stated_import_roots

# Decide whether a file belongs to the tests or to the code, by its path and by the settings of the
# revision.

# Folders of tests (`functional_tests`), of their data, and of what plugins of pytest record.
_FOLDER = re.compile(
    r'(.+[-_.])?_?tests([-_.].+)?|unit_test|unittests|testsuite'
    r'|test[-_]?(data|files|fixtures|resources|assets|cases|samples)'
    r'|__snapshots__|cassettes'
)
_IN_PACKAGES_DOUBTFUL = 'test'
# Packages may have such names, too: `testing` often belongs to an API.
_IN_API = 'testing'
_DOUBTFUL = re.compile(rf'{_IN_API}|(.+[-_.])?test([-_.].+)?')
_FILE = re.compile(r'(test_[^/]*|[^/]*_test|tests?|conftest)\.py')
_DOUBTFUL_FILES = ('test.py', 'tests.py')


@dataclass(frozen=True, slots=True, kw_only=True)
class TestNames:
    """The names of test files that the settings of a revision add to the usual ones.

    patterns  globs of the names of test files, beside the usual names
    folders   folders of tests whose names do not say so
    """

    __test__ = False

    patterns: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def is_test_file(self, path: str) -> bool:
        """Return whether a file is named as pytest or unittest collects it, or is a conftest."""
        name = path.rpartition('/')[2]
        return _FILE.fullmatch(name) is not None or any(
            fnmatchcase(path, f'*{pattern}') if '/' in pattern else fnmatchcase(name, pattern)
            for pattern in self.patterns
        )

    def is_in_test_folder(self, path: str) -> bool:
        """Return whether a path lies in or below one of the folders."""
        return path.startswith(tuple(f'{folder}/' for folder in self.folders))


USUAL = TestNames()


def select_test_paths(paths: Collection[str], names: TestNames = USUAL) -> frozenset[str]:
    """Return those paths of a revision that belong to its tests; all others belong to the code.

    paths  of all files of the revision
    names  what its settings say
    """
    folders, code = (
        frozenset(_find_ambiguous_test_folders(paths)),
        frozenset(_find_code_named_like_tests(paths)),
    )
    return frozenset(
        path for path in paths if path not in code and _belongs_to_tests(path, folders, names)
    )


def _belongs_to_tests(path: str, testing: frozenset[str], names: TestNames) -> bool:
    if names.is_test_file(path) or names.is_in_test_folder(path):
        return True
    parents = PurePosixPath(path).parents
    return any(_is_test_folder(folder.name) or str(folder) in testing for folder in parents)


@lru_cache(maxsize=4096)
def _is_test_folder(name: str) -> bool:
    return _FOLDER.fullmatch(name) is not None


def _find_ambiguous_test_folders(paths: Collection[str]) -> Iterator[str]:
    """Yield the folders with an ambiguous name that belong to the tests."""
    for path in paths:
        for folder in PurePosixPath(path).parents:
            if folder.name == _IN_PACKAGES_DOUBTFUL:
                in_package = str(folder.parent / '__init__.py') in paths
                if USUAL.is_test_file(path) or not in_package:
                    yield str(folder)
        folder = PurePosixPath(path).parent
        says_so = folder.name == _IN_API or path.rpartition('/')[2] not in _DOUBTFUL_FILES
        if _DOUBTFUL.fullmatch(folder.name) and says_so and USUAL.is_test_file(path):
            yield str(folder)


def _find_code_named_like_tests(paths: Collection[str]) -> Iterator[str]:
    """Yield modules of packages that are named like test files but have their own test file."""
    names = {path.rpartition('/')[2] for path in paths}
    for path in paths:
        folder, _, name = path.rpartition('/')
        if name in _DOUBTFUL_FILES and f'{folder}/__init__.py' in paths:
            stem = name.removesuffix('.py')
            parents = PurePosixPath(folder).parts
            own = names & {f'test_{name}', f'{stem}_test.py'}
            if own and not any(map(_is_test_folder, parents)):
                yield path


# Find the names of test files that the settings of a revision add to the usual ones.
#
# `python_files` and `testpaths` of pytest:
# https://docs.pytest.org/en/stable/reference/reference.html

# A pattern such as `*.py` matches the code, too; one with so many letters of its own names tests.
_LEAST_LETTERS = 3


def find_test_file_names(paths: Collection[str], read: Callable[[str], bytes]) -> TestNames:
    """Return the names and folders of test files that the pytest settings of all projects state.

    Patterns that match the code, too, such as `*.py`, and folders with other modules are left out.

    paths  of all files of a revision
    read   returns the content of one of the paths
    """
    patterns: dict[str, None] = {}
    folders: dict[str, None] = {}
    stating = {*BUILD_FILES, *ALWAYS_SETTINGS}
    projects = {posixpath.dirname(path) for path in paths if posixpath.basename(path) in stating}
    for project in sorted({'', *projects}):
        rules = find_collection_rules((project,), paths, read) or DEFAULT
        patterns |= dict.fromkeys(_select_specific_patterns(rules.files))
        folders |= dict.fromkeys(
            posixpath.normpath(posixpath.join(project, folder)) for folder in rules.folders
        )
    named = tuple(patterns)
    return TestNames(
        patterns=named,
        folders=tuple(folder for folder in folders if _holds_tests_alone(folder, paths, named)),
    )


def _select_specific_patterns(patterns: Collection[str]) -> Iterator[str]:
    for pattern in patterns:
        letters = sum(map(str.isalpha, posixpath.basename(pattern).removesuffix('.py')))
        if pattern not in DEFAULT.files and letters >= _LEAST_LETTERS:
            yield pattern


def _holds_tests_alone(folder: str, paths: Collection[str], patterns: tuple[str, ...]) -> bool:
    """Return whether a folder itself has modules, each of them named as a test file."""
    names = TestNames(patterns=patterns)
    modules = [path for path in paths if posixpath.dirname(path) == folder and path.endswith('.py')]
    return folder != '.' and bool(modules) and all(map(names.is_test_file, modules))


# Find what tests can import from a tree, and make what an installation would add to it.

# Folders that may hold a project's packages.
_SOURCE_FOLDERS = ('src', 'lib', 'source')

# Packages that do not belong to the API of a project.
_ASIDE = frozenset(
    {'docs', 'doc', 'examples', 'example', 'benchmarks', 'bench', 'scripts', 'tools'}
)

# Settings for modules that a build generates from Git tags (setuptools_scm, hatch-vcs, pdm).
_WRITTEN = re.compile(
    r'(?m)^\s*(?:[\w-]+\.)*(?:write_to|version_file|version-file|write-to)\s*=\s*["\']?([\w./-]+\.py)["\']?'
)
_VERSION = b"__version__ = version = '0'\n__version_tuple__ = version_tuple = (0,)\n"


def find_import_roots(
    paths: Collection[str], folder: str, settings: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return the folders that a project needs on `sys.path`, relative to the tree, in order.

    They are its folders `src`, `lib` and `source`, if they have modules and are no packages, then
    those that its settings state, then the folder itself.

    paths     of all files of the tree
    settings  by name, the contents of the project's files with settings
    """
    prefix = '' if folder == '.' else f'{folder}/'
    roots = []
    for name in _SOURCE_FOLDERS:
        below = f'{prefix}{name}/'
        is_package = f'{below}__init__.py' in paths
        if not is_package and any(p.startswith(below) and p.endswith('.py') for p in paths):
            roots.append(f'{prefix}{name}')
    stated = find_stated_import_roots(paths, folder, settings)
    return (*dict.fromkeys((*roots, *stated)), folder)


def find_top_packages(paths: Collection[str], roots: Collection[str]) -> frozenset[str]:
    """Return the names of the packages and modules of the code that lie directly in a root.

    Tests are left out, as are folders such as docs and examples.
    """
    theirs = select_test_paths(paths)
    names = set()
    for path in paths:
        if path in theirs or not path.endswith('.py'):
            continue
        for root in roots:
            prefix = '' if root == '.' else f'{root}/'
            if path.startswith(prefix):
                names.add(path[len(prefix) :].removesuffix('.py').partition('/')[0])
    return frozenset(name for name in names - _ASIDE if name.isidentifier())


def find_main_packages(
    paths: Collection[str], roots: Collection[str], name: str | None
) -> tuple[str, ...]:
    """Return the package whose name is that of the project; () if there is none.

    It has to be importable for the tests to give results. Case, dashes and underscores do not
    count: `typing-extensions` has `typing_extensions`.
    """
    tops = find_top_packages(paths, roots)
    wanted = canonicalize_name(name or '').replace('-', '')
    return tuple(sorted(top for top in tops if wanted and top.replace('_', '').lower() == wanted))


def list_generated_modules(settings: Collection[bytes], folder: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each module that a build would generate from the tags of Git.

    Settings such as `write_to` name the path. The content says that the version is 0.

    settings  the contents of the project's files with settings
    """
    prefix = '' if folder == '.' else f'{folder}/'
    for source in settings:
        for path in _WRITTEN.findall(source.decode(errors='replace')):
            if '..' not in path and not path.startswith('/'):
                yield prefix + path.removeprefix('./'), _VERSION


def make_metadata_files(needs: Needs) -> Mapping[str, bytes]:
    """Return the files of a .dist-info folder, by path: a name, a version and entry points.

    An unknown version is 0; the format of a version is not checked. {} for a project without a
    valid name.
    """
    if needs.name is None or not re.fullmatch(r'[\w.-]+', needs.name):
        return {}
    version = needs.version if needs.version and re.fullmatch(r'[\w.+!-]+', needs.version) else '0'
    stem = re.sub(r'[-_.]+', '_', needs.name)
    folder = f'{stem}-{version.replace("-", "_")}.dist-info'
    head = f'Metadata-Version: 2.1\nName: {needs.name}\nVersion: {version}\n'
    points = ''.join(
        f'[{group}]\n' + ''.join(f'{line.strip()}\n' for line in lines if '=' in line)
        for group, lines in needs.entry_points
    )
    return {
        f'{folder}/METADATA': head.encode(),
        f'{folder}/INSTALLER': b'coevo\n',
        f'{folder}/RECORD': b'',
        f'{folder}/entry_points.txt': points.encode(errors='replace'),
    }
