"""Why a test cannot be linked: the one thing that a toy can lack is a name."""

from __future__ import annotations

from coevo.languages.error_classes import ErrorClass


def classify_error(signature: str) -> ErrorClass:
    is_name = signature.startswith('unknown ')
    return ErrorClass.CANNOT_FIND_SYMBOL if is_name else ErrorClass.SYNTAX
