"""The means by which an agent can compile and run the tests of a task without network, and what a
prompt says of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount, Sandbox


class EnvironmentLost(Transient):
    """The registries of this machine no longer have what the tests of a task need."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """A file beside those of a project; a symbolic link if `target` says where it leads."""

    content: bytes = b''
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """Additions to an agent's sandbox: runtime, build tool, libraries, and variables for them.

    system    what the sandbox shows anyway, and an image of the task needs, too: a runtime that
              belongs to the system of this machine
    selected  by target of a mount, the paths below it that the task needs; all without an entry
    beside    what the commands of the task's environment expect in the folder of its start state,
              by path
    is_whole  whether these commands run with it and without a network
    """

    mounts: tuple[Mount, ...]
    environment: Mapping[str, str]
    system: tuple[Mount, ...] = ()
    selected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    beside: Mapping[str, ProjectFile] = field(default_factory=dict)
    is_whole: bool = True


class Kits(Protocol):
    """Makes the kits of one run; safe for use by several threads."""

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return the kit of a task whose start state lies in the folder `start` of `place`.

        Raises:
            EnvironmentLost: the registries no longer have what it needs.
            Transient: something must be downloaded, and there is no network.
        """


class NoKits:
    """Makes empty kits, for a language that needs nothing beyond what every sandbox has."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        pass

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return an empty kit."""
        return Kit(mounts=(), environment={})


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWords:
    """Texts that are inserted into the prompts of `coevo.prompts`.

    framework     the test framework, such as JUnit
    new_test      how to mark a new test as a test: a sentence; '' if nothing need be said
    new_file      how a new test file starts
    running       how to compile and run the tests, a text for each step
    side_effects  the tools that may change files unintentionally
    """

    framework: str
    new_test: str
    new_file: str
    running: tuple[str, ...]
    side_effects: str
