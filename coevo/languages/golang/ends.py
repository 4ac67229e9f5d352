"""Prepares both ends of a pair in the same way: one toolchain, one date, a go.mod for each."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.languages.cells import Build, CellKey, make_build_without_runtime
from coevo.languages.golang.cells import GoCells
from coevo.languages.golang.compiler import LATE
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.reading.layout import VENDOR
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.toolchains import GoToolchain
from coevo.model.records import Commit, Pair

BUILDER = 'go'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoBuiltEnd:
    """One built revision; `project` is None if nothing could be built."""

    build: Build
    project: GoProject | None = None


def choose_toolchain_or_missing_release(context: GoRunContext, pair: Pair) -> GoToolchain | str:
    """Return the toolchain for the newer language level of both ends of a pair.

    If there is none for it, return the missing release as a text, such as `1.24`.
    """
    wanted = max(
        context.describe_revision(commit.rev, pair.repo, pair.new).level
        for commit in (pair.old, pair.new)
    )
    toolchain = context.supply.find_toolchain_for_level(wanted)
    return toolchain or '.'.join(map(str, wanted[:2]))


def make_unbuilt_end(commit: Commit, missing_release: str) -> GoBuiltEnd:
    """Return an end that was not built, because no toolchain at hand knows its language level.

    lacking  the release that would build it
    """
    return GoBuiltEnd(build=make_build_without_runtime(commit.rev, missing_release))


def build_end(context: GoRunContext, cells: GoCells, commit: Commit, pair: Pair) -> GoBuiltEnd:
    """Build one end of a pair, or return what another pair built in the same way, without cost.

    It downloads the modules that the end needs. The build has a failure and no project if the
    revision cannot be laid out.
    """
    toolchain = cells.compiler.prepared.toolchain
    when = pair.new.committer_date
    key = (commit.rev, toolchain.version, when.date() if when else None)
    known = context.ends.get(key)
    if known is not None:
        build, project = known
        return GoBuiltEnd(build=dataclasses.replace(build, cpu_seconds=0.0), project=project)
    description = context.describe_revision(commit.rev, pair.repo, pair.new)
    refused = description.refusal or context.trees.explain_unwritable(commit.rev)
    if refused is not None:
        return GoBuiltEnd(build=_make_build(commit.rev, toolchain, {}, failure=refused))
    project = context.resolve_project(commit.rev, description, toolchain, pair.new)
    packages = _list_test_package_folders(context, pair)
    failures = frozenset(project.failures.items())
    name = (commit.rev, toolchain.version, project.settings_digest, failures, packages)
    modules, spent = context.built.get(name), 0.0
    if modules is None:
        modules, spent = _build_packages_with_cpu_seconds(cells, commit.rev, project, packages)
        context.built[name] = modules
    build = _make_build(commit.rev, toolchain, modules, spent=spent)
    context.ends[key] = build, project
    return GoBuiltEnd(build=build, project=project)


def _list_test_package_folders(context: GoRunContext, pair: Pair) -> frozenset[str]:
    """Return the folders with test files at either end, except in `vendor` and `testdata`."""
    return frozenset(
        posixpath.dirname(path) or '.'
        for commit in (pair.old, pair.new)
        for path in context.repository.tree(commit.rev)
        if path.endswith('_test.go') and not {VENDOR, 'testdata'} & set(path.split('/'))
    )


def _build_packages_with_cpu_seconds(
    cells: GoCells, rev: str, project: GoProject, packages: frozenset[str]
) -> tuple[dict[str, str | None], float]:
    """Compile the code of package folders; return for each why it does not build, or None.

    A folder without Go files at this revision counts as built. With the result come the CPU
    seconds.
    """
    failures: dict[str, str | None] = {}
    spent = 0.0
    here = cells.context.repository.tree(rev)
    folders = {posixpath.dirname(path) or '.' for path in here if path.endswith('.go')}
    by_module: dict[str, list[str]] = {}
    for package in sorted(packages):
        by_module.setdefault(project.find_module_folder(package), []).append(package)
    for module, members in by_module.items():
        if module in project.failures:
            failures |= dict.fromkeys(members, project.failures[module])
            continue
        there = [folder for folder in members if folder in folders]
        failures |= dict.fromkeys(members)
        if not there:
            continue
        key = CellKey(tests_rev=rev, code_rev=rev, module=module)
        order = {
            'Root': project.root_in_sandbox,
            'Folder': module,
            'Packages': [_make_relative_pattern(folder, module) for folder in there],
            'Flags': project.list_flags(module),
        }
        answer = cells.ask_compiler('build', cells.pack_tree(key, project), order)
        spent += answer.cpu_seconds
        replies: Mapping[str, str] = answer.result.get('Packages') or {}
        failures |= {folder: replies.get(folder) or answer.result.get(LATE) for folder in there}
    return failures, spent


def _make_relative_pattern(package: str, module: str) -> str:
    inner = posixpath.relpath(package, module)
    return '.' if inner == '.' else f'./{inner}'


def _make_build(
    rev: str,
    toolchain: GoToolchain,
    modules: Mapping[str, str | None],
    *,
    failure: str | None = None,
    spent: float = 0.0,
) -> Build:
    broken = [why for why in modules.values() if why]
    return Build(
        rev=rev,
        failure=failure or (broken[0] if broken and len(broken) == len(modules) else None),
        modules=dict(modules),
        builder=f'{BUILDER} {toolchain.version}',
        runtime=toolchain.version,
        runtimes_tried=(toolchain.version,),
        cpu_seconds=spent,
    )
