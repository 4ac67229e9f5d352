"""Why tests do not compile, or load: eight classes of errors (AgoneTest, RQ2), by what a compiler calls them."""

from __future__ import annotations

from typing import Protocol

from coevo.model.choices import Choice


class ErrorClass(Choice):
    """What kind of error keeps a test from being compiled or loaded."""

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
    """A module of a language that tells its errors apart."""

    # the class of the signature of a test that does not compile
    def classify_error(self, signature: str) -> ErrorClass: ...
