"""Finds which files `//go:embed` directives compile into a package.

The rules are those of https://pkg.go.dev/embed#hdr-Directives and, for patterns,
https://pkg.go.dev/path#Match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

MARK = b'//go:embed'

_DIRECTIVE = MARK.decode() + ' '
_PATTERN = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`|(\S+)')
_ALL = 'all:'
_HIDDEN = ('.', '_')


def list_embed_patterns(tokens: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of all `//go:embed` directives among tokens, without quotes.

    tokens  the texts of the tokens of a declaration
    """
    for token in tokens:
        if token.startswith(_DIRECTIVE):
            for quoted, raw, bare in _PATTERN.findall(token.removeprefix(_DIRECTIVE)):
                yield quoted or raw or bare


def is_embedded(pattern: str, relative: str) -> bool:
    """Return whether a pattern of `//go:embed` embeds a file: matches it or a folder above it.

    Below an embedded folder, names that begin with `.` or `_` are left out, unless the pattern
    begins with `all:`.

    relative  the path of the file below the folder of the package
    """
    takes_hidden = pattern.startswith(_ALL)
    wanted = pattern.removeprefix(_ALL).split('/')
    parts = relative.split('/')
    head, below = parts[: len(wanted)], parts[len(wanted) :]
    if len(head) < len(wanted) or not all(map(_matches, head, wanted)):
        return False
    return takes_hidden or not any(part.startswith(_HIDDEN) for part in below)


def _matches(part: str, pattern: str) -> bool:
    return fnmatchcase(part, pattern.replace('[^', '[!'))
