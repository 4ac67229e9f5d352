"""The other test files of a start state: what a snapshot says of siblings, applied to a clone."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.evaluation.judging.application import patched
from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.model.quality import Sibling
from coevo.model.quality import Undone
from coevo.starts.isolated_cells import Files


def sibling_files(
    repository: Repository, new_rev: str, own: str, siblings: Iterable[Sibling], patch: str
) -> Files:
    """What is other than at new beside a task's own file; ValueError where the patch does not fit.

    Only files are touched that the siblings name. Snapshots of a schema before 1.2 have none.
    """
    paths = {one.test_file for one in siblings if one.undone is not Undone.STAYS} - {own}
    contents = {path: content(repository, new_rev, path) for path in paths}
    return tuple(sorted(patched(patch, contents).items()))
