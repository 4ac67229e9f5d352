"""The work of one thread with one JDK: its own session, and build outputs shared with others."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from coevo.languages.cells import Build
from coevo.languages.java.cells.cells import JavaCells
from coevo.languages.java.processes.packed_trees import PackedTrees
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tracing.tracing import Tracer


class JdkWorker:
    """The session, cells, tracer and packed trees of one thread and one JDK."""

    def __init__(self, builds: SharedBuilds) -> None:
        self.builds = builds
        self.session = builds.make_session()
        self.cells = JavaCells(builds, self.session)
        self.tracer = Tracer(builds)
        self.trees = PackedTrees(
            builds.locate_folder_creating_parents('trees', secrets.token_hex(8))
        )

    def build(self, rev: str) -> Build:
        """Build a revision in this session, or reuse its build."""
        return self.builds.build(rev, self.session)

    def keep_cells_of_revisions(self, ends: Collection[str]) -> JavaCells:
        """Return the compiled cells after removing those whose revisions are not in `ends`."""
        self.cells.remove_edited_and_other_cells(ends)
        return self.cells

    def close(self) -> None:
        """End the processes and delete the packed trees."""
        self.session.close()
        self.tracer.close()
        self.trees.close()
