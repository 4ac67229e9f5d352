"""Source distributions of a package, as the package index names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from datetime import datetime
from pathlib import Path

from coevo.languages.python.index_pages import IndexFile
from coevo.languages.python.interpreter_choice import Feature
from coevo.languages.python.interpreter_choice import allows
from coevo.languages.python.package_index import NotServed
from coevo.languages.python.package_index import machine_index

_FINAL = re.compile(
    r'.+?-v?(?P<version>\d+(\.\d+)*(\.post\d+)?)(?P<kind>\.tar\.gz|\.zip)', re.ASCII
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceArchive:
    """A source distribution of a final release.

    kind  `.zip` or `.tar.gz`
    """

    file: IndexFile
    sha256: str
    kind: str
    version: tuple[int, ...]
    uploaded: datetime


def source_archives(name: str, before: datetime, feature: Feature) -> tuple[SourceArchive, ...]:
    """Return those of a package that had been uploaded by then, the newest release first.

    Raises: Transient where the index cannot be reached.
    """
    known = [
        one
        for one in _archives(name)
        if one.uploaded <= before and allows(one.file.python, feature)
    ]
    return tuple(sorted(known, key=lambda one: (one.version, one.file.name), reverse=True))


def fetch(archive: SourceArchive) -> Path | None:
    """Return where its bytes lie, which are those that the index names; None where they are gone.

    Raises: Transient where the index cannot be reached.
    """
    try:
        return machine_index().file(archive.file)
    except NotServed:
        return None


def _archives(name: str) -> Iterator[SourceArchive]:
    try:
        page = machine_index().page(0, name)
    except NotServed:
        return
    for file in page.files.values():
        named = _FINAL.fullmatch(file.name)
        uploaded = _date(file.uploaded)
        # Dates are an addition of PEP 700.
        if named is None or file.yanked or uploaded is None or file.sha256 is None:
            continue
        yield SourceArchive(
            file=file,
            sha256=file.sha256,
            kind=named['kind'],
            version=tuple(map(int, re.findall(r'\d+', named['version']))),
            uploaded=uploaded,
        )


def _date(text: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
