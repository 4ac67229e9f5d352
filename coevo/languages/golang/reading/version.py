"""Which version of the parser made something that is kept."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from coevo.languages import grammars, spans
from coevo.languages.core import comments


@cache
def compute_version() -> str:
    """A digest of the code that turns a source into declarations and tests: all that stands here."""
    digest = hashlib.sha256()
    shared = (Path(str(module.__file__)) for module in (grammars, spans, comments))
    for path in (*sorted(Path(__file__).parent.glob('*.py')), *shared):
        digest.update(path.read_bytes())
    for package in ('tree-sitter', 'tree-sitter-go'):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()
