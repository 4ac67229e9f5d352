"""Both ends of a pair made ready in the same way: one toolchain, one date, each its own go.mod."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass

from coevo.languages.builds import Build
from coevo.languages.golang.cell_files import refusal
from coevo.languages.golang.cells import GoCellKey
from coevo.languages.golang.cells import GoCells
from coevo.languages.golang.compiler import LATE
from coevo.languages.golang.projects import GoProject
from coevo.languages.golang.reading.layout import VENDOR
from coevo.languages.golang.run_context import GoRunContext
from coevo.languages.golang.toolchains import GoToolchain
from coevo.model.records import Commit
from coevo.model.records import Pair

RUNTIME_MISSING = 'runtime_missing'
BUILDER = 'go'


@dataclass(frozen=True, slots=True, kw_only=True)
class GoEnd:
    """A revision; project is None where there is nothing to be built with."""

    build: Build
    project: GoProject | None = None


def chosen(context: GoRunContext, pair: Pair) -> GoToolchain | str:
    """The newest toolchain, if it knows the language of both ends; else which one is lacking."""
    wanted = max(
        context.described(commit.rev, pair.repo, pair.new).level for commit in (pair.old, pair.new)
    )
    found = context.supply.for_level(wanted)
    return found or '.'.join(map(str, wanted[:2]))


def without(commit: Commit, lacking: str) -> GoEnd:
    build = Build(rev=commit.rev, failure=RUNTIME_MISSING, modules={}, runtime_lacking=lacking)
    return GoEnd(build=build)


def made_end(context: GoRunContext, cells: GoCells, commit: Commit, pair: Pair) -> GoEnd:
    """Built now, or at no cost what another pair has built in the same way."""
    toolchain = cells.compiler.made.toolchain
    when = pair.new.committer_date
    key = (commit.rev, toolchain.version, when.date() if when else None)
    known = context.ends.get(key)
    if known is not None:
        build, project = known
        return GoEnd(build=dataclasses.replace(build, cpu_seconds=0.0), project=project)
    told = context.described(commit.rev, pair.repo, pair.new)
    refused = told.refusal or refusal(context.repository, commit.rev)
    if refused is not None:
        return GoEnd(build=_build(commit.rev, toolchain, {}, failure=refused))
    project = context.project(commit.rev, told, toolchain, pair.new)
    packages = _packages(context, pair)
    failures = frozenset(project.failures.items())
    name = (commit.rev, toolchain.version, project.digest, failures, packages)
    modules, spent = context.built.get(name), 0.0
    if modules is None:
        modules, spent = _built(cells, commit.rev, project, packages)
        context.built[name] = modules
    build = _build(commit.rev, toolchain, modules, spent=spent)
    context.ends[key] = build, project
    return GoEnd(build=build, project=project)


def _packages(context: GoRunContext, pair: Pair) -> frozenset[str]:
    """Folders with test files at either end."""
    return frozenset(
        posixpath.dirname(path) or '.'
        for commit in (pair.old, pair.new)
        for path in context.repository.tree(commit.rev)
        if path.endswith('_test.go') and not {VENDOR, 'testdata'} & set(path.split('/'))
    )


def _built(
    cells: GoCells, rev: str, project: GoProject, packages: frozenset[str]
) -> tuple[dict[str, str | None], float]:
    """Of each package folder why its code does not build; CPU seconds."""
    found: dict[str, str | None] = {}
    spent = 0.0
    here = cells.context.repository.tree(rev)
    folders = {posixpath.dirname(path) or '.' for path in here if path.endswith('.go')}
    by_module: dict[str, list[str]] = {}
    for package in sorted(packages):
        by_module.setdefault(project.module_of(package), []).append(package)
    for module, members in by_module.items():
        if module in project.failures:
            found |= dict.fromkeys(members, project.failures[module])
            continue
        there = [one for one in members if one in folders]
        found |= dict.fromkeys(members)
        if not there:
            continue
        key = GoCellKey(tests_rev=rev, code_rev=rev, module=module)
        order = {
            'Root': project.root,
            'Folder': module,
            'Packages': [_below(one, module) for one in there],
        }
        answer = cells.compiler.ask('build', cells.tree(key, project), order)
        spent += answer.cpu_seconds
        told: Mapping[str, str] = answer.told.get('Packages') or {}
        found |= {one: told.get(one) or answer.told.get(LATE) for one in there}
    return found, spent


def _below(package: str, module: str) -> str:
    inner = posixpath.relpath(package, module)
    return '.' if inner == '.' else f'./{inner}'


def _build(
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
