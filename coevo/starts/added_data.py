"""Files that a pair adds to the test tree and that are no sources: what its new tests read.

They go along with targets that are put into the old tree. Data that was there before, and has changed or
gone, is a change of its own.
"""

from __future__ import annotations

from functools import lru_cache

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.starts.isolated_cells import Files

# Of all together: contents are part of a cell's key. A pair that adds more brings none of it.
MOST_BYTES = 8 << 20


@lru_cache(maxsize=4)
def list_added_data(repository: Repository, language: str, old_rev: str, new_rev: str) -> Files:
    """Sorted by path; links are no data."""
    text = get_reading(language)
    tree, before = text.open_tree(repository, new_rev), repository.tree(old_rev)
    added = {
        path: entry.oid
        for path, entry in tree.entries.items()
        if path not in before
        and entry.mode != LINK
        and not path.endswith(text.SUFFIXES)
        and tree.belongs_to_tests(path)
    }
    data_files, total = [], 0
    for path, oid in sorted(added.items()):
        content = repository.blob(oid)
        total += len(content)
        if total > MOST_BYTES:
            return ()
        data_files.append((path, content))
    return tuple(data_files)


def merge_data(files: Files, data: Files) -> Files:
    """Files of a cell with data beside them, in order."""
    return tuple(sorted({**dict(data), **dict(files)}.items()))
