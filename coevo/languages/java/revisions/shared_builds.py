"""Resources shared by the builders of a run: folders, sandbox, libraries and built revisions."""

from __future__ import annotations

import dataclasses
import secrets
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coevo.languages.cells import Build
from coevo.languages.core.cell_files import StandIn
from coevo.languages.core.test_runs import RunResult
from coevo.languages.java.building import settings
from coevo.languages.java.building.build_outputs import BuildOutput, separate_tests_and_code
from coevo.languages.java.building.project_command import ProjectCommand, make_project_job
from coevo.languages.java.building.report import (
    OUTPUT_ELSEWHERE,
    find_highest_declared_level,
    list_left_out_plugins,
    parse_modules,
)
from coevo.languages.java.building.session import BuildAttempt, JvmDeath, JvmSession
from coevo.languages.java.gradle import (
    BUILD_FILES,
    build_by_gradle,
    choose_gradle_for_revision,
    has_gradle_script,
    make_gradle_mount,
)
from coevo.languages.java.maven.attempts import MavenBuildAttempts
from coevo.languages.java.places import ARCHIVES, POM, REPOSITORY, TOOLS, WORKSPACE
from coevo.languages.java.processes import launch
from coevo.languages.java.processes.archives import (
    ArchiveRehearsal,
    ClassArchives,
    make_archive_key,
    prepare_archive_jobs,
)
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.packed_trees import find_stand_ins
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.revisions.failures import (
    GRADLE_MISSING,
    NO_BUILD_FILE,
    PATH_TOO_LONG,
    TREE_TOO_LARGE,
    explain_failure,
    find_missing_content_kind,
    find_too_nested_tests,
    is_build_timeout,
    is_builder_death,
)
from coevo.languages.java.revisions.junits import JUnitChoices
from coevo.languages.java.revisions.run_context import BuildContents, JavaRunContext
from coevo.languages.java.revisions.sharing import can_share, find_differing_paths, share_outputs
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.jdk_supply import describe_debian_packages_of_jdk
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.toolchain import prepare_toolchain
from coevo.model.errors import Transient
from coevo.model.reasons import Reason
from coevo.sandboxes.clock import ProcessClock
from coevo.sandboxes.sandbox import Job, Mount
from coevo.storage.beneath import find_path_fault, join_beneath
from coevo.storage.disk import find_cache_folder

# Why the project's own command is not run: a project of Gradle, or a folder that is no module.
NOT_BY_MAVEN, NO_MODULE = 'not_by_maven', 'no_module'

# Wall seconds for one build or compilation; far more than a healthy one takes.
BUILD_SECONDS = 1200.0


# Older JVMs support archives of the JDK's own classes only.
OLDEST_WITH_ARCHIVES = 11


