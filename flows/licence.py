"""Find the licence of a revision at its root: from a licence file, else from its build files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

from identify.identify import license_id

from coevo.git.repository import Repository
from coevo.languages.licences import DeclaredLicence
from coevo.languages.table import LANGUAGES
from coevo.model import licences

_NAMES = re.compile(r'(licen[cs]e|copying|unlicense)([-._].*)?', re.IGNORECASE)
_EITHER = re.compile(
    r'dual[- ]licen[cs]|under either (?:of|the)|your choice of|\balso\W+provided\s+under',
    re.IGNORECASE,
)
# Some build files name a licence only by its address.
_ADDRESSES = re.compile(
    r'(?:opensource|spdx)\.org/licen[cs]es?/([\w.+-]+?)(?:\.html|\.php)?/?$|'
    r'(apache)\.org/licenses/LICENSE-2\.0',
    re.IGNORECASE,
)


def find_spdx_expression(repository: Repository, rev: str) -> str | None:
    """Return the SPDX expression of the first known licence file at the root, else of a build file.

    A file that offers a choice comes before all others, each of which may hold one of the texts to
    choose from. Several texts in one file are all in force (`AND`), unless the file offers a choice
    (`OR`); several licences in a build file are always a choice. None if neither gives a known
    licence, or the files cannot be read.
    """
    root = {
        name: oid
        for mode, name, oid in repository.folder(repository.header(rev).tree)
        if mode.startswith('100')
    }
    names = sorted(filter(_NAMES.fullmatch, root), key=lambda name: (len(name), name))
    builds = [
        (language.READING, name)
        for language in LANGUAGES.values()
        for name in sorted(root)
        if language.READING.is_build_file(name)
    ]
    if any(root[name] in repository.holes for name in (*names, *(name for _, name in builds))):
        return None
    contents = [repository.blob(root[name]) for name in names]
    texts = map(_detect_licence, sorted(contents, key=lambda content: not _offers_choice(content)))
    declared = (
        _join_alternatives(reading.parse_licences(repository.blob(root[name])))
        for reading, name in builds
    )
    return next(
        (expression for expression in chain(texts, declared) if expression is not None), None
    )


@lru_cache(maxsize=1024)
def _detect_licence(content: bytes) -> str | None:
    text = content.decode('utf-8', 'replace')
    expression = _identify_text(text)
    if expression is not None:
        return expression
    return (' OR ' if _offers_choice(content) else ' AND ').join(
        licences.find_ids_in_text(text)
    ) or None


def _offers_choice(content: bytes) -> bool:
    return _EITHER.search(content.decode('utf-8', 'replace')) is not None


def _identify_text(text: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder) / 'LICENSE'
        file.write_text(text, encoding='utf-8')
        spdx_id: str | None = license_id(str(file))
        return spdx_id


def _join_alternatives(declared: Iterable[DeclaredLicence]) -> str | None:
    return ' OR '.join(sorted(set(_list_known_licences(declared)))) or None


def _list_known_licences(declared: Iterable[DeclaredLicence]) -> Iterator[str]:
    """Yield the known licences; unknown ones are ignored, since a user may choose one of the
    others."""
    for declared_licence in declared:
        spdx_id = licences.find_id_by_name(declared_licence.name)
        address = _ADDRESSES.search(declared_licence.address.strip())
        if spdx_id is None and address is not None:
            spdx_id = licences.find_id_by_name('Apache-2.0' if address[2] else address[1])
        if spdx_id is not None:
            yield spdx_id
