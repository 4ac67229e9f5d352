"""The identity of this build of coevo: another build tries again what this one could not do."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

_HERE = Path(__file__).parents[1]
_MADE = '__pycache__'


@cache
def identify_build(*beside: Path) -> str:
    """Return the version, and a digest of the code of this package and of the folders `beside`."""
    digest = hashlib.sha256()
    for folder in (_HERE, *beside):
        for path in sorted(folder.rglob('*')):
            if path.is_file() and _MADE not in path.parts:
                name = path.relative_to(folder.parent).as_posix()
                digest.update(f'{name}\0{path.stat().st_size}\0'.encode())
                digest.update(path.read_bytes())
    return f'{_find_version()}+{digest.hexdigest()[:12]}'


def _find_version() -> str:
    try:
        return metadata.version('coevo')
    except metadata.PackageNotFoundError:
        return 'uninstalled'
