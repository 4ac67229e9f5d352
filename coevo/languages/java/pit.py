"""PIT, the advisory mutation tool (Coles et al., 2016): its libraries, and its runs in a sandbox."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from coevo.languages.java.building.compilation import VIA
from coevo.languages.java.places import TOOLS
from coevo.languages.java.processes.launch import JVM_OPTIONS, Launcher
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import RunTarget
from coevo.languages.java.tools.jdks import choose_jdk_for_tools, find_jdks
from coevo.languages.java.tools.libraries import (
    PinnedLibrary,
    digest_files,
    fetch_libraries,
    load_pins,
)
from coevo.languages.java.tools.toolchain import compile_program, prepare_toolchain
from coevo.languages.mutation import ByteCodeMutant, ByteCodeMutants
from coevo.model.listener import Say, ignore_message
from coevo.model.quality import PitTrouble
from coevo.sandboxes.sandbox import Job, Process, Sandbox
from coevo.storage.durable import build_folder_once

# PIT, mutation testing of byte code (Coles et al., 2016), with coevo's plugin for it.
#
# Two versions are pinned: the last release that runs on JDK 8, and a newer one for every other JDK.
# https://pitest.org

_SOURCES = Path(__file__).parent / 'jvm'
_PINS, _PINS_OF_8 = _SOURCES / 'pit.toml', _SOURCES / 'pit_of_8.toml'


@dataclass(frozen=True, slots=True, kw_only=True)
class PitInstallation:
    """The parts of an installed PIT; the folders are world-readable.

    libraries  the folder of its jars
    jars       the names of the jars
    core       the name of the jar that runs beside the tests
    plugin     the folder of pit.jar, which selects one test method and the lines to mutate
    """

    libraries: Path
    jars: tuple[str, ...]
    core: str
    plugin: Path


def find_version() -> str:
    """Return both versions, such as `1.30.0, 1.17.4 on JDK 8`."""
    new, old = (
        _find_core_pin(load_pins(file)).coordinates.split(':')[2] for file in (_PINS, _PINS_OF_8)
    )
    return f'{new}, {old} on JDK 8'


def fetch(say: Say = ignore_message) -> None:
    """Fetch both versions of PIT and compile the plugin unless this has been done.

    Raises: Transient if Maven fails.
    """
    for feature in (8, 11):
        fetch_pit(feature, say)


def fetch_pit(feature: int, say: Say = ignore_message) -> PitInstallation:
    """Return PIT for a JDK; fetch it and compile its plugin unless this has been done.

    `feature` is the feature release of the JDK that runs PIT and the tests, such as 8. Raises:
    Transient if Maven fails.
    """
    file = _PINS_OF_8 if feature < 11 else _PINS
    pins = load_pins(file)
    jdk = choose_jdk_for_tools(find_jdks())
    libraries = fetch_libraries(file, jdk, say, 'PIT')
    jars = tuple(pin.file for pin in pins)
    tools = prepare_toolchain(say)
    sources = sorted(path for path in (_SOURCES / 'pit').rglob('*') if path.is_file())
    plugin = tools.tools.with_name(
        f'pit-{digest_files(file, *sources)}-{tools.tools.name}'
    )  # own name: digests
    if not plugin.is_dir():
        with build_folder_once(plugin) as new:
            if new is not None:
                class_path = [tools.tools / 'worker.jar', *(libraries / name for name in jars)]
                compile_program(new / 'pit.jar', jdk, ['--release', '8'], class_path)
    return PitInstallation(
        libraries=libraries, jars=jars, core=_find_core_pin(pins).file, plugin=plugin
    )


def _find_core_pin(pins: Sequence[PinnedLibrary]) -> PinnedLibrary:
    (core_pin,) = (pin for pin in pins if pin.artifact == 'pitest')
    return core_pin


# Run PIT's mutants for lines of the code under one test method, in a sandbox of their own.
#
# PIT's own process sees only its libraries. The JVMs that it starts for the test (its minions) have
# the class path, folder and options of any other test process. All of them share the sandbox, and
# minions themselves report which mutants they killed, so the results are not verified.

CPU_SECONDS = 300.0
WALL_SECONDS = 1200.0

# Milliseconds that a mutant may take in addition to 1.25 times the test's normal time. PIT's
# default of four seconds is too short on two busy cores, and a mutant that is too late counts as
# killed.
_TIMEOUT = 10_000

_LIBRARIES, _PLUGIN = f'{TOOLS}/pit', f'{TOOLS}/pit-plugin'
_FOLDER = '/tmp/coevo-pit'  # in the sandbox
_MAIN = 'org.pitest.mutationtest.commandline.MutationCoverageReport'
_MAIN_OPTIONS = ('-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData')
_BLOCK = 1 << 16

# The first JDK that can read its arguments from a file.
_FIRST_WITH_FILES = 9
_SAFE = re.compile(r'[\w@%+=:,./*-]+')


def make_pit_job(
    launcher: Launcher, plan: LaunchPlan, pit: PitInstallation, lines: Mapping[str, Collection[int]]
) -> Job:
    """Return the sandbox job that runs PIT for a plan's only target and prints its report.

    The plan must have its class path already. `lines` are the lines of code to mutate, by the
    binary name of their top-level type. The CPU limit is at most CPU_SECONDS.
    """
    (target,) = plan.targets
    command = (
        str(launcher.toolchain.java),
        *_MAIN_OPTIONS,
        *_list_arguments(launcher, plan, pit, lines),
    )
    cpu_seconds = CPU_SECONDS if plan.cpu_limit is None else min(CPU_SECONDS, plan.cpu_limit)
    files = {
        **{f'{_LIBRARIES}/{name}': pit.libraries / name for name in pit.jars},
        f'{_PLUGIN}/pit.jar': pit.plugin / 'pit.jar',
    }
    job = launcher.make_reporting_job(plan, command, f'{_FOLDER}/mutations.xml', files)
    return replace(
        job,
        limits=replace(job.limits, cpu_seconds=cpu_seconds, wall_seconds=WALL_SECONDS),
        environment={
            **job.environment,
            'COEVO_PIT_TARGET': _format_target(target),
            'COEVO_PIT_LINES': '\n'.join(_format_line_ranges(lines)),
        },
    )


def run_pit(sandbox: Sandbox, job: Job) -> ByteCodeMutants:
    """Run a job of `make_pit_job` and return the mutants, or why there are none (`trouble`).

    All of its processes have ended when this returns.
    """
    with sandbox.start(job) as process:
        process.stdin.close()
        report = _drain_channel(process)
        if len(report) > MOST_BYTES:
            process.kill()
        status = process.wait()
        used = process.get_cpu_seconds()
    if process.exceeded is not None:
        late = process.exceeded in ('cpu', 'wall')
        trouble = PitTrouble.TIME if late else PitTrouble.MEMORY
        return ByteCodeMutants(trouble=trouble, cpu_seconds=used)
    mutants = None if status else parse_report(report)
    if mutants is None:
        return ByteCodeMutants(
            trouble=PitTrouble.NO_REPORT, said=process.get_last_error_output(), cpu_seconds=used
        )
    return ByteCodeMutants(mutants=mutants, cpu_seconds=used)


def _drain_channel(process: Process) -> bytes:
    """Return all output of a process, but stop reading soon after MOST_BYTES."""
    read = bytearray()
    while len(read) <= MOST_BYTES and (part := process.stdout.read(_BLOCK)):
        read += part
    return bytes(read)


def _format_target(target: RunTarget) -> str:
    """Return a target as lines of text, as coevo's plugin for PIT parses it."""
    return '\n'.join(('0', ','.join(target.classes), target.method, ','.join(target.parameters)))


