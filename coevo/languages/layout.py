"""Whose a file is: the code's or the tests', and whether it is a resource of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    SOURCE = 'source'
    TEST = 'test'


@dataclass(frozen=True, slots=True, kw_only=True)
class PathClassification:
    """What a path alone tells. relative: how programs name the file, from the folder that it is in"""

    side: Side
    is_resource: bool
    relative: str
