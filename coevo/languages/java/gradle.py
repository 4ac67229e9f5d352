"""Gradle: the choice of a distribution for a revision, and builds and commands with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from coevo.git.repository import Repository
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.report import JdkDemand
from coevo.languages.java.building.session import (
    BuildAttempt,
    JvmDeath,
    JvmSession,
    get_cpu_seconds,
)
from coevo.languages.java.places import BUILD_TREE, GRADLE_FOLDER, GRADLES, REPOSITORY, WORKSPACE
from coevo.languages.java.tools.gradles import Gradle, parse_version_numbers
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Mount

# Builds with Gradle: one try in a separate process, and commands with which anyone can run the
# tests of a start state.

# The prefix of the build tool's name in environments and results.
NAME = 'gradle'


def format_gradle_name(gradle: Gradle) -> str:
    """Return the name of a Gradle in environments and builds, such as `gradle 8.5`."""
    return f'{NAME} {gradle.version}'


def make_gradle_mount(gradle: Gradle) -> Mount:
    """Return the mount of a Gradle distribution in the sandbox."""
    return Mount(source=gradle.home, target=_locate_in_sandbox(gradle))


def build_by_gradle(
    output: BuildOutput, session: JvmSession, gradle: Gradle, java_home: str
) -> BuildAttempt:
    """Build a revision with a Gradle on the JDK at `java_home`, in the session's sandbox.

    Builds once more if the JVM died for another reason than its wall time limit.
    """
    request = [
        'build',
        f'gradle={_locate_in_sandbox(gradle)}',
        f'java_home={java_home}',
        f'home={GRADLE_FOLDER}',
        f'repository={REPOSITORY}',
        f'source={WORKSPACE}/code/{output.rev}',
        f'work={BUILD_TREE}',
    ]
    answer = session.ask(request, output.built_test_files)
    if isinstance(answer, JvmDeath) and answer.reason != 'time':
        answer = session.ask(request, output.built_test_files)
    return BuildAttempt(
        answer=answer, builder=format_gradle_name(gradle), cpu_seconds=get_cpu_seconds(answer)
    )


def _locate_in_sandbox(gradle: Gradle) -> str:
    return f'{GRADLES}/{gradle.version}'


def is_built_by_gradle(environment: Environment | None) -> bool:
    """Return whether an environment names Gradle as its build tool; False for None."""
    return environment is not None and environment.build_tool.startswith(NAME)


def make_gradle_command(module: str, task: str) -> tuple[str, ...]:
    """Return the command for a task of one project.

    The task of the root has a leading `:`, since its bare name would run it in every project.
    """
    if module == '.':
        return ('gradle', f':{task}')
    return ('gradle', '-p', module, task)


def make_test_selection(methods: Sequence[TestMethod]) -> tuple[str, ...]:
    """Return Gradle's `--tests` options that select test methods; empty without methods.

    Gradle selects by name only, so a name covers all overloads and parameter sets.
    """
    names = dict.fromkeys(f'{method.test_class}.{method.test_method}' for method in methods)
    return tuple(word for name in names for word in ('--tests', name))


# Read Gradle's scripts as text, without running them, and choose the Gradle that builds a revision.

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
    return choose_gradle(gradles, find_wrapper_version(repository, rev))


def find_gradle_demand(repository: Repository, rev: str, gradles: Sequence[Gradle]) -> JdkDemand:
    """Return the range of JDKs that a revision's Gradle scripts require and its Gradle runs on.

    If no Gradle fits the revision, only the scripts count.
    """
    demand, gradle = (
        find_script_demand(repository, rev),
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
