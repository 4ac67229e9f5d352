"""What an agent needs to compile and run the tests of a task without a network."""

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
    """What is added to an agent's sandbox: runtime, build tool, libraries, and where they are."""

    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]


class Kits(Protocol):
    """The kits of one run; safe from several threads."""

    # that of a task, whose start state lies in `start` of a place; Transient without a network
    def make_kit(self, task: TaskRow, place: Path) -> Kit: ...


class NoKits:
    """Those of a language that needs nothing beside what every sandbox has."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        pass

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        return Kit(mounts=(), environment={})
