"""The JDKs that a run may use: those of the machine, and those that are installed on demand."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence

from coevo.languages.java.tools.jdk_bundles import OFFERED, install_jdk, locate_jdk_folder
from coevo.languages.java.tools.jdks import LIMIT, Jdk, find_alike_jdks, find_jdks
from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Say, ignore_message


class JdkSupply:
    """The JDKs of the machine and those that can be installed; thread-safe.

    Implements `coevo.languages.runtimes.Runtimes`. A failed installation is not tried again.

    known   the machine's JDKs; the result of `find_jdks` if None
    brings  whether missing JDKs may be installed; ignored if $COEVO_JDKS limits the choice
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
        """The JDKs of the machine, which need no installation."""
        return self._known

    @property
    def offered(self) -> tuple[Jdk, ...]:
        """The JDKs that `get_jdk` accepts: the machine's, then those that it would install.

        The latter are placeholders, whose version is only a feature release.
        """
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
        """Return the JDK to use for an offered one, installed if need be; None if that fails.

        A failure is reported with `say`.
        """
        if jdk in self._known:
            return jdk
        with self._lock:
            if jdk.feature not in self._brought:
                self._brought[jdk.feature] = self._try_install(jdk.feature)
            return self._brought[jdk.feature]

    def has_failed(self, jdk: Jdk) -> bool:
        """Return whether the installation of a JDK was tried and failed."""
        return jdk not in self._known and self._brought.get(jdk.feature, jdk) is None

    @property
    def installable(self) -> tuple[str, ...]:
        """The feature releases that `install` can install."""
        return tuple(map(str, OFFERED))

    def can_provide(self, version: str) -> bool:
        """Return whether a JDK of this version, or else of its feature release, is available.

        Installs the JDK if need be.
        """
        offered = find_alike_jdks(version, self.offered)
        return any(self.get_jdk(jdk) is not None for jdk in offered)

    def install(self, release: str) -> Jdk:
        """Return a JDK of a release; install it if it is missing.

        A JDK that an earlier coevo installed is completed with the parts that coevo makes today.

        Raises: Fatal for a release that cannot be installed; Fatal or Transient if the installation
        fails.
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
