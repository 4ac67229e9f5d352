"""Classify what keeps a Python test from loading, by the type of the exception.

A signature is `TYPE@PLACE`, or `missing:NAME` if a test uses a name that the code lacks. Implements
`coevo.languages.error_classes.ErrorClassifier`.
"""

from __future__ import annotations

from collections.abc import Mapping

from coevo.languages.error_classes import ErrorClass

_CLASSES: Mapping[str, ErrorClass] = {
    'AttributeError': ErrorClass.CANNOT_FIND_SYMBOL,
    'ImportError': ErrorClass.IMPORTS,
    'IndentationError': ErrorClass.SYNTAX,
    'ModuleNotFoundError': ErrorClass.IMPORTS,
    'NameError': ErrorClass.CANNOT_FIND_SYMBOL,
    'SyntaxError': ErrorClass.SYNTAX,
    'TabError': ErrorClass.SYNTAX,
    'TypeError': ErrorClass.TYPES,
    'UnboundLocalError': ErrorClass.CANNOT_FIND_SYMBOL,
}


def classify_error(signature: str) -> ErrorClass:
    """Return the class of an error from its signature; `OTHER` for an unknown type of exception."""
    if signature.startswith('missing:'):
        return ErrorClass.CANNOT_FIND_SYMBOL
    name = signature.partition('@')[0].removeprefix('builtins.')
    return _CLASSES.get(name, ErrorClass.OTHER)
