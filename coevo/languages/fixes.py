"""Mechanical fixes of a submitted test file: the records, the Protocol, and what a project shows.

They are those of MultiFileTest's manual fixing (appendix I): errors that keep tests from running, or
that several tests share, with a single correction that the error and the files of the project
determine. What a test asserts is never touched.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from coevo.languages.declarations import MODULE, DeclaredType, SourceFile
from coevo.languages.reading import RevisionTree, Side
from coevo.model.column import Choice


class FixRule(Choice):
    """The rule by which a test file was fixed."""

    PACKAGE = 'package', 'it got the package clause of its folder'
    IMPORT_ADDED = (
        'import_added',
        'an import was added, as other files have it or of the file that declares the name',
    )
    IMPORT_CORRECTED = (
        'import_corrected',
        'an import of something absent was replaced by one of the file that declares the name',
    )
    IMPORT_REMOVED = (
        'import_removed',
        'an import that Go refuses, since nothing uses it, was removed',
    )
    BRACKETS = 'brackets', 'brackets were closed at the end, or one too many was removed'


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFailure:
    """The message of a run or compiler about a test that does not pass."""

    __test__ = False

    signature: str
    message: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """One correction of a file.

    text    the line that was written or removed, in its new form
    source  the whole file after it
    """

    rule: FixRule
    text: str
    source: bytes


class MechanicalFixer(Protocol):
    """A module of a language that knows which failures have a mechanical fix."""

    def list_bound_names_with_imports(
        self, file: SourceFile, source: bytes
    ) -> Iterable[tuple[str, str]]:
        """Yield the names that a file's imports bind, each with an import that binds it alone."""

    def propose_fix(self, project: ProjectFiles, source: bytes, failure: TestFailure) -> Fix | None:
        """Return the fix for a failure of a test file; None if no rule determines one."""


class NoFixes:
    """The fixer of a language without mechanical fixes. Fulfils `MechanicalFixer`."""

    def list_bound_names_with_imports(
        self, file: SourceFile, source: bytes
    ) -> Iterable[tuple[str, str]]:
        """Return no imports, since no fix adds one."""
        return ()

    def propose_fix(self, project: ProjectFiles, source: bytes, failure: TestFailure) -> None:
        """Return None: no failure has a fix."""


@dataclass(frozen=True, kw_only=True)
class ProjectFiles:
    """The declarations and imports of a revision, except those of one test file.

    path          the test file that is fixed
    list_imports  yields for a file the names that its imports bind, each with the import as written
    """

    tree: RevisionTree
    path: str
    list_imports: Callable[[SourceFile, bytes], Iterable[tuple[str, str]]]

    @cached_property
    def code_types_by_simple_name(self) -> Mapping[str, Sequence[DeclaredType]]:
        """The types of the code by simple name, modules among them."""
        types: dict[str, list[DeclaredType]] = defaultdict(list)
        for path in self.tree.list_paths(Side.SOURCE):
            for type_ in self.tree.parse_file(path).types:
                types[type_.simple].append(type_)
        return types

    @cached_property
    def modules(self) -> Mapping[str, frozenset[str]]:
        """The full names of the modules of the code, each with what it declares at its top."""
        names: dict[str, set[str]] = defaultdict(set)
        for path in self.tree.list_paths(Side.SOURCE):
            types = self.tree.parse_file(path).types
            for module in (type_ for type_ in types if type_.kind == MODULE):
                names[module.name] |= {member.name for member in module.members}
                names[module.name] |= {
                    type_.simple for type_ in types if type_.enclosing_name == module.name
                }
        return {name: frozenset(declared) for name, declared in names.items()}

    @cached_property
    def _import_counts_by_side(self) -> Sequence[Mapping[str, Counter[str]]]:
        return [self._count_imports(side) for side in (Side.TEST, Side.SOURCE)]

    def _count_imports(self, side: Side) -> Mapping[str, Counter[str]]:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for path in self.tree.list_paths(side):
            if path != self.path:
                file = self.tree.parse_file(path)
                for name, text in self.list_imports(file, self.tree.read_content(path)):
                    counts[name][text] += 1
        return counts

    def find_usual_import(self, name: str) -> str | None:
        """Return the import by which most tests bind a name, else most files of the code.

        None if no file binds it.
        """
        for counts in self._import_counts_by_side:
            if name in counts:
                return min(counts[name], key=lambda text: (-counts[name][text], text))
        return None

    def list_names_bound_by_tests(self) -> Iterator[str]:
        """Yield the names that imports of tests bind, the most frequent first."""
        totals = {
            name: sum(counts.values()) for name, counts in self._import_counts_by_side[0].items()
        }
        yield from sorted(totals, key=lambda name: (-totals[name], name))


def find_only(names: Iterable[str]) -> str | None:
    """Return the only one of some names; None if there are none, or several."""
    different = set(names)
    return different.pop() if len(different) == 1 else None


def insert_line(source: bytes, offset: int, line: str) -> bytes:
    """Return a text with a line inserted at an offset, which is the begin of a line."""
    return source[:offset] + line.encode() + b'\n' + source[offset:]
