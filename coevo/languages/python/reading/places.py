"""The dotted name of a Python file, from its path alone.

It starts at the root, or below the first folder `src`
(https://packaging.python.org/en/latest/discussions/src-layout-vs-flat-layout/). So no two tests of
a repository share a name, and a file keeps its name when its folder becomes a package. Imports may
use a shorter name, see `list_import_names`.
"""

from __future__ import annotations

from collections.abc import Iterator

_SUFFIX = '.py'
_PACKAGE = '__init__'


def module_name(path: str) -> str:
    """Return the module name: `tests.test_x` for `tests/test_x.py`, `a` for `src/a/__init__.py`.

    An empty path has the name ''.
    """
    parts = path.removesuffix(_SUFFIX).split('/')
    if parts[-1] == _PACKAGE and len(parts) > 1:
        parts.pop()
    if 'src' in parts[:-1]:
        del parts[: parts.index('src') + 1]
    return '.'.join(part.replace('.', '_') for part in parts)


def list_import_names(name: str) -> Iterator[str]:
    """Yield the names that may import a module: the suffixes of its name, longest first."""
    yield name
    while '.' in name:
        name = name.partition('.')[2]
        yield name


def make_absolute(text: str, name: str, *, is_package: bool) -> str:
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
