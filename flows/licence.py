"""The licence of a revision, from the file that its root holds."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from identify.identify import license_id

from coevo.git import Repository

_NAMES = re.compile(r'(licen[cs]e|copying|unlicense)([-.].*)?', re.IGNORECASE)


def spdx_of(repository: Repository, rev: str) -> str | None:
    """The SPDX id of the first licence file at the root that is known; None where none is."""
    for path in sorted(repository.tree(rev)):
        if '/' not in path and _NAMES.fullmatch(path):
            found = _identify(repository.text(rev, path) or '')
            if found is not None:
                return found
    return None


def _identify(text: str) -> str | None:
    with tempfile.TemporaryDirectory(prefix='coevo-') as folder:
        file = Path(folder) / 'LICENSE'
        file.write_text(text, encoding='utf-8', errors='replace')
        found: str | None = license_id(str(file))
        return found
