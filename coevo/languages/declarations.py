"""The declarations of a source file in terms that fit every language.

A type is anything that holds members: a class, an interface, in other languages a module. The
parser of each language fills these records. Hashes cover tokens, so comments and formatting never
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from coevo.model.records import TestMethod

MODULE = 'module'
"""The kind of a type that is a whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """An import.

    text  the qualified name, without `.*`
    name  the last part of `text`, or '*'
    """

    text: str
    name: str
    static: bool
    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A method, constructor, field (one record for each declarator) or initializer of a type.

    parameters       what tells members of one name apart, see `coevo.model.records.TestMethod`
    hash             covers the whole member
    bare_hash        the same, but ignoring the member's own name and its class's name
    body_hash        of the text between its braces, ignoring the same names; None if there is none
    body_at          where that text begins, in characters of `source`; None if there is none
    calls            the names invoked: methods, types created, references
    names            all identifiers
    full_start_byte  where the comment above it begins

    Lines are 1-based and inclusive.
    """

    kind: str
    name: str
    owner: str
    parameters: tuple[str, ...] = ()
    modifiers: frozenset[str] = frozenset()
    annotations: tuple[str, ...] = ()
    declaration: str
    source: str
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    full_start_byte: int
    hash: str
    bare_hash: str
    body_hash: str | None
    body_at: int | None
    calls: frozenset[str]
    types: frozenset[str]
    names: frozenset[str]
    strings: frozenset[str]
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A named type that is not a local class.

    around        the simple names of the enclosing types, outermost first. It is stored because a
                  `$` may be part of a name (`$Outer`), so a binary name cannot be split reliably
    header_hash   covers everything but methods, constructors and nested types
    shape_hash    also leaves out fields and initializers, and ignores the type's own name
    is_elsewhere  whether another file declares the type, and this one has only members of it, as
                  files of Go may

    `names`, `calls` and `strings` are those of the shape: annotations, supertypes, record
    components, enum constants.
    """

    name: str
    simple: str
    around: tuple[str, ...] = ()
    kind: str
    superclass: str | None = None
    interfaces: tuple[str, ...] = ()
    abstract: bool = False
    modifiers: frozenset[str] = frozenset()
    annotations: tuple[str, ...] = ()
    declaration: str
    header_hash: str
    shape_hash: str
    names: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset()
    members: tuple[Member, ...]
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    is_elsewhere: bool = False

    @property
    def enclosing_name(self) -> str:
        """The binary name of the enclosing type, '' for a top-level type."""
        return self.name.removesuffix(f'${self.simple}') if self.around else ''

    @property
    def outermost_simple_name(self) -> str:
        """The simple name of the top-level type around it, or of the type itself."""
        return self.around[0] if self.around else self.simple

    @property
    def package(self) -> str:
        """The name of the package; '' if there is none."""
        return self.name.rpartition('.')[0]

    @property
    def canonical_name(self) -> str:
        """The full name as sources write it: package, enclosing types and name, joined by dots."""
        parts = (*self.around, self.simple)
        return '.'.join((self.package, *parts) if self.package else parts)


@dataclass(frozen=True, slots=True, kw_only=True, weakref_slot=True)
class SourceFile:
    """A parsed source file.

    types       all types, each before the types nested in it
    hash        ignores the order of imports
    unreadable  whether the file is too large or too deeply nested to be parsed; nothing is known of
                it
    """

    package: str
    imports: tuple[Import, ...] = ()
    types: tuple[DeclaredType, ...]
    has_error: bool
    hash: str
    names: frozenset[str]
    unreadable: bool = False

    def index_types(self) -> Callable[[str], Sequence[DeclaredType]]:
        """Return a function from a simple name to the types of this file with that name."""
        by_name: dict[str, list[DeclaredType]] = {}
        for type_ in self.types:
            by_name.setdefault(type_.simple, []).append(type_)
        return lambda simple: by_name.get(simple, ())


@dataclass(frozen=True, slots=True)
class LocatedType:
    """A type and the path of its file."""

    path: str
    type: DeclaredType

    @property
    def canonical_name(self) -> str:
        """The full name as sources write it: package, enclosing types and name, joined by dots."""
        return self.type.canonical_name

    @property
    def package(self) -> str:
        """The name of the package; '' if there is none."""
        return self.type.package

    @property
    def outermost_simple_name(self) -> str:
        """The simple name of the top-level type around it, or of the type itself."""
        return self.type.outermost_simple_name


def find_declared_method(file: SourceFile, wanted: TestMethod) -> TestMethod | None:
    """Return a test method with the parameters with which a file declares it; None if it does not.

    The method itself is returned if its class declares it with the same parameters. Otherwise the
    class must declare exactly one method of this name, whose parameters are taken.
    """
    type_ = next((type_ for type_ in file.types if type_.name == wanted.test_class), None)
    alike = [
        member.parameters
        for member in (type_.members if type_ else ())
        if member.kind == 'method' and member.name == wanted.test_method
    ]
    if wanted.parameters in alike:
        return wanted
    return replace(wanted, parameters=alike[0]) if len(alike) == 1 else None
