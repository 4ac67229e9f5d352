"""Which Gradle of a machine builds a revision."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.git.repository import Repository
from coevo.languages.java.building.jdk_demand import JdkDemand
from coevo.languages.java.gradle import scripts
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.gradles import numbers


def choose(gradles: Sequence[Gradle], wanted: str | None) -> Gradle | None:
    """The version that is wanted, else the nearest newer one with the same first number, else the nearest
    older one of these; the newest of all where none is wanted.

    Scripts break with first numbers: 6.9 does not build what is written for 7.
    """
    if wanted is None:
        return gradles[-1] if gradles else None
    asked = numbers(wanted)
    alike = [one for one in gradles if one.numbers[:1] == asked[:1]]
    newer = [one for one in alike if one.numbers >= asked]
    return min(newer, key=_age, default=max(alike, key=_age, default=None))


def gradle_of(repository: Repository, rev: str, gradles: Sequence[Gradle]) -> Gradle | None:
    return choose(gradles, scripts.wrapper_version(repository, rev))


def demand_of(repository: Repository, rev: str, gradles: Sequence[Gradle]) -> JdkDemand:
    """What the scripts ask for, within what the chosen Gradle runs on."""
    said, gradle = scripts.demand_of(repository, rev), gradle_of(repository, rev, gradles)
    if gradle is None:
        return said
    return JdkDemand(
        lowest=max(said.lowest or 0, gradle.oldest_jdk),
        highest=min(said.highest or gradle.newest_jdk, gradle.newest_jdk),
    )


def _age(gradle: Gradle) -> tuple[int, ...]:
    return gradle.numbers
