"""The engine of a run over one repository, whatever the language."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.engine import Builder
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace


def open_run_ground(sandbox: str, stack: ExitStack) -> tuple[Sandbox, Path]:
    """A sandbox and a workspace that are closed with the stack."""
    opened = open_sandbox(sandbox)
    stack.callback(opened.close)
    return opened, stack.enter_context(open_workspace())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEngine:
    """Fulfils `coevo.languages.engine.Engine`.

    sandbox  that of all builders: without it nothing goes on
    """

    sandbox: Sandbox
    make_builder: Callable[[], Builder]
    forget_revision: Callable[[str], None]

    def halt(self) -> None:
        self.sandbox.close()
