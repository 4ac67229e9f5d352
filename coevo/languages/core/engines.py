"""The engine of a run over one repository, for any language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.engine import Builder
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace


def open_sandbox_and_workspace(sandbox: str, stack: ExitStack) -> tuple[Sandbox, Path]:
    """Open a sandbox by its name and a temporary workspace; both are closed with the stack."""
    opened = open_sandbox(sandbox)
    stack.callback(opened.close)
    return opened, stack.enter_context(open_workspace())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEngine:
    """The engine of a run, as `coevo.languages.engine.Engine` requires it.

    sandbox  shared by all builders, so closing it ends their work
    """

    sandbox: Sandbox
    make_builder: Callable[[], Builder]
    remove_builds_of_revision: Callable[[str], None]

    def stop_running_processes(self) -> None:
        """Close the sandbox, which ends the processes that threads may be waiting for."""
        self.sandbox.close()
