"""Cuts and composes Go files. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set as AbstractSet
from functools import cache

from coevo.git.repository import Repository, load_content
from coevo.languages import surgery
from coevo.languages.core.cut_plans import CutPlan, OldContent, SurgeryRules
from coevo.languages.core.start_files import StartFileMaker
from coevo.languages.declarations import Member, SourceFile
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.tests import is_run_by_framework, is_test
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.surgery.cuts import OldGoFile, add_piece, remove_pieces, repair_imports
from coevo.languages.golang.surgery.pieces import GoOutline, GoPiece, make_outline
from coevo.languages.reading import Side
from coevo.languages.text_edits import TextEdits

# The rules by which pieces of a Go file go with tests, or come from another version.


class GoNeeds:
    """The rules by which pieces of an old Go file come along with its tests.

    Fulfils `coevo.languages.core.cut_plans.NeedsFinder`. Imports are not pieces, so there are no
    wildcards.
    """

    def __init__(self, file: OldGoFile) -> None:
        self._file = file
        # A name that another file of the package declares cannot be declared a second time.
        elsewhere = {name[1:] for name in file.plan.used_elsewhere if name.startswith('=')}
        self._known = elsewhere.union(*(piece.names for piece in file.plan.pieces_sure_to_stay))

    def may_be_added(self, piece: GoPiece) -> bool:
        """Return whether a piece may come along: it has names, and none of them is taken.

        Taken are the names of pieces that stay in the new file, and those that other files of the
        package declare. Tests and functions that run by themselves may not come along.
        """
        return bool(piece.names) and not piece.stays and self._known.isdisjoint(piece.names)

    def list_needed(
        self, free: Sequence[GoPiece], brought: AbstractSet[GoPiece]
    ) -> Iterator[GoPiece]:
        """Yield the pieces in `free` whose names the file's `mentions` contain.

        A method whose type another file declares is needed if its name stands after a dot.
        `brought` is not used: `mentions` has its names.
        """
        for piece in free:
            names = piece.names
            if piece.kind == 'method':
                names = tuple(f'.{name.partition(".")[2]}' for name in names)
            if not self._file.mentions.isdisjoint(names):
                yield piece

    def list_wildcard_imports(self, brought: AbstractSet[GoPiece]) -> tuple[GoPiece, ...]:
        """Return (): imports are repaired at the end instead."""
        return ()


def _can_old_replace_new(new: GoPiece, old: GoPiece) -> bool:
    """Return whether an old piece can take the place of a new one.

    Both must have the same kind and names and one part each, which is not a line of a group.
    """
    is_plain = len(new.parts) == len(old.parts) == 1
    is_line = new.first_part.is_line or old.first_part.is_line
    return is_plain and not is_line and (new.kind, new.names) == (old.kind, old.names)


GoCutPlan = CutPlan[GoOutline, GoPiece]


def _may_be_removed(plan: GoCutPlan, piece: GoPiece) -> bool:
    if piece.stays or piece.kind == 'method' or not piece.names:
        return False
    return plan.used_elsewhere.isdisjoint(piece.names)


def _list_blank_variables_using(file: GoOutline, owned: AbstractSet[GoPiece]) -> Iterator[GoPiece]:
    """Yield the variables named `_` that use a removed piece, such as `var _ I = T{}`."""
    removed_names = {name for piece in owned for name in piece.names}
    for piece in file.pieces:
        if not piece.names and not removed_names.isdisjoint(piece.uses):
            yield piece


def _remove_pieces(
    edits: TextEdits,
    plan: GoCutPlan,
    gone: Sequence[GoPiece],
    brought: OldContent[GoOutline, GoPiece],
) -> None:
    remove_pieces(edits, plan.file, gone)


def _is_excluded_from_additions(member: Member) -> bool:
    return '$' in member.owner or member.name == '_' or is_run_by_framework(member)


def _list_duplicates(file: GoOutline) -> set[str]:
    counts = Counter(name for piece in file.pieces for name in piece.names if name != 'init')
    return {name for name, count in counts.items() if count > 1}


SURGERY: StartFileMaker[GoOutline, GoPiece] = StartFileMaker(
    SurgeryRules(
        parse=make_outline,
        parse_placed=parse,
        get_type_name=lambda name: '',
        stays_out=_is_excluded_from_additions,
        may_go=_may_be_removed,
        list_followers=_list_blank_variables_using,
        remove=_remove_pieces,
        list_opened=lambda file: frozenset(),
        find_test=lambda file, method: file.old.find_declaration(method, 'old'),
        make_needs=GoNeeds,
        translate_owner=lambda file, piece: '',
        list_taken_slots=lambda piece, owner: piece.names,
        can_replace=_can_old_replace_new,
        render=lambda file, piece, at: file.old.load_part(piece.first_part),
        add=add_piece,
        is_last_taken=True,
        is_by_name=True,
        finish=repair_imports,
        list_duplicates=_list_duplicates,
        describe_duplicate=lambda name: f'the package would declare {name} twice',
        tolerates_inserted=True,
    )
)


# Finds the files that use declarations of a Go test file, and the names it must not repeat.


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """Return all names in the other test files that can see a file's declarations.

    Also return each name that another file of the package declares, code included, as `=name`: no
    file can declare it a second time.
    """
    files = open_tree(repository, rev)
    names: set[str] = set()
    for other in files.list_paths(Side.TEST):
        if other != path and files.can_see(other, path):
            names |= files.parse_file(other).names
    for other in files.list_other_files_of_package(path):
        names |= {f'={name}' for name in list_declared_names(files.parse_file(other))}
    return frozenset(names)


def list_declared_names(file: SourceFile) -> frozenset[str]:
    """Return the names that a file declares at top level, without `init`.

    `T.M` is a method of a type.
    """
    names = {type_.simple for type_ in file.types[1:] if type_.start_byte < type_.end_byte}
    for type_ in file.types:
        before = f'{type_.simple}.' if type_.around else ''
        names |= {f'{before}{m.name}' for m in type_.members if m.kind in ('method', 'field')}
    return frozenset(names - {'init'})


class GoMentionFinder:
    """A finder of the files of one revision that mention another one; it caches its answers.

    It is a `coevo.languages.surgery.MentionFinder`.

    find_mentioning_files  returns the other test files that mention a declaration of a file
    """

    def __init__(self, repository: Repository, rev: str) -> None:
        self._repository, self._rev = repository, rev
        self._tree = open_tree(repository, rev)
        self.find_mentioning_files = cache(self._find_mentioning_files)
        self._declared = cache(self._list_declared_non_test_names)

    def read_text(self, path: str) -> bytes:
        """Return the content of a file of the revision."""
        text = load_content(self._repository, self._rev, path)
        assert text is not None, 'a file of the revision'
        return text

    def mentions(self, other: str, text: bytes | None, path: str) -> bool:
        """Return whether the text of a file names a declaration of the file `path` that it can see.

        The names of tests do not count, since no code calls them. None mentions nothing.

        other  the path of the file with the text
        """
        if text is None or not self._tree.can_see(other, path):
            return False
        return not self._declared(path).isdisjoint(parse(text, other).names)

    def _find_mentioning_files(self, path: str) -> tuple[str, ...]:
        return tuple(
            other
            for other in self._tree.list_paths(Side.TEST)
            if other != path and self.mentions(other, self.read_text(other), path)
        )

    def _list_declared_non_test_names(self, path: str) -> frozenset[str]:
        file = self._tree.parse_file(path)
        tests = {member.name for type_ in file.types for member in type_.members if is_test(member)}
        return frozenset(name.rpartition('.')[2] for name in list_declared_names(file)) - tests


def make_mention_finder(repository: Repository, rev: str) -> GoMentionFinder:
    """Return a finder of the files of a revision that mention declarations of another file."""
    return GoMentionFinder(repository, rev)


# Cuts and composes Go files. Fulfils `coevo.languages.surgery.FileSurgery`.

find_derived_classes = surgery.find_no_derived_classes
add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests_into_old = SURGERY.transplant_tests_into_old
