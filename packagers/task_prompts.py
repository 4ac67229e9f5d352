"""Make the prompt of a task from the rows of its targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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
    names = (
        prompts.describe_target(row.test_class, row.test_method, _get_start_name(row))
        for row in rows
    )
    methods = [replace(row.method, test_method=_get_start_name(row)) for row in rows]
    return prompts.compose_prompt(
        _make_subject(repository, rows[0], names, methods, dependencies, environment)
    )


def render_implement_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    dependencies: Sequence[Dependency],
    environment: Environment | None,
) -> str:
    """Return the prompt of a task that asks for code, with the targets by their new names."""
    names = (
        prompts.describe_target(row.test_class, row.test_method, row.test_method) for row in rows
    )
    methods = [row.method for row in rows]
    subject = _make_subject(repository, rows[0], names, methods, dependencies, environment)
    return prompts.compose_implement_prompt(subject, rows[0].old_rev)


def _make_subject(
    repository: Repository,
    row: MethodRow,
    names: Iterable[str],
    methods: Sequence[TestMethod],
    dependencies: Sequence[Dependency],
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
        dependencies=dependencies,
        parts=_list_parts(repository, row, dependencies),
        environment=environment,
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


def _get_start_name(row: MethodRow) -> str:
    """Return the method's name in the start file."""
    generated = row.track is Track.GENERATION
    return row.test_method if generated else row.old_test_method or row.test_method
