"""List the test files of a revision, and the classes that they may be about, judged by text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.declarations import MODULE, LocatedType
from coevo.languages.reading import RevisionTree, Side
from coevo.languages.table import get_reading
from coevo.model.families import MOST_TESTS, Focus, FocusKind
from coevo.model.reasons import Reason
from coevo.model.records import FileOrigin, TestMethod
from miners.diffs.contexts import load_test_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRevisionFile:
    """A file that declares tests.

    named    classes of the code that have the name of the class under test; only those of its own
             package if there are any
    modules  the same for modules, in languages in which a file is a module
    reason   why the file is not worth running, or why no class was found; None otherwise
    """

    test_file: str
    methods: tuple[TestMethod, ...]
    named: tuple[Focus, ...] = ()
    modules: tuple[Focus, ...] = ()
    reason: Reason | None = None

    @property
    def module(self) -> str:
        """The module of the file's tests."""
        return self.methods[0].module

    @property
    def is_worth_running(self) -> bool:
        """True if there is no reason against running the file.

        That no class of the code has its name is no such reason.
        """
        return self.reason in (None, Reason.NO_TEST_CLASS)

    @property
    def focal_files(self) -> tuple[str, ...]:
        """The files of the code that it may be about, sorted."""
        return tuple(sorted({focus.file for focus in (*self.named, *self.modules)}))


# By simple name.
_Types = Mapping[str, list[LocatedType]]


def list_single_revision_files(
    repository: Repository, rev: str, language: str
) -> Iterator[SingleRevisionFile]:
    """Yield all files with tests of a revision, by path, with the classes that they may be about.

    Files with a reason are among them. Raises: CorruptObject if a file cannot be read.
    """
    tests = load_test_tree(repository, rev, language)
    classes, modules = _index_code(tests.tree)
    for path in tests.tree.list_paths(Side.TEST):
        methods = tuple(test.method for test in tests.list_tests(path))
        if not methods:
            continue
        if tests.tree.find_origin(path) is not FileOrigin.WRITTEN:
            yield SingleRevisionFile(
                test_file=path, methods=methods, reason=Reason.THIRD_PARTY_FILE
            )
        elif len(methods) > MOST_TESTS:
            yield SingleRevisionFile(test_file=path, methods=methods, reason=Reason.TOO_MANY_TESTS)
        else:
            yield _make_single_revision_file(path, methods, classes, modules, language)


def _make_single_revision_file(
    path: str,
    methods: Sequence[TestMethod],
    code_classes: _Types,
    code_modules: _Types,
    language: str,
) -> SingleRevisionFile:
    first, under_test = methods[0], get_reading(language).guess_class_under_test
    package = first.test_class.rpartition('.')[0]
    classes = _prefer_package(code_classes.get(under_test(first), []), package)
    whole = replace(first, test_class=first.test_class.partition('$')[0])
    modules = _prefer_file(_prefer_package(code_modules.get(under_test(whole), []), package), path)
    return SingleRevisionFile(
        test_file=path,
        methods=tuple(methods),
        named=tuple(map(_make_focus, classes)),
        modules=tuple(map(_make_focus, modules)),
        reason=None if classes or modules else Reason.NO_TEST_CLASS,
    )


def _prefer_package(found: Sequence[LocatedType], package: str) -> Sequence[LocatedType]:
    return [located for located in found if located.package == package] or found


def _prefer_file(found: Sequence[LocatedType], test_file: str) -> Sequence[LocatedType]:
    """Return those modules of one name that lie nearest to a test file.

    That is, those beside the test file, and of these the file after which it is named. A package of
    Go is a module of several files; elsewhere no two modules have the same name.
    """
    if len({located.type.name for located in found}) == len(found):
        return found
    test = PurePosixPath(test_file)
    beside = [
        located for located in found if PurePosixPath(located.path).parent == test.parent
    ] or found
    stem = test.stem.removesuffix('_test')
    return [located for located in beside if PurePosixPath(located.path).stem == stem] or beside


def _index_code(tree: RevisionTree) -> tuple[_Types, _Types]:
    """Return the top-level classes of the code, and its modules, both by simple name."""
    classes: dict[str, list[LocatedType]] = defaultdict(list)
    modules: dict[str, list[LocatedType]] = defaultdict(list)
    for path in tree.list_paths(Side.SOURCE):
        types = tree.parse_file(path).types
        within = {type_.name for type_ in types if type_.kind == MODULE} | {''}
        for type_ in types:
            if type_.enclosing_name in within:
                types_by_name = modules if type_.kind == MODULE else classes
                types_by_name[type_.simple].append(LocatedType(path, type_))
    return classes, modules


def _make_focus(located: LocatedType) -> Focus:
    return Focus(
        file=located.path,
        declaration=located.canonical_name,
        kind=FocusKind.CLASS,
        start_line=located.type.start_line,
        end_line=located.type.end_line,
    )
