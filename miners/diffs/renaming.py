"""Decide whether two declarations are equal once listed renamings are applied.

Words are compared one by one. A word may differ only if it names something that a refactoring lists
with both names. Within a declaration, no two names may become one, nor one name two. So a listed
renaming proves nothing by itself, and a changed literal, operator or call always counts. The access
modifier of a method may differ if a refactoring lists this change of this method.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from coevo.languages.declarations import DeclaredType
from coevo.languages.reading import DeclarationPart, Word
from coevo.languages.refactorings import Refactoring, RefactoringLocation
from coevo.languages.spans import subtract_holes
from coevo.languages.table import get_reading_of_file

_CALLABLE = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A method, constructor, field, initialiser or type in a file at one end.

    Lines are 1-based and inclusive; `source` is its text, with or without comments.
    """

    file: str
    start_line: int
    end_line: int
    source: str


def make_type_without_methods(path: str, content: bytes, type_: DeclaredType) -> Declaration:
    """Return a type without its methods, constructors and nested types: its head and fields."""
    holes = [(m.start_byte, m.end_byte) for m in type_.members if m.kind in _CALLABLE]
    holes += [
        (other.start_byte, other.end_byte)
        for other in get_reading_of_file(path).parse(content, path).types
        if type_.start_byte < other.start_byte < type_.end_byte
    ]
    spans = subtract_holes((type_.start_byte, type_.end_byte), holes)
    return Declaration(
        file=path,
        start_line=type_.start_line,
        end_line=type_.end_line,
        source=b' '.join(content[start:end] for start, end in spans).decode(errors='replace'),
    )


def have_same_tokens(old: Declaration, new: Declaration) -> bool:
    """Return whether two declarations differ in nothing but comments and formatting."""
    return old.source == new.source or _list_texts(old) == _list_texts(new)


def _list_texts(declaration: Declaration) -> tuple[str, ...]:
    return tuple(word.text for word in split_words(declaration.file, declaration.source))


@lru_cache(maxsize=1024)
def list_unrenamable_tokens(declaration: Declaration) -> tuple[str, ...]:
    """Return the tokens of a declaration that no renaming changes.

    Dots are left out, since their number differs in full names.
    """
    return tuple(
        word.text
        for word in split_words(declaration.file, declaration.source)
        if word.part is DeclarationPart.REST and word.text != '.'
    )


def split_words(path: str, source: str) -> tuple[Word, ...]:
    """Return the words of a declaration of a file, in order."""
    return get_reading_of_file(path).list_words(source)


_ANY_PART = (
    DeclarationPart.CALL,
    DeclarationPart.TYPE,
    DeclarationPart.MEMBER,
    DeclarationPart.PLAIN,
)
_PARTS: Mapping[str, tuple[DeclarationPart, ...]] = {
    'Rename Method': (DeclarationPart.CALL,),
    'Move And Rename Method': (DeclarationPart.CALL,),
    'Rename Class': _ANY_PART,  # constructors are called by the name of the class
    'Move And Rename Class': _ANY_PART,
    'Rename Attribute': (DeclarationPart.MEMBER, DeclarationPart.PLAIN),
    'Move And Rename Attribute': (DeclarationPart.MEMBER, DeclarationPart.PLAIN),
    'Rename Variable': (DeclarationPart.PLAIN,),
    'Rename Parameter': (DeclarationPart.PLAIN,),
}
_LOCAL = ('Rename Variable', 'Rename Parameter')
_ACCESS = 'Change Method Access Modifier'
_MODIFIERS = frozenset({'public', 'protected', 'private'})
CLASSES = ('Rename Class', 'Move Class', 'Move And Rename Class')
_METHOD = re.compile(r'([\w$]+)\(')

