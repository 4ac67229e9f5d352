"""The command that runs tests of a module as its own build would: class path, folder, options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from coevo.languages.java.processes.packed_trees import (
    GuardedJob,
    make_mounts_of_files,
    wrap_with_stand_in_check,
)
from coevo.languages.java.processes.plan import (
    LaunchPlan,
    limit_variables_to_usable_options,
    move_libraries_first,
    select_usable_options,
)
from coevo.languages.java.processes.runner import encode_request
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.languages.java.tools.toolchain import FIRST_WITH_MODULES, Toolchain
from coevo.sandboxes.sandbox import Job, Limits, Mount

JVM_OPTIONS = (
    '-ea',
    '-Xmx1g',
    '-Xshare:auto',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    # Test JVMs are short-lived: code called a few hundred times is not worth compiling (measured,
    # see benchmarks/figures.md). The thresholds for loops are unchanged.
    '-XX:Tier3InvocationThreshold=2000',
    '-XX:Tier3MinInvocationThreshold=1000',
    '-XX:Tier3CompileThreshold=3000',
    '-XX:-UsePerfData',
    '-XX:ActiveProcessorCount=2',
    '-XX:+IgnoreUnrecognizedVMOptions',  # the project's own options may be meant for an older JVM
    '-Djava.awt.headless=true',
    '-Duser.language=en',
    '-Duser.country=US',
)

WORKER = f'{TOOLS}/programs/worker.jar'

# Libraries that test settings mention outside the class path.
_NAMED = re.compile(rf'{REPOSITORY}/[^\s:;,=]+')

# CPU seconds of one process; a test can read this limit. The limits of its targets are usually
# lower and differ between runs of a test; `runner` enforces them from outside.
LONGEST = 86_400.0

MEMORY_BYTES = 6 << 30
DISK_BYTES = 2 << 30
MOST_TREE_BYTES = DISK_BYTES // 2  # the rest is for class files and files that tests write
FILE_BYTES = 1 << 30
PROCESSES = 512


NO_FILES: Mapping[str, Path] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Launcher:
    """Makes the sandbox jobs of a run's test processes; holds the settings that they share."""

    toolchain: Toolchain
    workspace: Path
    mounts: tuple[Mount, ...]

    def arrange_class_path(self, plan: LaunchPlan) -> LaunchPlan:
        """Return a copy of a plan with its class path, ordered by `move_libraries_first`."""
        places = tuple(self._list_class_path(plan))
        files = {
            sandbox_path: self.locate_on_host(sandbox_path)
            for sandbox_path in places
            if not is_in_tree(sandbox_path)
        }
        return replace(plan, class_path=move_libraries_first(places, plan.layers, files))

    def locate_on_host(self, place: str) -> Path:
        """Return the host's file for a path in the sandbox that is mounted."""
        mount = next(m for m in self.mounts if place.startswith(f'{m.target}/'))
        return mount.source / place.removeprefix(
            f'{mount.target}/'
        )  # own name: read alone; held to the tree by report.py

    def prepare_archive_jobs(self, plan: LaunchPlan, list_file: Path) -> ArchiveRehearsal:
        """Return the jobs that make a class archive of a plan's libraries; starts none of them.

        The first one runs the worker with the plan's targets for a short time.
        """
        job = self.make_job(plan)
        shell, option, _, *rest = job.argv
        java = rest.index(str(self.toolchain.java))
        rest.insert(java + 1, LISTING)
        dumped = replace(
            job,
            mounts=(
                *self._mount_libraries_and_files(plan),
                self._make_workspace_mount(list_file.parent),
            ),
        )
        return ArchiveRehearsal(
            request=encode_request('rehearsal', plan.targets),
            listing=replace(job, argv=(shell, option, LAY_OUT_AND_LIST, *rest), limits=LIMITS),
            dumping=make_dump_job(
                dumped, self.toolchain.java, self.locate_in_sandbox(list_file), plan.leading_jars
            ),
        )

    def make_reporting_job(
        self, plan: LaunchPlan, command: Sequence[str], report: str, files: Mapping[str, Path]
    ) -> Job:
        """Return a job that runs another command with a plan's tree and prints the file it writes.

        The content goes to the job's standard output, which stays empty if the command fails.

        report  path of the file in the sandbox
        files   files that the command needs beside the plan's own, by path in the sandbox
        """
        job = self.make_job(plan, files)
        script = make_report_script(report)
        _, _, _, *rest = job.argv
        before = rest[: rest.index('--') + 1]
        return replace(job, argv=('/bin/sh', '-c', script, *before, *command))

    def make_job(self, plan: LaunchPlan, files: Mapping[str, Path] = NO_FILES) -> Job:
        """Return the job that runs a plan's tests by the worker, in the module's folder.

        The worker's events come on the job's standard output. Of the workspace it can see only its
        own tree: other compiled code, for other tests or revisions, might contain the answer to a
        task. It can see only the libraries that its command names. Nothing that a test can read
        (arguments, mounts, kernel limits) reveals whether the code was edited.

        files  further files that it can see, by path in the sandbox
        """
        module = plan.module
        folder = module.surefire.working_folder or module.path
        cpu_seconds = max(LONGEST, sum(target.cpu_limit for target in plan.targets))
        if plan.cpu_limit is not None:
            cpu_seconds = min(cpu_seconds, plan.cpu_limit)
        run = _OBSERVED if plan.observed else _RUN
        make: Callable[..., Job] = Job
        if plan.stand_ins:
            run = wrap_with_stand_in_check(run, plan.stand_ins)
            make = partial(GuardedJob, objects=tuple(sorted({s.oid for s in plan.stand_ins})))
        script = _TREE_LAID_OUT + run
        return make(
            argv=('/bin/sh', '-c', script, 'sh', folder, '--', *self._list_command_words(plan)),
            mounts=(
                *self._mount_libraries_and_files(plan, files),
                Mount(source=plan.tree, target=PACKED_TREE),
            ),
            limits=_make_limits(cpu_seconds, WALL_PER_CPU),
            environment={
                'JAVA_HOME': str(self.toolchain.java_home),
                **limit_variables_to_usable_options(module.surefire.environment),
                **plan.clock,
            },
        )

    def _mount_libraries_and_files(
        self, plan: LaunchPlan, files: Mapping[str, Path] = NO_FILES
    ) -> Iterator[Mount]:
        """Yield mounts of the JDK and of the libraries and tools that a plan's process needs.

        `files` are further files to show, by path in the sandbox.
        """
        yield from (m for m in self.mounts if m.target == str(self.toolchain.java_home))
        known = {
            sandbox_path: self.locate_on_host(sandbox_path)
            for sandbox_path in self._list_files_in_command(plan)
        }
        yield from make_mounts_of_files(self.workspace / 'shelves', {**known, **files})

    def _list_files_in_command(self, plan: LaunchPlan) -> Iterator[str]:
        """Yield the sandbox paths of libraries and tools that a plan's command or variables name.

        Paths in the tree or the workspace are left out.
        """
        surefire = plan.module.surefire
        shared = tuple(f'{m.target}/' for m in self.mounts if m.target != WORKSPACE)
        texts = (
            *self.list_jvm_options(plan),
            *limit_variables_to_usable_options(surefire.environment).values(),
        )
        for sandbox_path in (
            *plan.class_path,
            *(agent.jar for agent in plan.agents),
            *filter(None, [plan.archive]),
            *(sandbox_path for text in texts for sandbox_path in _NAMED.findall(text)),
        ):
            if sandbox_path.startswith(shared) and '..' not in sandbox_path:
                yield sandbox_path

    def _make_workspace_mount(self, place: Path) -> Mount:
        """Return a mount of a part of the workspace at its usual path in the sandbox."""
        return Mount(source=place, target=self.locate_in_sandbox(place))

    def make_clock_probe(self, environment: Mapping[str, str]) -> Job:
        """Return a job whose JVM reports its clock, and whether it can wait for a given time.

        `environment` holds the variables that set the clock.
        """
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
        """Return the sandbox path of a folder of the workspace."""
        return f'{WORKSPACE}/{path.relative_to(self.workspace)}'

    def list_compile_class_path(
        self,
        module: JavaModule,
        code: BuildOutput,
        siblings: Sequence[Path],
        edited: Mapping[str, Sequence[Path]],
    ) -> Iterator[str]:
        """Yield the sandbox paths of the compiler's class path for a module's code and tests.

        The first are the module's own main classes. The code's build output is read where it lies.

        siblings  folders that mirror the tree, with test classes of other modules
        edited    module -> the folders that replace its class folder
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
        yield ':'.join(plan.leading_jars if plan.reload_classes else plan.class_path)
        yield 'coevo.worker.Worker'
        yield from (agent.jar for agent in plan.agents[:1])
        yield from plan.class_path_after_leading_jars if plan.reload_classes else ()

    def list_jvm_options(self, plan: LaunchPlan) -> Iterator[str]:
        """Yield the JVM options that a plan's workaround and its module's POM add to JVM_OPTIONS.

        Options that a test JVM must not get are left out, see `jvm_options`.
        """
        module = plan.module
        if plan.override is not None and self.toolchain.feature >= FIRST_WITH_MODULES:
            yield from WORKAROUNDS[plan.override].jvm_options
        if not module.surefire.assertions:
            yield '-da'
        yield from select_usable_options(module.surefire.arg_line)
        yield f'-Dbasedir={TREE}/{module.path}'
        defined = {**module.surefire.parameters, **module.surefire.properties}
        yield from (f'-D{name}={value}' for name, value in defined.items())

    def _list_class_path(self, plan: LaunchPlan) -> Iterator[str]:
        """Yield the class path: worker, workarounds, the project's own entries, missing engines.

        The worker comes first so that no class of a project can replace one of its classes.
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
        """Return the sandbox path of the pinned library with this artifactId."""
        return f'{TOOLS}/libraries/{self.toolchain.locate_library(artifact).name}'


