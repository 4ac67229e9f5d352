"""Provide agents with the tools and prompts for Java."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import tarfile
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from coevo.languages.java.commands import SUREFIRE
from coevo.languages.java.gradle import is_built_by_gradle, make_gradle_command, make_test_selection
from coevo.languages.java.tools.artifacts import ArtifactProxy, list_upstreams
from coevo.languages.java.tools.jdk_supply import JdkSupply
from coevo.languages.java.tools.jdks import Jdk, choose_jdk_for_tools, find_alike_jdks, find_jdks
from coevo.languages.java.tools.libraries import fetch_libraries, load_pins
from coevo.languages.java.tools.toolchain import Toolchain, prepare_toolchain
from coevo.languages.kits import Kit, PromptWords
from coevo.model.errors import Transient
from coevo.model.listener import Say
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.read_only_proxy import forward_connections
from coevo.sandboxes.sandbox import Job, Limits, Mount, Process, Sandbox
from coevo.sandboxes.unpacking import END, unpack
from coevo.storage.bounded_reading import UnreadableContent, load_member, open_zip
from coevo.storage.disk import find_cache_folder
from coevo.storage.durable import build_folder_once

# Provide what an agent needs to compile and run tests offline: JDK, Maven, JUnit, libraries.

# A local repository of Maven without the times at which it was filled.
#
# Equal libraries give equal bytes, so that images of them have equal digests wherever they are
# built. Maven notes times in files about its artifacts, and in the archives of modules that it
# built.

_ABOUT = '_remote.repositories'
# The end of a line about an artifact that is from no other repository.
_BUILT_HERE = b'>='
_LOCAL_METADATA = 'maven-metadata-local.xml'
_DATE = re.compile(rb'(?<=<lastUpdated>)\d+|(?<=<updated>)\d+')
_NO_DATE = b'20000101000000'
# Nothing is compiled or run with them, and documentation has dates in its text.
_NEEDLESS = ('-javadoc.jar', '-sources.jar')
_FIRST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_MOST_ARCHIVE_BYTES = 256 << 20


def remove_dates(folder: Path) -> None:
    """Take the times out of a local repository, whose files nothing else may share but by links.

    Archives of the modules that were built here get the first time that a ZIP can have; those with
    their sources or documentation are removed. An archive that cannot be read stays as it is.
    """
    for about in sorted(path for path in folder.rglob(_ABOUT) if path.is_file()):
        lines = about.read_bytes().splitlines()
        entries = sorted(line for line in lines if line and not line.startswith(b'#'))
        _replace_content(about, b''.join(entry + b'\n' for entry in entries))
        own = {entry.removesuffix(_BUILT_HERE) for entry in entries if entry.endswith(_BUILT_HERE)}
        for file in sorted(about.parent.iterdir()):
            if os.fsencode(file.name) in own and file.is_file():
                _remove_dates_of_artifact(file)
    for metadata in sorted(path for path in folder.rglob(_LOCAL_METADATA) if path.is_file()):
        _replace_content(metadata, _DATE.sub(_NO_DATE, metadata.read_bytes()))


def _replace_content(file: Path, content: bytes) -> None:
    """Write a file anew; other links to it keep the old content.

    Nothing is synced, since an interrupt leaves the whole folder to be made again.
    """
    file.unlink()
    file.write_bytes(content)


def _remove_dates_of_artifact(file: Path) -> None:
    """Rewrite an archive that was built here, or remove it if nothing needs it."""
    if file.name.endswith(_NEEDLESS):
        file.unlink()
    elif file.suffix == '.jar' and file.stat().st_size <= _MOST_ARCHIVE_BYTES:
        with suppress(UnreadableContent):
            _replace_content(file, _make_archive_without_dates(file))


def _make_archive_without_dates(file: Path) -> bytes:
    """Return an archive with its entries in their order, stored, without times and extra fields.

    Raises: UnreadableContent, also if they are too large.
    """
    written, left = io.BytesIO(), _MOST_ARCHIVE_BYTES
    with open_zip(file) as archive, zipfile.ZipFile(written, 'w') as new:
        for entry in archive.infolist():
            content = load_member(archive, entry.filename, most=left)
            left -= len(content)
            plain = zipfile.ZipInfo(entry.filename, _FIRST_ZIP_DATE)
            plain.create_system = 3
            plain.external_attr = (0o40755 if entry.is_dir() else 0o100644) << 16
            new.writestr(plain, content)
    return written.getvalue()


# The paths of the tools in an agent's sandbox.

KIT = '/kit'
_MAVEN = f'{KIT}/maven'


def list_tool_mounts_without_system_jdk(tools: Toolchain) -> tuple[Mount, ...]:
    """Return the mounts of Maven and the JDK for an agent's sandbox.

    The JDK is left out if it lies below `/usr` (but not `/usr/local`), which the sandbox has
    anyway.
    """
    maven = Mount(source=tools.maven_home, target=_MAVEN)
    return (
        (maven,)
        if _is_below_system_folder(tools.java_home)
        else (maven, _make_jdk_mount(tools.java_home))
    )


def list_system_jdk_mounts(tools: Toolchain) -> tuple[Mount, ...]:
    """Return the mount of the JDK that `list_tool_mounts_without_system_jdk` leaves out; () if it has it."""
    return (_make_jdk_mount(tools.java_home),) if _is_below_system_folder(tools.java_home) else ()


def _is_below_system_folder(home: Path) -> bool:
    return home.is_relative_to('/usr') and not home.is_relative_to('/usr/local')


def _make_jdk_mount(home: Path) -> Mount:
    return Mount(source=home.resolve(), target=str(home))


def make_tool_environment(tools: Toolchain) -> dict[str, str]:
    """Return `JAVA_HOME` and a `PATH` with Maven and the JDK, for an agent's sandbox."""
    return {
        'JAVA_HOME': str(tools.java_home),
        'PATH': f'{_MAVEN}/bin:{tools.java_home}/bin:/usr/bin:/bin',
    }


