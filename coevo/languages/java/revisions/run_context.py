"""Resources that all JDKs of a run share, and the ingredients of cells and environments."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.cells import CompiledTests
from coevo.languages.core.engines import open_sandbox_and_workspace
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.report import JavaModule, ReportedClassPathEntry
from coevo.languages.java.gradle import format_gradle_name
from coevo.languages.java.processes.plan import JUnitClassPath
from coevo.languages.java.tools.artifacts import ArtifactProxy, list_upstreams
from coevo.languages.java.tools.gradles import Gradle, find_gradles
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.model.listener import Say, ignore_message
from coevo.model.pair_rows import Environment, LibraryEntry
from coevo.storage.disk import find_cache_folder


class JavaRunContext:
    """The resources of a run on one repository that all JDKs share; closing `stack` frees them."""

    def __init__(
        self,
        repository: Repository,
        *,
        sandbox: str,
        stack: ExitStack,
        say: Say = ignore_message,
    ) -> None:
        self.repository, self.say = repository, say
        self.sandbox, self._root = open_sandbox_and_workspace(sandbox, stack)
        self.gradles = find_gradles()
        self.shared = find_cache_folder() / 'maven'
        self.shared.mkdir(parents=True, exist_ok=True)
        self.proxy = stack.enter_context(
            ArtifactProxy(list_upstreams(), self.shared, self._root / 'artifacts')
        )

    def make_folder_for(self, tools: Toolchain) -> Path:
        """Create and return the folder of the workspace for builds with one JDK."""
        folder = self._root / f'jdk-{tools.jdk}'  # own name: a release of Java
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        return folder


class BuildContents:
    """Describes what a cell or an environment consists of, for revisions built with one JDK.

    output  returns a built revision
    gradle  returns the Gradle that builds a revision, None if Maven builds it
    """

    def __init__(
        self,
        run: JavaRunContext,
        toolchain: Toolchain,
        output: Callable[[str], BuildOutput],
        gradle: Callable[[str], Gradle | None],
    ) -> None:
        self._repository, self._proxy, self._sandbox = run.repository, run.proxy, run.sandbox
        self._toolchain, self._output, self._gradle = toolchain, output, gradle

    def make_key(self, compiled: CompiledTests, module: JavaModule, junit: JUnitClassPath) -> str:
        """Return a digest of what a cell depends on: trees, libraries, settings, edits, tools."""
        code = self._output(compiled.code_rev)
        parts = (
            *(
                str(self._repository.header(rev).tree)
                for rev in (compiled.code_rev, compiled.tests_rev)
            ),
            repr(module),
            *(str(self._digest_entry(code, entry)) for entry in module.class_path),
            repr(junit),
            self._toolchain.jdk,
            *(folder.name for folder in (self._toolchain.tools, self._toolchain.libraries)),
            self._sandbox.name,
            repr(compiled.borrowed),
            repr(compiled.edits),
        )
        return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()

    def describe_environment(self, rev: str, module: str) -> Environment | None:
        """Return the JDK, build tool and libraries of a module; None if it is not in the revision.

        The revision must have been built.
        """
        output = self._output(rev)
        known = output.modules.get(module)
        if known is None:
            return None
        return Environment(
            runtime=self._toolchain.jdk,
            build_tool=self._name_build_tool(rev),
            libraries=tuple(
                LibraryEntry(coordinates=entry.coordinates, sha256=digest)
                for entry in known.class_path
                if (digest := self._digest_entry(output, entry)) is not None
            ),
        )

    def _name_build_tool(self, rev: str) -> str:
        gradle = self._gradle(rev)
        if gradle is not None:
            return format_gradle_name(gradle)
        return self._toolchain.maven_home.name.removeprefix('apache-').replace('-', ' ')

    def _digest_entry(self, output: BuildOutput, entry: ReportedClassPathEntry) -> str | None:
        """Return the SHA-256 of a library; None for a sibling module or a missing file."""
        if entry.path is not None:
            return self._proxy.get_sha256(entry.path)
        file = output.code / entry.file if entry.file else None
        return hashlib.sha256(file.read_bytes()).hexdigest() if file and file.is_file() else None
