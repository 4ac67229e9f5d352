"""Optional measures of tests, taken from their text or from edits of the code with a known effect.

A language may lack any of them. A caller that needs a missing one reports `NOT_OFFERED` (in a row,
if a column allows it), so that it cannot be confused with "none found" or "unknown".

Defects are of the kinds of TAM-Eval's repair tasks. There a model wrote them; here rules make them,
and a run checks that each has the intended effect.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Protocol

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.mutation import SourceMutation
from coevo.model.column import Choice
from coevo.model.dependencies import Revised
from coevo.model.families import Defect
from coevo.model.records import TestMethod
from coevo.model.words import Outcome

# Classes of errors that keep tests from compiling or loading.
#
# There are eight classes and `other` (AgoneTest, RQ2); compilers' messages decide between them.


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


# Protocols for edits of the code whose effect is known: undoing one changed declaration, and text
# without effect.

NAMELESS = ('', '_')
"""The names of parameters that nothing can refer to."""

MOST_PLAIN = 3
"""How many plain values a method returns in turn, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDeclaration:
    """A type in a version of a file, or one of its members.

    member  None if the whole type is meant, or if the type lacks the member
    """

    path: str
    source: bytes
    file: SourceFile
    type: DeclaredType
    member: Member | None


def find_same_member(member: Member, type_: DeclaredType) -> Member | None:
    """Return the member of a type with the same kind, name and parameters, or None."""
    return next(
        (other for other in type_.members if _identify_member(other) == _identify_member(member)),
        None,
    )


