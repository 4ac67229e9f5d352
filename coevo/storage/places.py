"""The place that a user names, by its kind."""

from __future__ import annotations

from pathlib import Path

from coevo.storage.folder import FolderPlace
from coevo.storage.objects import BucketPlace
from coevo.storage.place import Root, StoragePlace


def open_place(root: Root) -> StoragePlace:
    """Fatal if that kind of place needs a package that is missing, or keys."""
    if isinstance(root, Path):
        return FolderPlace(root)
    return BucketPlace(root)
