"""The means by which an agent can compile and run the tests of a task without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount, Sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Additions to an agent's sandbox: runtime, build tool, libraries, and variables for them."""

    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]


class Kits(Protocol):
    """Makes the kits of one run; safe for use by several threads."""

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return the kit of a task whose start state lies in the folder `start` of `place`.

        Raises:
            Transient: something must be downloaded, and there is no network.
        """


class NoKits:
    """Makes empty kits, for a language that needs nothing beyond what every sandbox has."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        pass

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return an empty kit."""
        return Kit(mounts=(), environment={})
