from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.assignments import load_assignments
from tests import snapshots


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('column', 'workaround'),
    [
        (None, None),
        ('source-level-8', None),
        ('byte-buddy', 'byte-buddy'),
        ('byte-buddy+source-level-8', 'byte-buddy'),
    ],
)
def test_override_of_an_assignment_omits_the_raised_source_level(
    tmp_path: Path, column: str, workaround: str | None
) -> None:
    """A raised source level is the build's own doing, which it does again."""
    assignment, *_ = load_assignments(snapshots.make(tmp_path, 1))
    targets = tuple(
        replace(target, row=replace(target.row, override=column)) for target in assignment.targets
    )
    assert replace(assignment, targets=targets).override == workaround
    rows = tuple(target.row for target in targets)
    assert replace(assignment, targets=(), updates=rows).override == workaround
