"""The result of building a revision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.model.reasons import Reason

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
