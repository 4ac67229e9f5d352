"""Classify a file by its path alone; `sides` uses the whole revision and knows more."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.layout import PathClassification, Side
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.sides import select_test_paths


def classify_path(path: str) -> PathClassification | None:
    """Return whether a file belongs to tests or code, and whether it is a resource: no Python file.

    None for a resource of the code in the root, such as the README.
    """
    is_resource = not path.endswith('.py')
    side = Side.TEST if select_test_paths([path]) else Side.SOURCE
    if is_resource and side is Side.SOURCE and '/' not in path:
        return None
    # Programs locate a resource relative to the folder of their module or to the root of the
    # package.
    return PathClassification(
        side=side, is_resource=is_resource, relative=path.partition('/')[2] or path
    )


def is_build_file(path: str) -> bool:
    """Return whether the name of a file is pyproject.toml, setup.py or setup.cfg."""
    return PurePosixPath(path).name in BUILD_FILES
