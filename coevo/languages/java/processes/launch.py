"""The command that runs tests of a module as its own build would: class path, folder, options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coevo.languages.core.test_processes import LEAST_CPU_LIMIT, WALL_PER_CPU
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.report import JavaModule, ReportedClassPathEntry
from coevo.languages.java.places import PACKED_TREE, REPOSITORY, TOOLS, TREE, WORKSPACE
from coevo.languages.java.processes.archives import (
    LIMITS,
    LIST,
    LISTING,
    ArchiveRehearsal,
    make_dump_job,
)
from coevo.languages.java.processes.class_path import move_libraries_first
from coevo.languages.java.processes.jvm_options import (
    select_usable_environment,
    select_usable_options,
)
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.processes.runner import encode_request
from coevo.languages.java.processes.shelves import mount_shelves
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.languages.java.tools.toolchain import FIRST_WITH_MODULES, Toolchain
from coevo.sandboxes.sandbox import Job, Limits, Mount

JVM_OPTIONS = (
    '-ea',
    '-Xmx1g',
    '-Xshare:auto',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    # A short life: what is called a few hundred times is not worth compiling (measured, see
    # benchmarks/figures.md); loops are compiled as ever.
    '-XX:Tier3InvocationThreshold=2000',
    '-XX:Tier3MinInvocationThreshold=1000',
    '-XX:Tier3CompileThreshold=3000',
    '-XX:-UsePerfData',
    '-XX:ActiveProcessorCount=2',
    '-XX:+IgnoreUnrecognizedVMOptions',  # the project's own may be meant for an older JVM
    '-Djava.awt.headless=true',
    '-Duser.language=en',
    '-Duser.country=US',
)

WORKER = f'{TOOLS}/programs/worker.jar'

# Libraries that settings of tests name beside the class path.
_NAMED = re.compile(rf'{REPOSITORY}/[^\s:;,=]+')

# CPU seconds of one process, which a test can read. What its targets may use is less as a rule, is
# not the same for all runs of a test, and is watched by `runner` from outside.
LONGEST = 86_400.0

MEMORY_BYTES = 6 << 30
DISK_BYTES = 2 << 30
MOST_TREE_BYTES = DISK_BYTES // 2  # the rest is for class files and what tests write
FILE_BYTES = 1 << 30
PROCESSES = 512


NO_FILES: Mapping[str, Path] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """What is the same for all test processes of a run."""

    toolchain: Toolchain
    workspace: Path
    mounts: tuple[Mount, ...]

    def arrange_class_path(self, plan: LaunchPlan) -> LaunchPlan:
        """A plan with its class path, libraries first where that cannot be told."""
        places = tuple(self._list_class_path(plan))
        files = {
            sandbox_path: self.locate_on_host(sandbox_path)
            for sandbox_path in places
            if not is_in_tree(sandbox_path)
        }
        return replace(plan, class_path=move_libraries_first(places, plan.layers, files))

    def locate_on_host(self, place: str) -> Path:
        """The file of the host for a place in the sandbox that is mounted."""
        mount = next(m for m in self.mounts if place.startswith(f'{m.target}/'))
        return mount.source / place.removeprefix(
            f'{mount.target}/'
        )  # own name: read alone; held to the tree by report.py

    def prepare_rehearsal(self, plan: LaunchPlan, list_file: Path) -> ArchiveRehearsal:
        """How an archive of a plan's libraries is made, from a list of names in a file."""
        job = self.make_job(plan)
        shell, option, _, *rest = job.argv
        java = rest.index(str(self.toolchain.java))
        rest.insert(java + 1, LISTING)
        dumped = replace(
            job, mounts=(*self._mount_libraries(plan), self._mount_view(list_file.parent))
        )
        return ArchiveRehearsal(
            request=encode_request('rehearsal', plan.targets),
            listing=replace(job, argv=(shell, option, LAY_OUT_AND_LIST, *rest), limits=LIMITS),
            dumping=make_dump_job(
                dumped, self.toolchain.java, self.locate_in_sandbox(list_file), plan.libraries
            ),
        )

    def make_reporting_job(
        self, plan: LaunchPlan, command: Sequence[str], report: str, files: Mapping[str, Path]
    ) -> Job:
        """Another command in a plan's surroundings, with a file that it leaves as its channel.

        Where the command fails, nothing is on the channel.

        files  what the command needs beside the plan's own, by place in the sandbox
        """
        job = self.make_job(plan, files)
        script = make_report_script(report)
        _, _, _, *rest = job.argv
        before = rest[: rest.index('--') + 1]
        return replace(job, argv=('/bin/sh', '-c', script, *before, *command))

    def make_job(self, plan: LaunchPlan, files: Mapping[str, Path] = NO_FILES) -> Job:
        """A process that runs the worker in the module's folder, its channel on stdout.

        Of the workspace it sees its own tree alone: what else is compiled there, for other tests
        or revisions, may be what a test is asked to be. Of libraries it sees what it names. Nothing
        that it sees, words, mounts and limits of the kernel, tells whether anything was edited.

        files  others that it sees, by place in the sandbox
        """
        module = plan.module
        folder = module.surefire.working_folder or module.path
        cpu_seconds = max(LONGEST, sum(target.cpu_limit for target in plan.targets))
        if plan.cpu_limit is not None:
            cpu_seconds = min(cpu_seconds, plan.cpu_limit)
        script = LAY_OUT_OBSERVED if plan.observed else LAY_OUT
        return Job(
            argv=('/bin/sh', '-c', script, 'sh', folder, '--', *self._list_command_words(plan)),
            mounts=(
                *self._mount_libraries(plan, files),
                Mount(source=plan.tree, target=PACKED_TREE),
            ),
            limits=_make_limits(cpu_seconds, WALL_PER_CPU),
            environment={
                'JAVA_HOME': str(self.toolchain.java_home),
                **select_usable_environment(module.surefire.environment),
                **plan.clock,
            },
        )

    def _mount_libraries(
        self, plan: LaunchPlan, files: Mapping[str, Path] = NO_FILES
    ) -> Iterator[Mount]:
        """The JDK, and those of the shared files that a plan's process is told of."""
        yield from (m for m in self.mounts if m.target == str(self.toolchain.java_home))
        known = {
            sandbox_path: self.locate_on_host(sandbox_path)
            for sandbox_path in self._list_named_files(plan)
        }
        yield from mount_shelves(self.workspace / 'shelves', {**known, **files})

    def _list_named_files(self, plan: LaunchPlan) -> Iterator[str]:
        """Places of libraries and tools that the command or the environment of a plan names."""
        surefire = plan.module.surefire
        shared = tuple(f'{m.target}/' for m in self.mounts if m.target != WORKSPACE)
        texts = (
            *self.list_jvm_options(plan),
            *select_usable_environment(surefire.environment).values(),
        )
        for sandbox_path in (
            *plan.class_path,
            *(agent.jar for agent in plan.agents),
            *filter(None, [plan.archive]),
            *(sandbox_path for text in texts for sandbox_path in _NAMED.findall(text)),
        ):
            if sandbox_path.startswith(shared) and '..' not in sandbox_path:
                yield sandbox_path

    def _mount_view(self, place: Path) -> Mount:
        """A part of the workspace, where it is seen in the whole of it."""
        return Mount(source=place, target=self.locate_in_sandbox(place))

    def make_clock_probe(self, environment: Mapping[str, str]) -> Job:
        """A JVM that says what its clock is, and whether it waits as long as it should."""
        return Job(
            argv=(
                str(self.toolchain.java),
                *JVM_OPTIONS,
                '-cp',
                WORKER,
                'coevo.worker.ClockProbe',
            ),
            mounts=self.mounts,
            limits=_make_limits(LEAST_CPU_LIMIT, 5),
            environment=environment,
        )

    def locate_in_sandbox(self, path: Path) -> str:
        """Where the sandbox sees a folder of the workspace."""
        return f'{WORKSPACE}/{path.relative_to(self.workspace)}'

    def list_compile_class_path(
        self,
        module: JavaModule,
        code: BuildOutput,
        siblings: Sequence[Path],
        edited: Mapping[str, Sequence[Path]],
    ) -> Iterator[str]:
        """The class path for the compiler, which reads the code's build output where it lies.

        siblings  folders that mirror the tree, with test classes of other modules
        edited    module -> the folders that stand for its class folder
        """
        own = code.code / module.path / module.classes
        yield from (self.locate_in_sandbox(folder) for folder in edited.get(module.path, (own,)))
        for entry in module.class_path:
            if entry.file is not None:
                yield self.locate_in_sandbox(code.code / entry.file)
            elif entry.sibling is None:
                yield f'{REPOSITORY}/{entry.path}'
            elif not entry.tests:
                other = code.code / entry.sibling / str(entry.folder)
                yield from (
                    self.locate_in_sandbox(class_folder)
                    for class_folder in edited.get(entry.sibling, (other,))
                )
            else:
                for folder in siblings:
                    yield self.locate_in_sandbox(folder / entry.sibling / str(entry.folder))

    def _list_command_words(self, plan: LaunchPlan) -> Iterator[str]:
        yield str(self.toolchain.java)
        yield from JVM_OPTIONS
        yield from (f'-javaagent:{agent.jar}={agent.options}' for agent in plan.agents)
        if plan.archive is not None:
            yield f'-XX:SharedArchiveFile={plan.archive}'
        yield from self.list_jvm_options(plan)
        yield '-cp'
        yield ':'.join(plan.libraries if plan.reload_classes else plan.class_path)
        yield 'coevo.worker.Worker'
        yield from (agent.jar for agent in plan.agents[:1])
        yield from plan.folders if plan.reload_classes else ()

    def list_jvm_options(self, plan: LaunchPlan) -> Iterator[str]:
        """What a plan's module and workaround ask of its JVM beside ours."""
        module = plan.module
        if plan.override is not None and self.toolchain.feature >= FIRST_WITH_MODULES:
            yield from WORKAROUNDS[plan.override].jvm_options
        if not module.surefire.assertions:
            yield '-da'
        yield from select_usable_options(module.surefire.arg_line)
        yield f'-Dbasedir={TREE}/{module.path}'
        yield from (f'-D{name}={value}' for name, value in module.surefire.properties.items())

    def _list_class_path(self, plan: LaunchPlan) -> Iterator[str]:
        """The project's own order, our workarounds before it, the engine that it lacks behind it.

        The worker comes first, lest a project's class stand for one of its.
        """
        module = plan.module
        yield WORKER
        if plan.override is not None:
            yield from (
                self.locate_tool_library(artifact)
                for artifact in WORKAROUNDS[plan.override].libraries
            )
        yield from plan.junit.first
        yield f'{TREE}/{module.path}/{module.test_classes}'
        yield f'{TREE}/{module.path}/{module.classes}'
        left_out = module.surefire.excludes_entry
        yield from (_locate_entry(entry) for entry in module.class_path if not left_out(entry))
        yield from plan.junit.last
        yield from module.surefire.more_places

    def locate_tool_library(self, artifact: str) -> str:
        return f'{TOOLS}/libraries/{self.toolchain.locate_library(artifact).name}'


