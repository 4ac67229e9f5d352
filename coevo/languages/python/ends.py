"""Build both revisions of a pair alike: one interpreter, one date, but own requirements."""

from __future__ import annotations

import dataclasses
import posixpath
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeGuard

from packaging.utils import canonicalize_name

from coevo.languages.cells import NEEDS_SUBMODULE, Build, CellKey, make_build_without_runtime
from coevo.languages.python.built import (
    BuiltEnd,
    PythonModule,
    find_nearest_folder,
    list_module_folders,
    list_project_folders,
    make_module,
    needs_submodule,
)
from coevo.languages.python.cells import PythonCells
from coevo.languages.python.generated_modules import build_generated_modules, lacks_modules
from coevo.languages.python.interpreters import (
    RELEASED,
    Feature,
    Interpreter,
    find_nearest_available,
    list_candidates,
)
from coevo.languages.python.layout import find_main_packages
from coevo.languages.python.missing_modules import find_missing_modules, find_missing_requirements
from coevo.languages.python.project_builds import (
    Extensions,
    build_extensions,
    build_metadata_with_cpu_seconds,
)
from coevo.languages.python.reading.module_paths import is_build_file
from coevo.languages.python.requirements.locks import load_pins
from coevo.languages.python.requirements.reading import load_needs
from coevo.languages.python.requirements.stated import Needs, get_requirement_name
from coevo.languages.python.resolution import (
    InstalledPackages,
    ResolutionFailure,
    list_packages_with_digests,
)
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.supply import PythonSupply
from coevo.languages.verdicts import Verdict
from coevo.model.records import Commit, Pair

OWN_MODULE_MISSING = 'own_module_missing'
BUILDER = 'uv'
GENERATED = 'generated-modules'
_NOT_READ = ('import:SyntaxError@', 'import:TabError@', 'import:IndentationError@')


