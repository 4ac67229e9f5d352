"""The other test files of a start state, made by a snapshot's sibling patch from a clone."""

from __future__ import annotations

from collections.abc import Iterable

from coevo.evaluation.judging.application import apply_released_patch
from coevo.git.repository import Repository, load_content
from coevo.model.quality import SiblingState, SiblingTargets
from coevo.starts.isolated_cells import Files


def restore_sibling_files(
    repository: Repository, new_rev: str, own: str, siblings: Iterable[SiblingTargets], patch: str
) -> Files:
    """Return the test files in which a start state differs from the new revision, without its own.

    They are made from the files at new by the snapshot's sibling patch. Files whose siblings stay
    are left out. Snapshots of a schema before 1.2 have none.
    own  the path of the task's own test file
    Raises: ValueError if the patch does not fit.
    """
    paths = {
        sibling.test_file for sibling in siblings if sibling.undone is not SiblingState.STAYS
    } - {own}
    contents = {path: load_content(repository, new_rev, path) for path in paths}
    return tuple(sorted(apply_released_patch(patch, contents).items()))
