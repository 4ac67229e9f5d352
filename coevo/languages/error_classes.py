"""Classes of errors that keep tests from compiling or loading.

There are eight classes and `other` (AgoneTest, RQ2); compilers' messages decide between them.
"""

from __future__ import annotations

from typing import Protocol

from coevo.model.column import Choice


class ErrorClass(Choice):
    """The kind of error that keeps a test from compiling or loading."""

    CANNOT_FIND_SYMBOL = 'cannot_find_symbol', 'a name that nothing has'
    IMPORTS = 'imports', 'a package or module that is not there'
    OVERRIDE = 'override', 'a method that overrides or implements none, or not as it has to'
    ACCESS = 'access', 'something that may not be used from there'
    TYPES = 'types', 'a value of another type than is wanted'
    INSTANTIATION = 'instantiation', 'an object that cannot be made so'
    SYNTAX = 'syntax', 'no text of the language'
    FINAL = 'final', 'a variable that may not be assigned again'
    OTHER = 'other', 'none of these'


class ErrorClassifier(Protocol):
    """A module of a language that classifies its error messages."""

    def classify_error(self, signature: str) -> ErrorClass:
        """Return the class of an error that keeps a test from compiling or loading; else `OTHER`.

        signature  the stable form of the error, as in `Verdict.signature`
        """
