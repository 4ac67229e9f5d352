"""Classify files by the standard folders of Maven and Gradle.

The first such folder in a path decides: `src/it/shop/src/main/java/Till.java` belongs to a test.
Folders that a POM declares in addition are handled by `coevo.languages.java.reading.trees`.
"""

from __future__ import annotations

import re

from coevo.languages.layout import PathClassification, Side

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
