"""What code of a language is run with: JDKs, interpreters.

A version (17.0.15) is what a build names in its row; a release (17) is what can be brought.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.model.listener import Say, ignore_message


class Runtime(Protocol):
    """One of this machine; its text is the line that lists it."""

    @property
    def version(self) -> str: ...
    @property
    def release(self) -> str: ...


class Runtimes(Protocol):
    """Those that a run may use; safe from several threads."""

    # the machine's, which need not be brought
    @property
    def known(self) -> Sequence[Runtime]: ...

    # the releases that can be brought to a machine that lacks them, oldest first
    @property
    def installable(self) -> Sequence[str]: ...

    # whether one of a version, or of its release, can be had; it is brought if need be and may be,
    # and what fails is said
    def can_provide(self, version: str) -> bool: ...

    # one of a release, brought if it is not here, whoever may; Fatal, Transient
    def install(self, release: str) -> Runtime: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRuntime:
    """What every machine has."""

    version: str = ''
    release: str = ''


class SystemRuntimes:
    """Those of a language that is run with what every machine has: none has to be brought."""

    known = (SystemRuntime(),)
    installable = ()

    def __init__(self, *, brings: bool = False, like: str = '', say: Say = ignore_message) -> None:
        pass

    def can_provide(self, version: str) -> bool:
        return True

    def install(self, release: str) -> SystemRuntime:
        return SystemRuntime()