# The libraries of a task: the files that Maven downloads while it builds the start state once.
#
# This build accesses package repositories through the proxy. The agent itself gets the files
# read-only, since a package repository also contains later releases of the project.

# Downloading and offline use must have the same mirror, since Maven stores a repository's listings
# (the versions of a range) under the mirror's name.
MIRROR = '<mirror><id>coevo</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror>'
_ONLINE = f"""\
<settings><mirrors>{MIRROR.format(url='http://127.0.0.1:${coevo.port}/')}</mirrors></settings>
"""

# Increase this when the downloaded files or the way of downloading changes.
_VERSION = 4

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

# The first command installs the project's own modules beside its libraries, so that each can be
# built alone. The second downloads what is needed to compile the tests and to print the class path;
# tests of an update may not compile yet. The third downloads what runs tests, which surefire
# resolves only if there are any: they get one second. The last downloads what the `test_command` of
# tasks runs them with, by a class that is no test: the tests of an update may not be there.
_FETCH = f"""\
exec 3>&1 1>&2
read -r port
cp -RP /in/start/. /w/project && cd /w/project || exit 1
maven() {{ mvn -B -fn -s /in/online.xml -Dcoevo.port="$port" -Dmaven.repo.local=/w/m2 "$@"; }}
mkdir /w/m2
maven -Dmaven.test.skip=true install
maven -Dmaven.compiler.failOnError=false test-compile dependency:build-classpath
maven -Dmaven.compiler.failOnError=false -Dsurefire.timeout=1 test
class=$(find . -name '*.class' | sort | head -n 1)
find . -type d -path '*/target/classes' | while read -r folder; do
    mkdir -p "${{folder%classes}}test-classes"
    cp "$class" "${{folder%classes}}test-classes/CoevoTest.class"
done
maven -Dsurefire.timeout=1 -Dtest=CoevoTest -Dsurefire.failIfNoSpecifiedTests=false {SUREFIRE}
kill -9 -1
: >/w/{END}
exec tar --create --file=- --format=gnu --hard-dereference --directory=/w/m2 . \\
    --directory=/w {END} >&3
"""


