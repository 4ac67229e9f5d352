"""The text of a task's focal method, as its repository has it."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.git.contents import load_content
from coevo.git.repository import Repository
from coevo.model.dependencies import Dependency, Revised


def load_focal_source(
    repository: Repository,
    focal: str | None,
    dependencies: Iterable[Dependency],
    old_rev: str,
    new_rev: str,
) -> str | None:
    """Its lines at new, or at old where it was removed; None where no dependency is the focal method."""
    focal_dependency = next(
        (dependency for dependency in dependencies if focal and dependency.name == focal), None
    )
    if focal_dependency is None:
        return None
    rev = old_rev if focal_dependency.revised is Revised.REMOVED else new_rev
    text = load_content(repository, rev, focal_dependency.file)
    if text is None:
        return None
    lines = text.decode('utf-8', 'surrogateescape').split('\n')
    return '\n'.join(lines[focal_dependency.start_line - 1 : focal_dependency.end_line]) + '\n'
