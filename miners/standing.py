"""The test files of a revision, and the classes that they may be about, as far as text tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.declarations import MODULE
from coevo.languages.declarations import Located
from coevo.languages.layout import Side
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.model.families import MOST_TESTS
from coevo.model.families import Focus
from coevo.model.families import FocusKind
from coevo.model.reasons import Reason
from coevo.model.records import Origin
from coevo.model.records import TestMethod
from miners.diffs.contexts import test_tree


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFile:
    """A file that declares tests.

    named    classes of the code whose name it has, those of its own package alone if there are such
    modules  the same of modules, in languages in which a file is one
    reason   why it is not worth running; None where it is
    """

    test_file: str
    methods: tuple[TestMethod, ...]
    named: tuple[Focus, ...] = ()
    modules: tuple[Focus, ...] = ()
    reason: Reason | None = None

    @property
    def module(self) -> str:
        return self.methods[0].module

    @property
    def is_worth_running(self) -> bool:
        """Also where nothing of the code has its name."""
        return self.reason in (None, Reason.NO_TEST_CLASS)

    @property
    def files(self) -> tuple[str, ...]:
        """Those of the code that it may be about, sorted."""
        return tuple(sorted({one.file for one in (*self.named, *self.modules)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Code:
    """The types of the code that stand in no class, by simple name: classes, and modules."""

    classes: Mapping[str, list[Located]]
    modules: Mapping[str, list[Located]]


def standing_files(repository: Repository, rev: str, language: str) -> Iterator[StandingFile]:
    """All of a revision by path; CorruptObject where one cannot be read."""
    tests = test_tree(repository, rev, language)
    code = _code(tests.tree)
    for path in tests.tree.paths(Side.TEST):
        methods = tuple(test.method for test in tests.tests(path))
        if not methods:
            continue
        if tests.tree.origin(path) is not Origin.WRITTEN:
            yield StandingFile(test_file=path, methods=methods, reason=Reason.FILE_OF_OTHERS)
        elif len(methods) > MOST_TESTS:
            yield StandingFile(test_file=path, methods=methods, reason=Reason.TOO_MANY_TESTS)
        else:
            yield _named(path, methods, code, language)


def _named(path: str, methods: Sequence[TestMethod], code: _Code, language: str) -> StandingFile:
    first, under_test = methods[0], reading(language).class_under_test
    package = first.test_class.rpartition('.')[0]
    classes = _near(code.classes.get(under_test(first), []), package)
    whole = replace(first, test_class=first.test_class.partition('$')[0])
    modules = _of_file(_near(code.modules.get(under_test(whole), []), package), path)
    return StandingFile(
        test_file=path,
        methods=tuple(methods),
        named=tuple(map(_focus, classes)),
        modules=tuple(map(_focus, modules)),
        reason=None if classes or modules else Reason.NO_TEST_CLASS,
    )


def _near(found: Sequence[Located], package: str) -> Sequence[Located]:
    return [one for one in found if one.package == package] or found


def _of_file(found: Sequence[Located], test_file: str) -> Sequence[Located]:
    """Of modules of one name those beside the test file, of these the file that it is named after.

    A package of Go is a module of several files; elsewhere no two modules have one name.
    """
    if len({one.type.name for one in found}) == len(found):
        return found
    test = PurePosixPath(test_file)
    beside = [one for one in found if PurePosixPath(one.path).parent == test.parent] or found
    stem = test.stem.removesuffix('_test')
    return [one for one in beside if PurePosixPath(one.path).stem == stem] or beside


def _code(tree: Tree) -> _Code:
    classes: dict[str, list[Located]] = defaultdict(list)
    modules: dict[str, list[Located]] = defaultdict(list)
    for path in tree.paths(Side.SOURCE):
        types = tree.file(path).types
        within = {type_.name for type_ in types if type_.kind == MODULE} | {''}
        for type_ in types:
            if type_.outer in within:
                found = modules if type_.kind == MODULE else classes
                found[type_.simple].append(Located(path, type_))
    return _Code(classes=classes, modules=modules)


def _focus(located: Located) -> Focus:
    return Focus(
        file=located.path,
        declaration=located.canonical,
        kind=FocusKind.CLASS,
        start_line=located.type.start_line,
        end_line=located.type.end_line,
    )
