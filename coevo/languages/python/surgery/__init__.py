"""Cut Python files apart and put them together again.

Implements `coevo.languages.surgery.FileSurgery`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet

from coevo.git.repository import Repository
from coevo.languages.core.cut_plans import CutPlan, OldContent, SurgeryRules
from coevo.languages.core.outlines import Declared, list_type_names_in_piece
from coevo.languages.core.reach import (
    FileMentionFinder,
    MentionRules,
    find_base_type_files,
    find_derived_types,
    load_other_test_files,
    make_name_pattern,
)
from coevo.languages.core.start_files import StartFileMaker
from coevo.languages.declarations import Member, SourceFile
from coevo.languages.python.reading.module_paths import derive_module_name
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tests import is_run_by_framework
from coevo.languages.python.reading.trees import open_tree
from coevo.languages.python.surgery.cuts import find_emptied_suites, remove_pieces
from coevo.languages.python.surgery.old_pieces import (
    PythonNeeds,
    Slot,
    add_piece,
    can_old_replace_new,
    drop_repeated_imports,
    find_test,
    is_same_import,
    list_taken_slots,
    render_at,
)
from coevo.languages.python.surgery.pieces import (
    PythonOutline,
    PythonPiece,
    make_outline,
    strip_module_name,
)
from coevo.languages.text_edits import TextEdits

# The rules of Python by which tests are cut out of a file for a start state.
#
# They choose the pieces that go with the tests, and handle the classes left empty.

PythonCutPlan = CutPlan[PythonOutline, PythonPiece]


def _list_methods_named_like_tests(
    file: PythonOutline, targets: Sequence[Declared]
) -> Iterator[Member]:
    """Yield the methods whose names begin with `test` in the classes of the targets."""
    owners = {declared.owner for declared in targets}
    for type_ in (type_ for type_ in file.file.types if type_.name in owners):
        for member in type_.members:
            if member.kind == 'method' and member.name.startswith('test'):
                yield member


def _may_be_removed(plan: PythonCutPlan, piece: PythonPiece) -> bool:
    if piece.kind == 'import':
        assert piece.imported is not None
        return piece.names != ('*',) and piece.imported.module != '__future__'
    if not plan.used_elsewhere.isdisjoint(piece.names) or piece.kind == 'initializer':
        return False
    if piece.kind == 'type':
        types = list_type_names_in_piece(plan.file, piece)
        return not any(member.owner in types for member in plan.file.tests)
    tests = {member.start_byte for member in plan.file.tests}
    return not any(
        is_run_by_framework(member) or member.start_byte in tests for member in piece.members
    )


def _list_emptied_classes(plan: PythonCutPlan) -> list[PythonPiece]:
    removed_pieces = [
        piece
        for piece in plan.pieces
        if piece in plan.pieces_only_targets_use or piece in plan.targets
    ]
    suites = find_emptied_suites(
        plan.file.root,
        [piece.statement for piece in removed_pieces if piece.kind != 'import'],
        lambda simple: _may_remove_emptied_class(plan, simple, removed_pieces, frozenset()),
    )
    opened = [plan.file.make_whole_piece(plan.file.types[name]) for name in sorted(plan.opened)]
    return [piece for piece in opened if piece.statement in suites.statements]


def _remove_pieces(
    edits: TextEdits,
    plan: PythonCutPlan,
    gone: Sequence[PythonPiece],
    brought: OldContent[PythonOutline, PythonPiece],
) -> None:
    filled = {file.translate_owner(piece) for file, piece in brought.additions}
    remove_pieces(
        edits, plan.file, gone, lambda simple: _may_remove_emptied_class(plan, simple, gone, filled)
    )


def _may_remove_emptied_class(
    plan: PythonCutPlan, simple: str, gone: Sequence[PythonPiece], filled: AbstractSet[str]
) -> bool:
    """Return whether a class may be removed once it is empty.

    It may if no remaining code names it and nothing is added to it.
    """
    opened = [plan.file.types[name] for name in plan.opened]
    named = [type_ for type_ in opened if type_.simple == simple]
    if not named or any(type_.name in filled for type_ in named):
        return False
    spans = [piece.span for piece in gone]
    spans += [(type_.start_byte, type_.end_byte) for type_ in named]
    return simple not in plan.used_elsewhere | plan.file.find_names_outside(spans)


def _list_duplicates(file: PythonOutline) -> set[Slot]:
    """Return the owner and name of each function or class that is declared more than once."""
    keys = Counter(
        (type_.name, member.name)
        for type_ in file.file.types
        for member in type_.members
        if member.kind == 'method'
    )
    keys.update((type_.enclosing_name, type_.simple) for type_ in file.file.types if type_.around)
    return {key for key, count in keys.items() if count > 1}


def _describe_duplicate(slot: Slot) -> str:
    owner, name = slot
    return f'{owner.lstrip("$") or "the module"} would declare {name} twice'


SURGERY: StartFileMaker[PythonOutline, PythonPiece] = StartFileMaker(
    SurgeryRules(
        parse=make_outline,
        parse_placed=parse,
        get_type_name=strip_module_name,
        list_lookalikes=_list_methods_named_like_tests,
        # Variables come along if an added function or class names them.
        stays_out=lambda member: member.kind == 'field' or is_run_by_framework(member),
        may_go=_may_be_removed,
        list_emptied_types=_list_emptied_classes,
        remove=_remove_pieces,
        list_opened=lambda file: file.renamed.keys(),
        find_test=find_test,
        make_needs=PythonNeeds,
        translate_owner=lambda file, piece: file.renamed.get(piece.owner, piece.owner),
        list_taken_slots=list_taken_slots,
        can_replace=can_old_replace_new,
        is_same=is_same_import,
        render=render_at,
        drop_repeated=drop_repeated_imports,
        add=add_piece,
        list_duplicates=_list_duplicates,
        describe_duplicate=_describe_duplicate,
    )
)


# Find the files of a tree that refer to a Python test file, and the names they use.

_WORDS = re.compile(r'[^\W\d]\w*')


def list_names_in_related_files(repository: Repository, rev: str, path: str) -> frozenset[str]:
    """Return all names in those other test files that may use declarations of a test file.

    These files mention its module, have it as their conftest, or declare base classes of its
    classes. Main sources cannot see the test tree, so they do not count.
    """
    module = derive_module_name(path).rpartition('.')[2]
    own = list(parse(repository.blob(repository.tree(rev)[path].oid)).types)
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.py')
    pattern = make_name_pattern([module])
    below = f'{path.rpartition("/")[0]}/'.lstrip('/') if module == 'conftest' else None
    using_files = {
        other
        for other, content in files.items()
        if pattern.search(content) or (below is not None and other.startswith(below))
    }
    using_files |= find_base_type_files(files, own, parse)
    return frozenset(
        name for other in using_files for name in _list_names(parse(files[other], other))
    )


def find_derived_classes(
    repository: Repository, rev: str, path: str, names: Iterable[str]
) -> Iterator[tuple[str, bytes, frozenset[str]]]:
    """Yield each other test file with subclasses of the named classes of a file, sorted by path.

    A row has its path, its content and the full names of these subclasses.

    path   of the file that declares the named classes
    """
    files = load_other_test_files(repository, open_tree(repository, rev), path, '.py')
    for other, below in find_derived_types(files, names, parse):
        types = parse(files[other], other).types
        placed = {type_.name for type_ in types if strip_module_name(type_.name) in below}
        yield other, files[other], frozenset(placed)


def _list_names(file: SourceFile) -> Iterator[str]:
    """Yield the identifiers of a file and the words of its strings."""
    yield from file.names
    yield from (imported.text.rpartition('.')[2] for imported in file.imports)
    for type_ in file.types:
        for member in type_.members:
            for text in member.strings:
                yield from _WORDS.findall(text)


_SETTINGS = ('.ini', '.cfg', '.toml', '.yml', '.yaml', '.json', '.txt')


def make_mention_finder(repository: Repository, rev: str) -> FileMentionFinder:
    """Return a finder of the files of a revision that mention a test file or its classes."""
    return FileMentionFinder(repository, rev, open_tree(repository, rev), _RULES)


def _list_names_others_mention(path: str, text: bytes) -> frozenset[str]:
    """Return the names by which others mention a file: its module and its top-level classes.

    For a conftest also its functions, which may be fixtures.
    """
    types = parse(text).types
    names = {derive_module_name(path).rpartition('.')[2]}
    names |= {type_.simple for type_ in types if len(type_.around) == 1}
    if 'conftest' in names:
        names |= {m.name for type_ in types[:1] for m in type_.members if m.kind == 'method'}
    return frozenset(names)


_RULES = MentionRules(
    suffix='.py',
    settings=lambda path: path.endswith(_SETTINGS),
    word=re.compile(r'\w+'),
    parse=parse,
    declared=_list_names_others_mention,
)


# Cut Python files apart and put them together again.

add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests_into_old = SURGERY.transplant_tests_into_old
