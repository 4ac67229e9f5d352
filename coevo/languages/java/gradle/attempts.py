"""Builds with Gradle: one try in a separate process, and commands with which anyone can run the
tests of a start state.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import (
    BuildAttempt,
    JvmDeath,
    JvmSession,
    get_cpu_seconds,
)
from coevo.languages.java.places import BUILD_TREE, GRADLE_FOLDER, GRADLES, REPOSITORY, WORKSPACE
from coevo.languages.java.tools.gradles import Gradle
from coevo.model.environments import Environment
from coevo.model.records import TestMethod
from coevo.sandboxes.sandbox import Mount

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
