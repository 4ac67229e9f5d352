"""The place that a user names, by its kind."""

from __future__ import annotations

from pathlib import Path

from coevo.storage.folder import Folder
from coevo.storage.objects import Objects
from coevo.storage.place import Place
from coevo.storage.place import Root


def place_of(root: Root) -> Place:
    """Fatal if that kind of place needs a package that is missing, or keys."""
    if isinstance(root, Path):
        return Folder(root)
    return Objects(root)
