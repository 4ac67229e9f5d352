"""What the builders of one run share: folders, sandbox, libraries, and revisions built once."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Sequence
from pathlib import Path

from coevo.languages.builds import Build
from coevo.languages.java.building import settings
from coevo.languages.java.building.build_attempt import BuildAttempt
from coevo.languages.java.building.build_outputs import BuildOutput
from coevo.languages.java.building.build_outputs import separate
from coevo.languages.java.building.report import modules_of
from coevo.languages.java.building.session import Died
from coevo.languages.java.building.session import Session
from coevo.languages.java.gradle import attempts as gradle_attempts
from coevo.languages.java.gradle.attempts import mount_of
from coevo.languages.java.gradle.choice import gradle_of
from coevo.languages.java.gradle.scripts import BUILD_FILES
from coevo.languages.java.gradle.scripts import is_gradle
from coevo.languages.java.maven.attempts import Attempts
from coevo.languages.java.maven.builder_archive import rehearsal
from coevo.languages.java.maven.left_out import need_of
from coevo.languages.java.places import ARCHIVES
from coevo.languages.java.places import POM
from coevo.languages.java.places import REPOSITORY
from coevo.languages.java.places import TOOLS
from coevo.languages.java.places import WORKSPACE
from coevo.languages.java.processes import launch
from coevo.languages.java.processes.archives import Archives
from coevo.languages.java.processes.archives import Rehearsal
from coevo.languages.java.processes.archives import archive_key
from coevo.languages.java.processes.launch import Launcher
from coevo.languages.java.processes.plan import LaunchPlan
from coevo.languages.java.revisions.contents import Contents
from coevo.languages.java.revisions.failures import GRADLE_MISSING
from coevo.languages.java.revisions.failures import NO_BUILD_FILE
from coevo.languages.java.revisions.failures import PATH_TOO_LONG
from coevo.languages.java.revisions.failures import TREE_TOO_LARGE
from coevo.languages.java.revisions.failures import is_of_the_builder
from coevo.languages.java.revisions.failures import why
from coevo.languages.java.revisions.junits import JUnits
from coevo.languages.java.revisions.levels import declared_level
from coevo.languages.java.revisions.run_context import JavaRunContext
from coevo.languages.java.revisions.sharing import can_share
from coevo.languages.java.revisions.sharing import differing
from coevo.languages.java.revisions.sharing import share
from coevo.languages.java.revisions.unread_files import unread_tests
from coevo.languages.java.tools.gradles import Gradle
from coevo.languages.java.tools.jdk_bundles import made_of
from coevo.languages.java.tools.jdks import Jdk
from coevo.languages.java.tools.toolchain import toolchain
from coevo.model.errors import Transient
from coevo.sandboxes.clock import ProcessClock
from coevo.sandboxes.sandbox import Job
from coevo.sandboxes.sandbox import Mount
from coevo.storage.beneath import beneath
from coevo.storage.beneath import path_fault
from coevo.storage.folders import cache_folder

# Wall seconds for one build or compilation; far beyond what a healthy one takes.
BUILD_SECONDS = 1200.0


# Older JVMs keep archives of their own classes alone.
OLDEST_WITH_ARCHIVES = 11


class SharedBuilds:
    """Revisions built with one JDK; nothing is started before the first builder asks for it."""

    def __init__(self, run: JavaRunContext, chosen: Jdk | None = None) -> None:
        self._repository = run.repository
        self.sandbox = run.sandbox
        self.toolchain = toolchain(run.say, chosen)
        self._runtime = made_of(self.toolchain.java_home)
        self.root = run.folder_for(self.toolchain)
        self.shared = run.shared
        self._proxy, self._gradles = run.proxy, run.gradles
        self._outputs: dict[str, tuple[Build, BuildOutput]] = {}
        self._attempts = Attempts(self.toolchain.java_home)
        self._unread: dict[str, frozenset[str]] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._sharing = threading.Lock()  # an output is not removed while another one takes of it
        settings.write(self.root)
        archives = cache_folder() / 'archives'
        archives.mkdir(mode=0o755, parents=True, exist_ok=True)
        self._archives = Archives(self.sandbox, archives, self.root / 'lists')
        self._mounts = (
            Mount(source=self.root, target=WORKSPACE),
            Mount(source=self.shared, target=REPOSITORY),
            Mount(source=self.toolchain.tools, target=f'{TOOLS}/programs'),
            Mount(source=self.toolchain.libraries, target=f'{TOOLS}/libraries'),
            Mount(source=archives, target=ARCHIVES),
            *map(mount_of, self._gradles),
            *foreign_jdk(self.toolchain.java_home),
            *foreign_jdk(self.toolchain.tools_home, unless=self.toolchain.java_home),
        )
        self.launcher = Launcher(toolchain=self.toolchain, workspace=self.root, mounts=self._mounts)
        self.junits = JUnits(self.launcher, self.folder)
        self.contents = Contents(run, self.toolchain, self.output, self._gradle)
        self.clock = ProcessClock(self.sandbox, self.launcher.clock_probe)

    def session(self) -> Session:
        """A JVM of its own for builds and compilations, started on its first request."""
        return Session(self.sandbox, self.builder_job, seconds=BUILD_SECONDS)

    def reader(self) -> Session:
        """A JVM of its own that reads execution data, started on its first request."""
        job = settings.tracer_job(self.toolchain, self._mounts)
        return Session(self.sandbox, lambda: job, seconds=BUILD_SECONDS)

    def builder_job(self) -> Job:
        """With an archive of Maven's classes, which the first one of a machine has to make."""
        archive = None
        if self.toolchain.feature >= OLDEST_WITH_ARCHIVES:
            archive, _ = self._archive(
                settings.builder_places(self.toolchain),
                lambda file: rehearsal(self.toolchain, self._mounts, self.root, file),
            )
        return settings.builder_job(self.toolchain, self._mounts, self._proxy.socket, archive)

    def files(self, rev: str) -> Collection[str]:
        """Repository paths of a revision."""
        return self._repository.tree(rev).keys()

    def with_archive(self, plan: LaunchPlan) -> tuple[LaunchPlan, float]:
        """A plan with its class path and, where there is one, an archive of its classes; the CPU
        seconds that it took to make one."""
        plan = self.launcher.arranged(plan)
        if launch.WORKER not in plan.libraries or self.toolchain.feature < OLDEST_WITH_ARCHIVES:
            return plan, 0.0
        archive, used = self._archive(
            plan.libraries, lambda file: self.launcher.rehearsal(plan, file)
        )
        return dataclasses.replace(plan, archive=archive), used

    def _archive(
        self, places: Sequence[str], made_by: Callable[[Path], Rehearsal]
    ) -> tuple[str | None, float]:
        """The archive of a class path, and the CPU seconds that it took to make it now.

        made_by  how, from a file with a list of classes
        """
        key = archive_key(
            str(self.toolchain.java),
            self.toolchain.jdk,
            self.sandbox.name,
            [(place, self.launcher.outside(place)) for place in places],
        )
        used = 0.0
        with self._archives.settling(key) as due:
            if due:
                used = self._archives.make(key, made_by(self._archives.list_file(key)))
        return self._archives.place(key), used

    def output(self, rev: str) -> BuildOutput:
        """A revision that was built."""
        return self._outputs[rev][1]

    def build(self, rev: str, session: Session) -> Build:
        """Build a revision, or answer at no cost from what another pair has built."""
        with self._lock:
            lock = self._locks.setdefault(rev, threading.Lock())
        with lock:
            if rev in self._outputs:
                return dataclasses.replace(self._outputs[rev][0], cpu_seconds=0.0)
            refusal = self._refusal(rev)
            if refusal is not None:
                self._outputs[rev] = self._refused(rev, refusal)
            else:
                output = self._laid_out(rev)
                self._outputs[rev] = self._shared(output) or self._build(output, session)
            return self._outputs[rev][0]

    def unread(self, rev: str) -> frozenset[str]:
        """The test files of a revision that are left out, see `unread_tests`."""
        if rev not in self._unread:
            self._unread[rev] = unread_tests(self._repository, rev)
        return self._unread[rev]

    def forget(self, rev: str) -> None:
        with self._sharing:
            found = self._outputs.pop(rev, None)
            if found is not None:
                found[1].remove()

    def folder(self, *names: str) -> Path:
        """A folder of the workspace, its parents made."""
        folder = self.root.joinpath(*names)  # own name: words of coevo and digests
        folder.parent.mkdir(parents=True, exist_ok=True)
        return folder

    def _refusal(self, rev: str) -> str | None:
        """Why a tree is not even written: it would fill the disk of every sandbox, cannot be, or is no
        project."""
        if any(map(path_fault, (*self._repository.tree(rev), *self._repository.submodules(rev)))):
            return PATH_TOO_LONG
        if POM not in self._repository.tree(rev):
            if not is_gradle(self._repository, rev):
                return NO_BUILD_FILE
            if self._gradle(rev) is None:
                return GRADLE_MISSING
        too_large = self._repository.size(rev) > launch.MOST_TREE_BYTES
        return TREE_TOO_LARGE if too_large else None

    def _refused(self, rev: str, failure: str) -> tuple[Build, BuildOutput]:
        jdk = self.toolchain.jdk
        build = Build(
            rev=rev, failure=failure, modules={}, runtime=jdk, runtime_packages=self._runtime
        )
        return build, BuildOutput(rev=rev, root=self.root, modules={})

    def _laid_out(self, rev: str) -> BuildOutput:
        """A revision's tree, and nothing that Maven made."""
        output = BuildOutput(rev=rev, root=self.root, modules={})
        output.remove()  # what a try that trouble of ours ended may have left
        output.code.parent.mkdir(parents=True, exist_ok=True)
        self._repository.materialise(rev, output.code)
        for path in self.unread(rev):
            beneath(output.code, path).remove()
        return output

    def _shared(self, empty: BuildOutput) -> tuple[Build, BuildOutput] | None:
        """The build of a revision that differs in test sources alone, if one is at hand."""
        tree = self._repository.tree(empty.rev)
        with self._sharing:
            for build, donor in tuple(self._outputs.values()):
                changed = differing(tree, self._repository.tree(donor.rev))
                if can_share(donor, changed):
                    share(donor, empty)
                    output = dataclasses.replace(empty, modules=donor.modules)
                    separate(
                        output, tuple(sorted({*output.modules, *self._module_folders(output.rev)}))
                    )
                    return dataclasses.replace(build, rev=output.rev, cpu_seconds=0.0), output
        return None

    def _build(self, empty: BuildOutput, session: Session) -> tuple[Build, BuildOutput]:
        trouble_before = self._proxy.trouble
        attempt = self._attempt(empty, session)
        answer = attempt.answer
        if self._proxy.trouble != trouble_before:
            raise Transient('libraries could not be fetched; check the network')
        modules = {} if isinstance(answer, Died) else modules_of(answer.report)
        output = dataclasses.replace(empty, modules=modules)
        separate(output, tuple(sorted({*modules, *self._module_folders(empty.rev)})))
        built = [module for module in modules.values() if module.failure is None]
        build = Build(
            rev=empty.rev,
            failure=None if built else self._named(why(answer, modules), empty.rev),
            modules={
                name: module.failure and self._named(module.failure, empty.rev, name)
                for name, module in modules.items()
            },
            level=declared_level(built),
            overrides=tuple(sorted({o for module in built for o in module.overrides})),
            builder=attempt.builder,
            runtime=self.toolchain.jdk,
            runtime_packages=self._runtime,
            cpu_seconds=attempt.cpu_seconds,
        )
        return build, output

    def _attempt(self, empty: BuildOutput, session: Session) -> BuildAttempt:
        gradle = self._gradle(empty.rev)
        if gradle is None:
            return self._attempts.build(empty, session)
        return gradle_attempts.build(empty, session, gradle, str(self.toolchain.java_home))

    def _gradle(self, rev: str) -> Gradle | None:
        """Who builds a revision without a POM at its root."""
        if POM in self._repository.tree(rev):
            return None
        return gradle_of(self._repository, rev, self._gradles)

    def _named(self, failure: str, rev: str, module: str | None = None) -> str:
        """A failure of Maven's by its cause, if that is content which no clone holds."""
        if failure == 'skipped' or is_of_the_builder(failure):
            return failure
        return need_of(self._repository, rev, module) or failure

    def _module_folders(self, rev: str) -> Iterator[str]:
        """Folders with a build file: modules, whether or not they were read."""
        for path in self._repository.tree(rev):
            folder, _, name = path.rpartition('/')
            if name in (POM, *BUILD_FILES):
                yield folder or '.'


def foreign_jdk(java_home: Path, unless: Path | None = None) -> Iterator[Mount]:
    """A JDK that is not among the system's folders, which every sandbox sees."""
    if java_home == unless:
        return
    if not java_home.is_relative_to('/usr') or java_home.is_relative_to('/usr/local'):
        yield Mount(source=java_home.resolve(), target=str(java_home))
