"""What tests bring from another version of their Java file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from coevo.languages.core.old_files import BringingRules, OldFile
from coevo.languages.core.outlines import find_outer_type, list_inner_types
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.pieces import JavaOutline, JavaPiece, Key, make_outline
from coevo.languages.surgery import StartStateInvalid
from coevo.model.records import TestMethod

# Seen without any import; a wildcard is not brought for their sake.
_EVERYWHERE = frozenset(
    [
        'Object',
        'String',
        'Integer',
        'Long',
        'Double',
        'Boolean',
        'Character',
        'Exception',
        'RuntimeException',
        'Throwable',
        'Error',
        'IllegalArgumentException',
        'IllegalStateException',
        'NullPointerException',
        'Override',
        'System',
        'Math',
        'Class',
        'Thread',
        'Iterable',
        'StringBuilder',
        'SuppressWarnings',
        'Number',
    ]
)

OldJavaFile = OldFile[JavaOutline, JavaPiece]


class JavaNeeds:
    """Fulfils `coevo.languages.core.old_files.Needs`."""

    def __init__(self, file: OldJavaFile) -> None:
        self._file = file
        self._left = file.into.left
        self._known = {*(_get_slot(piece) for piece in self._left), *self._list_inner_slots()}

    def may_be_added(self, piece: JavaPiece) -> bool:
        return (
            piece.names != ('*',)
            and piece.kind != 'initializer'
            and not (piece.kind == 'constructor' and piece.owner in self._file.renamed)
            and self._known.isdisjoint(self._file.list_slots(piece))
            and not self._is_covered_by_wildcard(piece)
        )

    def list_needed(
        self, free: Sequence[JavaPiece], brought: AbstractSet[JavaPiece]
    ) -> Iterator[JavaPiece]:
        """What is named, and what sets up a field that is brought."""
        uses = frozenset().union(*(piece.uses for piece in brought))
        fields = {name for p in brought if p.kind == 'field' for name in p.names}
        for piece in free:
            names = uses if self._is_foreign(piece) else self._file.mentions
            is_named = not names.isdisjoint(piece.names)
            if is_named or (_is_set_up(piece) and not fields.isdisjoint(piece.uses)):
                yield piece

    def list_wildcards(self, brought: AbstractSet[JavaPiece]) -> list[JavaPiece]:
        file = self._file
        explained = _EVERYWHERE | file.new.find_names_outside(file.into.removed_spans)
        explained |= {name for piece in (*self._left, *brought) for name in piece.names}
        names = file.mentions - explained
        lacking = {piece.identity for piece in self._left}
        return [
            piece
            for piece in file.pieces
            if piece.names == ('*',)
            and piece.identity not in lacking
            and any(piece.owner == 'static' or name[:1].isupper() for name in names)
        ]

    def _is_foreign(self, piece: JavaPiece) -> bool:
        """Whether a piece is a member of a type beside the test classes: used by a qualified name."""
        return piece.kind not in ('import', 'type') and piece.owner not in self._file.renamed

    def _list_inner_slots(self) -> Iterator[Key]:
        """The slots of what stands inside of types that are left whole."""
        new = self._file.new
        whole = (piece for piece in self._left if piece.kind == 'type')
        for name in sorted({name for piece in whole for name in list_inner_types(new, piece)}):
            type_ = new.types[name]
            yield 'type', type_.outer, (type_.simple,), ()
            yield from (_get_slot(piece) for piece in new.list_members(type_))

    def _is_covered_by_wildcard(self, piece: JavaPiece) -> bool:
        """Whether the new file imports a name by a wildcard."""
        if piece.imported is None:
            return False
        package = piece.imported.text.rpartition('.')[0]
        return any(
            other.imported is not None
            and other.names == ('*',)
            and other.owner == piece.owner
            and other.imported.text == package
            for other in self._left
        )


def _list_opened_types(file: OldJavaFile) -> set[str]:
    """The types that stand at new, too."""
    left = file.into.left
    standing = {piece.owner for piece in left if piece.kind != 'import'}
    standing |= set(file.renamed.values())
    for piece in left:
        if piece.kind == 'type':
            standing.update(list_inner_types(file.new, piece))
    return {name for name in file.old.types if translate_name(file, name) in standing}


def translate_name(file: OldJavaFile, name: str) -> str:
    """The name that a type of the old file has, or would have, in the new one."""
    if name in file.renamed:
        return file.renamed[name]
    simple = file.old.types[name].simple
    if around := find_outer_type(file.old, name):
        return f'{translate_name(file, around)}${simple}'
    package = file.new.file.package
    return f'{package}.{simple}' if package else simple


def _translate_owner(file: OldJavaFile, piece: JavaPiece) -> str:
    return piece.owner if piece.kind == 'import' else translate_name(file, piece.owner)


def _find_test(file: OldJavaFile, method: TestMethod) -> JavaPiece:
    """Its piece, or that of a helper."""
    for piece in file.pieces:
        if (
            piece.kind in ('method', 'field')
            and piece.owner == method.test_class
            and method.test_method in piece.names
            and piece.parameters == method.parameters
        ):
            return piece
    raise StartStateInvalid(f'{method.test_class}#{method.test_method} is not in the file at old')


def list_slots(piece: JavaPiece, owner: str) -> list[Key]:
    """What a piece is known by: of two imports for one simple name there is place for one."""
    is_named_import = piece.kind == 'import' and piece.names != ('*',)
    return [(piece.kind, owner, piece.names, () if is_named_import else piece.parameters)]


def _get_slot(piece: JavaPiece) -> Key:
    (slot,) = list_slots(piece, piece.owner)
    return slot


def _is_set_up(piece: JavaPiece) -> bool:
    return piece.kind == 'method' and any(is_fixture(member) for member in piece.members)


BRINGING: BringingRules[JavaOutline, JavaPiece] = BringingRules(
    parse=make_outline,
    get_type_name=lambda name: name,
    list_opened=_list_opened_types,
    find_test=_find_test,
    make_needs=JavaNeeds,
    translate_owner=_translate_owner,
    list_slots=list_slots,
    render=lambda file, piece, at: file.old.get_text(piece),
)
