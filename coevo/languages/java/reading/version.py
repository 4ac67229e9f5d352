"""Which version of the parser made something that is kept."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path

from coevo.languages import grammars
from coevo.languages.java.reading import syntax, tests, tokens


@cache
def compute_version() -> str:
    """A digest of the code that turns a source into declarations and tests."""
    digest = hashlib.sha256()
    for module in (grammars, syntax, tokens, tests):
        digest.update(Path(str(module.__file__)).read_bytes())
    for package in ('tree-sitter', 'tree-sitter-java'):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()
