"""Wheels of packages that have none: a source distribution is built in the sandbox, without network."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from coevo.languages.python.interpreters import Interpreter
from coevo.sandboxes.sandbox import Sandbox

NO_WHEEL = 'no_wheel'


class WheelMaker:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    def make(
        self, name: str, lines: tuple[str, ...], before: datetime, interpreter: Interpreter
    ) -> Path | str:
        """The folder of wheels that has one now, else why not."""
        return NO_WHEEL
