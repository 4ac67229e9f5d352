"""The start of the builder: its folders in the sandbox, its command and its requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.places import BUILD_TREE, HEAD, REPOSITORY, SOCKET, TOOLS, WORKSPACE
from coevo.languages.java.tools.toolchain import Toolchain
from coevo.sandboxes.sandbox import Job, Limits, Mount

SETTINGS = 'settings.xml'

# coevo's proxy, on the sandbox's own loopback, stands in for every repository that a build names.
_SETTINGS_XML = """\
<settings>
  <mirrors>
    <mirror>
      <id>coevo</id>
      <mirrorOf>*</mirrorOf>
      <url>http://127.0.0.1:${coevo.port}/</url>
    </mirror>
  </mirrors>
</settings>
"""

# The relay to the proxy is a process of its own, since old JVMs cannot open the Unix socket. It
# does not use the builder's pipes, and ends with the sandbox. If the relay dies, the builder is
# killed and the request is repeated, since a failure to download says nothing about the code.
START_RELAY = """\
mkfifo /tmp/coevo-port || exit
("$1" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx64m -cp "$2" coevo.relay.Relay "$3"
kill -KILL $$) >/tmp/coevo-port &
read -r port </tmp/coevo-port || kill -KILL $$
rm /tmp/coevo-port
shift 3
"""
_WITH_RELAY = f"""\
{START_RELAY}\
java=$1
shift
exec "$java" -Dcoevo.port="$port" "$@"
"""

_BUILDER_OPTIONS = ('-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xmx1500m', '-Xss4m')

# A session serves many builds, so each request has its own limit of time instead.
LIMITS = Limits(
    cpu_seconds=1e6,
    wall_seconds=1e7,
    memory_bytes=8 << 30,
    processes=1024,
    file_bytes=1 << 30,
    disk_bytes=4 << 30,
)


def write_maven_settings(root: Path) -> None:
    """Write Maven's settings file into `root`; it replaces all repositories by coevo's proxy."""
    (root / SETTINGS).write_text(_SETTINGS_XML)


def make_builder_job(
    toolchain: Toolchain, mounts: Sequence[Mount], socket: Path, archive: str | None
) -> Job:
    """Return the sandbox job that runs the builder's JVM and its relay to coevo's proxy.

    The builder reads its requests from standard input. `archive` is the class archive that it runs
    with, see `processes.archives`; None for none.
    """
    # Disable logging: messages of the JVM about the archive would be mixed with the builder's
    # answers.
    shared = (
        ('-Xlog:disable', '-Xshare:auto', f'-XX:SharedArchiveFile={archive}') if archive else ()
    )
    return Job(
        argv=(
            '/bin/sh',
            '-c',
            _WITH_RELAY,
            'sh',
            *list_relay_arguments(toolchain),
            *make_builder_command(toolchain, *shared),
        ),
        mounts=tuple(mounts),
        sockets=(Mount(source=socket, target=SOCKET),),
        limits=LIMITS,
        environment={
            'PATH': '/usr/local/bin:/usr/bin:/bin',
            'JAVA_HOME': str(toolchain.java_home),
        },
    )


def list_relay_arguments(toolchain: Toolchain) -> tuple[str, ...]:
    """Return the first arguments of a script that begins with `START_RELAY`."""
    java = toolchain.tools_home / 'bin' / 'java'
    return str(java), locate_tool(toolchain, toolchain.tools / 'relay.jar'), SOCKET


def make_builder_command(toolchain: Toolchain, *options: str) -> tuple[str, ...]:
    """Return the command of the builder's JVM; `options` come before the usual ones."""
    return (
        str(toolchain.java),
        *options,
        *_BUILDER_OPTIONS,
        *('-cp', ':'.join(list_builder_class_path(toolchain)), 'coevo.builder.Builder'),
        locate_tool(toolchain, toolchain.maven_home),
        locate_tool(toolchain, toolchain.tools / 'extension.jar'),
    )


