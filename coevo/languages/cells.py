"""Built revisions, and cells: the tests of one revision compiled against the code of another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from coevo.model.reasons import Reason
from coevo.model.records import TestMethod

# Cells: the tests of one revision compiled against the code of another, with optional edits.


class SettingsScope(StrEnum):
    """The settings of a module that a cell can borrow from another revision of the module."""

    TEST_LIBRARIES = 'test_libraries'
    ALL_SETTINGS = 'all_settings'  # all libraries, and the options for compiling and running tests


@dataclass(frozen=True, slots=True, kw_only=True)
class BorrowedSettings:
    """Settings that a cell takes from a revision other than that of its code."""

    rev: str
    scope: SettingsScope


@dataclass(frozen=True, slots=True, kw_only=True)
class CellEdits:
    """Edited files of a cell, as repository path and new content, sorted by path.

    The content is None for a file that is removed.
    """

    tests: tuple[tuple[str, bytes | None], ...] = ()  # in the tree of the tests
    code: tuple[tuple[str, bytes | None], ...] = ()  # main sources in the tree of the code


@dataclass(frozen=True, slots=True, kw_only=True)
class CellKey:
    """The identity of a cell. `module` is a folder, as the language defines modules."""

    tests_rev: str
    code_rev: str
    module: str
    borrowed: BorrowedSettings | None = None
    edits: CellEdits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTests:
    """The test tree of one revision compiled against the code of another, for one module.

    unit_ok       the verdict of the project's own build tool, for which one error breaks the whole
                  unit
    code_failure  the signature of the first error in edited main sources; nothing can run then
    broken        classes and methods that do not compile, or paths of files, sorted; `*` for all of
                  them
    torn          if each test file is a unit of its own: the broken test files, sorted; None if the
                  whole module is one unit
    """

    tests_rev: str
    code_rev: str
    module: str
    unit_ok: bool
    cpu_seconds: float = 0.0
    borrowed: BorrowedSettings | None = None
    edits: CellEdits | None = None
    code_failure: str | None = None
    broken: tuple[str, ...] = ()
    torn: tuple[str, ...] | None = None

    @property
    def key(self) -> CellKey:
        """The identity of the compiled cell."""
        return CellKey(
            tests_rev=self.tests_rev,
            code_rev=self.code_rev,
            module=self.module,
            borrowed=self.borrowed,
            edits=self.edits,
        )

    def does_unit_compile(self, method: TestMethod) -> bool:
        """Return whether the unit that contains a method compiles without errors.

        The unit is the test file where each file is a unit of its own (`torn` is not None), else
        the whole module. If edited main sources do not compile, `unit_ok` is returned for every
        method.
        """
        if self.torn is None or self.code_failure is not None:
            return self.unit_ok
        return method.test_file not in self.torn


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedSource:
    """The compiler's result for a variant of a main source.

    signature    of the first error; None if the variant compiles
    digest       of what is compiled: byte code without debug information, or tokens; None if the
                 variant does not compile. Two variants with equal digests are equal programs
    outside      digest of what other sources can see of it; None if the variant does not compile.
                 If it is equal for two variants, other sources compile with both or with neither
    cpu_seconds  this variant's share of the time that all variants took
    """

    signature: str | None
    digest: str | None
    outside: str | None = None
    cpu_seconds: float = 0.0


# The result of building a revision.

# Reasons for a failed build in any language, if a clone lacks files that the tree names.
#
# Submodules and the contents of Git LFS files are not fetched. The folder of a submodule is absent.

NEEDS_SUBMODULE = 'needs_submodule'
NEEDS_LFS_FILE = 'needs_lfs_file'


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A revision that was built once, without compiling its tests.

    failure           why the whole build is unusable; None if it is usable
    modules           module -> None if it was built, otherwise the reason why not
    level             the highest language level that a built module declares; None if no module
                      declares one, or only levels that had to be raised
    runtime_packages  `NAME VERSION CHECKSUM` of the parts of the runtime that coevo installed
    runtimes_tried    in the order of the attempts, including the runtime that was chosen
    runtime_lacking   if the revision was not built: a runtime release that is needed and not
                      available
    runtime_preferred a runtime release that was to be tried before the chosen one and is not
                      available
    """

    rev: str
    failure: str | None
    modules: Mapping[str, str | None]
    level: int | None = None
    overrides: tuple[str, ...] = ()
    builder: str = ''
    runtime: str = ''
    runtime_packages: tuple[str, ...] = ()
    runtimes_tried: tuple[str, ...] = ()
    runtime_lacking: str | None = None
    runtime_preferred: str | None = None
    cpu_seconds: float = 0.0

    @property
    def built_or_first_failure(self) -> str:
        """`built`, or the first reason why the revision or one of its modules was not built."""
        reasons = [self.failure, *(self.modules[name] for name in sorted(self.modules))]
        return next((reason for reason in reasons if reason), 'built')

    def find_trouble(self, module: str) -> str | None:
        """Return why a module was not built, so that its tests cannot run; None if it was built.

        The failure of the whole build comes before the reason of the module. None, too, for a
        module that the build does not know.
        """
        return self.failure or self.modules.get(module)


def make_build_without_runtime(rev: str, lacking: str | None) -> Build:
    """Return a failed build (`runtime_missing`) of a revision that no runtime at hand builds.

    lacking  a runtime release that would build it; None if unknown
    """
    return Build(rev=rev, failure=Reason.RUNTIME_MISSING.value, modules={}, runtime_lacking=lacking)