class PythonEndBuilder:
    """A builder of both revisions of a pair; `cells` are the cells of this pair."""

    def __init__(self, context: PythonRunContext, supply: PythonSupply, cells: PythonCells) -> None:
        self._context, self._supply, self._cells = context, supply, cells

    def build_ends(
        self, pair: Pair, fruitless_versions: Container[str] = ()
    ) -> tuple[BuiltEnd, BuiltEnd]:
        """Build both revisions with the first interpreter that builds everything and is not mute.

        If there is none, the first interpreter that builds most is used. If the machine has no
        suitable interpreter, the builds say so, and nothing is built.

        mute  versions of interpreters with which no test gives a result
        """
        best: tuple[BuiltEnd, BuiltEnd] | None = None
        tried: list[str] = []
        passed_over: list[Feature] = []
        passed_over_before_best: tuple[Feature, ...] = ()
        wanted = list(self._list_python_versions_to_try(pair))
        for feature in tuple(wanted):
            interpreter = self._supply.get_or_install(feature) if feature in wanted else None
            if interpreter is None:
                passed_over += [feature] if feature in wanted else []
                continue
            tried.append(interpreter.version)
            ends = tuple(
                self._build_or_reuse_end(commit, pair, interpreter)
                for commit in (pair.old, pair.new)
            )
            enough = all(end.build.built_or_first_failure == 'built' for end in ends)
            heard = interpreter.version not in fruitless_versions
            if (
                best is None
                or _count_built_ends_and_modules(ends) > _count_built_ends_and_modules(best)
                or (enough and heard)
            ):
                best = ends[0], ends[1]
                passed_over_before_best = tuple(passed_over)
            if enough and heard:
                break
            if any(end.build.failure == NEEDS_SUBMODULE for end in ends):
                break
            if _is_interpreter_too_new(ends, feature, pair.new.committer_date):
                wanted = [other for other in wanted if other <= feature]
        missing = next((f for f in wanted if self._supply.get_or_install(f) is None), None)
        lacking = f'{missing[0]}.{missing[1]}' if missing is not None else None
        if best is None:
            old, new = (
                BuiltEnd(build=make_build_without_runtime(commit.rev, lacking))
                for commit in (pair.old, pair.new)
            )
            best = old, new
        folders = self._list_project_folders(pair)
        for end in best:
            modules = _extend_failures_to_projects(end.build.modules, folders)
            end.build = dataclasses.replace(end.build, modules=modules)
        return _add_runtimes_tried(best, tuple(tried), lacking, passed_over_before_best)

    def _list_project_folders(self, pair: Pair) -> frozenset[str]:
        """Return the folders with a build file in either revision."""
        trees = (self._context.repository.tree(commit.rev) for commit in (pair.old, pair.new))
        return frozenset(
            posixpath.dirname(path) or '.' for tree in trees for path in tree if is_build_file(path)
        )

    def _list_python_versions_to_try(self, pair: Pair) -> tuple[tuple[int, int], ...]:
        allowed = [
            text
            for commit in (pair.old, pair.new)
            for text in load_needs(self._context.repository, commit.rev).pythons
        ]
        features = list_candidates(allowed, pair.new.committer_date)
        if any(self._supply.get_or_install(feature) is not None for feature in features):
            return features
        there = {interpreter.feature for interpreter in self._supply.known}
        other = find_nearest_available(allowed, pair.new.committer_date, there)
        return features if other is None else (*features, other)

    def _build_or_reuse_end(self, commit: Commit, pair: Pair, interpreter: Interpreter) -> BuiltEnd:
        """Build a revision, or reuse at no cost what another pair has built in the same way.

        The date and the pins of both builds are those of the pair's new commit.
        """
        when = pair.new.committer_date
        folders = list_module_folders(self._context.trees, commit.rev)
        pinned = tuple(
            load_pins(self._context.repository, pair.new.rev, folder) for folder in folders
        )
        key = (commit.rev, interpreter.version, when.date() if when else None, pinned)
        known = self._context.ends.get(key)
        if known is not None:
            return BuiltEnd(
                build=dataclasses.replace(known.build, cpu_seconds=0.0),
                modules=known.modules,
                is_final=known.is_final,
            )
        self._context.ends[key] = self._build_end(
            commit, pair, interpreter, dict(zip(folders, pinned, strict=True))
        )
        return self._context.ends[key]

    def _build_end(
        self,
        commit: Commit,
        pair: Pair,
        interpreter: Interpreter,
        pinned: Mapping[str, tuple[str, ...]],
    ) -> BuiltEnd:
        """Build all modules of a revision; those that fail are recorded with their reason.

        pinned  the pins of the new commit, by the folder of a module
        """
        rev = commit.rev
        refusal = self._context.trees.explain_unwritable(rev)
        if refusal is not None:
            return BuiltEnd(build=_make_build(rev, interpreter, refusal, {}))
        ready: dict[str, PythonModule] = {}
        failure_by_folder: dict[str, str | None] = {}
        workarounds: list[str] = []
        spent, is_final = 0.0, False
        folders, projects = tuple(pinned), list_project_folders(self._context.trees, rev)
        members = {folder: load_needs(self._context.repository, rev, folder) for folder in folders}
        for folder in folders:
            wanted, beside = resolve_sibling_project_needs(folder, members)
            wanted = dataclasses.replace(wanted, pins=pinned[folder])
            environment = self._context.resolve_and_install_once(
                wanted, interpreter, pair.new.committer_date
            )
            if isinstance(environment, ResolutionFailure):
                failure_by_folder[folder] = environment.reason
                is_final |= environment.is_final
                continue
            wanted, environment = self._add_packages_of_missing_modules(
                rev, folder, wanted, environment, pair
            )
            module = make_module(
                self._context.repository,
                rev,
                folder,
                wanted,
                environment,
                others=projects,
                beside=beside,
            )
            built_extensions = build_extensions(self._context, module, _choose_build_date(pair))
            metadata, written = build_metadata_with_cpu_seconds(
                self._context, module, _choose_build_date(pair)
            )
            spent += written
            module = dataclasses.replace(module, compiled=built_extensions.files, metadata=metadata)
            complete, failure, used = self._probe_or_generate_with_cpu_seconds(
                module, built_extensions.failure, pair
            )
            spent += built_extensions.cpu_seconds + used
            failure_by_folder[folder] = self._prefer_missing_submodule_reason(
                module, failure, built_extensions
            )
            if failure is None:
                ready[folder] = complete
                workarounds += environment.workarounds
                workarounds += [GENERATED] if complete is not module else []
        build = _make_build(
            rev, interpreter, None, failure_by_folder, tuple(dict.fromkeys(workarounds))
        )
        build = dataclasses.replace(build, cpu_seconds=spent)
        return BuiltEnd(build=build, modules=ready, is_final=is_final)

    def _probe_or_generate_with_cpu_seconds(
        self, module: PythonModule, failure: str | None, pair: Pair
    ) -> tuple[PythonModule, str | None, float]:
        """Import the project's package, and build the modules that it lacks, if there are any.

        Return the module with them, why the package cannot be imported, and the CPU seconds. After a
        failure any missing module that is imported counts, otherwise only one without which a file
        cannot be loaded.

        failure  why the module's extensions were not built; nothing is generated then
        """
        extensions_built = failure is None
        failure, spent = self._probe_import_with_cpu_seconds(module, failure)
        if not extensions_built or not lacks_modules(self._context, module, needed=failure is None):
            return module, failure, spent
        generated, used = build_generated_modules(self._context, module, _choose_build_date(pair))
        spent += used
        if not generated:
            return module, failure, spent
        module = dataclasses.replace(module, written=(*module.written, *generated))
        failure, used = self._probe_import_with_cpu_seconds(module, None)
        return module, failure, spent + used

    def _add_packages_of_missing_modules(
        self, rev: str, folder: str, needs: Needs, installed: InstalledPackages, pair: Pair
    ) -> tuple[Needs, InstalledPackages]:
        """Add packages for modules that test files import and that nothing provides yet.

        Return the needs and the packages with them. A package is left out if it cannot be installed
        or would change others. Each one that came is recorded as the workaround `brought-NAME`.
        """
        missing = find_missing_modules(self._context.repository, rev, folder, installed.site)
        lines = find_missing_requirements(needs, missing)
        names: list[str] = []
        # If all together cannot be had, each is tried alone.
        for batch in (lines, *({name: line} for name, line in lines.items())):
            if not batch or names == list(lines):
                break
            more = replace(needs, tests=tuple(sorted({*needs.tests, *batch.values()})))
            brought = self._context.resolve_and_install_once(
                more, installed.interpreter, pair.new.committer_date
            )
            if _adds_no_other_workarounds(brought, installed, batch):
                needs, installed = more, brought
                names += batch
        there = {
            name.partition('==')[0] for name, _ in list_packages_with_digests(installed.locked)
        }
        marks = [f'brought-{name}' for name in names if name in there]
        return needs, dataclasses.replace(installed, workarounds=(*installed.workarounds, *marks))

    def _prefer_missing_submodule_reason(
        self, module: PythonModule, failure: str | None, made: Extensions
    ) -> str | None:
        if failure is None:
            return None
        needs_one = needs_submodule(
            self._context.repository, module, failure, of_extensions=made.failure is not None
        )
        return NEEDS_SUBMODULE if needs_one else failure

    def _probe_import_with_cpu_seconds(
        self, module: PythonModule, failure: str | None
    ) -> tuple[str | None, float]:
        """Import the package with the project's name in a process; return why it fails.

        The reason is None if the package can be imported, or if there is no such package. The
        number is the CPU seconds.

        failure  why the module's extensions were not built: some projects work without them
        """
        paths = self._context.repository.tree(module.rev).keys()
        names = find_main_packages(paths, module.roots, module.needs.name)
        if failure is not None and not names:
            return failure, 0.0
        key = CellKey(tests_rev=module.rev, code_rev=module.rev, module=module.folder)
        cell = self._cells.get(key, module)
        done = self._cells.run_request(cell, {'mode': 'probe', 'files': list(names)}, ())
        for verdict in done.heard.files.values():
            return (
                failure or f'{_classify_import_failure(verdict, names)}:{verdict.signature}',
                done.cpu_seconds,
            )
        return None if done.status == 'exit:0' else f'import:{done.status}', done.cpu_seconds


