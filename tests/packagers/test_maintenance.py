"""Maintenance tasks are made of updates by developers; what they ask of each test of the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coevo.evaluation.assignments import load_assignments
from coevo.git.repository import Repository
from coevo.model.families import Family
from coevo.model.words import Cell, Label, MethodChange, Outcome, Track
from packagers.maintenance import build_maintenance_tasks, list_maintained_methods
from tests import segments, snapshots
from tests.repos import commit, init

CELLS = {
    Cell.T_OLD_C_OLD: Outcome.PASS,
    Cell.T_NEW_C_NEW: Outcome.PASS,
    Cell.T_OLD_C_NEW: Outcome.FAIL,
}


def test_suite_with_the_track_update_is_no_maintenance_task(tmp_path: Path) -> None:
    task = load_assignments(snapshots.make(tmp_path, 2))[0].task
    suite = replace(task, family=Family.FILE, track=Track.UPDATE)
    assert build_maintenance_tasks([suite], [], {}, {}) == ([], [])


def test_test_that_comes_from_another_file_is_one_to_add(tmp_path: Path) -> None:
    case = 'class ATest {{\n@Test void stays() {{ a(1); }}\n{} }}\n'
    moved = '@Test void moves() {{ a({}); }}\n'
    path, other = 'src/test/java/ATest.java', 'src/test/java/BTest.java'
    repo = init(tmp_path / 'repo')
    old, new = case.format(''), case.format(moved.format(3))
    before = commit(repo, 'old', {path: old, other: moved.format(2)})
    after = commit(repo, 'new', {path: new, other: None})
    rows = [
        replace(
            segments.method(1, name, MethodChange.CHANGED, CELLS),
            old_rev=before,
            new_rev=after,
            test_file=path,
            test_class='ATest',
            old_test_file=old_file,
            old_test_class=old_class,
            label=label,
        )
        for name, label, old_file, old_class in (
            ('stays', Label.UPDATE, None, None),
            ('moves', Label.UPDATE, other, 'BTest'),
        )
    ]
    maintained = list_maintained_methods(
        rows, Repository(repo / '.git'), old.encode(), new.encode()
    )
    assert [(each.old_method, str(each.expected_action)) for each in maintained] == [
        ('ATest#stays', 'update'),
        (None, 'add'),
    ]
