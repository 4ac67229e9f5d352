"""What a run over one repository builds with, whatever the interpreters."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.engine import RunSettings
from coevo.languages.python.builder import PythonBuilder
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.supply import PythonSupply


class PythonEngine:
    """Fulfils `coevo.languages.engine.Engine`."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        supply = run.runtimes
        assert supply is None or isinstance(supply, PythonSupply), 'those that Python itself gave'
        self._context = PythonRunContext(
            run.repository,
            sandbox=run.sandbox,
            stack=stack,
            say=run.say,
            own_edits=run.own_edits,
        )
        self._supply = supply or PythonSupply()

    def make_builder(self) -> PythonBuilder:
        return PythonBuilder(self._context, self._supply)

    def forget_revision(self, rev: str) -> None:
        self._context.forget(rev)

    def halt(self) -> None:
        self._context.sandbox.close()
