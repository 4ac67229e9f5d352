"""What a clone is known to lack since its source lacks it, too: ids of objects, a line each."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path

from coevo.storage import durable

_FILE = 'coevo-missing'


def load_holes(git_dir: Path) -> frozenset[str]:
    file = git_dir / _FILE
    return frozenset(file.read_text(encoding='ascii').split()) if file.exists() else frozenset()


def save_holes(git_dir: Path, absent: AbstractSet[str]) -> None:
    durable.write_durably(git_dir / _FILE, [f'{oid}\n'.encode() for oid in sorted(absent)])
