"""The tokens of Go, with the role of each identifier."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

from coevo.languages.prints import LexicalRules

END = ';'
_NAME, _TYPE = '\1name', '\1type'  # no token of Go begins with this character


class GoTokenRole(Enum):
    """The role of an identifier at its position."""

    LOADED = 'loaded'
    CALLED = 'called'
    OPERAND = 'operand'  # before a dot: a package or a value
    ATTRIBUTE = 'attribute'  # after a dot
    KEY = 'key'  # in a literal: a field or a value
    BOUND = 'bound'  # the declaration of a local name
    LOCAL = 'local'  # the use of a local name
    DEFINED = 'defined'  # the declaration of a name of the package, a field or a method
    TYPE = 'type'
    CREATED = 'created'  # the type of a literal
    PACKAGE = 'package'


_NAMING = frozenset(
    {
        GoTokenRole.LOADED,
        GoTokenRole.CALLED,
        GoTokenRole.OPERAND,
        GoTokenRole.ATTRIBUTE,
        GoTokenRole.KEY,
    }
    | {GoTokenRole.DEFINED, GoTokenRole.TYPE, GoTokenRole.CREATED}
)
_CALLING = _NAMING - {GoTokenRole.KEY, GoTokenRole.DEFINED, GoTokenRole.TYPE}
MAY_BE_LOCAL = _NAMING - {GoTokenRole.ATTRIBUTE, GoTokenRole.DEFINED}


@dataclass(frozen=True, slots=True)
class GoToken:
    """A token with its start. `string` is the content of a string literal."""

    start: int
    text: str
    role: GoTokenRole | None = None
    string: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPackageNames:
    """The names under which a file uses its imported packages.

    names  those of all packages
    std    those of packages of the standard library
    """

    names: frozenset[str] = frozenset()
    std: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GoTokenSlice:
    """The tokens of a declaration, and the names in it."""

    tokens: tuple[GoToken, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the tokens."""
        return tuple(token.text for token in self.tokens)

    @property
    def qualifiers(self) -> frozenset[str]:
        """The names that may be those of packages: all before a dot, except local names."""
        return self._list_texts_with_role(GoTokenRole.PACKAGE, GoTokenRole.OPERAND)

    def list_package_level_names(self, packages: GoPackageNames) -> frozenset[str]:
        """Return the names that may refer to top-level declarations of the project's packages.

        Names of fields and methods, of packages, and of what the standard library declares are left
        out.
        """
        return frozenset(
            token.text
            for token, is_free in self._list_project_tokens(packages)
            if is_free and token.role in _NAMING
        )

    def list_package_and_member_names(self, packages: GoPackageNames) -> frozenset[str]:
        """Return the names of `list_names` together with those of fields and methods of values."""
        return frozenset(
            token.text for token, _ in self._list_project_tokens(packages) if token.role in _NAMING
        )

    def list_possible_calls(self, packages: GoPackageNames) -> frozenset[str]:
        """Return the names that are called, created or passed on, so that they may be called.

        Of the fields and methods of values, only those that are called count.
        """
        return frozenset(
            token.text
            for token, is_free in self._list_project_tokens(packages)
            if token.role in _CALLING and (is_free or token.role is not GoTokenRole.ATTRIBUTE)
        )

    def _list_project_tokens(self, packages: GoPackageNames) -> Iterator[tuple[GoToken, bool]]:
        """Yield the tokens that name neither a package nor something of the standard library.

        With each comes a boolean: True if it stands by itself or after a package and a dot, False
        if it stands after a value and a dot.
        """
        qualifier = ''
        for before, token in pairwise((None, *self.tokens)):
            assert token is not None
            behind = before is not None and before.text == '.'
            is_package = token.role is GoTokenRole.OPERAND and token.text in packages.names
            if not is_package and not (behind and qualifier in packages.std):
                yield token, not behind or qualifier in packages.names
            if token.text != '.':
                qualifier = (
                    token.text if token.role in (GoTokenRole.OPERAND, GoTokenRole.PACKAGE) else ''
                )

    @property
    def types(self) -> frozenset[str]:
        """The names that stand in the place of a type."""
        return self._list_texts_with_role(GoTokenRole.TYPE, GoTokenRole.CREATED)

    @property
    def strings(self) -> frozenset[str]:
        """The contents of string literals."""
        return frozenset(token.string for token in self.tokens if token.string is not None)

    def mask_own_names(self, name: str, simple: str) -> tuple[str, ...]:
        """Return the texts, with placeholders for the names of the declaration and of its type.

        After a dot, the declaration's name is kept: it is most often that of the tested code.

        name    the name of the declaration
        simple  the simple name of its type
        """
        return tuple(self._mask_tokens(name, simple))

    def _mask_tokens(self, name: str, simple: str) -> Iterator[str]:
        before = ''
        for token in self.tokens:
            own = token.role is not None and token.text == name and before != '.'
            type_ = token.role is not None and token.text == simple
            yield _NAME if own else _TYPE if type_ else token.text
            before = token.text

    def _list_texts_with_role(self, *roles: GoTokenRole) -> frozenset[str]:
        return frozenset(token.text for token in self.tokens if token.role in roles)


LEXIS = LexicalRules(
    comment=rb'//[^\n]*+ | /\*(?:[^*]++|\*(?!/))*+\*/',
    string=rb"""(?: "(?:\\.|[^"\\\n]++)*+" | `[^`]*+` | '(?:\\.|[^'\\\n]++)*+' )""",
    test_mark=re.compile(rb'\bfunc\s+(?:Test|Fuzz|Example)'),
)
