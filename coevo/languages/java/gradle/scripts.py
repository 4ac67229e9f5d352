"""What the text of Gradle's scripts says; nothing of it is run."""

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
    """Whether there is a script of Gradle at the root."""
    there = repository.tree(rev)
    return any(name in there for name in BUILD_FILES)


def find_wrapper_version(repository: Repository, rev: str) -> str | None:
    """The version that the project's wrapper would bring, such as 8.5."""
    match = _DISTRIBUTION.search(repository.load_text(rev, _WRAPPER) or '')
    return match[1] if match else None


def find_script_demand(repository: Repository, rev: str) -> JdkDemand:
    """A toolchain has to be the JDK that all is built with, for none is brought; levels are a lower bound."""
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
