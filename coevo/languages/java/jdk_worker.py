"""What one thread does with one JDK: a session of its own over build outputs that all share."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from coevo.languages.builds import Build
from coevo.languages.java.cells.cells import JavaCells
from coevo.languages.java.processes.packed_trees import PackedTrees
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tracing.tracing import Tracer


class JdkWorker:
    """Its session, its cells, its tracer and its trees."""

    def __init__(self, builds: SharedBuilds) -> None:
        self.builds = builds
        self.session = builds.make_session()
        self.cells = JavaCells(builds, self.session)
        self.tracer = Tracer(builds)
        self.trees = PackedTrees(builds.make_folder('trees', secrets.token_hex(8)))

    def build(self, rev: str) -> Build:
        return self.builds.build(rev, self.session)

    def get_cells_for(self, ends: Collection[str]) -> JavaCells:
        """The cells, for a pair with these ends; those of any other revision are removed."""
        self.cells.remove_other_revisions(ends)
        return self.cells

    def close(self) -> None:
        self.session.close()
        self.tracer.close()
        self.trees.close()
