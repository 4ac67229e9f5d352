"""The folders of a project that its settings put on `sys.path`, beside those that are usual.

Packages of a project may lie in a folder of any name. Each build backend has a setting for it, and
pytest has `pythonpath`:

- https://setuptools.pypa.io/en/latest/userguide/package_discovery.html
- https://python-poetry.org/docs/pyproject/#packages
- https://hatch.pypa.io/latest/config/build/#packages, https://hatch.pypa.io/latest/config/build/#rewriting-paths
- https://backend.pdm-project.org/build_config/
- https://docs.astral.sh/uv/concepts/build-backend/#modules
- https://www.maturin.rs/project_layout
- https://docs.pytest.org/en/stable/reference/reference.html
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from coevo.languages.python.collection import SETTINGS, parse_settings
from coevo.languages.python.requirements.ini_files import parse_sections
from coevo.storage.bounded_reading import parse_toml

# The folder of all packages, in a dictionary or as the first argument of a call.
_SETUP_PY = re.compile(
    r"""package_dir\s*=\s*\{\s*(?:""|'')\s*:\s*["']([\w./-]+)["']"""
    r"""|find_(?:namespace_)?packages\(\s*(?:where\s*=\s*)?["']([\w./-]+)["']"""
)


def find_stated_import_roots(
    paths: Collection[str], folder: str, settings: Mapping[str, bytes]
) -> tuple[str, ...]:
    """Return the folders that settings put on `sys.path`, relative to the tree, in their order.

    The project's own folder, folders outside of it, packages, and folders without a module below
    are left out.

    paths     of all files of the tree
    settings  by name, the contents of the project's files with settings
    """
    roots: dict[str, None] = {}
    for name, content in settings.items():
        for stated in _list_stated_folders(name, content):
            root = posixpath.normpath(posixpath.join(folder, stated))
            is_within = folder == '.' or root.startswith(f'{folder}/')
            if root not in ('.', folder) and is_within and not root.startswith(('..', '/')):
                roots[root] = None
    return tuple(root for root in roots if _holds_packages(paths, root))


def _holds_packages(paths: Collection[str], root: str) -> bool:
    is_package = f'{root}/__init__.py' in paths
    return not is_package and any(
        path.startswith(f'{root}/') and path.endswith('.py') for path in paths
    )


def _list_stated_folders(name: str, content: bytes) -> Iterator[str]:
    text = content.decode(errors='replace')
    if name in SETTINGS:
        yield from (parse_settings(name, content) or {}).get('pythonpath', ())
    if name == 'setup.py':
        yield from (first or second for first, second in _SETUP_PY.findall(text))
    elif name == 'setup.cfg':
        yield from _list_folders_of_setup_cfg(content)
    elif name == 'pyproject.toml':
        try:
            tools = parse_toml(text).get('tool')
        except ValueError:
            return
        yield from filter(None, map(_as_text, _list_folders_of_tools(tools)))


def _list_folders_of_setup_cfg(source: bytes) -> Iterator[str]:
    sections = parse_sections(source)
    for line in sections.get('options', {}).get('package_dir', '').splitlines():
        package, _, place = line.partition('=')
        if not package.strip() and place.strip():
            yield place.strip()
    where = sections.get('options.packages.find', {}).get('where', '')
    yield from filter(None, map(str.strip, where.splitlines()))


def _list_folders_of_tools(tools: object) -> Iterator[object]:
    """Yield what the tables below `tool` state as folders; not all need be texts."""
    yield _find(tools, 'setuptools', 'package-dir', '')
    yield from _as_list(_find(tools, 'setuptools', 'packages', 'find', 'where'))
    for package in _as_list(_find(tools, 'poetry', 'packages')):
        yield _find(package, 'from')
    for table in (('build',), ('build', 'targets', 'wheel')):
        for package in _as_list(_find(tools, 'hatch', *table, 'packages')):
            yield posixpath.dirname(_as_text(package))
        sources = _find(tools, 'hatch', *table, 'sources')
        yield from sources if isinstance(sources, dict) else _as_list(sources)
    yield _find(tools, 'pdm', 'build', 'package-dir')
    yield _find(tools, 'pdm', 'package-dir')
    yield _find(tools, 'uv', 'build-backend', 'module-root')
    yield _find(tools, 'maturin', 'python-source')


def _find(value: Any, *keys: str) -> object:
    """Return what lies in nested tables; None if there is no such key."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ''
