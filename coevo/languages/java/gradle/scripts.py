"""Read Gradle's scripts as text, without running them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from coevo.git.repository import Repository
from coevo.languages.java.building.jdk_demand import JdkDemand

BUILD_FILES = ('build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts')
_SCRIPTS = ('.gradle', '.gradle.kts')
_WRAPPER = 'gradle/wrapper/gradle-wrapper.properties'
_DISTRIBUTION = re.compile(
    r'^\s*distributionUrl\s*=.*/gradle-(\d[\w.-]*?)-(?:bin|all)\.zip', re.MULTILINE
)

_LEVEL = re.compile(
    r'(?:(?:source|target)Compatibility|options\.release)\s*(?:=|\.set\(|\(|\s)\s*'
    r'[\'"]?(?:JavaVersion\.)?(?:VERSION_)?(?:1[._])?(\d{1,2})\b'
)
_TOOLCHAIN = re.compile(r'JavaLanguageVersion\.of\(\s*[\'"]?(\d{1,2})\b')


def has_gradle_script(repository: Repository, rev: str) -> bool:
    """Return whether the root folder of a revision has a build or settings script of Gradle."""
    there = repository.tree(rev)
    return any(name in there for name in BUILD_FILES)


def find_wrapper_version(repository: Repository, rev: str) -> str | None:
    """Return the Gradle version that the project's wrapper would download, such as 8.5; or None."""
    match = _DISTRIBUTION.search(repository.load_text(rev, _WRAPPER) or '')
    return match[1] if match else None


def find_script_demand(repository: Repository, rev: str) -> JdkDemand:
    """Return the range of JDKs that the Gradle scripts of a revision require.

    A language level gives only a lower bound. A toolchain gives both bounds, since it must be the
    JDK of the whole build: Gradle cannot download one here.
    """
    texts = list(_load_scripts(repository, rev))
    levels = [int(level) for text in texts for level in _LEVEL.findall(text)]
    toolchains = [int(version) for text in texts for version in _TOOLCHAIN.findall(text)]
    return JdkDemand(
        lowest=max((*levels, *toolchains), default=None), highest=max(toolchains, default=None)
    )


def _load_scripts(repository: Repository, rev: str) -> Iterator[str]:
    for path in repository.tree(rev):
        if path.endswith(_SCRIPTS):
            yield repository.load_text(rev, path) or ''