def _adds_no_other_workarounds(
    brought: InstalledPackages | ResolutionFailure,
    installed: InstalledPackages,
    names: Collection[str],
) -> TypeGuard[InstalledPackages]:
    """Return whether packages were installed without new workarounds for other packages.

    brought  the result of an installation with the packages `names` in addition
    """
    if isinstance(brought, ResolutionFailure):
        return False
    harmless = {f'without-{name}' for name in names} | {f'built-{name}' for name in names}
    return {*brought.workarounds} <= {*installed.workarounds, *harmless}


def _extend_failures_to_projects(
    modules: Mapping[str, str | None], folders: Collection[str]
) -> dict[str, str | None]:
    """Return the failure of each module and of each folder in `folders`; None for a success.

    A folder that is no module of this revision, such as an example, or one of the other revision,
    gets the result of the nearest module above it.
    """
    failure_by_folder = dict(modules)
    for folder in sorted(folders):
        around = find_nearest_folder(folder, modules)
        if around is not None:
            failure_by_folder.setdefault(folder, modules[around])
    return failure_by_folder


def _classify_import_failure(verdict: Verdict, names: Sequence[str]) -> str:
    """Return `own_module_missing` if a package lacks a module of its own, else `import`."""
    error, _, module = (verdict.signature or '').partition('@')
    of_its_own = error == 'ModuleNotFoundError' and module.split('.')[0] in names
    return OWN_MODULE_MISSING if of_its_own else 'import'