def is_in_tree(place: str) -> bool:
    return f'{place}/'.startswith(f'{TREE}/')


def _locate_entry(entry: ReportedClassPathEntry) -> str:
    """Where a test process finds an entry of the class path."""
    if entry.sibling is not None:
        return f'{TREE}/{entry.sibling}/{entry.folder}'
    if entry.file is not None:
        return f'{TREE}/{entry.file}'
    return f'{REPOSITORY}/{entry.path}'


def _make_limits(cpu_seconds: float, wall_per_cpu: float) -> Limits:
    return Limits(
        cpu_seconds=cpu_seconds,
        wall_seconds=cpu_seconds * wall_per_cpu,
        memory_bytes=MEMORY_BYTES,
        processes=PROCESSES,
        file_bytes=FILE_BYTES,
        disk_bytes=DISK_BYTES,
    )


# What a shell in the sandbox does before a test process: it lays the tree out, and changes into
# it.

# The tree is laid out anew for every process, so that none sees what another one wrote, and in the
# same way whatever is in it: as many processes, the same words. Dates are those of the archive.
_TREE_LAID_OUT = f"""\
set -e
folder=$1; shift 2
tar -x -p --no-same-owner -f {PACKED_TREE} -C {TREE}
mkdir -p "{TREE}/$folder"
cd "{TREE}/$folder"
"""

# Then the process itself, its channel on standard output.
LAY_OUT = f'{_TREE_LAID_OUT}exec "$@" 3>&1 1>&2\n'

# The same under observation: where to connect to is the first line of standard input.
_OBSERVED = """\
read -r port
java=$1; shift
exec "$java" "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:$port" \\
    "$@" 3>&1 1>&2
"""
LAY_OUT_OBSERVED = _TREE_LAID_OUT + _OBSERVED

# The same for a process that only lists what it loads.
LAY_OUT_AND_LIST = f'{_TREE_LAID_OUT}{LIST}\n'


def make_report_script(file: str) -> str:
    """The same for a process that leaves a file; where it fails, nothing is on the channel."""
    return f'{_TREE_LAID_OUT}"$@" 1>&2\ncat {file}\n'
