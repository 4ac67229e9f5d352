"""The JDKs that a run may use: those of the machine, and those that are brought when they are asked for."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from coevo.languages.java.tools.jdk_bundles import OFFERED, install_jdk, locate_jdk_folder
from coevo.languages.java.tools.jdks import LIMIT, Jdk, find_alike_jdks, find_jdks
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message


class JdkSupply:
    """Fulfils `coevo.languages.runtimes.Runtimes`. What could not be brought is not tried again.

    known   the machine's; what `find_jdks` finds if None
    brings  whether others may be brought; not where $COEVO_JDKS says which may be used
    """

    def __init__(
        self,
        known: Sequence[Jdk] | None = None,
        *,
        brings: bool = False,
        say: Say = ignore_message,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._known = tuple(find_jdks(environment) if known is None else known)
        self._brings = brings and not environment.get(LIMIT)
        self._say = say
        self._brought: dict[int, Jdk | None] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> tuple[Jdk, ...]:
        """Those of the machine, which need not be brought."""
        return self._known

    @property
    def offered(self) -> tuple[Jdk, ...]:
        """Those that `get` can be asked for: the machine's, then stand-ins for what it lacks."""
        there = {jdk.feature for jdk in self._known}
        absent = (feature for feature in OFFERED if self._brings and feature not in there)
        return (
            *self._known,
            *(
                Jdk(home=locate_jdk_folder(feature_release), version=str(feature_release))
                for feature_release in absent
            ),
        )

    def get_jdk(self, jdk: Jdk) -> Jdk | None:
        """One of those that are offered, brought if need be; None where that fails, which is said."""
        if jdk in self._known:
            return jdk
        with self._lock:
            if jdk.feature not in self._brought:
                self._brought[jdk.feature] = self._try_install(jdk.feature)
            return self._brought[jdk.feature]

    def has_failed(self, jdk: Jdk) -> bool:
        """Whether it was to be brought, and could not be."""
        return jdk not in self._known and self._brought.get(jdk.feature, jdk) is None

    @property
    def installable(self) -> tuple[str, ...]:
        return tuple(map(str, OFFERED))

    def can_provide(self, version: str) -> bool:
        """Whether one of a version, or of its release, can be had; it is brought if need be."""
        offered = find_alike_jdks(version, self.offered)
        return any(self.get_jdk(jdk) is not None for jdk in offered)

    def install(self, release: str) -> Jdk:
        """One of a release, brought if it is not here; Fatal, Transient.

        One that an earlier coevo brought gets what that did not make yet.
        """
        known_jdk = next((jdk for jdk in self._known if jdk.release == release), None)
        if known_jdk is None and release not in self.installable:
            known = ', '.join(self.installable)
            raise Fatal(f'JDK {release} is not among those that can be installed: {known}')
        if known_jdk is not None and known_jdk.home != locate_jdk_folder(int(release)):
            return known_jdk
        return install_jdk(int(release), self._say, self._known)

    def _try_install(self, feature: int) -> Jdk | None:
        self._say(f'JDK {feature} is not on this machine; it is brought now, which takes a minute')
        try:
            return install_jdk(feature, self._say, self._known)
        except (Fatal, Transient) as error:
            self._say(f'JDK {feature} could not be brought ({error}); this run goes on without it')
            return None