def fetch_kit_libraries_into_cache(
    sandbox: Sandbox, task: TaskRow, place: Path, tools: Toolchain, say: Say
) -> Path:
    """Return the cache folder with the libraries of a task's revision, in Maven's layout.

    If it does not exist, Maven builds the start state at `place/start` in the sandbox to download
    them. It also has the modules of that start state. Raises: Transient if they cannot be downloaded.
    """
    key = compute_library_key(task, tools)
    target = find_cache_folder() / 'agents' / f'libraries-{key}'  # own name: a digest
    if not target.is_dir():
        with build_folder_once(target) as new:
            if new is not None:
                say(f'fetching the libraries of {task.repo} at {task.new_rev[:12]}')
                _fetch_with_maven(sandbox, task, place, tools, new)
    return target


def compute_library_key(task: TaskRow, tools: Toolchain) -> str:
    """Return the key of the libraries of a task, which other tasks may share.

    The libraries include the modules of the start state. Those of a task that asks for code are not
    shared with tasks of the same revision whose start state has gold.
    """
    parts = [str(_VERSION), task.repo, task.new_rev, tools.jdk, tools.maven_home.name]
    if task.asks_for_code:
        parts += [task.old_rev, task.gold_patch]
    return hashlib.sha256('\0'.join(parts).encode('utf-8', 'surrogateescape')).hexdigest()[:16]


def _fetch_with_maven(
    sandbox: Sandbox, task: TaskRow, place: Path, tools: Toolchain, folder: Path
) -> None:
    (place / 'online.xml').write_text(_ONLINE)
    shared = find_cache_folder() / 'maven'
    job = Job(
        argv=('/bin/sh', '-c', _FETCH),
        mounts=(Mount(source=place, target='/in'), *list_tool_mounts_without_system_jdk(tools)),
        environment=make_tool_environment(tools),
        limits=_LIMITS,
    )
    with (
        ArtifactProxy(list_upstreams(), shared, place / 'artifacts') as proxy,
        sandbox.start(job) as process,
    ):
        try:
            _receive_archive(process, proxy, folder, shared)
            remove_dates(folder)
        except tarfile.TarError:
            raise Transient(
                f'the libraries of {task.repo} could not be fetched (`coevo run` goes without by '
                f'kit = false in --settings): {explain_end(process)}'
            ) from None
        if proxy.trouble:
            raise Transient('libraries could not be fetched; check the network')
    (place / 'online.xml').unlink()


def explain_end(process: Process) -> str:
    """Return why Maven sent no whole archive: the limit at which it was killed, else its last words."""
    if process.exceeded == 'wall':
        return f'Maven was killed after {_LIMITS.wall_seconds / 60:.0f} minutes'
    if process.exceeded is not None:
        return f'Maven was killed at its limit ({process.exceeded})'
    return process.get_last_error_output().strip()[-500:]


def _receive_archive(process: Process, proxy: ArtifactProxy, folder: Path, shared: Path) -> None:
    """Connect the process to the proxy and unpack the archive that it sends at its end.

    Raises: TarError or Transient if the archive is incomplete or invalid.
    """
    listening = process.listen()
    with forward_connections(listening, proxy.socket):
        process.stdin.write(f'{listening.getsockname()[1]}\n'.encode())
        process.stdin.flush()
        unpack(process.stdout, folder, shared)


_CONSOLE = Path(__file__).with_name('console.toml')
_REPOSITORY, _LIBRARIES = f'{KIT}/repository', f'{KIT}/libraries'
_SETTINGS = f'{KIT}/settings/settings.xml'
_HEAD = '/tmp/m2'

_OFFLINE = f"""\
<settings>
  <localRepository>{_HEAD}</localRepository>
  <offline>true</offline>
  <mirrors>{MIRROR.format(url='http://127.0.0.1/')}</mirrors>
</settings>
"""


