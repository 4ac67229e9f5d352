"""The language level that a build declares, as Maven has worked it out of all POMs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from coevo.languages.java.building.report import LEVEL_RAISED, JavaModule

# 8 of `8`, `1.8` and `1.8.0`.
_LEVEL = re.compile(r'(?:1\.)?(\d{1,2})(?:\.\d+)*')


def find_declared_level(modules: Iterable[JavaModule]) -> int | None:
    """The highest level of modules with sources; one that we had to raise or fill in is none.

    None where nothing is declared. Any JDK for the whole has to know the highest.
    """
    levels = (
        _parse_level(str(compiler.get('release') or compiler.get('source') or ''))
        for module in modules
        if LEVEL_RAISED not in module.overrides
        for compiler in (module.main_compiler, module.compiler)
    )
    return max((level for level in levels if level is not None), default=None)


def _parse_level(text: str) -> int | None:
    match = _LEVEL.fullmatch(text.strip())
    return int(match[1]) if match else None
