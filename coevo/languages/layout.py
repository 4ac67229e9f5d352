"""Whose a file is, as far as its path tells: the standard folders of Maven and Gradle.

The first such folder counts: `src/it/shop/src/main/java/Till.java` is a part of a test. What a POM declares
beside them is known to `coevo.languages.java.reading.trees`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

# Beside src/test there are src/it, src/integration-test, src/testFixtures and the like.
_ROOT = re.compile(r'(?:^|/)src/(main|it|[\w-]*[tT]est[\w-]*)/(resources/)?')


class Side(StrEnum):
    SOURCE = 'source'
    TEST = 'test'


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """A file below a standard folder; `relative` is its path below that folder."""

    side: Side
    is_resource: bool
    relative: str


def standard(path: str) -> Standard | None:
    """None for what lies in no standard folder."""
    found = _ROOT.search(path)
    if found is None:
        return None
    return Standard(
        side=Side.SOURCE if found[1] == 'main' else Side.TEST,
        is_resource=bool(found[2]),
        relative=path[found.end() :],
    )


def is_main(path: str) -> bool:
    """Whether a file lies in `src/main`, code or resource."""
    found = standard(path)
    return found is not None and found.side is Side.SOURCE
