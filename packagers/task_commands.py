"""Make the environment and the prompt of a task from the rows of its targets, and choose the files
that it shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo import prompts
from coevo.git.repository import Repository
from coevo.languages.table import LANGUAGES
from coevo.model.dependencies import (
    CoupledBy,
    Dependency,
    DependencyList,
    choose_dependency_list,
    select_called_or_all_dependencies,
)
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.prompts import PromptPart, find_changed_parts
from packagers.drafts import find_original_test

Environments = Mapping[tuple[str, str], Environment]
"""Environments by pair_id and module."""


def find_environment_to_run_targets(
    rows: Sequence[MethodRow], known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a task with the commands that run its targets.

    Targets have their names at the new revision. None if mining recorded no environment.
    """
    methods = [row.method for row in rows]
    return _find_environment_with_commands(rows[0], methods, known, clone)


def find_environment_to_run_suite(
    row: SingleRevisionRow, known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a row with the commands that run its whole test file.

    None if mining recorded no environment.
    """
    return _find_environment_with_commands(row, (), known, clone)


def find_environment_to_run_file(
    task: TaskRow, known: Environments, clone: Repository
) -> Environment | None:
    """Return the environment of a task with the commands that run its whole test file.

    None if mining recorded no environment.
    """
    return _find_environment_with_commands(task, (), known, clone)


def _find_environment_with_commands(
    row: MethodRow | SingleRevisionRow | TaskRow,
    methods: Sequence[TestMethod],
    known: Environments,
    clone: Repository,
) -> Environment | None:
    environment = known.get((row.pair_id, row.module))
    if environment is None:
        return None
    language = LANGUAGES[row.language]
    tree = language.READING.open_tree(clone, row.new_rev)
    return language.add_commands(environment, row.module, row.test_file, methods, tree)


_STRONGEST_FIRST = tuple(CoupledBy)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDependencies:
    """The dependencies of a task, and which list of them it uses."""

    dependencies: tuple[Dependency, ...]
    which: DependencyList | None

    @classmethod
    def from_rows(cls, rows: Sequence[MethodRow]) -> TaskDependencies:
        """Return the merged dependencies of rows, with the list that the task uses.

        It is the called ones if the list of any method is, else all executed ones.
        """
        dependencies = merge_dependencies(rows)
        is_called = any(row.dependency_list is DependencyList.CALLED for row in rows)
        wanted = DependencyList.CALLED if is_called else DependencyList.EXECUTED
        return cls(dependencies=dependencies, which=choose_dependency_list(dependencies, wanted))

    @property
    def listed_dependencies(self) -> tuple[Dependency, ...]:
        """The dependencies in the list that the task uses."""
        return select_called_or_all_dependencies(self.dependencies, self.which)

    @property
    def other_dependencies(self) -> tuple[Dependency, ...]:
        """The dependencies that are not in this list."""
        listed = set(self.listed_dependencies)
        return tuple(each for each in self.dependencies if each not in listed)

    def find_focal_method(self, rows: Sequence[MethodRow]) -> str | None:
        """Return the focal method of the row whose own first dependency is ranked best.

        None if no row has a focal method.
        """
        places = {
            _get_declaration_key(dependency): dependency.rank for dependency in self.dependencies
        }

        def rank_row(row: MethodRow) -> int:
            """Return the rank of the row's first dependency within the task.

            It is behind all others if the row has none.
            """
            own = select_called_or_all_dependencies(row.dependencies, row.dependency_list)
            first = min(own, key=lambda d: d.rank, default=None)
            return places[_get_declaration_key(first)] if first else len(places) + 1

        ordered = sorted(rows, key=rank_row)
        return next((row.focal_method for row in ordered if row.focal_method is not None), None)


def merge_dependencies(rows: Sequence[MethodRow]) -> tuple[Dependency, ...]:
    """Return the dependencies of all methods, each once, with new ranks.

    The order is by best rank, then by the number of methods that have them.
    """
    by_declaration: dict[tuple[str, ...], list[Dependency]] = defaultdict(list)
    for row in rows:
        for dependency in row.dependencies:
            by_declaration[_get_declaration_key(dependency)].append(dependency)
    order = sorted(
        by_declaration,
        key=lambda key: (min(d.rank for d in by_declaration[key]), -len(by_declaration[key]), key),
    )
    return tuple(_merge_same(by_declaration[key], rank) for rank, key in enumerate(order, start=1))


def _get_declaration_key(dependency: Dependency) -> tuple[str, ...]:
    return (
        dependency.file,
        f'{dependency.start_line:09d}',
        dependency.declaration,
        str(dependency.revised),
    )


def _merge_same(same: Sequence[Dependency], rank: int) -> Dependency:
    couplings = [dependency.coupling for dependency in same if dependency.coupling is not None]
    reasons = [dependency.coupled_by for dependency in same if dependency.coupled_by is not None]
    return replace(
        same[0],
        executed_old=_any_known(dependency.executed_old for dependency in same),
        executed_new=_any_known(dependency.executed_new for dependency in same),
        coupling=max(couplings, default=None),
        coupled_by=min(reasons, key=_STRONGEST_FIRST.index, default=None),
        rank=rank,
    )


def _any_known(values: Iterable[bool | None]) -> bool | None:
    known = [value for value in values if value is not None]
    return any(known) if known else None


def render_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    listing: TaskDependencies,
    environment: Environment | None,
) -> str:
    """Return the prompt: the targets by their names in the start file, and what changed."""
    names = (
        prompts.describe_target(row.test_class, row.test_method, _get_start_name(row))
        for row in rows
    )
    methods = [_find_method_at_start(repository, row) for row in rows]
    return prompts.compose_coevolution_prompt(
        _make_subject(repository, rows[0], names, methods, listing, environment)
    )


def render_implement_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    listing: TaskDependencies,
    environment: Environment | None,
) -> str:
    """Return the prompt of a task that asks for code, with the targets by their new names."""
    names = (
        prompts.describe_target(row.test_class, row.test_method, row.test_method) for row in rows
    )
    methods = [row.method for row in rows]
    subject = _make_subject(repository, rows[0], names, methods, listing, environment)
    return prompts.compose_implement_prompt(subject)


def _make_subject(
    repository: Repository,
    row: MethodRow,
    names: Iterable[str],
    methods: Sequence[TestMethod],
    listing: TaskDependencies,
    environment: Environment | None,
) -> prompts.PromptSubject:
    return prompts.PromptSubject(
        language=row.language,
        track=get_track(row),
        new_rev=row.new_rev,
        module=row.module,
        test_file=row.test_file,
        test_methods=tuple(dict.fromkeys(names)),
        methods=methods,
        dependencies=listing.listed_dependencies,
        others=listing.other_dependencies,
        parts=_index_parts(repository, row, listing.dependencies),
        environment=environment,
    )


def render_maintenance_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    module: str,
    listing: TaskDependencies,
    environment: Environment | None,
) -> str:
    """Return the prompt of a maintenance task, which says only what changed."""
    row = rows[0]
    return prompts.compose_maintenance_prompt(
        row.language,
        module,
        row.new_rev,
        row.test_file,
        listing.listed_dependencies,
        listing.other_dependencies,
        _index_parts(repository, row, listing.dependencies),
        environment,
    )


def get_track(row: MethodRow) -> Track:
    """Return the track of a row that must have one, as the rows of a group do."""
    assert row.track is not None, 'groups() yields rows with a track'
    return row.track


def _index_parts(
    repository: Repository, row: MethodRow, dependencies: Sequence[Dependency]
) -> dict[tuple[str, str], tuple[PromptPart, ...]]:
    """Return the changed parts of each changed type among the dependencies, by its file and name.

    Methods are no such parts.
    """
    return {
        (dependency.file, dependency.name): find_changed_parts(
            repository, row.old_rev, row.new_rev, dependency
        )
        for dependency in dependencies
        if not dependency.is_method and not dependency.is_resource
    }


def _find_method_at_start(repository: Repository, row: MethodRow) -> TestMethod:
    """Return a target with the name and the parameters that it has in the start file.

    A test that gold makes a parameterised one has none there. The row has its new parameters.
    """
    if row.track is Track.GENERATION:
        return row.method
    original = find_original_test(row, repository).method
    return replace(row.method, test_method=original.test_method, parameters=original.parameters)


def _get_start_name(row: MethodRow) -> str:
    """Return the method's name in the start file."""
    generated = row.track is Track.GENERATION
    return row.test_method if generated else row.old_test_method or row.test_method
