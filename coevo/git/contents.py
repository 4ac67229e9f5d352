"""What is in a file of a revision, and where it stood before it moved."""

from __future__ import annotations

from coevo.git.repository import Repository


def load_content(repository: Repository, rev: str, path: str) -> bytes | None:
    entry = repository.tree(rev).get(path)
    return repository.blob(entry.oid) if entry else None


def find_old_path(repository: Repository, old_rev: str, new_rev: str, path: str) -> str | None:
    """Where a file of the new revision stands at old, also where it has moved since.

    A file has moved where exactly one of its name is gone at new.
    """
    old = repository.tree(old_rev)
    if path in old:
        return path
    name = path.rpartition('/')[2]
    there = repository.tree(new_rev)
    moved_paths = [
        other for other in old if other.rpartition('/')[2] == name and other not in there
    ]
    return moved_paths[0] if len(moved_paths) == 1 else None
