"""What building a revision gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.model.reasons import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A revision built once, tests left uncompiled. `failure` says why the whole is unusable.

    modules  module -> None where it is built, else why not
    level    the highest language level that a built module declares; None where none declares one,
             or only such as had to be raised
    """

    rev: str
    failure: str | None
    modules: Mapping[str, str | None]
    level: int | None = None
    overrides: tuple[str, ...] = ()
    builder: str = ''
    runtime: str = ''
    # of that, `NAME VERSION CHECKSUM`, if coevo brought it
    runtime_packages: tuple[str, ...] = ()
    runtimes_tried: tuple[str, ...] = ()  # in this order, the one that counts among them
    runtime_lacking: str | None = None  # a release that cannot be had, where an end is not built
    cpu_seconds: float = 0.0

    @property
    def summary(self) -> str:
        """`built`, or the first reason why something is not."""
        reasons = [self.failure, *(self.modules[name] for name in sorted(self.modules))]
        return next((reason for reason in reasons if reason), 'built')

    def find_trouble(self, module: str) -> str | None:
        """Why tests of a module cannot run on this code; None if they can."""
        return self.failure or self.modules.get(module)


def make_build_without_runtime(rev: str, lacking: str | None) -> Build:
    """What is said of a revision that no runtime of this machine builds; lacking: a release that would."""
    return Build(rev=rev, failure=Reason.RUNTIME_MISSING.value, modules={}, runtime_lacking=lacking)
