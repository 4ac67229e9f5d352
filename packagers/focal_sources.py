"""The text of a task's focal method, as its repository has it."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised


def focal_source(
    repository: Repository,
    focal: str | None,
    dependencies: Iterable[Dependency],
    old_rev: str,
    new_rev: str,
) -> str | None:
    """Its lines at new, or at old where it was removed; None where no dependency is the focal method."""
    found = next((one for one in dependencies if focal and one.name == focal), None)
    if found is None:
        return None
    rev = old_rev if found.revised is Revised.REMOVED else new_rev
    text = content(repository, rev, found.file)
    if text is None:
        return None
    lines = text.decode('utf-8', 'surrogateescape').split('\n')
    return '\n'.join(lines[found.start_line - 1 : found.end_line]) + '\n'
