"""Open the storage place that a user names."""

from __future__ import annotations

from pathlib import Path

from coevo.storage.folder import FolderPlace
from coevo.storage.objects import BucketPlace
from coevo.storage.place import Root, StoragePlace


def open_place(root: Root) -> StoragePlace:
    """Return the storage place for a folder or URL.

    Raises: Fatal if it needs a package or keys that are missing.
    """
    if isinstance(root, Path):
        return FolderPlace(root)
    return BucketPlace(root)
