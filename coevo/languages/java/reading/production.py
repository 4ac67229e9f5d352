"""Find the files that a Java module ships or makes its product from, and the kind of each.

Maven's and Gradle's standard folders below `src/main` count, and the source and resource folders
that a POM declares. Of a folder of sources only files of a JVM language count: Maven ships no other
file of it, unless the folder is declared as one of resources, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from coevo.languages.layout import ProductionKind, Side

_LANGUAGES = {
    '.java': ProductionKind.CODE,
    '.kt': ProductionKind.KOTLIN,
    '.groovy': ProductionKind.GROOVY,
    '.scala': ProductionKind.SCALA,
}
_RESOURCES = frozenset({'resources', 'resources-filtered', 'webapp'})

# Folders below `src/main` of documents and of descriptors for packaging.
_NOT_SHIPPED = frozenset({'assembly', 'docs', 'javadoc', 'site'})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredFolder:
    """A folder of sources or resources that a POM declares, on the code's or on the tests' side.

    `path` is relative to the repository and ends with a slash.
    """

    path: str
    side: Side
    is_resource: bool = False


def classify_production(path: str, declared: Iterable[DeclaredFolder]) -> ProductionKind | None:
    """Return the kind of a file of the code's side; None if a module does not ship it.

    declared  the folders that the POM of the file's module declares
    """
    above = [folder for folder in declared if path.startswith(folder.path)]
    if any(folder.is_resource for folder in above):
        return ProductionKind.RESOURCE
    _, standard, below = f'/{path}'.rpartition('/src/main/')
    folder = below.partition('/')[0] if standard and '/' in below else ''
    if folder in _RESOURCES:
        return ProductionKind.RESOURCE
    if folder in _NOT_SHIPPED:
        return None
    language = _LANGUAGES.get(PurePosixPath(path).suffix)
    if language is not None or above or folder in ('java', 'kotlin', 'groovy', 'scala', ''):
        return language
    return ProductionKind.TEMPLATE
