"""Find the test files whose fixtures apply to a test file without an import, as pytest does.

https://docs.pytest.org/en/stable/reference/fixtures.html: those of the file itself, of each
conftest above, of the modules that `pytest_plugins` or `-p` name, and what any of these import, by
name, by star or as a module. The packages around a file run when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.module_paths import PythonModulePaths
from coevo.languages.python.reading.modules import parse_module_contents

_PLUGINS = 'pytest_plugins'
_ABOVE = ('conftest.py', '__init__.py')


class FixtureModules:
    """A finder of the test files whose fixtures apply to a test file, for one revision. Cached.

    tests    the paths of all Python files of the tests
    parse    returns a file without the context of its revision
    read     returns the content of a file
    plugins  returns the modules that the settings of a file's project load by `-p`
    """

    def __init__(
        self,
        modules: PythonModulePaths,
        tests: Collection[str],
        parse: Callable[[str], SourceFile],
        read: Callable[[str], bytes],
        plugins: Callable[[str], Sequence[str]],
    ) -> None:
        self._modules, self._tests = modules, frozenset(tests)
        self._parse, self._read, self._plugins = parse, read, plugins
        self._named: dict[str, tuple[str, ...]] = {}
        self._found: dict[str, tuple[str, ...]] = {}

    def find_fixture_files(self, path: str) -> tuple[str, ...]:
        """Return the other test files whose fixtures a test file may use, nearest first.

        These are conftests and packages above it, plugins, and what any of them imports.
        """
        if path not in self._found:
            seen = dict.fromkeys(
                [path, *self._list_fixture_files_above(path), *self._list_plugins_in_settings(path)]
            )
            queue = list(seen)
            while queue:
                new = [
                    other
                    for other in self._list_imported_test_files(queue.pop(0))
                    if other not in seen
                ]
                seen |= dict.fromkeys(new)
                queue += new
            del seen[path]
            self._found[path] = tuple(seen)
        return self._found[path]

    def _list_fixture_files_above(self, path: str) -> Iterator[str]:
        folder = path
        while folder:
            folder = folder.rpartition('/')[0]
            for name in _ABOVE:
                above = f'{folder}/{name}' if folder else name
                if above in self._tests and above != path:
                    yield above

    def _list_plugins_in_settings(self, path: str) -> Iterator[str]:
        for name in self._plugins(path):
            yield from self._find_test_module(name, path)

    def _list_imported_test_files(self, path: str) -> tuple[str, ...]:
        """Return the test files that a test file imports or names as plugins; cached."""
        if path not in self._named:
            self._named[path] = tuple(dict.fromkeys(self._search_imported_test_files(path)))
        return self._named[path]

    def _search_imported_test_files(self, path: str) -> Iterator[str]:
        for imported in parse_module_contents(self._read(path), path).imports:
            yield from self._find_test_module(imported.text, path)
            yield from self._find_test_module(imported.text.rpartition('.')[0], path)
        for member in (m for type_ in self._parse(path).types[:1] for m in type_.members):
            if member.name == _PLUGINS:
                for name in sorted(member.strings):
                    yield from self._find_test_module(name, path)

    def _find_test_module(self, name: str, importer: str) -> Iterator[str]:
        path = self._modules.find_module_path(name, importer) if name else None
        if path is not None and path in self._tests:
            yield path
