"""Test files that a build sees through symbolic links.

The diff reads a tree as Git stores it, where a link is a file with the path of its target. A test
whose file is a link at one end alone did not come or go, and a change of a target is a change of the
tests that the link shows.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from coevo.git.objects import LINK
from coevo.languages.reading import RevisionTree


def list_test_links(tree: RevisionTree) -> Mapping[str, str]:
    """Return the symbolic links of a revision among its tests, with their targets.

    Targets are paths of the tree; links out of the tree are left out.
    """
    links: dict[str, str] = {}
    for path, entry in tree.entries.items():
        if entry.mode == LINK and tree.belongs_to_tests(path):
            text = tree.read_content(path).decode('utf-8', 'surrogateescape')
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
            if not posixpath.isabs(target) and not target.startswith('..'):
                links[path] = target
    return links


def is_at_or_below(path: str, places: Mapping[str, str] | tuple[str, ...]) -> bool:
    """Return whether a path is one of some files, or lies below one of some folders."""
    return any(path == place or path.startswith(f'{place}/') for place in places)
