"""The prompt of a task, from the rows of its targets."""

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
    """What an agent is told: the targets by the names of the start file, and what changed."""
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
    """What an agent is told of whom the maintenance of a file is asked: what changed, and no more."""
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
    """The track of a row that has one, as those of a group do."""
    assert row.track is not None, 'groups() yields rows with a track'
    return row.track


def _list_parts(
    repository: Repository, row: MethodRow, dependencies: Sequence[Dependency]
) -> dict[str, tuple[PromptPart, ...]]:
    """What of each type changed that is a dependency beside its methods."""
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
    """As it stands in the start file, in its class at new."""
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
