"""Cells: the tests of one revision compiled against the code of another, with what is other there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coevo.model.records import TestMethod


class SettingsScope(StrEnum):
    """What of a module's settings can be borrowed from another revision of it."""

    TEST_LIBRARIES = 'test_libraries'
    ALL_SETTINGS = 'all_settings'  # all libraries, and how tests are compiled and run


@dataclass(frozen=True, slots=True, kw_only=True)
class BorrowedSettings:
    """Settings that a cell takes from another revision than that of its code."""

    rev: str
    scope: SettingsScope


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEdits:
    """Files that are other than their revision's, by repository path, sorted; None is absent."""

    tests: tuple[tuple[str, bytes | None], ...] = ()  # of the tests' tree
    code: tuple[tuple[str, bytes | None], ...] = ()  # main sources of the code's tree


@dataclass(frozen=True, slots=True, kw_only=True)
class CellKey:
    """What a cell is made of; module: a folder, as its language has modules."""

    tests_rev: str
    code_rev: str
    module: str
    borrowed: BorrowedSettings | None = None
    edits: CellEdits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTests:
    """The test tree of one revision compiled against the code of another, for one module.

    code_failure  signature of the first error in edited main sources; nothing can be run then
    broken        classes and methods that do not compile, or files by path, sorted; `*` for all of them
    torn          where a test file is a unit, those that one error breaks, sorted; None where the
                  module is one
    """

    tests_rev: str
    code_rev: str
    module: str
    unit_ok: bool  # the verdict of the project's own tool: one error breaks the unit
    cpu_seconds: float = 0.0
    borrowed: BorrowedSettings | None = None
    edits: CellEdits | None = None
    code_failure: str | None = None
    broken: tuple[str, ...] = ()
    torn: tuple[str, ...] | None = None

    @property
    def key(self) -> CellKey:
        """The cell that was compiled."""
        return CellKey(
            tests_rev=self.tests_rev,
            code_rev=self.code_rev,
            module=self.module,
            borrowed=self.borrowed,
            edits=self.edits,
        )

    def is_whole(self, method: TestMethod) -> bool:
        """Whether no error breaks the unit that a method is in."""
        if self.torn is None or self.code_failure is not None:
            return self.unit_ok
        return method.test_file not in self.torn


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """What the compiler says of a variant of a main source.

    signature  of its first error, None where it compiles
    digest     of its byte code without debug information, where it compiles: equal digests of two
               variants of a file are equal programs
    outside    of what other sources see of it; where two are equal, others compile with both or
               with neither
    """

    signature: str | None
    digest: str | None
    outside: str | None = None
    cpu_seconds: float = 0.0  # its share of what all variants took
