"""Revisions built once for a run: a sandbox, a folder, and files on their sides."""

from __future__ import annotations

import dataclasses
import shutil
import signal
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from coevo.languages.builds import Build
from coevo.languages.engine import RunSettings
from coevo.sandboxes.sandbox import Job, Limits, Mount, open_sandbox
from coevo.sandboxes.workspace import open_workspace
from tests.languages.toy.process import MOST_KILLS
from tests.languages.toy.trees import BUILD_FILE, is_test_file, open_tree

SHELL = 'sh'
NO_BUILD_FILE = 'no_build_file'
_KILLED = 128 + signal.SIGKILL  # by somebody else: a build of toys never does so by itself
TOOLS = Path(__file__).with_name('supervisor.sh')

LIMITS = Limits(
    cpu_seconds=60,
    wall_seconds=300,
    memory_bytes=1 << 30,
    processes=64,
    file_bytes=1 << 24,
    disk_bytes=1 << 24,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A revision's files, those of the code and those of the tests apart, and how its build went."""

    build: Build
    code: Path
    tests: Path
    settings: Mapping[str, Mapping[str, str]]  # by module

    def remove(self) -> None:
        shutil.rmtree(self.code.parent, ignore_errors=True)


class Builds:
    """What all builders of a run share; safe from several threads."""

    def __init__(self, run: RunSettings, stack: ExitStack) -> None:
        self.repository = run.repository
        self.sandbox = open_sandbox(run.sandbox)
        stack.callback(self.sandbox.close)
        self.root = stack.enter_context(open_workspace())
        self.tools = self.root / 'tools'
        self.tools.mkdir(mode=0o755)
        shutil.copy(TOOLS, self.tools)
        self._built: dict[str, Built] = {}
        self._lock = threading.Lock()

    def forget(self, rev: str) -> None:
        with self._lock:
            found = self._built.pop(rev, None)
        if found is not None:
            found.remove()

    def build(self, rev: str) -> Build:
        """Build a revision, or answer at no cost from what was built before."""
        with self._lock:
            if rev in self._built:
                return dataclasses.replace(self._built[rev].build, cpu_seconds=0.0)
            self._built[rev] = self._build(rev)
            return self._built[rev].build

    def built(self, rev: str) -> Built:
        return self._built[rev]

    def _build(self, rev: str) -> Built:
        root = self.root / rev
        shutil.rmtree(root, ignore_errors=True)  # what a try that was ended may have left
        root.mkdir(mode=0o755)
        code, tests = root / 'code', root / 'tests'
        self.repository.materialise(rev, code)
        tests.mkdir(mode=0o755)
        for path in self.repository.tree(rev):
            if is_test_file(path):
                move(code / path, tests / path)
        modules = sorted(open_tree(self.repository, rev).modules)
        settings = {module: _settings(code, module) for module in modules}
        failures, used = {}, 0.0
        for module in modules:
            failures[module], seconds = self._build_module(code, module, settings[module])
            used += seconds
        failure = next(iter(failures.values()), NO_BUILD_FILE)
        build = Build(
            rev=rev,
            failure=failure if '.' not in failures or len(failures) == 1 else None,
            modules=failures,
            builder=SHELL,
            runtime=SHELL,
            runtimes_tried=(SHELL,),
            cpu_seconds=used,
        )
        return Built(build=build, code=code, tests=tests, settings=settings)

    def _build_module(
        self, code: Path, module: str, settings: Mapping[str, str]
    ) -> tuple[str | None, float]:
        """Why a module is not built, with the CPU seconds that its own command took."""
        if 'build' not in settings:
            return None, 0.0
        command = f'cd /in/code/{module} && {settings["build"]}'
        job = Job(
            argv=('/bin/sh', '-c', command),
            limits=LIMITS,
            mounts=(Mount(source=code, target='/in/code'),),
        )
        used = 0.0
        for _ in range(MOST_KILLS):
            with self.sandbox.start(job) as process:
                process.stdin.close()
                while process.stdout.read(1 << 16):
                    pass
                status = process.wait()
                used += process.get_cpu_seconds()
            if status != _KILLED:
                break
        return f'status {status}' if status else None, used


def move(source: Path, target: Path) -> None:
    if target.parent != source.parent:
        target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(source, target)


def _settings(code: Path, module: str) -> dict[str, str]:
    lines = (code / PurePosixPath(module) / BUILD_FILE).read_text().splitlines()
    pairs = (line.partition(':') for line in lines if ':' in line)
    return {name.strip(): value.strip() for name, _, value in pairs}
