"""Classifies a path: whether it belongs to the code or the tests, and whether it is a resource."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Side(StrEnum):
    """The part of a project to which a file belongs: its code or its tests."""

    SOURCE = 'source'
    TEST = 'test'


class ProductionKind(StrEnum):
    """The kind of a file that a project ships, or makes its product from."""

    CODE = 'code'  # a source file of the pair's language
    KOTLIN = 'kotlin'
    GROOVY = 'groovy'
    SCALA = 'scala'
    RESOURCE = 'resource'  # a file that is shipped as it is, or with values filled in
    TEMPLATE = 'template'  # a grammar, schema or template of which the build makes code or text
    OTHER = 'other'  # beside the code; only a test's verdict shows whether it matters


@dataclass(frozen=True, slots=True, kw_only=True)
class PathClassification:
    """The facts that a path alone reveals about a file.

    side         whether the file belongs to the code or to the tests
    is_resource  whether it is data that programs load, instead of a source
    relative     the name by which programs load it: its path below its source or resource folder
    """

    side: Side
    is_resource: bool
    relative: str
