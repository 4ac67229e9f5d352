"""Whose a file is by the standard folders of Maven and Gradle.

The first such folder counts: `src/it/shop/src/main/java/Till.java` is a part of a test. What a POM declares
beside them is known to `coevo.languages.java.reading.trees`.
"""

from __future__ import annotations

import re

from coevo.languages.layout import PathClassification, Side

BUILD_FILE = 'pom.xml'

# Beside src/test there are src/it, src/integration-test, src/testFixtures and the like.
_ROOT = re.compile(r'(?:^|/)src/(main|it|[\w-]*[tT]est[\w-]*)/(resources/)?')


def classify_path(path: str) -> PathClassification | None:
    """None for what lies in no standard folder."""
    match = _ROOT.search(path)
    if match is None:
        return None
    return PathClassification(
        side=Side.SOURCE if match[1] == 'main' else Side.TEST,
        is_resource=bool(match[2]),
        relative=path[match.end() :],
    )


def find_project_folder(path: str) -> str | None:
    """The folder whose `src` a file lies in; None for what lies in no standard folder."""
    match = _ROOT.search(path)
    return None if match is None else path[: match.start()] or '.'


def is_build_file(path: str) -> bool:
    return path.rpartition('/')[2] == BUILD_FILE
