"""What a source file declares, in the words of every language: types, their members, imports.

A type is whatever holds members: a class, an interface, in other languages a module. Each language's
parser fills these records; hashes are over tokens, so comments and formatting never matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MODULE = 'module'
"""The kind of a type that is a whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """text is the qualified name, without `.*`; name is its last part, or '*'."""

    text: str
    name: str
    static: bool
    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A method, constructor, field (one for each declarator) or initializer of a type.

    hash covers the whole member, bare_hash the same blind to its own and its class's name. `calls`
    are the names invoked (methods, types created, references), `names` all identifiers. Lines are
    1-based and inclusive; full_start_byte is where its comment begins.
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
    body_hash: str | None  # of what stands between its braces, as blind; None where nothing does
    body_at: int | None  # where that begins, in characters of `source`
    calls: frozenset[str]
    types: frozenset[str]
    names: frozenset[str]
    strings: frozenset[str]
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A named type that is no local class.

    around has the simple names of the types around it, outermost first: a `$` may belong to a name
    (`$Outer`), so no binary name can be taken apart. header_hash covers everything but methods, constructors and nested types; shape_hash leaves out
    fields and initializers too, and is blind to the type's own name. `names`, `calls` and `strings`
    are those of the shape: annotations, supertypes, record components, enum constants.
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

    @property
    def outer(self) -> str:
        """The binary name of the type around it, '' for a top-level one."""
        return self.name.removesuffix(f'${self.simple}') if self.around else ''

    @property
    def outermost(self) -> str:
        """The simple name of the top-level type that holds it, or that it is."""
        return self.around[0] if self.around else self.simple

    @property
    def package(self) -> str:
        return self.name.rpartition('.')[0]

    @property
    def canonical(self) -> str:
        """Its name as sources write it in full."""
        parts = (*self.around, self.simple)
        return '.'.join((self.package, *parts) if self.package else parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """types holds all of them, outer ones before the nested. hash is blind to import order.

    unreadable  it is larger, or more deeply nested, than we read: nothing is known of it
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
    def canonical(self) -> str:
        return self.type.canonical

    @property
    def package(self) -> str:
        return self.type.package

    @property
    def outermost(self) -> str:
        return self.type.outermost