class MavenKits:
    """Kits for Java (tools for an agent's sandbox); implements `coevo.languages.kits.Kits`."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        """Write Maven's settings into `folder`, and download JUnit's console if need be.

        `folder` must be empty and accessible to the sandbox's user.
        """
        self._sandbox, self._folder, self._say = sandbox, folder, say
        (folder / 'settings.xml').write_text(_OFFLINE)
        jdk = choose_jdk_for_tools(find_jdks())
        self._console = fetch_libraries(_CONSOLE, jdk, say, "JUnit's console")

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return the mounts and variables with which an agent can build one task offline.

        Downloads the JDK and the libraries if need be. Raises: Transient if a download fails.
        """
        tools = prepare_toolchain(self._say, _find_or_install_jdk(task, self._say))
        libraries = fetch_kit_libraries_into_cache(self._sandbox, task, place, tools, self._say)
        (console,) = (pin.file for pin in load_pins(_CONSOLE))
        return Kit(
            mounts=(
                *list_tool_mounts_without_system_jdk(tools),
                Mount(source=self._console, target=_LIBRARIES),
                Mount(source=libraries, target=_REPOSITORY),
                Mount(source=self._folder, target=f'{KIT}/settings'),
            ),
            system=list_system_jdk_mounts(tools),
            is_whole=not is_built_by_gradle(task.environment),
            environment={
                **make_tool_environment(tools),
                'JUNIT_CONSOLE_JAR': f'{_LIBRARIES}/{console}',
                'MAVEN_SETTINGS_PATH': _SETTINGS,
                'MAVEN_ARGS': f'--offline --settings {_SETTINGS} -Dmaven.repo.local={_HEAD}'
                f' -Dmaven.repo.local.tail={_REPOSITORY}',
            },
        )


def _find_or_install_jdk(task: TaskRow, say: Say) -> Jdk | None:
    """Return the task's JDK or one of its feature release, installed if need be; or None."""
    if task.environment is None:
        return None
    JdkSupply(brings=True, say=say).try_to_provide(task.environment.runtime)
    return next(iter(find_alike_jdks(task.environment.runtime, find_jdks())), None)


# The parts of prompts that are specific to Java (TestEvo-Bench, A.3).
#
# They name Maven or Gradle, JUnit and its console launcher; `$JUNIT_CONSOLE_JAR` is the path of the
# launcher's jar.

_JAR = '$JUNIT_CONSOLE_JAR'


def make_prompt_words(
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    environment: Environment | None = None,
) -> PromptWords:
    """Return the parts of a prompt that are specific to Java, for Gradle or else for Maven.

    `methods` are the tests to run, by the classes that run them; if there are none, the prompt has
    a placeholder.
    """
    by_gradle = is_built_by_gradle(environment)
    where = '' if module == '.' else f'cd {module} && '
    running = (
        (_describe_gradle_run(module, methods),)
        if by_gradle
        else (_describe_console_run(where, methods), _SETTINGS_SENTENCE)
    )
    return PromptWords(
        framework='JUnit',
        new_test='Annotate with @Test and return void.',
        new_file='the appropriate package declaration and imports',
        running=running,
        side_effects=f'{"Gradle" if by_gradle else "Maven"}/license-header side effects',
    )


_SETTINGS_SENTENCE = (
    'If `MAVEN_SETTINGS_PATH` is set in the shell, pass `-s "$MAVEN_SETTINGS_PATH"` to Maven commands'
    ' so dependency downloads use the configured cache.'
)


def _describe_console_run(cd: str, methods: Sequence[TestMethod]) -> str:
    names = dict.fromkeys(map(_format_method, methods))
    selected = ' '.join(f"--select-method '{name}'" for name in names)
    selected = selected or "--select-class '<test class>'"
    return f"""\
When done, ensure the tests compile and pass with the JUnit Console Launcher:
- Compile: `{cd}mvn test-compile`
- Run with the JUnit Console Launcher (jar at `{_JAR}`). Set `--class-path` to include the project's \
compiled classes and dependencies, then invoke:
`{cd}java -jar {_JAR} --class-path "<classpath>" --reports-dir ./test-reports {selected}`"""


def _describe_gradle_run(module: str, methods: Sequence[TestMethod]) -> str:
    selected = make_test_selection(methods) or ('--tests', '<test class>')
    compiling = shlex.join(make_gradle_command(module, 'testClasses'))
    running = shlex.join((*make_gradle_command(module, 'test'), *selected))
    return f"""\
When done, ensure the tests compile and pass:
- Compile: `{compiling}`
- Run: `{running}`"""


def _format_method(method: TestMethod) -> str:
    """Return PACKAGE.CLASS#METHOD(TYPES) for JUnit's console, with a binary class name.

    The parentheses are left out if the method has no parameters.
    """
    parameters = f'({", ".join(method.parameters)})' if method.parameters else ''
    return f'{method.test_class}#{method.test_method}{parameters}'
