"""Choose the Gradle of a machine that builds a revision."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages.java.building.jdk_demand import JdkDemand
from coevo.languages.java.gradle import scripts
from coevo.languages.java.tools.gradles import Gradle, parse_version_numbers


def choose_gradle(gradles: Sequence[Gradle], wanted: str | None) -> Gradle | None:
    """Return the Gradle to use for a wanted version; None if there is no suitable one.

    This is the wanted version, else the nearest newer one with the same major version, else the
    nearest older one of that major version. If no version is wanted, it is the newest of all.
    Scripts break between major versions: 6.9 does not build what is written for 7.
    """
    if wanted is None:
        return gradles[-1] if gradles else None
    wanted_numbers = parse_version_numbers(wanted)
    alike = [gradle for gradle in gradles if gradle.numbers[:1] == wanted_numbers[:1]]
    newer = [gradle for gradle in alike if gradle.numbers >= wanted_numbers]
    return min(
        newer, key=_get_version_numbers, default=max(alike, key=_get_version_numbers, default=None)
    )


def choose_gradle_for_revision(
    repository: Repository, rev: str, gradles: Sequence[Gradle]
) -> Gradle | None:
    """Return the Gradle that fits the version in a revision's wrapper; None if there is none.

    Without a wrapper, it is the newest Gradle.
    """
    return choose_gradle(gradles, scripts.find_wrapper_version(repository, rev))


def find_gradle_demand(repository: Repository, rev: str, gradles: Sequence[Gradle]) -> JdkDemand:
    """Return the range of JDKs that a revision's Gradle scripts require and its Gradle runs on.

    If no Gradle fits the revision, only the scripts count.
    """
    demand, gradle = (
        scripts.find_script_demand(repository, rev),
        choose_gradle_for_revision(repository, rev, gradles),
    )
    if gradle is None:
        return demand
    return JdkDemand(
        lowest=max(demand.lowest or 0, gradle.oldest_jdk),
        highest=min(demand.highest or gradle.newest_jdk, gradle.newest_jdk),
    )


def _get_version_numbers(gradle: Gradle) -> tuple[int, ...]:
    return gradle.numbers
