"""Finds packages that serve tests alone: no other program may import them, and no code here does.

Only packages below a folder `internal` cannot be imported from elsewhere
(https://pkg.go.dev/cmd/go#hdr-Internal_Directories); for others the name decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_INTERNAL = 'internal'
_NAMED = re.compile(
    r'tests?|testing|_?test[-_]?(?:util|utils|help|helper|helpers|ing|lib|common|support)|.+test(?:s|util|utils|ing)?'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportEdge:
    """An import of one package of the revision by another, both given by their folders.

    by_test  whether the import is in a test file
    """

    importer: str
    imported: str
    by_test: bool


def may_be_for_tests(folder: str) -> bool:
    """Return whether the path of a package folder suggests that it serves tests alone.

    That is so below a folder `internal`, and for a name such as `testutil`.
    """
    parts = folder.split('/')
    return _INTERNAL in parts or _NAMED.fullmatch(parts[-1]) is not None


def find_packages_for_tests(
    candidates: frozenset[str], graph: Iterable[ImportEdge]
) -> frozenset[str]:
    """Return the folders of the packages that serve tests alone.

    These are candidates that test files import, directly or through other such packages, and that
    no other code imports.

    graph  all imports between packages of the revision
    """
    edges = list(graph)
    packages = candidates & {edge.imported for edge in edges}
    while True:
        used = {
            edge.imported for edge in edges if not edge.by_test and edge.importer not in packages
        }
        if packages.isdisjoint(used):
            break
        packages -= used
    return packages & _find_reached_by_tests(packages, edges)


def _find_reached_by_tests(found: frozenset[str], edges: Iterable[ImportEdge]) -> frozenset[str]:
    """Return the packages in `found` that test files import, directly or through each other."""
    known = list(edges)
    reached: set[str] = set()
    while True:
        more = {
            edge.imported
            for edge in known
            if edge.imported in found and (edge.by_test or edge.importer in reached)
        }
        if more <= reached:
            return frozenset(reached)
        reached |= more
