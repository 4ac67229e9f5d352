"""What an agent needs to compile and run tests without a network: JDK, Maven, JUnit, libraries.

Libraries are what Maven fetches when it builds the start state once, with the network of a build:
package repositories through the proxy. The agent itself gets them read-only, since a repository of
packages has later releases of the project, too.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.tools.artifacts import ArtifactProxy
from coevo.languages.java.tools.artifacts import upstreams
from coevo.languages.java.tools.jdk_supply import bring_releases
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.jdks import alike
from coevo.languages.java.tools.jdks import choose_jdk
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.libraries import fetch_libraries
from coevo.languages.java.tools.libraries import read_pins
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.languages.java.tools.toolchain import toolchain
from coevo.model.errors import Transient
from coevo.model.tables import TaskRow
from coevo.sandboxes.pump import pumping
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Limits
from coevo.sandboxes.sandbox import Mount
from coevo.sandboxes.sandbox import Sandbox
from coevo.sandboxes.tar_stream import END
from coevo.sandboxes.unpacking import unpack
from coevo.storage.building import building
from coevo.storage.folders import cache_folder

Say = Callable[[str], None]

_CONSOLE = Path(__file__).with_name('console.toml')
_KIT = '/kit'
_MAVEN, _REPOSITORY, _LIBRARIES = f'{_KIT}/maven', f'{_KIT}/repository', f'{_KIT}/libraries'
_SETTINGS = f'{_KIT}/settings/settings.xml'
_HEAD = '/tmp/m2'

# Raised when what is fetched, or how, changes.
_VERSION = 1

_SECONDS = 900.0
_LIMITS = Limits(
    cpu_seconds=4 * _SECONDS,
    wall_seconds=_SECONDS,
    memory_bytes=4 << 30,
    bounds_addresses=False,
    processes=2048,
    file_bytes=1 << 30,
    disk_bytes=4 << 30,
)

# The same mirror when libraries are fetched and when they are used, for what a repository listed then
# (the versions of a range) is kept by its name.
_MIRROR = '<mirror><id>coevo</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror>'
_ONLINE = f"""\
<settings><mirrors>{_MIRROR.format(url='http://127.0.0.1:${coevo.port}/')}</mirrors></settings>
"""
_OFFLINE = f"""\
<settings>
  <localRepository>{_HEAD}</localRepository>
  <offline>true</offline>
  <mirrors>{_MIRROR.format(url='http://127.0.0.1/')}</mirrors>
</settings>
"""

# The first puts the project's own modules beside its libraries, so that each can be built alone.
# The second fetches what compiling its tests and asking for its class path takes; tests of an update
# do not compile yet.
_FETCH = f"""\
exec 3>&1 1>&2
read -r port
cp -RP /in/start/. /w/project && cd /w/project || exit 1
maven() {{ mvn -B -fn -s /in/online.xml -Dcoevo.port="$port" -Dmaven.repo.local=/w/m2 "$@"; }}
mkdir /w/m2
maven -Dmaven.test.skip=true install
maven -Dmaven.compiler.failOnError=false test-compile dependency:build-classpath
kill -9 -1
: >/w/{END}
exec tar --create --file=- --format=gnu --hard-dereference --directory=/w/m2 . \\
    --directory=/w {END} >&3
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kit:
    """What is added to an agent's sandbox."""

    mounts: tuple[Mount, ...]
    environment: dict[str, str]


class Kits:
    """The kits of one run; safe from several threads."""

    def __init__(self, sandbox: Sandbox, root: Path, say: Say) -> None:
        """`root`: a folder that the sandbox's user can enter."""
        self._sandbox, self._root, self._say = sandbox, root, say
        self._folder = root / 'kit'
        self._folder.mkdir()
        (self._folder / 'settings.xml').write_text(_OFFLINE)
        self._folder.chmod(0o755)
        jdk = choose_jdk(find_jdks())
        self._console = fetch_libraries(_CONSOLE, jdk, say, "JUnit's console")

    def kit(self, task: TaskRow, place: Path) -> Kit:
        """The kit of a task, whose start state lies in `place`; Transient without a network."""
        bring_releases([task.environment.jdk] if task.environment else [], self._say)
        tools = toolchain(self._say, _jdk(task))
        libraries = self._libraries(task, place, tools)
        (console,) = (pin.file for pin in read_pins(_CONSOLE))
        return Kit(
            mounts=(
                *_tools(tools),
                Mount(source=self._console, target=_LIBRARIES),
                Mount(source=libraries, target=_REPOSITORY),
                Mount(source=self._folder, target=f'{_KIT}/settings'),
            ),
            environment={
                **_environment(tools),
                'JUNIT_CONSOLE_JAR': f'{_LIBRARIES}/{console}',
                'MAVEN_SETTINGS_PATH': _SETTINGS,
                'MAVEN_ARGS': f'--offline --settings {_SETTINGS} -Dmaven.repo.local={_HEAD}'
                f' -Dmaven.repo.local.tail={_REPOSITORY}',
            },
        )

    def _libraries(self, task: TaskRow, place: Path, tools: Toolchain) -> Path:
        """In Maven's layout, made once for a revision."""
        parts = (str(_VERSION), task.repo, task.new_rev, tools.jdk, tools.maven_home.name)
        key = hashlib.sha256('\0'.join(parts).encode()).hexdigest()[:16]
        target = cache_folder() / 'agents' / f'libraries-{key}'
        if not target.is_dir():
            with building(target) as new:
                if new is not None:
                    self._say(f'fetching the libraries of {task.repo} at {task.new_rev[:12]}')
                    self._fetch(task, place, tools, new)
        return target

    def _fetch(self, task: TaskRow, place: Path, tools: Toolchain, folder: Path) -> None:
        (place / 'online.xml').write_text(_ONLINE)
        shared = cache_folder() / 'maven'
        job = Job(
            argv=('/bin/sh', '-c', _FETCH),
            mounts=(Mount(source=place, target='/in'), *_tools(tools)),
            environment=_environment(tools),
            limits=_LIMITS,
        )
        with (
            ArtifactProxy(upstreams(), shared, place / 'artifacts') as proxy,
            self._sandbox.start(job) as process,
        ):
            listening = process.listen()
            with pumping(listening, proxy.socket):
                process.stdin.write(f'{listening.getsockname()[1]}\n'.encode())
                process.stdin.flush()
                try:
                    unpack(process.stdout, folder, shared)
                except tarfile.TarError:
                    raise Transient(
                        f'the libraries of {task.repo} could not be fetched (go without by '
                        f'--no-kit): {process.noise().strip()[-500:]}'
                    ) from None
            if proxy.trouble:
                raise Transient('libraries could not be fetched; check the network')
        (place / 'online.xml').unlink()


def _jdk(task: TaskRow) -> Jdk | None:
    """The installed JDK that the task was made with, or one of the same release; else any."""
    if task.environment is None:
        return None
    return next(iter(alike(task.environment.jdk, find_jdks())), None)


def _tools(tools: Toolchain) -> tuple[Mount, ...]:
    maven = Mount(source=tools.maven_home, target=_MAVEN)
    home = tools.java_home
    if home.is_relative_to('/usr') and not home.is_relative_to('/usr/local'):
        return (maven,)
    return (maven, Mount(source=home.resolve(), target=str(home)))


def _environment(tools: Toolchain) -> dict[str, str]:
    return {
        'JAVA_HOME': str(tools.java_home),
        'PATH': f'{_MAVEN}/bin:{tools.java_home}/bin:/usr/bin:/bin',
    }