def list_builder_class_path(toolchain: Toolchain) -> tuple[str, ...]:
    """Return the class path of the builder, as paths in the sandbox."""
    return tuple(locate_tool(toolchain, path) for path in toolchain.builder_class_path)


def make_tracer_job(toolchain: Toolchain, mounts: Sequence[Mount]) -> Job:
    """Return the sandbox job of the JVM that reads the execution data of traced tests.

    It reads class files without running any of them and has no access to the network.
    """
    class_path = ':'.join(locate_tool(toolchain, path) for path in toolchain.tracer_class_path)
    java = str(toolchain.tools_home / 'bin' / 'java')
    return Job(
        argv=(java, *_BUILDER_OPTIONS, '-cp', class_path, 'coevo.builder.Tracer'),
        mounts=tuple(mounts),
        limits=LIMITS,
    )


def locate_tool(toolchain: Toolchain, path: Path) -> str:
    """Return the sandbox path of a file of coevo's programs, the libraries or the JDK.

    Raises: ValueError for any other path.
    """
    for base, name in ((toolchain.tools, 'programs'), (toolchain.libraries, 'libraries')):
        if path.is_relative_to(base):
            return f'{TOOLS}/{name}/{path.relative_to(base)}'
    if path.is_relative_to(toolchain.java_home):
        return str(path)
    raise ValueError(f'{path} is neither a program of coevo nor a library nor in the JDK')


def make_build_request(
    output: BuildOutput, java_home: Path | None = None, without: Sequence[str] = ()
) -> list[str]:
    """Return a request to build a revision, without the plugins in `without`.

    Maven runs in the builder's own JVM, or, if `java_home` is given, by its own command on that
    JDK.
    """
    return [
        'build',
        *(f'without={plugin}' for plugin in without),
        *([f'java_home={java_home}'] if java_home else []),
        f'source={WORKSPACE}/code/{output.rev}',
        f'work={BUILD_TREE}',
        *_list_repository_arguments(),
    ]


def make_resolve_request(coordinates: Sequence[str]) -> list[str]:
    """Return the words of a request to download libraries and their dependencies.

    Each of `coordinates` is a library as GROUP:ARTIFACT:VERSION.
    """
    return [
        'resolve',
        *(f'coordinates={coordinate}' for coordinate in coordinates),
        *_list_repository_arguments(),
    ]


def _list_repository_arguments() -> Iterator[str]:
    yield f'settings={WORKSPACE}/{SETTINGS}'
    yield f'head={HEAD}'
    yield f'tail={REPOSITORY}'


@dataclass(frozen=True, slots=True, kw_only=True)
class JavacSettings:
    """The class path and options of javac; `without` lists files that are not compiled.

    All paths are those in the sandbox.
    """

    class_path: tuple[str, ...]
    options: tuple[str, ...]
    without: tuple[str, ...] = ()

    def list_arguments(self) -> Iterator[str]:
        """Yield the settings as arguments of a request."""
        yield from (f'class_path={entry}' for entry in self.class_path)
        yield from (f'option={option}' for option in self.options)
        yield from (f'without={file}' for file in self.without)


def make_compile_request(roots: Sequence[str], javac: JavacSettings) -> list[str]:
    """Return a request to compile the test tree below the roots."""
    return ['compile', *(f'root={root}' for root in roots), *javac.list_arguments()]


def list_partial_arguments(sources: str, classes: str) -> tuple[str, str]:
    """Return the arguments by which a request to compile asks for some sources alone.

    sources  the root of these sources
    classes  the folder of the class files of the others
    """
    return f'edited={sources}', f'compiled={classes}'


def make_check_request(
    sets: Sequence[Sequence[str]], javac: JavacSettings, *, keep: bool
) -> list[str]:
    """Return the words of a request to compile each set of roots separately from the other sets.

    `keep` asks for the class files; without it, only the results are reported.
    """
    return [
        'check',
        *(f'set={":".join(roots)}' for roots in sets),
        f'keep={str(keep).lower()}',
        *javac.list_arguments(),
    ]
