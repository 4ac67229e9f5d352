"""The sandbox job of a project's own command: `mvn test` for one module of a tree.

The tests' JVMs are started by the project's own surefire, with a listener of coevo's
(`jvm/umpire`). It sends outcomes through a named pipe, under a nonce that keeps other text out. The
code under test could read the nonce, so nothing but the reason of a drop may depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.building.settings import (
    SETTINGS,
    START_RELAY,
    list_relay_arguments,
    locate_tool,
)
from coevo.languages.java.places import BUILD_TREE, HEAD, REPOSITORY, SOCKET, WORKSPACE
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.sandboxes.sandbox import Job, Limits, Mount

# CPU seconds of the whole command: it compiles the module and those that it needs, and runs all of
# its tests.
CPU_SECONDS = 900.0

LIMITS = Limits(
    cpu_seconds=CPU_SECONDS,
    wall_seconds=CPU_SECONDS * 4,
    memory_bytes=8 << 30,
    processes=1024,
    file_bytes=1 << 30,
    disk_bytes=4 << 30,
    bounds_addresses=False,  # a JVM without options reserves a quarter of the machine's memory
)

_PIPE = '/tmp/coevo-umpire'
_REPORT = '/tmp/coevo-report'
_PROJECT_TREE = f'{WORKSPACE}/tree'
_SETTINGS = f'{WORKSPACE}/{SETTINGS}'

# The shell holds the pipe open until the command has ended, so that its reader does not end before.
_SCRIPT = f"""\
read -r nonce
{START_RELAY}\
cp -R --preserve=mode,links,timestamps {_PROJECT_TREE} {BUILD_TREE} || exit
cd {BUILD_TREE} || exit
mkfifo {_PIPE} || exit
cat {_PIPE} &
exec 4>{_PIPE}
"$@" -Dcoevo.port="$port" -Dcoevo.umpire.nonce="$nonce" </dev/null >&2 4>&-
status=$?
exec 4>&-
wait $!
exit $status
"""

_OPTIONS = ('-B', '-q', '-fae', '-T1', '-Dstyle.color=never')


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCommand:
    """The tests of a module to run by `mvn test`, with the changes that the build needed.

    tree     the folder of the revision's files on the host
    without  plugins, or executions `PLUGIN@EXECUTION`, that are left out
    """

    tree: Path
    module: str
    without: Sequence[str] = ()


def make_project_job(
    toolchain: Toolchain, mounts: Sequence[Mount], socket: Path, command: ProjectCommand
) -> Job:
    """Return the job; it reads the nonce as a line and prints the events of the listeners.

    mounts  those of a builder. Of the workspace, the job sees the tree and Maven's settings alone
    socket  that of the proxy for libraries
    """
    workspace = next(mount.source for mount in mounts if mount.target == WORKSPACE)
    return Job(
        argv=(
            *('/bin/sh', '-c', _SCRIPT, 'sh', *list_relay_arguments(toolchain)),
            *_make_maven_command(toolchain, command),
        ),
        mounts=(
            *(mount for mount in mounts if mount.target != WORKSPACE),
            Mount(source=command.tree, target=_PROJECT_TREE),
            Mount(source=workspace / SETTINGS, target=_SETTINGS),
        ),
        sockets=(Mount(source=socket, target=SOCKET),),
        limits=LIMITS,
        environment={
            'PATH': '/usr/local/bin:/usr/bin:/bin',
            'JAVA_HOME': str(toolchain.java_home),
            'MAVEN_OPTS': '-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx1500m -Xss4m',
            'MAVEN_SKIP_RC': 'true',
        },
    )


def _make_maven_command(toolchain: Toolchain, command: ProjectCommand) -> tuple[str, ...]:
    defined = {
        'maven.repo.local': HEAD,
        'maven.repo.local.tail': REPOSITORY,
        'maven.repo.local.tail.ignoreAvailability': 'true',
        'maven.ext.class.path': locate_tool(toolchain, toolchain.tools / 'extension.jar'),
        'maven.test.skip': 'false',
        # the tree has no history, see `Build.java`
        'maven.buildNumber.doCheck': 'false',
        'maven.buildNumber.doUpdate': 'false',
        'maven.buildNumber.revisionOnScmFailure': 'unknown',
        'coevo.report': _REPORT,
        'coevo.without': ','.join(command.without),
        'coevo.umpire.module': f'{BUILD_TREE}/{command.module}',
        'coevo.umpire.pipe': _PIPE,
        'coevo.umpire.jar': locate_tool(toolchain, toolchain.tools / 'umpire.jar'),
    }
    return (
        f'{locate_tool(toolchain, toolchain.maven_home)}/bin/mvn',
        *_OPTIONS,
        *('-s', _SETTINGS),
        *(f'-D{name}={value}' for name, value in defined.items()),
        *('-pl', command.module, '-am', 'test'),
    )
