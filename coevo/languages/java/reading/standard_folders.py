"""Whose a file is by the standard folders of Maven and Gradle.

The first such folder counts: `src/it/shop/src/main/java/Till.java` is a part of a test. What a POM declares
beside them is known to `coevo.languages.java.reading.trees`.
"""

from __future__ import annotations

import re

from coevo.languages.layout import Placed
from coevo.languages.layout import Side

BUILD_FILE = 'pom.xml'

# Beside src/test there are src/it, src/integration-test, src/testFixtures and the like.
_ROOT = re.compile(r'(?:^|/)src/(main|it|[\w-]*[tT]est[\w-]*)/(resources/)?')


def placed(path: str) -> Placed | None:
    """None for what lies in no standard folder."""
    found = _ROOT.search(path)
    if found is None:
        return None
    return Placed(
        side=Side.SOURCE if found[1] == 'main' else Side.TEST,
        is_resource=bool(found[2]),
        relative=path[found.end() :],
    )


def project_of(path: str) -> str | None:
    """The folder whose `src` a file lies in; None for what lies in no standard folder."""
    found = _ROOT.search(path)
    return None if found is None else path[: found.start()] or '.'


def is_build_file(path: str) -> bool:
    return path.rpartition('/')[2] == BUILD_FILE
