"""Read the versions that the lock files of a revision pin, as lines `NAME==VERSION; MARKER`.

Supported are uv.lock, poetry.lock, pdm.lock, Pipfile.lock, pylock.toml (PEP 751) and requirement
lists in which every line is pinned, as pip-compile writes them. A lock in the project's folder
precedes one in the root. Packages from outside an index (Git, path, archive) are not pinned, nor a
name with several versions unless markers distinguish them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from packaging.utils import canonicalize_name

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.requirements.ini_files import load_requirement_list
from coevo.languages.python.requirements.stated import (
    clean_requirement,
    get_requirement_name,
)
from coevo.storage.bounded_reading import parse_toml

_MOST_BYTES = 16 << 20
_LISTS = re.compile(r'(requirements/[\w.-]+|[\w.-]*(requirements|constraints)[\w.-]*)\.txt')
_PINNED = re.compile(r'[^;]*[^=!<>~]===?\s*(?P<version>[\w.!-]+)\s*(;\s*(?P<marker>.*))?')
_VERSION = re.compile(r'[\w.!-]+')  # excludes local versions: 1.0+cpu
_CLAUSE = re.compile(r'(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)')


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockEntry:
    """One pinned version of a package.

    marker  the interpreters and systems it applies to; '' if the lock has none
    """

    name: str
    version: str
    marker: str = ''


def load_pins(repository: Repository, rev: str, folder: str = '.') -> tuple[str, ...]:
    """Return the versions that a project's lock pins, as lines `NAME==VERSION; MARKER`, sorted.

    They come from the first lock that pins any, in its folder or else in the root; () if there is
    none.
    """
    tree = repository.tree(rev)

    def load_blob(path: str) -> bytes | None:
        """Return the content of a file; None if it is missing, a link, or too large (16 MiB)."""
        entry = tree.get(path)
        if entry is None or entry.mode == LINK:
            return None
        content = repository.blob(entry.oid)
        return content if len(content) <= _MOST_BYTES else None

    for prefix in dict.fromkeys(('' if folder == '.' else f'{folder}/', '')):
        for name, reader in _READERS.items():
            source = load_blob(prefix + name)
            pin_lines = reader(source) if source is not None else ()
            if pin_lines:
                return pin_lines
        lists = [path for path in tree if _is_requirement_list(path, prefix)]
        pin_lines = _format_pins(
            [pin for path in sorted(lists) for pin in _load_list_pins(path, load_blob)]
        )
        if pin_lines:
            return pin_lines
    return ()


def _is_requirement_list(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and _LISTS.fullmatch(path[len(prefix) :]) is not None


def _load_list_pins(path: str, read: Callable[[str], bytes | None]) -> Iterator[_LockEntry]:
    """Yield the pins of a requirement list; none unless every line of it is pinned."""
    lines = [
        line for text in load_requirement_list(path, read) if (line := clean_requirement(text))
    ]
    matches = [_PINNED.fullmatch(line) for line in lines]
    if all(matches):
        for line, match in zip(lines, matches, strict=True):
            assert match is not None, 'all are'
            marker = (match['marker'] or '').strip()
            yield _LockEntry(
                name=get_requirement_name(line), version=match['version'], marker=marker
            )


# Formats


def _parse_uv_lock(document: Mapping[str, Any]) -> Iterator[_LockEntry]:
    for package in _list_packages(document, 'package'):
        source = package.get('source')
        if isinstance(source, dict) and 'registry' in source:
            markers = package.get('resolution-markers')
            yield from _make_entries(
                package, _join_alternatives(markers if isinstance(markers, list) else [])
            )


def _parse_poetry_lock(document: Mapping[str, Any]) -> Iterator[_LockEntry]:
    for package in _list_packages(document, 'package'):
        source = package.get('source')
        if not isinstance(source, dict) or source.get('type') == 'legacy':
            yield from _make_entries(package, _derive_marker(package, 'markers', 'python-versions'))


def _parse_pdm_lock(document: Mapping[str, Any]) -> Iterator[_LockEntry]:
    for package in _list_packages(document, 'package'):
        if not {'git', 'path', 'url'} & package.keys():
            yield from _make_entries(package, _derive_marker(package, 'marker', 'requires_python'))


def _parse_pylock(document: Mapping[str, Any]) -> Iterator[_LockEntry]:
    for package in _list_packages(document, 'packages'):
        if not {'vcs', 'directory', 'archive'} & package.keys():
            yield from _make_entries(package, _derive_marker(package, 'marker', 'requires-python'))


def _parse_pipfile_lock(document: Mapping[str, Any]) -> Iterator[_LockEntry]:
    for part in ('default', 'develop'):
        packages = document.get(part)
        for name, package in packages.items() if isinstance(packages, dict) else ():
            if isinstance(package, dict) and isinstance(package.get('version'), str):
                version = package['version'].removeprefix('==')
                entry = {'name': name, 'version': version, 'markers': package.get('markers')}
                yield from _make_entries(entry, _derive_marker(entry, 'markers', ''))


def _list_packages(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    packages = document.get(name)
    return (
        [package for package in packages if isinstance(package, dict)]
        if isinstance(packages, list)
        else []
    )


def _make_entries(package: Mapping[str, Any], marker: str) -> Iterator[_LockEntry]:
    name, version = package.get('name'), package.get('version')
    if isinstance(name, str) and isinstance(version, str) and _VERSION.fullmatch(version):
        yield _LockEntry(name=canonicalize_name(name), version=version, marker=marker)


def _derive_marker(package: Mapping[str, Any], marker_key: str, python_key: str) -> str:
    """Return the marker of a package, else one made from the interpreters that it allows; else ''.

    In a poetry lock the marker may differ by group; the alternatives are joined.

    marker, python  the keys of the two in the package's table
    """
    stated_marker = package.get(marker_key)
    if isinstance(stated_marker, dict):
        stated_marker = _join_alternatives(
            [item for item in stated_marker.values() if isinstance(item, str)]
        )
    if isinstance(stated_marker, str) and stated_marker:
        return stated_marker
    clauses = str(package.get(python_key) or '').split(',')
    clause_matches = [_CLAUSE.fullmatch(item.strip()) for item in clauses]
    return ' and '.join(
        f"python_full_version {item[1]} '{item[2]}'" for item in clause_matches if item
    )


def _join_alternatives(markers: list[str]) -> str:
    return ' or '.join(f'({marker})' for marker in markers)


# Lines


def _format_pins(entries: list[_LockEntry]) -> tuple[str, ...]:
    """Return sorted pin lines; the only version of a package has no marker, several have theirs.

    Several versions are left out if one of them has no marker.
    """
    by_name: dict[str, dict[str, set[str]]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, {}).setdefault(entry.version, set()).add(entry.marker)
    pin_lines = []
    for name, versions in by_name.items():
        if len(versions) == 1:
            pin_lines.append(f'{name}=={next(iter(versions))}')
        elif all('' not in markers for markers in versions.values()):
            pin_lines += [
                f'{name}=={version} ; {_join_alternatives(sorted(markers))}'
                for version, markers in versions.items()
            ]
    return tuple(sorted(pin_lines))


def _make_toml_reader(
    read: Callable[[Mapping[str, Any]], Iterator[_LockEntry]],
) -> Callable[[bytes], tuple[str, ...]]:
    @lru_cache(maxsize=64)
    def parse_lock(source: bytes) -> tuple[str, ...]:
        """Return the pin lines of a lock file; () if it is not valid TOML. Cached."""
        try:
            document = parse_toml(source.decode(errors='replace'))
        except ValueError:
            return ()
        return _format_pins(list(read(document)))

    return parse_lock


def _parse_json_lock(source: bytes) -> tuple[str, ...]:
    try:
        document = json.loads(source)
    except (ValueError, RecursionError):
        return ()
    return _format_pins(list(_parse_pipfile_lock(document))) if isinstance(document, dict) else ()


_READERS: Mapping[str, Callable[[bytes], tuple[str, ...]]] = {
    'uv.lock': _make_toml_reader(_parse_uv_lock),
    'poetry.lock': _make_toml_reader(_parse_poetry_lock),
    'pdm.lock': _make_toml_reader(_parse_pdm_lock),
    'Pipfile.lock': _parse_json_lock,
    'pylock.toml': _make_toml_reader(_parse_pylock),
}
