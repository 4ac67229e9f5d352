"""Which version of the parser made something that is kept."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from coevo.languages import grammars, spans


@cache
def compute_version() -> str:
    """A digest of the code that turns a source into declarations and tests: all that stands here."""
    digest = hashlib.sha256()
    modules = (grammars.__file__, spans.__file__)
    for module in (*sorted(Path(__file__).parent.glob('*.py')), *map(Path, modules)):
        digest.update(module.read_bytes())
    for package in ('tree-sitter', 'tree-sitter-go'):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()
