"""Classifies a path: whether it belongs to the code or the tests, and whether it is a resource."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    """The part of a project to which a file belongs."""

    SOURCE = 'source'
    TEST = 'test'


@dataclass(frozen=True, slots=True, kw_only=True)
class PathClassification:
    """The facts that a path alone reveals about a file.

    relative  the name by which programs load the file: its path below its source or resource folder
    """

    side: Side
    is_resource: bool
    relative: str
