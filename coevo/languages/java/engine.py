"""What a run over one repository builds with, whatever the JDKs."""

from __future__ import annotations

from contextlib import ExitStack

from coevo.languages.engine import RunSettings
from coevo.languages.java.builder import JavaBuilder
from coevo.languages.java.revisions.builds_by_jdk import BuildsByJdk
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.tools.jdk_supply import JdkSupply


class JavaEngine:
    """Fulfils `coevo.languages.engine.Engine`."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        jdks = run.runtimes
        assert jdks is None or isinstance(jdks, JdkSupply), 'those that Java itself gave'
        self._run = JavaRunContext(run.repository, sandbox=run.sandbox, stack=stack, say=run.say)
        self._builds_by_jdk = BuildsByJdk(self._run, jdks)

    def make_builder(self) -> JavaBuilder:
        return JavaBuilder(self._builds_by_jdk)

    def forget_revision(self, rev: str) -> None:
        self._builds_by_jdk.forget_revision(rev)

    def halt(self) -> None:
        self._run.sandbox.close()
