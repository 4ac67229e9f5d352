"""Provides agents with what they need to run tests offline: a toolchain, modules, and the commands
that use them.
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from coevo.languages.declarations import SourceFile
from coevo.languages.golang.launch import make_variables
from coevo.languages.golang.module_store import download_modules, list_module_cache_paths
from coevo.languages.golang.reading.imports import find_owning_module, list_workspace_replacements
from coevo.languages.golang.reading.layout import GO_MOD, GO_WORK, VENDORING
from coevo.languages.golang.reading.tests import find_tests
from coevo.languages.golang.supply import GoSupply
from coevo.languages.golang.toolchains import (
    MODULES,
    GoToolchain,
    find_toolchains,
    locate_module_cache,
    select_toolchains_of_version,
)
from coevo.languages.kits import Kit
from coevo.languages.reading import RevisionTree
from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.model.task_rows import TaskRow
from coevo.sandboxes.sandbox import Mount, Sandbox

# The options after the part of a command that runs tests of a module at all.
_OPTIONS = ' -vet=off'


def add_commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """Return the environment with the two commands that compile tests and run them by `go test`.

    Without methods, the second command runs all tests of the file.
    """
    where = '' if module == '.' else f'cd {shlex.quote(module)} && '
    is_vendored = environment.build_tool.endswith(VENDORING)
    start = f'GOWORK=off go test {VENDORING}' if is_vendored else _make_command_prefix(module, tree)
    test = f'{where}{start}{_OPTIONS} -count=1'
    wanted = methods or _list_all_tests(tree.parse_file(test_file), module, test_file)
    pattern = shlex.quote(make_run_pattern(wanted))
    return dataclasses.replace(
        environment,
        compile_command=f'{test} -run ^$ .',
        test_command=f'{test} -run {pattern} .',
    )


def _make_command_prefix(module: str, tree: RevisionTree) -> str:
    """Return the start of the command: `go test` with what makes it use the right go.mod.

    In a workspace, it makes a go.mod beside the tree that does what go.work does.
    """
    if GO_WORK not in tree.entries:
        return 'go test -mod=mod'
    texts = {
        path: tree.read_content(path) for path in tree.entries if path.rpartition('/')[2] == GO_MOD
    }
    folders = {posixpath.dirname(path) or '.' for path in texts}
    beside = list_workspace_replacements(
        find_owning_module(module, folders), texts, tree.read_content(GO_WORK)
    )
    if not beside:
        return 'GOWORK=off go test -mod=mod'
    edits = ' '.join(shlex.quote(f'-replace={path}={replacement}') for path, replacement in beside)
    return (
        'd=$(mktemp -d) && r=$(dirname "$(GOWORK=off go env GOMOD)") && cp "$r"/go.* $d && '
        f'go mod edit {edits} $d/go.mod && GOWORK=off go test -mod=mod -modfile=$d/go.mod'
    )


def choose_command_prefix(module: str, environment: Environment | None) -> str:
    """Return the start of the command that runs tests of a module, without tests and options.

    It is taken from the command of `add_commands` if the environment has one; otherwise it suits
    modules outside of workspaces.
    """
    if environment is not None and environment.test_command:
        return environment.test_command.partition(_OPTIONS)[0]
    return 'go test -mod=mod' if module == '.' else f'cd {module} && go test -mod=mod'


def _list_all_tests(file: SourceFile, module: str, path: str) -> list[TestMethod]:
    return [
        TestMethod(module=module, test_file=path, test_class=type_.name, test_method=member.name)
        for type_, member in find_tests(file, lambda simple: ())
    ]


def make_run_pattern(methods: Sequence[TestMethod]) -> str:
    """Return the argument of `-run` that selects the test functions with exactly these names."""
    names = dict.fromkeys(re.escape(method.test_method) for method in methods)
    return f'^({"|".join(names)})$'


class GoKits:
    """The maker of kits for tasks in Go; see `coevo.languages.kits.Kits`."""

    def __init__(self, sandbox: Sandbox, folder: Path, say: Say) -> None:
        """Take the listener of the run; `sandbox` and `folder` are not used."""
        self._say = say

    def make_kit(self, task: TaskRow, place: Path) -> Kit:
        """Return the toolchain and modules of a task as mounts, and variables of the go command.

        What the machine lacks is downloaded.

        Raises:
            Fatal: there is no toolchain on this machine.
            DamagedSnapshot: the task names a module that cannot exist.
            Transient: a module must be downloaded, and no proxy replies.
        """
        toolchain = _find_or_install_toolchain(
            task.environment.runtime if task.environment else '', self._say
        )
        libraries = task.environment.libraries if task.environment else ()
        if libraries:
            download_modules(toolchain, libraries)
        modules = Mount(source=locate_module_cache(), target=MODULES)
        runtime = Mount(source=toolchain.home, target=toolchain.home_in_sandbox)
        is_system = toolchain.home_in_sandbox.startswith('/usr/')
        return Kit(
            mounts=(modules,) if is_system else (runtime, modules),
            system=(runtime,) if is_system else (),
            selected={MODULES: tuple(list_module_cache_paths(libraries))},
            environment={**make_variables(toolchain), 'GOCACHE': '/tmp/go-cache'},
            # A revision from before modules gets a made-up go.mod where it is mined, and none here.
            is_whole=task.module != '.' or (place / 'start' / GO_MOD).is_file(),
        )


def _find_or_install_toolchain(version: str, say: Say) -> GoToolchain:
    """Return the toolchain with which a task was made; else one of its release, else the newest.

    A missing release is installed if possible.

    Raises:
        Fatal: there is no toolchain on this machine.
    """
    supply = GoSupply(brings=True, say=say)
    if version:
        supply.try_to_provide(version)
    known = select_toolchains_of_version(version, supply.known) or find_toolchains()
    if not known:
        raise Fatal('there is no Go here; install one (apt install golang-go)')
    return max(known, key=lambda one: one.numbers)