def is_in_tree(place: str) -> bool:
    """Return whether a sandbox path lies in the tree of a test process."""
    return f'{place}/'.startswith(f'{TREE}/')


def _locate_entry(entry: ReportedClassPathEntry) -> str:
    """Return the path at which a test process finds an entry of the class path."""
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


# Shell scripts that unpack the tree and change into it before a test process starts.
#
# The tree is unpacked anew for every process, so that no process sees the files of another one. The
# arguments and the number of processes do not depend on the tree's contents. Dates are those of the
# archive.
_TREE_LAID_OUT = f"""\
set -e
folder=$1; shift 2
tar -x -p --no-same-owner -f {PACKED_TREE} -C {TREE}
mkdir -p "{TREE}/$folder"
cd "{TREE}/$folder"
"""

# Then start the process itself, with its channel on standard output.
_RUN = 'exec "$@" 3>&1 1>&2\n'
LAY_OUT = _TREE_LAID_OUT + _RUN

# Under observation, the first line of standard input holds the port to connect to.
_OBSERVED = """\
read -r port
java=$1; shift
exec "$java" "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:$port" \\
    "$@" 3>&1 1>&2
"""
LAY_OUT_OBSERVED = _TREE_LAID_OUT + _OBSERVED

# Start a process that only lists the classes it loads.
LAY_OUT_AND_LIST = f'{_TREE_LAID_OUT}{LIST}\n'


def make_report_script(file: str) -> str:
    """Return a shell script that unpacks the tree, runs its arguments, and prints a file.

    Nothing is printed if the command fails.
    """
    return f'{_TREE_LAID_OUT}"$@" 1>&2\ncat {file}\n'
