"""The tokens of Go, and what each identifier is where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

END = ';'
_NAME, _TYPE = '\1name', '\1type'  # no token of Go begins so


class GoTokenRole(Enum):
    """What an identifier is where it stands."""

    LOADED = 'loaded'
    CALLED = 'called'
    OPERAND = 'operand'  # before a dot: a package or a value
    ATTRIBUTE = 'attribute'  # behind a dot
    KEY = 'key'  # of a literal: a field, or a value
    BOUND = 'bound'  # a local name that is declared
    LOCAL = 'local'  # one that is used
    DEFINED = 'defined'  # a name of the package, a field or a method that is
    TYPE = 'type'
    CREATED = 'created'  # a type of a literal
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
    start: int
    text: str
    role: GoTokenRole | None = None
    string: str | None = None  # the content of a string


@dataclass(frozen=True, slots=True, kw_only=True)
class GoPackageNames:
    """By which names a file knows the packages that it imports; std: those of the standard library."""

    names: frozenset[str] = frozenset()
    std: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GoTokenSlice:
    """The tokens of a declaration, and what they name."""

    tokens: tuple[GoToken, ...]

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(token.text for token in self.tokens)

    @property
    def qualifiers(self) -> frozenset[str]:
        """What may be the name of a package."""
        return self._list_texts_with_role(GoTokenRole.PACKAGE, GoTokenRole.OPERAND)

    def list_names(self, packages: GoPackageNames) -> frozenset[str]:
        """What may mean something at the top of a package: no local names, no fields and methods."""
        return frozenset(
            token.text
            for token, is_free in self._list_own_tokens(packages)
            if is_free and token.role in _NAMING
        )

    def list_mentions(self, packages: GoPackageNames) -> frozenset[str]:
        """With the fields and methods."""
        return frozenset(
            token.text for token, _ in self._list_own_tokens(packages) if token.role in _NAMING
        )

    def list_calls(self, packages: GoPackageNames) -> frozenset[str]:
        """What is called, made or handed over to be called; of what a value has only what is called."""
        return frozenset(
            token.text
            for token, is_free in self._list_own_tokens(packages)
            if token.role in _CALLING and (is_free or token.role is not GoTokenRole.ATTRIBUTE)
        )

    def _list_own_tokens(self, packages: GoPackageNames) -> Iterator[tuple[GoToken, bool]]:
        """The tokens that name neither a package nor what is the standard library's.

        With each whether it is what it names by itself, or behind a package, and not behind a value.
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
        return self._list_texts_with_role(GoTokenRole.TYPE, GoTokenRole.CREATED)

    @property
    def strings(self) -> frozenset[str]:
        return frozenset(token.string for token in self.tokens if token.string is not None)

    def mask_own_names(self, name: str, simple: str) -> tuple[str, ...]:
        """The texts with a declaration's own name and its type's replaced by placeholders.

        Behind a dot the name is most often that of what a test tests, not its own.
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