def _format_line_ranges(lines: Mapping[str, Collection[int]]) -> Iterator[str]:
    """Yield `TYPE FIRST LAST` for each range of consecutive lines."""
    for name in sorted(lines):
        for _, run in groupby(enumerate(sorted(lines[name])), key=lambda item: item[1] - item[0]):
            own = [line for _, line in run]
            yield f'{name} {own[0]} {own[-1]}'


def _list_arguments(
    launcher: Launcher, plan: LaunchPlan, pit: PitInstallation, types: Collection[str]
) -> Iterator[str]:
    (target,) = plan.targets
    class_path = (*plan.class_path, f'{_LIBRARIES}/{pit.core}', f'{_PLUGIN}/pit.jar')
    options = (*JVM_OPTIONS, *launcher.list_jvm_options(plan))
    own = (*(f'{_LIBRARIES}/{name}' for name in pit.jars), f'{_PLUGIN}/pit.jar')
    yield from ('-cp', ':'.join(own), _MAIN)
    yield from ('--reportDir', _FOLDER)
    yield from ('--targetClasses', ','.join(f'{name},{name}$*' for name in sorted(types)))
    yield from ('--targetTests', target.classes[0].partition(VIA)[0])
    yield from ('--sourceDirs', '.')
    yield from ('--classPath', ','.join(class_path))
    yield from ('--mutators', 'DEFAULTS')
    yield from ('--threads', '1')
    yield from ('--timeoutConst', str(_TIMEOUT))
    quoted = shlex.quote if launcher.toolchain.feature < _FIRST_WITH_FILES else _quote_argument
    yield from ('--argLine', ' '.join(map(quoted, options)))
    yield from ('--outputFormats', 'XML')
    yield from ('--timestampedReports=false', '--failWhenNoMutations=false')


def _quote_argument(word: str) -> str:
    """Quote a JVM option for the two parsers that read it: PIT's, then that of an argument file.

    A word of harmless characters is returned unchanged.
    """
    if _SAFE.fullmatch(word):
        return word
    escaped = word.replace('\\', '\\\\').replace('"', '\\"')
    return shlex.quote(f'"{escaped}"')


# Parse PIT's report as untrusted text, since mined code may have written it.

MOST_BYTES = 64 << 20

# Statuses of mutants that were run, or that no test reaches; for all others the result is unknown.
_KNOWN = ('KILLED', 'SURVIVED', 'TIMED_OUT', 'MEMORY_ERROR', 'NO_COVERAGE')
_DETECTED = ('KILLED', 'TIMED_OUT', 'MEMORY_ERROR')


def parse_report(report: bytes) -> tuple[ByteCodeMutant, ...] | None:
    """Return the mutants of a report, in order; None if it is too large or not a report of PIT.

    PIT declares no entities, so a document with a declaration is rejected unparsed.
    """
    if len(report) > MOST_BYTES or b'<!' in report:
        return None
    try:
        return tuple(_parse_mutants(ElementTree.fromstring(report)))
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def _parse_mutants(root: ElementTree.Element) -> Iterator[ByteCodeMutant]:
    for mutation in root.iterfind('mutation'):
        status = mutation.attrib['status']
        yield ByteCodeMutant(
            type=_get_text(mutation, 'mutatedClass'),
            method=_get_text(mutation, 'mutatedMethod'),
            descriptor=_get_text(mutation, 'methodDescription'),
            line=int(_get_text(mutation, 'lineNumber')),
            mutator=_get_text(mutation, 'mutator'),
            index=','.join(index.text or '' for index in mutation.iterfind('indexes/index')),
            killed=status in _DETECTED if status in _KNOWN else None,
        )


def _get_text(mutation: ElementTree.Element, name: str) -> str:
    text = mutation.findtext(name)
    if not text:
        raise ValueError(f'a mutation without {name}')
    return text
