"""Which Gradle of a machine builds a revision."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages.java.building.jdk_demand import JdkDemand
from coevo.languages.java.gradle import scripts
from coevo.languages.java.tools.gradles import Gradle, parse_version_numbers


def choose_gradle(gradles: Sequence[Gradle], wanted: str | None) -> Gradle | None:
    """The version that is wanted, else the nearest newer one with the same first number, else the nearest
    older one of these; the newest of all where none is wanted.

    Scripts break with first numbers: 6.9 does not build what is written for 7.
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
    return choose_gradle(gradles, scripts.find_wrapper_version(repository, rev))


def find_gradle_demand(repository: Repository, rev: str, gradles: Sequence[Gradle]) -> JdkDemand:
    """What the scripts ask for, within what the chosen Gradle runs on."""
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
