"""The runtimes that run the code of a language, and the tools that a machine has for it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from coevo.model.listener import Say, ignore_message

# The runtimes that run the code of a language.


class Runtime(Protocol):
    """A runtime of this machine. `str()` gives the line that lists it."""

    @property
    def version(self) -> str:
        """The full version, such as 17.0.15."""

    @property
    def release(self) -> str:
        """The release, such as 17."""


class Runtimes(Protocol):
    """The runtimes that a run may use; safe for use by several threads."""

    @property
    def known(self) -> Sequence[Runtime]:
        """The runtimes of the machine, which need no installation."""

    @property
    def installable(self) -> Sequence[str]:
        """The releases that can be installed on a machine that lacks them, oldest first."""

    def try_to_provide(self, version: str) -> bool:
        """Return whether a runtime of a version, or of its release, is available.

        It is installed if that is necessary and allowed. If the installation fails, the listener
        gets a message and the result is False.
        """

    def install(self, release: str) -> Runtime:
        """Return a runtime of a release; install a missing one even if `brings` was False.

        Raises:
            Fatal: the release does not exist or cannot be installed.
            Transient: the installation may succeed later.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRuntime:
    """The one runtime of a language that needs no installation; its version is not recorded."""

    version: str = ''
    release: str = ''


class SystemRuntimes:
    """The runtimes of a language that needs no installation."""

    known = (SystemRuntime(),)
    installable = ()

    def __init__(self, *, brings: bool = False, like: str = '', say: Say = ignore_message) -> None:
        pass

    def try_to_provide(self, version: str) -> bool:
        """Return True: every version is accepted."""
        return True

    def install(self, release: str) -> SystemRuntime:
        """Return the runtime of the system."""
        return SystemRuntime()


# Results of checking a machine for tools.

_PATIENCE = 20  # seconds for a tool to print its version


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """The result of one check of the machine by `coevo doctor`; `str()` gives its line.

    advice  what to do; None if nothing needs to be done
    """

    name: str
    good: bool
    state: str
    advice: str | None = None
    needed: bool = True  # False: coevo works without it or with a substitute

    def __str__(self) -> str:
        mark = 'ok' if self.good else 'MISSING' if self.needed else 'no'
        line = f'{mark:8}{self.name}: {self.state}'
        return line if self.advice is None else f'{line}; {self.advice}'


def read_first_output_line(*command: str) -> str | None:
    """Run a command and return the first non-blank line of its standard output, without colours.

    '' if it prints nothing; None if it is missing, fails, or takes more than 20 seconds.
    """
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    plain = re.sub(r'\x1b\[[0-9;]*m', '', done.stdout)
    lines = [line for line in plain.splitlines() if line.strip()]
    return None if done.returncode else lines[0].strip() if lines else ''
