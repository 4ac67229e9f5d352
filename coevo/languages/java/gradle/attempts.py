"""How a revision is built by Gradle: once, by its own script in a process of its own.

What it keeps is in the sandbox and of one build: scripts of another revision may write there, too.
"""

from __future__ import annotations

from coevo.languages.java.building.build_attempt import BuildAttempt, get_cpu_seconds
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import JvmDeath, JvmSession
from coevo.languages.java.places import BUILD_TREE, GRADLE_FOLDER, GRADLES, REPOSITORY, WORKSPACE
from coevo.languages.java.tools.gradles import Gradle
from coevo.sandboxes.sandbox import Mount

# What a build by it is told as begins so.
NAME = 'gradle'


def format_gradle_name(gradle: Gradle) -> str:
    """As environments and builds tell it."""
    return f'{NAME} {gradle.version}'


def make_gradle_mount(gradle: Gradle) -> Mount:
    return Mount(source=gradle.home, target=_locate_in_sandbox(gradle))


def build_by_gradle(
    output: BuildOutput, session: JvmSession, gradle: Gradle, java_home: str
) -> BuildAttempt:
    """One that died is asked once more, as with Maven, unless it took too long."""
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
