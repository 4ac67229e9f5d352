"""The builds of a run by their JDK, and the JDKs that are available."""

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
    """The shared builds of a run, separately for each JDK; used by all builders, thread-safe."""

    def __init__(self, run: JavaRunContext, jdks: JdkSupply | None = None) -> None:
        self._run = run
        self._jdks = jdks or JdkSupply()
        self._builds_by_jdk: dict[Jdk | None, SharedBuilds] = {}
        self._lock = threading.Lock()

    def list_candidates(self, pair: Pair) -> tuple[Jdk, ...]:
        """Return the JDKs to try, in order; some of them may have to be installed."""
        return rank_jdks_for_pair(self._run.repository, pair, self._jdks.offered, self._run.gradles)

    def iterate_available(self, candidates: Sequence[Jdk]) -> Iterator[Jdk | None]:
        """Yield the available candidates, each installed when its turn comes.

        If there is none, yield the newest known JDK; if no JDK is known at all, yield None, so that
        the toolchain reports this.
        """
        any_available = False
        for jdk in candidates:
            had = self._jdks.get_or_install_jdk(jdk)
            if had is not None:
                any_available = True
                yield had
        if not any_available:
            yield max(self._jdks.known, key=lambda jdk: jdk.feature, default=None)

    def find_release_failing_to_install(self, candidates: Sequence[Jdk]) -> str | None:
        """Return the release of the first candidate whose installation failed; else None."""
        return next(
            (jdk.release for jdk in candidates if self._jdks.has_installation_failed(jdk)), None
        )

    def get_builds(self, jdk: Jdk | None) -> SharedBuilds:
        """Return the shared builds of a JDK, created if need be; builds no revision."""
        with self._lock:
            if jdk not in self._builds_by_jdk:
                self._builds_by_jdk[jdk] = SharedBuilds(self._run, jdk)
            return self._builds_by_jdk[jdk]

    def forget_revision(self, rev: str) -> None:
        """Delete the builds of a revision with every JDK."""
        for builds in tuple(self._builds_by_jdk.values()):
            builds.forget_revision(rev)
