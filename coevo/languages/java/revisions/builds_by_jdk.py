"""The builds of a run, by the JDK that makes them, and which JDKs can be had."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from coevo.languages.java.revisions.jdk_choice import rank_jdks_for_pair
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.shared_builds import SharedBuilds
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import Jdk
from coevo.model.records import Pair


class BuildsByJdk:
    """The builds of each JDK that some pair needs; shared by all builders of a run."""

    def __init__(self, run: JavaRunContext, jdks: JdkSupply | None = None) -> None:
        self._run = run
        self._jdks = jdks or JdkSupply()
        self._builds_by_jdk: dict[Jdk | None, SharedBuilds] = {}
        self._lock = threading.Lock()

    def list_candidates(self, pair: Pair) -> tuple[Jdk, ...]:
        """The JDKs to try, some of which may have to be brought."""
        return rank_jdks_for_pair(self._run.repository, pair, self._jdks.offered, self._run.gradles)

    def iterate_available(self, candidates: Sequence[Jdk]) -> Iterator[Jdk | None]:
        """Those candidates that can be had, each brought when it is its turn.

        If none can, the newest at hand; with none at all None, for what the toolchain says of that.
        """
        any_available = False
        for jdk in candidates:
            had = self._jdks.get_jdk(jdk)
            if had is not None:
                any_available = True
                yield had
        if not any_available:
            yield max(self._jdks.known, key=lambda jdk: jdk.feature, default=None)

    def find_lacking_release(self, candidates: Sequence[Jdk]) -> str | None:
        """The feature release of the first candidate that could not be brought."""
        return next((jdk.release for jdk in candidates if self._jdks.has_failed(jdk)), None)

    def get_builds(self, jdk: Jdk | None) -> SharedBuilds:
        with self._lock:
            if jdk not in self._builds_by_jdk:
                self._builds_by_jdk[jdk] = SharedBuilds(self._run, jdk)
            return self._builds_by_jdk[jdk]

    def forget_revision(self, rev: str) -> None:
        """Remove what was built of a revision."""
        for builds in tuple(self._builds_by_jdk.values()):
            builds.forget_revision(rev)
