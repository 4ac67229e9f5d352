"""Find data files that a pair adds to the test tree, which its new tests may read.

They are added to the old tree together with targets. Data that existed before and was changed or
removed is a change of its own, and stays as it was.
"""

from __future__ import annotations

from functools import lru_cache

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.table import get_reading
from coevo.starts.isolated_cells import Files

# The limit for all files together, since their contents are part of a cell's key. If a pair adds
# more, none of it is used.
MOST_BYTES = 8 << 20


@lru_cache(maxsize=4)
def list_added_data(repository: Repository, language: str, old_rev: str, new_rev: str) -> Files:
    """Return the data files that a pair adds to its tests, sorted by path, as a checkout has them.

    Sources and symbolic links are not data. Nothing is returned if all together exceed 8 MiB.
    """
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
    converted = repository.load_converted_files(new_rev) if added else {}
    for path, oid in sorted(added.items()):
        content = converted[path] if path in converted else repository.blob(oid)
        total += len(content)
        if total > MOST_BYTES:
            return ()
        data_files.append((path, content))
    return tuple(data_files)


def merge_data(files: Files, data: Files) -> Files:
    """Return the files of a cell and data files together, sorted by path.

    If both have a path, the cell's own file wins.
    """
    return tuple(sorted({**dict(data), **dict(files)}.items()))
