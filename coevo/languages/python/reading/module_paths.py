"""Find the file of an imported module, from the paths of a revision alone."""

from __future__ import annotations

from functools import cache, lru_cache

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

    def find_module(self, text: str, importer: str) -> str | None:
        """Return the path of the module with this absolute name; None if the revision has none.

        The folders above the importing file are searched first, then the roots of projects.

        importer  the path of the importing file
        """
        return self._path_of(text, importer.rpartition('/')[0])

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
