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
from coevo.prompts.parts import PromptPart
from coevo.prompts.parts import parts_of


def prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    dependencies: Sequence[Dependency],
    environment: Environment | None,
) -> str:
    """What an agent is told: the targets by the names of the start file, and what changed."""
    row = rows[0]
    return prompts.prompt(
        prompts.PromptSubject(
            language=row.language,
            track=track_of(row),
            new_rev=row.new_rev,
            module=row.module,
            test_file=row.test_file,
            test_methods=_asked_for(rows),
            methods=[_at_start(row) for row in rows],
            dependencies=dependencies,
            parts=_parts(repository, row, dependencies),
            environment=environment,
        )
    )


def maintenance_prompt(
    repository: Repository,
    rows: Sequence[MethodRow],
    module: str,
    dependencies: Sequence[Dependency],
    environment: Environment | None,
) -> str:
    """What an agent is told of whom the maintenance of a file is asked: what changed, and no more."""
    row = rows[0]
    return prompts.maintenance_prompt(
        row.language,
        module,
        row.new_rev,
        row.test_file,
        dependencies,
        _parts(repository, row, dependencies),
        environment,
    )


def track_of(row: MethodRow) -> Track:
    """The track of a row that has one, as those of a group do."""
    assert row.track is not None, 'groups() yields rows with a track'
    return row.track


def _parts(
    repository: Repository, row: MethodRow, dependencies: Sequence[Dependency]
) -> dict[str, tuple[PromptPart, ...]]:
    """What of each type changed that is a dependency beside its methods."""
    return {
        one.name: parts_of(repository, row.old_rev, row.new_rev, one)
        for one in dependencies
        if not one.is_method and not one.is_resource
    }


def _asked_for(rows: Sequence[MethodRow]) -> tuple[str, ...]:
    names = (
        prompts.asked_for(row.test_class, row.test_method, _name_at_start(row)) for row in rows
    )
    return tuple(dict.fromkeys(names))


def _name_at_start(row: MethodRow) -> str:
    """As it stands in the start file, in its class at new."""
    generated = row.track is Track.GENERATION
    return row.test_method if generated else row.old_test_method or row.test_method


def _at_start(row: MethodRow) -> TestMethod:
    return TestMethod(
        module=row.module,
        test_file=row.test_file,
        test_class=row.test_class,
        test_method=_name_at_start(row),
        parameters=row.parameters,
    )