Qualified = Mapping[tuple[str, ...], str]
"""The common name of a type for both ends, by the words of its full name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenamedNames:
    """The names that may differ: (part, old, new), and types by their full names at each end.

    visible  whether the method's own access modifier may differ
    """

    renamed: frozenset[tuple[DeclarationPart, str, str]]
    visible: bool
    old_types: Qualified
    new_types: Qualified


def collect_names(
    found: Sequence[Refactoring], old: Sequence[Declaration], new: Sequence[Declaration]
) -> RenamedNames:
    """Return the names that may differ, since refactorings list them.

    Variables and parameters count only if they are declared in `old` and `new`.
    """
    listed = [
        (refactoring.type, *end)
        for refactoring in found
        if (end := find_renamed_or_moved_ends(refactoring)) is not None
    ]
    types = [(left, right) for kind, left, right in listed if kind in CLASSES]
    return RenamedNames(
        renamed=frozenset(
            (part, _get_simple_name(left), _get_simple_name(right))
            for kind, left, right in listed
            for part in _PARTS.get(kind, ())
            if kind not in _LOCAL or (_is_within(left, old) and _is_within(right, new))
        ),
        visible=any(_changes_access(refactoring, old, new) for refactoring in found),
        old_types={
            _split_full_name(left): right.element for left, right in types if '.' in left.element
        },
        new_types={
            _split_full_name(right): right.element for _, right in types if '.' in right.element
        },
    )


def is_renamed_only(found: Sequence[Refactoring], old: Declaration, new: Declaration) -> bool:
    """Return whether two declarations differ only in listed names, comments and formatting."""
    before, after = list_unrenamable_tokens(old), list_unrenamable_tokens(new)
    if tuple(_drop_access_texts(before)) != tuple(_drop_access_texts(after)):
        return False  # decides nearly all cases, and is much cheaper than collecting the names
    known = collect_names(found, [old], [new])
    return are_equal_after_renaming(
        split_words(old.file, old.source), split_words(new.file, new.source), known
    )


def are_equal_after_renaming(old: Sequence[Word], new: Sequence[Word], known: RenamedNames) -> bool:
    """Return whether two sequences of words differ only in names that are known to differ."""
    if known.visible:
        old, new = _drop_access_modifiers(old), _drop_access_modifiers(new)
    before = list(_collapse_names(old, known.old_types))
    after = list(_collapse_names(new, known.new_types))
    if len(before) != len(after):
        return False
    forward: dict[tuple[DeclarationPart, str], str] = {}
    backward: dict[tuple[DeclarationPart, str], str] = {}
    for (part, left), (other, right) in zip(before, after, strict=True):
        if part is not other:
            return False
        if left != right and (part, left, right) not in known.renamed:
            return False
        if part is not DeclarationPart.REST and (
            forward.setdefault((part, left), right) != right
            or backward.setdefault((part, right), left) != left
        ):
            return False
    return True


def find_renamed_or_moved_ends(
    refactoring: Refactoring,
) -> tuple[RefactoringLocation, RefactoringLocation] | None:
    """Return what is renamed or moved, at old and at new; None for other kinds of refactoring."""
    left = [
        location
        for location in refactoring.left
        if location.element and location.role.startswith('original')
    ]
    right = [
        location
        for location in refactoring.right
        if location.element and location.role.endswith('declaration')
    ]
    return (left[0], right[0]) if left and right else None


def _changes_access(
    one: Refactoring, old: Sequence[Declaration], new: Sequence[Declaration]
) -> bool:
    """Return whether a refactoring changes the access modifier of one of these methods."""
    return one.type == _ACCESS and any(
        _is_declared_in(left, old) and _is_declared_in(right, new)
        for left, right in product(one.left, one.right)
    )


def _is_declared_in(location: RefactoringLocation, declarations: Sequence[Declaration]) -> bool:
    """Return whether a method is one of some declarations; it may include its leading comment."""
    return any(
        location.file == each.file
        and location.start_line <= each.start_line
        and location.end_line == each.end_line
        for each in declarations
    )


def _drop_access_modifiers(sequence: Sequence[Word]) -> Sequence[Word]:
    """Return a method's words without the access modifiers before its name.

    Those of local types stay.
    """
    name = next((n for n, word in enumerate(sequence) if word.part is DeclarationPart.CALL), 0)
    head = [word for word in sequence[:name] if word.text not in _MODIFIERS]
    return (*head, *sequence[name:])


def _drop_access_texts(texts: Sequence[str]) -> Iterator[str]:
    return (text for text in texts if text not in _MODIFIERS)


def _collapse_names(
    sequence: Sequence[Word], types: Qualified
) -> Iterator[tuple[DeclarationPart, str]]:
    """Yield words with their parts; the full name of a moved type is one word."""
    lengths = sorted({len(name) for name in types}, reverse=True)
    position = 0
    while position < len(sequence):
        for length in lengths:
            name = types.get(tuple(word.text for word in sequence[position : position + length]))
            if name is not None:
                yield DeclarationPart.TYPE, name
                position += length
                break
        else:
            yield sequence[position].part, sequence[position].text
            position += 1


def _get_simple_name(location: RefactoringLocation) -> str:
    """Return the simple name of what is at a location.

    Examples: `sum` for `public sum(a int) : int`, `count` for `count : int`, `Basket` for
    `harbour.Basket`.
    """
    method = _METHOD.search(location.element)
    if method is not None:
        return method[1]
    return location.element.partition(' : ')[0].partition('<')[0].rpartition('.')[2]


def _split_full_name(location: RefactoringLocation) -> tuple[str, ...]:
    return tuple(re.split(r'(\.)', location.element.partition('<')[0]))


def _is_within(location: RefactoringLocation, declarations: Sequence[Declaration]) -> bool:
    return any(
        location.file == each.file
        and each.start_line <= location.start_line
        and location.end_line <= each.end_line
        for each in declarations
    )
