"""Facts about tree-sitter grammars and the versions of parsers."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType

from tree_sitter import Language


def list_fixed_node_kinds(language: Language) -> frozenset[str]:
    """Return the kinds of nodes of a grammar that always have the same text: keywords, punctuation.

    Such a kind is named like its text, for example `class` or `{`.
    """
    kinds = range(language.node_kind_count)
    named = {language.node_kind_for_id(kind) for kind in kinds if language.node_kind_is_named(kind)}
    return frozenset(
        text
        for kind in kinds
        if language.node_kind_is_visible(kind)
        and (text := language.node_kind_for_id(kind)) is not None
        and text not in named
    )


@cache
def hash_parser(grammar: str, folder: Path | None, *modules: ModuleType) -> str:
    """Return a digest of the code that turns a source into declarations and tests.

    It is part of the key under which these are cached.

    folder   all modules in it belong to that code; None for no folder
    modules  further modules that belong to it
    """
    digest = hashlib.sha256()
    here = sorted(folder.glob('*.py')) if folder is not None else []
    for file in (*here, *(Path(str(module.__file__)) for module in modules)):
        digest.update(file.read_bytes())
    for package in ('tree-sitter', grammar):
        digest.update(metadata.version(package).encode())
    return digest.hexdigest()
