"""What a type hint of a record says."""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin


def split_optional(hint: Any) -> tuple[Any, bool]:
    """The type of a hint without None, and whether None was one of its choices."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    (inner,) = (choice for choice in get_args(hint) if choice is not type(None))
    return inner, True
