"""The dotted name of a Python file, and the file of an imported module, from paths alone."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import PurePosixPath

from coevo.languages.python.layout import select_test_paths
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.reading import PathClassification, Side

# The dotted name of a Python file, from its path alone.
#
# It starts at the root, or below the first folder `src`
# (https://packaging.python.org/en/latest/discussions/src-layout-vs-flat-layout/). So no two tests
# of a repository share a name, and a file keeps its name when its folder becomes a package. Imports
# may use a shorter name, see `list_possible_import_names`.

_SUFFIX = '.py'
_PACKAGE = '__init__'


def derive_module_name(path: str) -> str:
    """Return the module name: `tests.test_x` for `tests/test_x.py`, `a` for `src/a/__init__.py`.

    An empty path has the name ''.
    """
    parts = path.removesuffix(_SUFFIX).split('/')
    if parts[-1] == _PACKAGE and len(parts) > 1:
        parts.pop()
    if 'src' in parts[:-1]:
        del parts[: parts.index('src') + 1]
    return '.'.join(part.replace('.', '_') for part in parts)


def list_possible_import_names(name: str) -> Iterator[str]:
    """Yield the names that may import a module: the suffixes of its name, longest first."""
    yield name
    while '.' in name:
        name = name.partition('.')[2]
        yield name


def make_import_absolute(text: str, name: str, *, is_package: bool) -> str:
    """Return an import as an absolute name: `.x` in the module `pkg.mod` becomes `pkg.x`.

    An absolute one is returned unchanged.

    text        the import with its leading dots
    name        of the importing module
    is_package  whether this module is the `__init__` of a package
    """
    rest = text.lstrip('.')
    level = len(text) - len(rest)
    if not level:
        return text
    around = name.split('.') if is_package else name.split('.')[:-1]
    around = around[: len(around) - (level - 1)] if level > 1 else around
    return '.'.join([*around, rest] if rest else around)


# Folders of a project that are usually on `sys.path`, besides its root.
_ROOTS = ('', 'src', 'lib', 'python')


class PythonModulePaths:
    """A lookup of module files among the paths of a revision, cached.

    paths   the paths of all Python files
    builds  the folders with a build file; '.' is the root
    """

    def __init__(self, paths: frozenset[str], builds: frozenset[str]) -> None:
        self._paths = paths
        self._project_roots = tuple(
            '/'.join(part for part in (folder.strip('.'), root) if part)
            for folder in sorted({*builds, '.'})
            for root in _ROOTS
        )
        self._roots = cache(self._find_roots)
        self._path_of = cache(self._find_path)

    def find_module_path(self, module_name: str, importer: str) -> str | None:
        """Return the path of the module with this absolute name; None if the revision has none.

        The folders above the importing file are searched first, then the roots of projects.

        importer  the path of the importing file
        """
        return self._path_of(module_name, importer.rpartition('/')[0])

    def _find_path(self, text: str, folder: str) -> str | None:
        relative = text.replace('.', '/')
        for root in (*self._roots(folder), *self._project_roots):
            base = f'{root}/{relative}' if root else relative
            for path in (f'{base}.py', f'{base}/__init__.py'):
                if path in self._paths:
                    return path
        return None

    def _find_roots(self, folder: str) -> tuple[str, ...]:
        """Return the folder and those above it that can be on `sys.path`: they are no packages."""
        roots = []
        while True:
            if (f'{folder}/__init__.py' if folder else '__init__.py') not in self._paths:
                roots.append(folder)
            if not folder:
                return tuple(roots)
            folder = folder.rpartition('/')[0]


@lru_cache(maxsize=8)
def get_module_paths(paths: frozenset[str], builds: frozenset[str]) -> PythonModulePaths:
    """Return the lookup for these files; revisions with the same files share one object.

    paths   the paths of all Python files
    builds  the folders with a build file; '.' is the root
    """
    return PythonModulePaths(paths, builds)


def classify_path(path: str) -> PathClassification | None:
    """Return whether a file belongs to tests or code, and whether it is a resource: no Python file.

    None for a resource of the code in the root, such as the README.
    """
    is_resource = not path.endswith('.py')
    side = Side.TEST if select_test_paths([path]) else Side.SOURCE
    if is_resource and side is Side.SOURCE and '/' not in path:
        return None
    # Programs locate a resource relative to the folder of their module or to the root of the
    # package.
    return PathClassification(
        side=side, is_resource=is_resource, relative=path.partition('/')[2] or path
    )


def is_build_file(path: str) -> bool:
    """Return whether the name of a file is pyproject.toml, setup.py or setup.cfg."""
    return PurePosixPath(path).name in BUILD_FILES
