"""Source distributions of a package, as the package index names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from coevo.languages.python.index_pages import IndexFile
from coevo.languages.python.interpreter_choice import Feature, allows_feature
from coevo.languages.python.package_index import IndexRefusal, get_machine_index

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


def list_source_archives(
    name: str, before: datetime, feature: Feature
) -> tuple[SourceArchive, ...]:
    """Return those of a package that had been uploaded by then, the newest release first.

    Raises: Transient where the index cannot be reached.
    """
    known = [
        archive
        for archive in _parse_archives(name)
        if archive.uploaded <= before and allows_feature(archive.file.python, feature)
    ]
    return tuple(sorted(known, key=lambda one: (one.version, one.file.name), reverse=True))


def fetch_archive(archive: SourceArchive) -> Path | None:
    """Return where its bytes lie, which are those that the index names; None where they are gone.

    Raises: Transient where the index cannot be reached.
    """
    try:
        return get_machine_index().fetch_file(archive.file)
    except IndexRefusal:
        return None


def _parse_archives(name: str) -> Iterator[SourceArchive]:
    try:
        page = get_machine_index().get_page(0, name)
    except IndexRefusal:
        return
    for file in page.files.values():
        named = _FINAL.fullmatch(file.name)
        uploaded = _parse_date(file.uploaded)
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


def _parse_date(text: str) -> datetime | None:
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