class SharedBuilds:
    """The builds of a run with one JDK, and what builds and tests share; for several threads.

    No process is started before a builder needs it.
    """

    def __init__(self, run: JavaRunContext, chosen: Jdk | None = None) -> None:
        self._repository = run.repository
        self.sandbox = run.sandbox
        self.toolchain = prepare_toolchain(run.say, chosen)
        self._runtime = describe_debian_packages_of_jdk(self.toolchain.java_home)
        self.root = run.make_folder_for(self.toolchain)
        self.shared = run.shared
        self._proxy, self._gradles = run.proxy, run.gradles
        self._outputs: dict[str, tuple[Build, BuildOutput]] = {}
        self._attempts = MavenBuildAttempts(self.toolchain.java_home)
        self._unread: dict[str, frozenset[str]] = {}
        # (revision, module) -> its run by `coevo.languages.java.umpire`, which costs nothing any more
        self.project_runs: dict[tuple[str, str], RunResult[Any]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        # no output may be removed while another one links to its files
        self._sharing = threading.Lock()
        settings.write_maven_settings(self.root)
        archives = find_cache_folder() / 'archives'
        archives.mkdir(mode=0o755, parents=True, exist_ok=True)
        self._archives = ClassArchives(self.sandbox, archives, self.root / 'lists')
        self._mounts = (
            Mount(source=self.root, target=WORKSPACE),
            Mount(source=self.shared, target=REPOSITORY),
            Mount(source=self.toolchain.tools, target=f'{TOOLS}/programs'),
            Mount(source=self.toolchain.libraries, target=f'{TOOLS}/libraries'),
            Mount(source=archives, target=ARCHIVES),
            *map(make_gradle_mount, self._gradles),
            *make_jdk_mount_outside_usr(self.toolchain.java_home),
            *make_jdk_mount_outside_usr(self.toolchain.tools_home, unless=self.toolchain.java_home),
        )
        self.launcher = Launcher(toolchain=self.toolchain, workspace=self.root, mounts=self._mounts)
        self.junits = JUnitChoices(self.launcher, self.locate_folder_creating_parents)
        self.contents = BuildContents(run, self.toolchain, self.get_output, self._choose_gradle)
        self.clock = ProcessClock(self.sandbox, self.launcher.make_clock_probe)

    def make_session(self) -> JvmSession:
        """Return a JVM for builds and compilations, started on its first request."""
        return JvmSession(self.sandbox, self.make_builder_job, seconds=BUILD_SECONDS)

    def make_tracer_session(self) -> JvmSession:
        """Return a JVM that reads execution data, started on its first request."""
        job = settings.make_tracer_job(self.toolchain, self._mounts)
        return JvmSession(self.sandbox, lambda: job, seconds=BUILD_SECONDS)

    def make_builder_job(self) -> Job:
        """Return the job of a builder, with an archive of Maven's classes.

        The archive is made first if this machine has none yet.
        """
        archive = None
        if self.toolchain.feature >= OLDEST_WITH_ARCHIVES:
            archive, _ = self._prepare_archive_and_count_cpu_seconds(
                settings.list_builder_class_path(self.toolchain),
                lambda file: prepare_archive_jobs(self.toolchain, self._mounts, self.root, file),
            )
        return settings.make_builder_job(self.toolchain, self._mounts, self._proxy.socket, archive)

    def list_files(self, rev: str) -> Collection[str]:
        """Return the repository paths of a revision."""
        return self._repository.tree(rev).keys()

    def list_absent_files(self, rev: str) -> tuple[str, ...]:
        """Return the paths of a revision's files whose content the clone lacks."""
        return self._repository.list_absent_files(rev)

    def find_stand_ins(
        self, revs: Iterable[str], layers: Sequence[Path], removed: Collection[str]
    ) -> tuple[StandIn, ...]:
        """Return the files in the layers that take the place of content that the clone lacks.

        Those in `removed` are left out. The layers are read only if one of `revs` lacks content.
        """
        if not any(map(self.list_absent_files, revs)):
            return ()
        return tuple(s for s in find_stand_ins(layers) if s.path not in removed)

    def attach_archive_and_count_cpu_seconds(self, plan: LaunchPlan) -> tuple[LaunchPlan, float]:
        """Return a plan with its class path and a class archive, and the CPU seconds to make it.

        The archive is made if there is none yet; it stays None if the JDK is older than 11 or if
        making it failed.
        """
        plan = self.launcher.arrange_class_path(plan)
        if launch.WORKER not in plan.leading_jars or self.toolchain.feature < OLDEST_WITH_ARCHIVES:
            return plan, 0.0
        archive, used = self._prepare_archive_and_count_cpu_seconds(
            plan.leading_jars, lambda file: self.launcher.prepare_archive_jobs(plan, file)
        )
        return dataclasses.replace(plan, archive=archive), used

    def _prepare_archive_and_count_cpu_seconds(
        self, places: Sequence[str], made_by: Callable[[Path], ArchiveRehearsal]
    ) -> tuple[str | None, float]:
        """Return the class archive of a class path, made if need be, and the CPU seconds for it.

        `made_by` returns the jobs that make it, from the path of a class list. The archive is None
        if making it failed.
        """
        key = make_archive_key(
            str(self.toolchain.java),
            self.toolchain.jdk,
            self.sandbox.name,
            [(sandbox_path, self.launcher.locate_on_host(sandbox_path)) for sandbox_path in places],
        )
        used = 0.0
        with self._archives.lock_for_making(key) as due:
            if due:
                used = self._archives.make_archive_counting_cpu_seconds(
                    key, made_by(self._archives.locate_class_list(key))
                )
        return self._archives.find_archive(key), used

    def get_output(self, rev: str) -> BuildOutput:
        """Return the folders and modules of a revision, which must have been built."""
        return self._outputs[rev][1]

    def build(self, rev: str, session: JvmSession) -> Build:
        """Build a revision once, or return the existing build with a cost of 0 CPU seconds.

        A revision that cannot be built gets a build with a `failure`. If another revision differs
        in test sources alone, its build is reused. Raises: Transient if libraries could not be
        downloaded.
        """
        with self._lock:
            lock = self._locks.setdefault(rev, threading.Lock())
        with lock:
            if rev in self._outputs:
                return dataclasses.replace(self._outputs[rev][0], cpu_seconds=0.0)
            refusal = self._find_build_obstacle(rev)
            if refusal is not None:
                self._outputs[rev] = self._make_refused_build(rev, refusal)
            else:
                output = self._write_revision_tree(rev)
                self._outputs[rev] = self._share_existing_build(output) or self._build_revision(
                    output, session
                )
            return self._outputs[rev][0]

    def list_too_nested_tests(self, rev: str) -> frozenset[str]:
        """Return the test files of a revision that are not compiled: their classes nest too deeply.

        See `unread_files`.
        """
        if rev not in self._unread:
            self._unread[rev] = find_too_nested_tests(self._repository, rev)
        return self._unread[rev]

    def remove_builds_of_revision(self, rev: str) -> None:
        """Delete the files and the record of a revision's build; do nothing if there is none."""
        with self._sharing:
            entry = self._outputs.pop(rev, None)
            for key in [key for key in tuple(self.project_runs) if key[0] == rev]:
                del self.project_runs[key]
            if entry is not None:
                entry[1].remove()

    def locate_folder_creating_parents(self, *names: str) -> Path:
        """Return the path of a folder of the workspace; only its parents are created."""
        folder = self.root.joinpath(*names)  # own name: words of coevo and digests
        folder.parent.mkdir(parents=True, exist_ok=True)
        return folder

    def find_project_run_obstacle(self, rev: str, module: str) -> str | None:
        """Return why `mvn test` is not run for a module of a built revision; None if it can be.

        Where the build failed by Maven's own word, the command, which has the same settings, would
        fail alike. Where it used up its time, the command would do so, too, and take longer.
        """
        refusal = self._find_build_obstacle(rev)
        if refusal is not None or POM not in self._repository.tree(rev):
            return refusal or NOT_BY_MAVEN
        if self.list_absent_files(rev):
            return Reason.OBJECT_MISSING.value
        build = self._outputs[rev][0]
        failure = build.modules.get(module, build.failure or NO_MODULE)
        if failure is None or failure == OUTPUT_ELSEWHERE:
            return None
        return None if is_builder_death(failure) and not is_build_timeout(failure) else failure

    @contextmanager
    def prepare_project_run(self, rev: str, module: str) -> Iterator[Job]:
        """Write the files of a built revision; yield the job of `mvn test` for one of its modules.

        Plugins that its build had to leave out are left out here, too, and its build files are
        those of the build. The files are removed afterwards.
        """
        output = self.get_output(rev)
        tree = self.locate_folder_creating_parents('projects', secrets.token_hex(8))
        try:
            self._repository.materialise(rev, tree)
            for path, text in output.rewritten.items():
                join_beneath(tree, path).replace_file(text)
            command = ProjectCommand(
                tree=tree, module=module, without=list_left_out_plugins(output.modules.values())
            )
            yield make_project_job(self.toolchain, self._mounts, self._proxy.socket, command)
        finally:
            shutil.rmtree(tree, ignore_errors=True)

    def _find_build_obstacle(self, rev: str) -> str | None:
        """Return why a revision is not built at all; None if it can be tried.

        Its tree would fill the disk of a sandbox, has a path that cannot be written, has no build
        file, or needs a Gradle that is not here.
        """
        if any(
            map(
                find_path_fault,
                (*self._repository.tree(rev), *self._repository.list_submodules(rev)),
            )
        ):
            return PATH_TOO_LONG
        if POM not in self._repository.tree(rev):
            if not has_gradle_script(self._repository, rev):
                return NO_BUILD_FILE
            if self._choose_gradle(rev) is None:
                return GRADLE_MISSING
        too_large = self._repository.measure_size(rev) > launch.MOST_TREE_BYTES
        return TREE_TOO_LARGE if too_large else None

    def _make_refused_build(self, rev: str, failure: str) -> tuple[Build, BuildOutput]:
        jdk = self.toolchain.jdk
        build = Build(
            rev=rev, failure=failure, modules={}, runtime=jdk, runtime_packages=self._runtime
        )
        return build, BuildOutput(rev=rev, root=self.root, modules={})

    def _write_revision_tree(self, rev: str) -> BuildOutput:
        """Write the tree of a revision to disk, without unread test files; return its folders."""
        output = BuildOutput(rev=rev, root=self.root, modules={})
        output.remove()  # a try that ended with an infrastructure error may have left files
        output.code.parent.mkdir(parents=True, exist_ok=True)
        self._repository.materialise(rev, output.code, stand_ins=True)
        for path in self.list_too_nested_tests(rev):
            join_beneath(output.code, path).remove()
        return output

    def _share_existing_build(self, empty: BuildOutput) -> tuple[Build, BuildOutput] | None:
        """Link and return the build of a revision that differs in test sources alone; else None."""
        tree = self._repository.tree(empty.rev)
        with self._sharing:
            for build, donor in tuple(self._outputs.values()):
                changed = find_differing_paths(tree, self._repository.tree(donor.rev))
                if can_share(donor, changed):
                    share_outputs(donor, empty)
                    output = dataclasses.replace(
                        empty, modules=donor.modules, rewritten=donor.rewritten
                    )
                    separate_tests_and_code(
                        output,
                        tuple(sorted({*output.modules, *self._find_module_folders(output.rev)})),
                    )
                    return dataclasses.replace(build, rev=output.rev, cpu_seconds=0.0), output
        return None

    def _build_revision(self, empty: BuildOutput, session: JvmSession) -> tuple[Build, BuildOutput]:
        trouble_before = self._proxy.trouble
        attempt = self._attempt_build(empty, session)
        answer = attempt.answer
        if self._proxy.trouble != trouble_before:
            raise Transient('libraries could not be fetched; check the network')
        modules = {} if isinstance(answer, JvmDeath) else parse_modules(answer.report)
        output = dataclasses.replace(empty, modules=modules, rewritten=attempt.rewritten)
        separate_tests_and_code(
            output, tuple(sorted({*modules, *self._find_module_folders(empty.rev)}))
        )
        built = [module for module in modules.values() if module.failure is None]
        build = Build(
            rev=empty.rev,
            failure=None
            if built
            else self._prefer_missing_content_reason(explain_failure(answer, modules), empty.rev),
            modules={
                name: module.failure
                and self._prefer_missing_content_reason(module.failure, empty.rev, name)
                for name, module in modules.items()
            },
            level=find_highest_declared_level(built),
            overrides=tuple(
                sorted({*attempt.overrides, *(o for module in built for o in module.overrides)})
            ),
            builder=attempt.builder,
            runtime=self.toolchain.jdk,
            runtime_packages=self._runtime,
            cpu_seconds=attempt.cpu_seconds,
        )
        return build, output

    def _attempt_build(self, empty: BuildOutput, session: JvmSession) -> BuildAttempt:
        gradle = self._choose_gradle(empty.rev)
        if gradle is None:
            return self._attempts.build(empty, session)
        return build_by_gradle(empty, session, gradle, str(self.toolchain.java_home))

    def _choose_gradle(self, rev: str) -> Gradle | None:
        """Return the Gradle for a revision without a POM at its root; None if Maven builds it."""
        if POM in self._repository.tree(rev):
            return None
        return choose_gradle_for_revision(self._repository, rev, self._gradles)

    def _prefer_missing_content_reason(
        self, failure: str, rev: str, module: str | None = None
    ) -> str:
        """Return a better name for a failure if the clone lacks content that may have caused it.

        Otherwise return the failure itself. A build that failed with stand-ins in its tree does not
        show what made it fail.
        """
        if failure == 'skipped' or is_builder_death(failure):
            return failure
        if self._repository.list_absent_files(rev):
            return Reason.OBJECT_MISSING.value
        return find_missing_content_kind(self._repository, rev, module) or failure

    def _find_module_folders(self, rev: str) -> Iterator[str]:
        """Yield the folders of a revision that have a build file, read by the build or not."""
        for path in self._repository.tree(rev):
            folder, _, name = path.rpartition('/')
            if name in (POM, *BUILD_FILES):
                yield folder or '.'


def make_jdk_mount_outside_usr(java_home: Path, unless: Path | None = None) -> Iterator[Mount]:
    """Yield a mount for a JDK that sandboxes do not see without it; nothing for any other.

    Every sandbox sees `/usr`, but not `/usr/local`. Yields nothing if the JDK is `unless`.
    """
    if java_home == unless:
        return
    if not java_home.is_relative_to('/usr') or java_home.is_relative_to('/usr/local'):
        yield Mount(source=java_home.resolve(), target=str(java_home))