def _choose_build_date(pair: Pair) -> datetime:
    """Return the date that selects the tools for building: that of the new commit, else today."""
    return pair.new.committer_date or datetime.now(UTC)


def _count_built_ends_and_modules(ends: Sequence[BuiltEnd]) -> tuple[int, int]:
    extents = [end.success_and_module_count for end in ends]
    return sum(usable for usable, _ in extents), sum(modules for _, modules in extents)


def _make_build(
    rev: str,
    interpreter: Interpreter,
    failure: str | None,
    modules: dict[str, str | None],
    overrides: tuple[str, ...] = (),
) -> Build:
    only = modules.get('.') if len(modules) == 1 else None
    return Build(
        rev=rev,
        failure=failure or only,
        modules=modules,
        overrides=overrides,
        builder=BUILDER,
        runtime=interpreter.version,
    )


def _is_interpreter_too_new(
    ends: Sequence[BuiltEnd], feature: Feature, when: datetime | None
) -> bool:
    """Return whether the code failed to parse and is older than the interpreter's release.

    Later interpreters then fail too (Python 2 code).
    """
    refused = any((end.build.failure or '').startswith(_NOT_READ) for end in ends)
    return refused and when is not None and when.date() < RELEASED[feature]


def _add_runtimes_tried(
    ends: tuple[BuiltEnd, BuiltEnd],
    tried: tuple[str, ...],
    lacking: str | None,
    passed_over: Sequence[Feature],
) -> tuple[BuiltEnd, BuiltEnd]:
    """Record in both builds the interpreters that were tried, and one that this machine lacks.

    The latter is recorded only if another interpreter may help. The same objects are returned.

    passed_over  the features that were wanted before the chosen one, but were not available
    """
    preferred = '{}.{}'.format(*passed_over[0]) if passed_over else None
    hopeful = any(_may_another_interpreter_help(end) for end in ends)
    for end in ends:
        end.build = dataclasses.replace(
            end.build,
            runtimes_tried=tried,
            runtime_lacking=lacking if hopeful else None,
            runtime_preferred=preferred,
        )
    return ends


def _may_another_interpreter_help(end: BuiltEnd) -> bool:
    """Return whether a revision that is not built may be with another interpreter.

    False for one without a failure, for modules that the project itself lacks, and for a
    requirement that no index has for any interpreter.
    """
    failure = end.build.failure
    lacks_of_itself = (failure or '').startswith(f'{OWN_MODULE_MISSING}:')
    return not (failure in (None, NEEDS_SUBMODULE) or lacks_of_itself or end.is_final)


# Projects of one repository that need each other use the code of the tree.
#
# The index has them too, in other versions; installed from there they would hide the pair's
# changes.


def resolve_sibling_project_needs(
    folder: str, members: Mapping[str, Needs]
) -> tuple[Needs, tuple[str, ...]]:
    """Return what a project needs from the index, and the folders of the projects that it needs.

    Projects of the same repository are removed from the needs, and their own needs are added. The
    projects that they need in turn are followed; each folder is listed once, as it was found.

    members  the needs of each project of a revision, by its folder
    """
    named: dict[str, str] = {
        canonicalize_name(needs.name): member_folder
        for member_folder, needs in members.items()
        if needs.name
    }
    neighbours: list[str] = []
    runtime = set(members[folder].runtime)
    tests = {*members[folder].tests, *_list_shared_test_needs(folder, members)}
    left: list[str] = []
    for lines in (runtime, tests):
        left += _find_member_folders(sorted(lines), named)
        while left:
            other = left.pop(0)
            if other != folder and other not in neighbours:
                neighbours.append(other)
                left += _find_member_folders(members[other].runtime, named)
            lines.update(members[other].runtime)
    return (
        replace(
            members[folder],
            runtime=tuple(
                sorted(line for line in runtime if get_requirement_name(line) not in named)
            ),
            tests=tuple(sorted(line for line in tests if get_requirement_name(line) not in named)),
        ),
        tuple(neighbours),
    )


def _list_shared_test_needs(folder: str, members: Mapping[str, Needs]) -> Sequence[str]:
    """Return the test needs that the root states for a project below it; () for the root itself.

    If the root is no project itself, its runtime needs also apply to all projects below it.
    """
    root = members.get('.')
    if folder == '.' or root is None:
        return ()
    return root.tests if root.name else (*root.tests, *root.runtime)


def _find_member_folders(lines: Sequence[str], members: Mapping[str, str]) -> list[str]:
    """Return the folders of the projects that the lines require."""
    return [members[name] for line in lines if (name := get_requirement_name(line)) in members]
