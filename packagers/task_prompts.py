"""Make the prompt of a task from the rows of its targets."""

from __future__ import annotations

from collections.abc import Sequence

from coevo import prompts
from coevo.git.repository import Repository
from coevo.model.dependencies import Dependency
from coevo.model.environments import Environment
from coevo.model.method_rows import MethodRow
from coevo.model.records import TestMethod
from coevo.model.words import Track
from coevo.prompts.parts import PromptPart, find_parts


def render_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    dependencies: Sequence[Dependency],
    environment: Environment | None,
) -> str:
    """Return the prompt: the targets by their names in the start file, and what changed."""
    row = rows[0]
    return prompts.compose_prompt(
        prompts.PromptSubject(
            language=row.language,
            track=get_track(row),
            new_rev=row.new_rev,
            module=row.module,
            test_file=row.test_file,
            test_methods=_list_target_names(rows),
            methods=[_make_start_method(row) for row in rows],
            dependencies=dependencies,
            parts=_list_parts(repository, row, dependencies),
            environment=environment,
        )
    )


def render_maintenance_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    module: str,
    dependencies: Sequence[Dependency],
    environment: Environment | None,
) -> str:
    """Return the prompt of a maintenance task, which says only what changed."""
    row = rows[0]
    return prompts.compose_maintenance_prompt(
        row.language,
        module,
        row.new_rev,
        row.test_file,
        dependencies,
        _list_parts(repository, row, dependencies),
        environment,
    )


def get_track(row: MethodRow) -> Track:
    """Return the track of a row that must have one, as the rows of a group do."""
    assert row.track is not None, 'groups() yields rows with a track'
    return row.track


def _list_parts(
    repository: Repository, row: MethodRow, dependencies: Sequence[Dependency]
) -> dict[str, tuple[PromptPart, ...]]:
    """Return the changed parts of each changed type among the dependencies, by its name.

    Methods are no such parts.
    """
    return {
        dependency.name: find_parts(repository, row.old_rev, row.new_rev, dependency)
        for dependency in dependencies
        if not dependency.is_method and not dependency.is_resource
    }


def _list_target_names(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    names = (
        prompts.describe_target(row.test_class, row.test_method, _get_start_name(row))
        for row in rows
    )
    return tuple(dict.fromkeys(names))


def _get_start_name(row: MethodRow) -> str:
    """Return the method's name in the start file."""
    generated = row.track is Track.GENERATION
    return row.test_method if generated else row.old_test_method or row.test_method


def _make_start_method(row: MethodRow) -> TestMethod:
    return TestMethod(
        module=row.module,
        test_file=row.test_file,
        test_class=row.test_class,
        test_method=_get_start_name(row),
        parameters=row.parameters,
    )
