"""The licence of a revision, as its root says: by a licence file, else by the POM."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

from identify.identify import license_id

from coevo.git.repository import Repository
from coevo.model import licences

_NAMES = re.compile(r'(licen[cs]e|copying|unlicense)([-._].*)?', re.IGNORECASE)
_EITHER = re.compile(r'dual[- ]licen[cs]|under either (?:of|the)|your choice of', re.IGNORECASE)
# Who says it by the address alone names the licence all the same.
_ADDRESSES = re.compile(
    r'(?:opensource|spdx)\.org/licen[cs]es?/([\w.+-]+?)(?:\.html|\.php)?/?$|'
    r'(apache)\.org/licenses/LICENSE-2\.0',
    re.IGNORECASE,
)


def spdx_of(repository: Repository, rev: str) -> str | None:
    """The SPDX expression of the first licence file at the root that is known, else of the POM.

    None where neither tells, or what would tell cannot be read. Texts that stand together are all in force (`AND`), unless the file
    offers a choice (`OR`), as several licences of a POM always do.
    """
    root = {
        name: oid
        for mode, name, oid in repository.folder(repository.header(rev).tree)
        if mode.startswith('100')
    }
    names = sorted(filter(_NAMES.fullmatch, root), key=lambda name: (len(name), name))
    if any(root.get(name) in repository.holes for name in (*names, 'pom.xml')):
        return None
    for name in names:
        found = _of_text(repository.blob(root[name]))
        if found is not None:
            return found
    return _of_pom(repository.blob(root['pom.xml'])) if 'pom.xml' in root else None


@lru_cache(maxsize=1024)
def _of_text(content: bytes) -> str | None:
    text = content.decode('utf-8', 'replace')
    found = _identify(text)
    if found is not None:
        return found
    return (' OR ' if _EITHER.search(text) else ' AND ').join(licences.told(text)) or None


def _identify(text: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder) / 'LICENSE'
        file.write_text(text, encoding='utf-8')
        found: str | None = license_id(str(file))
        return found


@lru_cache(maxsize=1024)
def _of_pom(content: bytes) -> str | None:
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError):  # the others of odd encodings
        return None
    return ' OR '.join(sorted(set(_named(root)))) or None


def _named(root: ElementTree.Element) -> Iterator[str]:
    """What the POM lists; one of them that nobody knows may be chosen no less than the others."""
    for element in root.findall('{*}licenses/{*}license'):
        found = licences.named(element.findtext('{*}name') or '')
        address = _ADDRESSES.search((element.findtext('{*}url') or '').strip())
        if found is None and address is not None:
            found = licences.named('Apache-2.0' if address[2] else address[1])
        if found is not None:
            yield found
