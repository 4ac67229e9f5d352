"""How a revision is built by Gradle: once, by its own script in a process of its own.

What it keeps is in the sandbox and of one build: scripts of another revision may write there, too.
"""

from __future__ import annotations

from coevo.languages.java.building.build_attempt import BuildAttempt
from coevo.languages.java.building.build_attempt import cpu_seconds
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.session import Died
from coevo.languages.java.building.session import Session
from coevo.languages.java.places import BUILD_TREE
from coevo.languages.java.places import GRADLE_FOLDER
from coevo.languages.java.places import GRADLES
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.places import WORKSPACE
from coevo.languages.java.tools.gradles import Gradle
from coevo.sandboxes.sandbox import Mount

# What a build by it is told as begins so.
NAME = 'gradle'


def name_of(gradle: Gradle) -> str:
    """As environments and builds tell it."""
    return f'{NAME} {gradle.version}'


def mount_of(gradle: Gradle) -> Mount:
    return Mount(source=gradle.home, target=_place(gradle))


def build(output: BuildOutput, session: Session, gradle: Gradle, java_home: str) -> BuildAttempt:
    """One that died is asked once more, as with Maven, unless it took too long."""
    request = [
        'build',
        f'gradle={_place(gradle)}',
        f'java_home={java_home}',
        f'home={GRADLE_FOLDER}',
        f'repository={REPOSITORY}',
        f'source={WORKSPACE}/code/{output.rev}',
        f'work={BUILD_TREE}',
    ]
    answer = session.ask(request, output.built)
    if isinstance(answer, Died) and answer.reason != 'time':
        answer = session.ask(request, output.built)
    return BuildAttempt(answer=answer, builder=name_of(gradle), cpu_seconds=cpu_seconds(answer))


def _place(gradle: Gradle) -> str:
    return f'{GRADLES}/{gradle.version}'