def find_member_before_signature_change(
    member: Member, old: DeclaredType, new: DeclaredType
) -> Member | None:
    """Return the method of the old type that an inserted one replaces under another signature.

    It has the same kind and name, and is gone from the new type. Of several, the one that shares
    most words is returned. None if there is none.
    """
    candidates = [
        other
        for other in old.members
        if (other.kind, other.name) == (member.kind, member.name)
        and find_same_member(other, new) is None
    ]
    return max(candidates, key=lambda other: _count_shared_words(other, member), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a method, as its source writes it.

    type         '' if none is written
    default      None if it must be given
    is_variadic  whether it takes any number of values
    """

    name: str
    type: str = ''
    default: str | None = None
    is_variadic: bool = False


def map_lost_parameters(
    old: Sequence[Parameter], new: Sequence[Parameter]
) -> tuple[tuple[Parameter, str], ...] | None:
    """Return the old parameters that the new signature lacks, each with what stands for it.

    It is the new parameter at its place, if the old signature lacks that, or else its default value.
    None if there is neither.
    """
    names = {parameter.name for parameter in new}
    known = {parameter.name for parameter in old}
    pairs = []
    for position, parameter in enumerate(old):
        if parameter.name in names or parameter.name in NAMELESS:
            continue
        if position < len(new) and new[position].name not in known:
            pairs.append((parameter, new[position].name))
        elif parameter.default is not None:
            pairs.append((parameter, parameter.default))
        else:
            return None
    return tuple(pairs)


def find_neighbours(
    old: LocatedDeclaration, new: LocatedDeclaration
) -> tuple[Member | None, Member | None]:
    """Return the two members at new between which a removed member stood: above and below it.

    Each is the nearest member that still exists at new; None if there is none on that side.

    old  the declaration with the removed member
    new  the same type without it
    """
    assert old.member is not None
    index = old.type.members.index(old.member)
    above = (find_same_member(member, new.type) for member in old.type.members[:index][::-1])
    below = (find_same_member(member, new.type) for member in old.type.members[index + 1 :])
    return next(filter(None, above), None), next(filter(None, below), None)


def _count_shared_words(one: Member, other: Member) -> int:
    return (Counter(one.tokens) & Counter(other.tokens)).total()


def _identify_member(member: Member) -> tuple[str, ...]:
    return member.kind, member.name, *member.parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainVersion:
    """A file at new in which a method only returns a plain value, or a field holds one.

    written  what stands in place of the body or value, such as ` { return 0; }` or ` = 0`
    """

    written: str
    source: bytes


class ChangeUndoing(Protocol):
    """A module beside a language's surgery that puts one declaration back as it was at old.

    Everything that is not undone stays as it is.
    """

    @property
    def IS_COMPILED(self) -> bool:
        """Return whether a compiler reports a missing name before anything runs."""

    def undo_member(
        self, revised: Revised, old: LocatedDeclaration | None, new: LocatedDeclaration
    ) -> bytes | None:
        """Return the file at new with one member as it was at old.

        An inserted member is removed, a modified one replaced, a removed one put back. None if
        nothing but errors would follow, and no compiler reports them: the parameters differ, or the
        old text needs names that are gone.

        revised  what happened to the member between old and new
        old      the member at old; None if it was inserted
        new      the member at new; only its type if the member was removed
        """

    def restore_body_under_new_signature(
        self, old: LocatedDeclaration, new: LocatedDeclaration
    ) -> bytes | None:
        """Return the file at new with a member's old body or value behind its new signature.

        Parameters that were renamed are mapped by their places. None if that is not possible, such
        as for a parameter that is gone.
        """

    def list_versions_with_plain_values(self, new: LocatedDeclaration) -> tuple[PlainVersion, ...]:
        """Return the file at new with a member that returns plain values, or holds one.

        Plain values are zero, empty and an argument, at most `MOST_PLAIN` of them, and none that
        fails as soon as it is used. Empty if there is none for the type, or no body or value.
        """

    def undo_header(self, old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
        """Return the file at new with the old header of a type; None if that changes nothing.

        The type keeps its new name.
        """

    def remove_type_declaration(self, new: LocatedDeclaration) -> bytes | None:
        """Return the file at new without a type.

        None if no file would be left, or the file does not declare the type itself.
        """

    def put_back_type(self, old: LocatedDeclaration, source: bytes) -> bytes | None:
        """Return the file at new with a removed type inserted; None if its surroundings are gone.

        source  the content of the file at new
        """


_MOST_LINES = 3


class PlaceboKind(StrEnum):
    """The effect of a placebo on line numbers, the most noticeable kind first."""

    MOVED = 'moved'  # the lines below it get other numbers
    IN_PLACE = 'in_place'  # all lines keep their numbers


class PlaceboInsertion(Protocol):
    """A module beside a language's surgery that finds a place and a text for a placebo."""

    def choose_insertion(
        self, declared: LocatedDeclaration, kind: PlaceboKind, draw: Random
    ) -> tuple[int, bytes]:
        """Return an offset in bytes into the file of a declaration, and the text to insert there.

        The text is drawn anew each time: a statement without effect in the body of a method or
        constructor; a comment or the like if there is no body.
        """


def invent_word(draw: Random) -> bytes:
    """Return a random word that is unlikely to occur in any code."""
    return ''.join(draw.choices(string.ascii_lowercase, k=12)).encode()


def choose_line_breaks(kind: PlaceboKind, draw: Random) -> bytes:
    """Return one to three line breaks for the kind MOVED, and b'' for IN_PLACE."""
    return b'\n' * draw.randint(1, _MOST_LINES) if kind is PlaceboKind.MOVED else b''


# Optional measures of tests, taken from their text or from edits of the code.


class Assertions(Protocol):
    """The functions that find and classify the assertions of a language's tests."""

    def list_assertions(self, source: str) -> tuple[str, ...]:
        """Return the assertions of a test method in order, as texts.

        The texts do not depend on layout or assertion messages. `source` is the text of the method
        alone.
        """

    def extract_assertion_name(self, text: str) -> str:
        """Return the kind of check that an assertion makes, such as `assertEquals`.

        The values in it do not matter.

        text  the assertion as `list_assertions` returns it
        """

    def find_oracle_lines(self, source: bytes) -> frozenset[int]:
        """Return the 1-based lines of a file that can make a test fail.

        Calls of helpers count if their names look like assertions.
        """

    def declares_expected_exception(self, source: bytes, method: TestMethod) -> bool:
        """Return whether a test declares how it must end, such as by a certain exception.

        Reaching that end is then its assertion.

        Raises:
            LookupError: the file does not declare the method.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """The measures of a language; None if one is not offered."""

    assertions: Assertions | None = None
    smells: SmellDetector | None = None
    mutation: SourceMutation | None = None
    undoing: ChangeUndoing | None = None
    placebos: PlaceboInsertion | None = None
    defects: DefectInsertion | None = None
    errors: ErrorClassifier | None = None

    @property
    def lacking_measures(self) -> tuple[str, ...]:
        """The field names of the measures that the language does not offer, sorted."""
        offered = {
            'assertions': self.assertions,
            'defects': self.defects,
            'errors': self.errors,
            'mutation': self.mutation,
            'placebos': self.placebos,
            'smells': self.smells,
            'undoing': self.undoing,
        }
        return tuple(name for name, what in offered.items() if what is None)


class SmellDetector(Protocol):
    """A package or module of a language that detects test smells."""

    def find_smells(
        self, source: bytes, method: TestMethod, production: DeclaredType | None = None
    ) -> tuple[str, ...]:
        """Return the names of the smells of a test method in its file, sorted.

        Without the class under test (`production`), smells that concern calls of it are not
        detected.

        Raises:
            LookupError: the file declares no such method.
        """


class DefectInsertion(Protocol):
    """A module beside a language's surgery that puts defects into test files on purpose."""

    @property
    def UNKNOWN_NAME_OUTCOMES(self) -> frozenset[Outcome]:
        """The outcomes caused by an unknown name, at least one of which must occur.

        A compiler reports it before the tests run, an interpreter while they run.
        """

    def insert_defects(
        self, kind: Defect, source: bytes, tests: Sequence[Member]
    ) -> Iterator[bytes]:
        """Yield versions of a test file, each with one defect of a kind, in the order of its tests.

        Yields nothing if there is no suitable place. Whether a defect has its effect is not
        checked.
        """
