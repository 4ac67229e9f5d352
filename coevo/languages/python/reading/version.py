"""Which version of the parser made something that is kept."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from coevo.languages import grammars


@cache
def compute_version() -> str:
    """A digest of the code that turns a source into declarations and tests: all that stands here."""
    digest = hashlib.sha256()
    for module in (*sorted(Path(__file__).parent.glob('*.py')), Path(grammars.__file__)):
        digest.update(module.read_bytes())
    for package in ('tree-sitter', 'tree-sitter-python'):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()
