"""The JDKs that a revision's own files name: those of its continuous integration and version managers.

Read line by line, not as YAML: matrices, anchors and expressions aside, a number beside the word says it,
and a file that is no YAML still does.
"""

from __future__ import annotations

import re
from functools import lru_cache

from coevo.git.repository import Repository

# Where they stand, and what of them says which.
_PLACES = (
    (
        r'\.travis\.yml|\.circleci/config\.yml|\.gitlab-ci\.yml|\.?appveyor\.yml',
        r'jdk[-_: ]*(?:1\.)?(\d{1,2})\b|^\s*java:[ \t]*(.*)$',
    ),
    (
        r'\.github/workflows/[^/]+\.ya?ml',
        r'^[\s-]*[\'"]?(?:java|jdk)(?:[-_]?version)?[\'"]?:[ \t]*((?:\n[ \t]*-.*)+|.*)$',
    ),
    (r'\.sdkmanrc|\.tool-versions|system\.properties', r'^java\S*[ =](.*)$'),
    (r'\.java-version', r'^(.*)$'),
)
_NUMBER = re.compile(r'(?<![\d.+])(?:1\.)?(\d{1,2})(?!\d)')
_KNOWN = range(5, 40)


def find_named_jdks(repository: Repository, rev: str) -> frozenset[int]:
    """The feature releases that are named, of which some may be no JDK that is offered."""
    releases: set[int] = set()
    for path, entry in repository.tree(rev).items():
        for path_pattern, line in _PLACES:
            if re.fullmatch(path_pattern, path):
                releases |= _parse_named_releases(repository.blob(entry.oid), line)
    return frozenset(releases)


@lru_cache(maxsize=1024)
def _parse_named_releases(content: bytes, line: str) -> frozenset[int]:
    text = content.decode('utf-8', 'replace')
    matches = re.finditer(line, text, re.MULTILINE | re.IGNORECASE)
    groups = (each for match in matches for each in match.groups() if each)
    numbers = (int(number) for each in groups for number in _NUMBER.findall(each))
    return frozenset(number for number in numbers if number in _KNOWN)
