"""Drive the JVM programs from tests: compile sources, start the worker as the sandbox would."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from coevo.languages.java.tools.jdks import Jdk, find_jdks
from coevo.languages.java.tools.toolchain import Toolchain, prepare_toolchain
from coevo.languages.java.tools.wire import encode_strings, receive_response, send_request

NONCE = 'n0nce'


def jdk_of(feature: int | None) -> Jdk | None:
    """An installed JDK of a release, or None for the usual one; a skip where there is none."""
    found = next((jdk for jdk in find_jdks() if jdk.feature == feature), None)
    if feature is not None and found is None:
        pytest.skip(f'no JDK {feature} was found; `coevo doctor --install {feature}` brings it')
    return found


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# A third less CPU seconds for a compiler that runs for a second (1.5 instead of 2.3).
SHORT_LIVED = ('-J-XX:+UseSerialGC', '-J-XX:TieredStopAtLevel=1')


def javac(source: Path, output: Path, class_path: Sequence[Path]) -> Path:
    """Compile every source below a folder with the real compiler; it must succeed."""
    output.mkdir(parents=True, exist_ok=True)
    files = sorted(map(str, source.rglob('*.java')))
    command = [str(prepare_toolchain().java_home / 'bin' / 'javac'), *SHORT_LIVED, '-nowarn']
    libraries = os.pathsep.join(map(str, class_path))
    words = ['-d', str(output), '-cp', libraries, *files]
    subprocess.run([*command, *words], check=True, capture_output=True)
    return output


def libraries(tools: Toolchain, *artifacts: str) -> list[Path]:
    return [tools.locate_library(artifact) for artifact in artifacts]


PLATFORM = ('junit-platform-launcher', 'junit-platform-engine', 'junit-platform-commons')
REST = ('opentest4j', 'apiguardian-api')
JUPITER = ('junit-jupiter-api', 'junit-jupiter-params', 'junit-jupiter-engine')
NG = ('testng', 'jcommander', 'bsh', 'testng-engine')
VINTAGE = ('junit', 'hamcrest-core', 'junit-vintage-engine')


@dataclass(frozen=True)
class Target:
    method: str
    classes: Sequence[str]
    parameters: Sequence[str] = ()


@dataclass(frozen=True)
class Ran:
    """What a worker did: its events in order, exit status and noise."""

    events: list[dict[str, Any]]
    status: int
    noise: str

    def tests(self, index: int) -> list[dict[str, Any]]:
        return [event for event in self.events if event['e'] == 'test' and event['t'] == index]

    def outcomes(self, index: int) -> list[str]:
        return sorted(test['outcome'] for test in self.tests(index))

    @property
    def done(self) -> bool:
        return self.events[-1] == {'e': 'done'}


def work(
    targets: Sequence[Target],
    class_path: Sequence[Path],
    *options: str,
    flags: Sequence[str] = (),
    user: int | None = None,
    jdk: Jdk | None = None,
) -> Ran:
    """One worker for some targets, with its channel as descriptor 3."""
    tools = prepare_toolchain(chosen=jdk)
    request = [NONCE, str(len(options)), *options]
    for index, target in enumerate(targets):
        names = ','.join(target.classes), target.method, ','.join(target.parameters)
        request += (str(index), *names)
    path = os.pathsep.join(map(str, [*class_path, tools.tools / 'worker.jar']))
    java = [str(tools.java), '-ea', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', *flags]
    command = ['sh', '-c', 'exec "$@" 3>&1 1>&2', 'sh', *java, '-cp', path, 'coevo.worker.Worker']
    done = subprocess.run(
        command,
        input=encode_strings(request),
        capture_output=True,
        timeout=600,
        check=False,
        user=user,
    )
    lines = done.stdout.decode().splitlines()
    assert all(line.startswith(NONCE + '\t') for line in lines), done.stdout
    events = [json.loads(line.partition('\t')[2]) for line in lines]
    return Ran(events, done.returncode, done.stderr.decode(errors='replace'))


BUILDER_FLAGS = (
    '-Xmx900m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Xss2m',
    '-XX:ActiveProcessorCount=2',
)


class Builder:
    """A running builder outside of any sandbox; use as a context manager."""

    def __init__(self, *flags: str, jdk: Jdk | None = None) -> None:
        tools = prepare_toolchain(chosen=jdk)
        self.jdk, self.feature = jdk, tools.feature
        path = os.pathsep.join(map(str, tools.builder_class_path))
        java = [str(tools.java), *BUILDER_FLAGS, *flags, '-cp', path, 'coevo.builder.Builder']
        command = [*java, str(tools.maven_home), str(tools.tools / 'extension.jar')]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=120)

    def ask(self, folder: Path, command: str, *arguments: str) -> dict[str, Any]:
        """The response's JSON; its files are in `folder`, its file names under 'files'."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        folder.mkdir(parents=True, exist_ok=True)
        send_request(self.process.stdin, [command, *arguments])
        value, files = receive_response(self.process.stdout, folder, limit=1 << 30)
        assert isinstance(value, dict)
        return {**value, 'files': list(files)}
