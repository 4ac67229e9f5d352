"""What a Python file is called by: its dotted name, told by its path alone.

It is the path from the root, or from the first folder `src` (https://packaging.python.org/en/latest/discussions/src-layout-vs-flat-layout/), so
that no two tests of a repository have one name, a file that becomes part of a package keeps its own, and
nothing but the path is needed. What imports call it may be shorter, see `list_import_names`.
"""

from __future__ import annotations

from collections.abc import Iterator

_SUFFIX = '.py'
_PACKAGE = '__init__'


def module_name(path: str) -> str:
    """`tests.test_x` of `tests/test_x.py`, `pkg` of `src/pkg/__init__.py`; '' of no path."""
    parts = path.removesuffix(_SUFFIX).split('/')
    if parts[-1] == _PACKAGE and len(parts) > 1:
        parts.pop()
    if 'src' in parts[:-1]:
        del parts[: parts.index('src') + 1]
    return '.'.join(part.replace('.', '_') for part in parts)


def list_import_names(name: str) -> Iterator[str]:
    """What may be written to import a module: the ends of its name, the longest first."""
    yield name
    while '.' in name:
        name = name.partition('.')[2]
        yield name


def make_absolute(text: str, name: str, *, is_package: bool) -> str:
    """An import's text as seen from a module: `.x` in `pkg.mod` is `pkg.x`."""
    rest = text.lstrip('.')
    level = len(text) - len(rest)
    if not level:
        return text
    around = name.split('.') if is_package else name.split('.')[:-1]
    around = around[: len(around) - (level - 1)] if level > 1 else around
    return '.'.join([*around, rest] if rest else around)
