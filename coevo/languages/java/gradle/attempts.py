"""Build a revision with Gradle: once, by Gradle's own script in a separate process.

Its caches stay in the sandbox and serve one build only, since scripts of another revision could
write to them.
"""

from __future__ import annotations

from coevo.languages.java.building.build_attempt import BuildAttempt, get_cpu_seconds
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.places import BUILD_TREE, GRADLE_FOLDER, GRADLES, REPOSITORY, WORKSPACE
from coevo.languages.java.tools.gradles import Gradle
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
    answer = session.ask(request, output.built)
    if isinstance(answer, JvmDeath) and answer.reason != 'time':
        answer = session.ask(request, output.built)
    return BuildAttempt(
        answer=answer, builder=format_gradle_name(gradle), cpu_seconds=get_cpu_seconds(answer)
    )


def _locate_in_sandbox(gradle: Gradle) -> str:
    return f'{GRADLES}/{gradle.version}'
