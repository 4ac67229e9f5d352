"""The JDKs that a project requires, with any build tool."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from coevo.languages.java.building.report import LEVEL_RAISED, JavaModule


@dataclass(frozen=True, slots=True, kw_only=True)
class JdkDemand:
    """The lowest and highest feature release that build files allow; None if they do not say.

    `named` holds the releases that files of continuous integration and version managers name.
    """

    lowest: int | None = None
    highest: int | None = None
    named: frozenset[int] = frozenset()


# The language level that a build declares, as Maven derives it from all POMs.

# 8 for `8`, `1.8` and `1.8.0`.
_LEVEL = re.compile(r'(?:1\.)?(\d{1,2})(?:\.\d+)*')


def find_declared_level(modules: Iterable[JavaModule]) -> int | None:
    """Return the highest declared level of the modules; None if none is declared.

    A level that coevo had to raise or fill in does not count. A JDK for the whole build must
    support the highest level.
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
