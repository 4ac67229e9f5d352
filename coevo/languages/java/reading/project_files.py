"""Classify files by the standard folders of Maven and Gradle, and read licences and plugins of
POMs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from xml.etree import ElementTree

from coevo.languages.reading import DeclaredLicence, PathClassification, ProductionKind, Side

# Classify files by the standard folders of Maven and Gradle, and find those that a module ships or
# makes its product from.

BUILD_FILE = 'pom.xml'

# Besides src/test there are src/it, src/integration-test, src/testFixtures and similar folders.
_ROOT = re.compile(r'(?:^|/)src/(main|it|[\w-]*[tT]est[\w-]*)/(resources/)?')


def classify_path(path: str) -> PathClassification | None:
    """Return a file's side (code or tests) and its path below its standard folder.

    Returns None for a file outside of the standard folders such as `src/main` and `src/test`.
    """
    match = _ROOT.search(path)
    if match is None:
        return None
    return PathClassification(
        side=Side.SOURCE if match[1] == 'main' else Side.TEST,
        is_resource=bool(match[2]),
        relative=path[match.end() :],
    )


def find_project_folder(path: str) -> str | None:
    """Return the folder that contains the `src` of a file's standard folder; `.` is the root.

    Returns None for a file outside of the standard folders.
    """
    match = _ROOT.search(path)
    return None if match is None else path[: match.start()] or '.'


def is_build_file(path: str) -> bool:
    """Return whether a path names a POM."""
    return path.rpartition('/')[2] == BUILD_FILE


# Find the files that a Java module ships or makes its product from, and the kind of each.
#
# Maven's and Gradle's standard folders below `src/main` count, and the source and resource folders
# that a POM declares. Of a folder of sources only files of a JVM language count: Maven ships no
# other file of it, unless the folder is declared as one of resources, too.

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


# Read licences and settings of plugins from a POM.


def parse_licences(build_file: bytes) -> tuple[DeclaredLicence, ...]:
    """Return the licences that a POM lists; none if the POM cannot be parsed."""
    try:
        root = ElementTree.fromstring(build_file)
    # ValueError and LookupError: unusual encodings
    except (ElementTree.ParseError, ValueError, LookupError):
        return ()
    return tuple(
        DeclaredLicence(
            name=element.findtext('{*}name') or '', address=element.findtext('{*}url') or ''
        )
        for element in root.findall('{*}licenses/{*}license')
    )


def has_plugin_dependencies(pom: bytes, artifact: str) -> bool:
    """Return whether a POM adds dependencies to the plugin with this artifactId.

    Maven then uses these dependencies with every version of the plugin. Returns False if the POM
    cannot be parsed.
    """
    try:
        root = ElementTree.fromstring(pom)
    # ValueError and LookupError: unusual encodings
    except (ElementTree.ParseError, ValueError, LookupError):
        return False
    return any(
        (plugin.findtext('{*}artifactId') or '').strip() == artifact
        and plugin.find('{*}dependencies/{*}dependency') is not None
        for plugin in root.iterfind('.//{*}plugin')
    )
