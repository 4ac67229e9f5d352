"""Resources that all JDKs of a run share: a sandbox, a workspace and the proxy for libraries."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.core.engines import open_run_ground
from coevo.languages.java.tools.artifacts import ArtifactProxy, list_upstreams
from coevo.languages.java.tools.gradles import find_gradles
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.model.listener import Say, ignore_message
from coevo.storage.folders import find_cache_folder


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
        self.sandbox, self._root = open_run_ground(sandbox, stack)
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
