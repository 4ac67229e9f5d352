"""Whose a file is, as far as its path alone tells; a whole revision tells more (`sides`)."""

from __future__ import annotations

from pathlib import PurePosixPath

from coevo.languages.layout import PathClassification, Side
from coevo.languages.python.requirements.reading import BUILD_FILES
from coevo.languages.python.sides import select_test_paths


def classify_path(path: str) -> PathClassification | None:
    """None for what lies beside the packages of a project: its README, its licence."""
    is_resource = not path.endswith('.py')
    side = Side.TEST if select_test_paths([path]) else Side.SOURCE
    if is_resource and side is Side.SOURCE and '/' not in path:
        return None
    # Programs name a file from the folder of their own module, or from the root of its package.
    return PathClassification(
        side=side, is_resource=is_resource, relative=path.partition('/')[2] or path
    )


def is_build_file(path: str) -> bool:
    return PurePosixPath(path).name in BUILD_FILES
