"""Find the JDKs that a revision's files for continuous integration and version managers name.

The files are read line by line, not as YAML: a number beside the keyword is enough. Matrices,
anchors and expressions are not evaluated, and files with invalid YAML can be read too.
"""

from __future__ import annotations

import re
from functools import lru_cache

from coevo.git.repository import Repository

# Patterns of the files' paths, and of the lines that name a JDK.
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
    """Return the JDK feature releases that a revision's CI and version files name, as {8, 11}.

    coevo need not have these JDKs.
    """
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
