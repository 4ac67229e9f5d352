"""What a revision's lock files pin: exact versions that a resolution has to keep to, `NAME==VERSION; MARKER`.

Read are uv.lock, poetry.lock, pdm.lock, Pipfile.lock, pylock.toml (PEP 751) and lists of requirements in which each
line is pinned, as pip-compile writes them. A lock of the project's own folder comes before one of the root. What
does not come from an index (Git, a place, an archive) is not pinned, nor a name whose versions nothing tells apart.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.requirements.ini_files import requirement_list
from coevo.languages.python.requirements.stated import name_of
from coevo.languages.python.requirements.stated import normal
from coevo.languages.python.requirements.stated import plain

_MOST_BYTES = 16 << 20
_LISTS = re.compile(r'(requirements/[\w.-]+|[\w.-]*(requirements|constraints)[\w.-]*)\.txt')
_PINNED = re.compile(r'[^;]*[^=!<>~]===?\s*(?P<version>[\w.!-]+)\s*(;\s*(?P<marker>.*))?')
_VERSION = re.compile(r'[\w.!-]+')  # none of its own index: 1.0+cpu
_CLAUSE = re.compile(r'(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)')


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """marker  for which interpreters and systems; '' where the lock does not say"""

    name: str
    version: str
    marker: str = ''


def pins(repository: Repository, rev: str, folder: str = '.') -> tuple[str, ...]:
    """Of the first lock that there is, sorted; none without one, or of one that cannot be read."""
    tree = repository.tree(rev)

    def read(path: str) -> bytes | None:
        entry = tree.get(path)
        if entry is None or entry.mode == LINK:
            return None
        content = repository.blob(entry.oid)
        return content if len(content) <= _MOST_BYTES else None

    for prefix in dict.fromkeys(('' if folder == '.' else f'{folder}/', '')):
        for name, reader in _READERS.items():
            source = read(prefix + name)
            found = reader(source) if source is not None else ()
            if found:
                return found
        lists = [path for path in tree if _is_list(path, prefix)]
        found = _lines([one for path in sorted(lists) for one in _of_list(path, read)])
        if found:
            return found
    return ()


def _is_list(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and _LISTS.fullmatch(path[len(prefix) :]) is not None


def _of_list(path: str, read: Callable[[str], bytes | None]) -> Iterator[_Entry]:
    """The pins of a list, of one that has nothing else."""
    lines = [line for text in requirement_list(path, read) if (line := plain(text))]
    found = [_PINNED.fullmatch(line) for line in lines]
    if all(found):
        for line, one in zip(lines, found, strict=True):
            assert one is not None, 'all are'
            marker = (one['marker'] or '').strip()
            yield _Entry(name=name_of(line), version=one['version'], marker=marker)


# -- formats ---------------------------------------------------------------------------------------


def _uv(document: Mapping[str, Any]) -> Iterator[_Entry]:
    for package in _packages(document, 'package'):
        source = package.get('source')
        if isinstance(source, dict) and 'registry' in source:
            markers = package.get('resolution-markers')
            yield from _entry(package, _any_of(markers if isinstance(markers, list) else []))


def _poetry(document: Mapping[str, Any]) -> Iterator[_Entry]:
    for package in _packages(document, 'package'):
        source = package.get('source')
        if not isinstance(source, dict) or source.get('type') == 'legacy':
            yield from _entry(package, _marker(package, 'markers', 'python-versions'))


def _pdm(document: Mapping[str, Any]) -> Iterator[_Entry]:
    for package in _packages(document, 'package'):
        if not {'git', 'path', 'url'} & package.keys():
            yield from _entry(package, _marker(package, 'marker', 'requires_python'))


def _pylock(document: Mapping[str, Any]) -> Iterator[_Entry]:
    for package in _packages(document, 'packages'):
        if not {'vcs', 'directory', 'archive'} & package.keys():
            yield from _entry(package, _marker(package, 'marker', 'requires-python'))


def _pipfile(document: Mapping[str, Any]) -> Iterator[_Entry]:
    for part in ('default', 'develop'):
        packages = document.get(part)
        for name, package in packages.items() if isinstance(packages, dict) else ():
            if isinstance(package, dict) and isinstance(package.get('version'), str):
                version = package['version'].removeprefix('==')
                told = {'name': name, 'version': version, 'markers': package.get('markers')}
                yield from _entry(told, _marker(told, 'markers', ''))


def _packages(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    found = document.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _entry(package: Mapping[str, Any], marker: str) -> Iterator[_Entry]:
    name, version = package.get('name'), package.get('version')
    if isinstance(name, str) and isinstance(version, str) and _VERSION.fullmatch(version):
        yield _Entry(name=normal(name), version=version, marker=marker)


def _marker(package: Mapping[str, Any], marker: str, python: str) -> str:
    """As a package has it (poetry's may differ by group), else by the interpreters that it allows."""
    told = package.get(marker)
    if isinstance(told, dict):
        told = _any_of([one for one in told.values() if isinstance(one, str)])
    if isinstance(told, str) and told:
        return told
    clauses = str(package.get(python) or '').split(',')
    found = [_CLAUSE.fullmatch(one.strip()) for one in clauses]
    return ' and '.join(f"python_full_version {one[1]} '{one[2]}'" for one in found if one)


def _any_of(markers: list[str]) -> str:
    return ' or '.join(f'({one})' for one in markers)


# -- lines -----------------------------------------------------------------------------------------


def _lines(entries: list[_Entry]) -> tuple[str, ...]:
    """A name with one version is pinned to it wherever it is needed; of several each where its marker says."""
    by_name: dict[str, dict[str, set[str]]] = {}
    for one in entries:
        by_name.setdefault(one.name, {}).setdefault(one.version, set()).add(one.marker)
    found = []
    for name, versions in by_name.items():
        if len(versions) == 1:
            found.append(f'{name}=={next(iter(versions))}')
        elif all('' not in markers for markers in versions.values()):
            found += [
                f'{name}=={version} ; {_any_of(sorted(markers))}'
                for version, markers in versions.items()
            ]
    return tuple(sorted(found))


def _toml(
    read: Callable[[Mapping[str, Any]], Iterator[_Entry]],
) -> Callable[[bytes], tuple[str, ...]]:
    @lru_cache(maxsize=64)
    def lines(source: bytes) -> tuple[str, ...]:
        try:
            document = tomllib.loads(source.decode(errors='replace'))
        except (tomllib.TOMLDecodeError, RecursionError):
            return ()
        return _lines(list(read(document)))

    return lines


def _json(source: bytes) -> tuple[str, ...]:
    try:
        document = json.loads(source)
    except (ValueError, RecursionError):
        return ()
    return _lines(list(_pipfile(document))) if isinstance(document, dict) else ()


_READERS: Mapping[str, Callable[[bytes], tuple[str, ...]]] = {
    'uv.lock': _toml(_uv),
    'poetry.lock': _toml(_poetry),
    'pdm.lock': _toml(_pdm),
    'Pipfile.lock': _json,
    'pylock.toml': _toml(_pylock),
}
