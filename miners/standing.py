"""The test files of a revision, and the classes that they may be about, as far as text tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

from coevo.git.repository import Repository
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

    named   classes of the code whose name it has, those of its own package alone if there are such
    reason  why it is not worth running; None where it is
    """

    test_file: str
    methods: tuple[TestMethod, ...]
    named: tuple[Focus, ...] = ()
    reason: Reason | None = None

    @property
    def module(self) -> str:
        return self.methods[0].module


def standing_files(repository: Repository, rev: str, language: str) -> Iterator[StandingFile]:
    """All of a revision by path; CorruptObject where one cannot be read."""
    tests = test_tree(repository, rev, language)
    classes = _classes(tests.tree)
    for path in tests.tree.paths(Side.TEST):
        methods = tuple(test.method for test in tests.tests(path))
        if not methods:
            continue
        if tests.tree.origin(path) is not Origin.WRITTEN:
            yield StandingFile(test_file=path, methods=methods, reason=Reason.FILE_OF_OTHERS)
        elif len(methods) > MOST_TESTS:
            yield StandingFile(test_file=path, methods=methods, reason=Reason.TOO_MANY_TESTS)
        else:
            yield _named(path, methods, classes, language)


def _named(
    path: str, methods: Sequence[TestMethod], classes: Mapping[str, list[Located]], language: str
) -> StandingFile:
    name = reading(language).class_under_test(methods[0])
    package = methods[0].test_class.rpartition('.')[0]
    found = classes.get(name, [])
    near = [one for one in found if one.package == package] or found
    return StandingFile(
        test_file=path,
        methods=tuple(methods),
        named=tuple(_focus(one) for one in near),
        reason=None if near else Reason.NO_TEST_CLASS,
    )


def _classes(tree: Tree) -> dict[str, list[Located]]:
    """The top-level types of the code by simple name."""
    found: dict[str, list[Located]] = defaultdict(list)
    for path in tree.paths(Side.SOURCE):
        for type_ in tree.file(path).types:
            if not type_.around:
                found[type_.simple].append(Located(path, type_))
    return found


def _focus(located: Located) -> Focus:
    return Focus(
        file=located.path,
        declaration=located.canonical,
        kind=FocusKind.CLASS,
        start_line=located.type.start_line,
        end_line=located.type.end_line,
    )
