"""Maintenance tasks are made of updates by developers, and of no suite that has the track update."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from coevo.evaluation.assignments import load_assignments
from coevo.model.families import Family
from coevo.model.words import Track
from packagers.maintenance import build_maintenance_tasks
from tests import snapshots


def test_suite_with_the_track_update_is_no_maintenance_task(tmp_path: Path) -> None:
    task = load_assignments(snapshots.make(tmp_path, 2))[0].task
    suite = replace(task, family=Family.FILE, track=Track.UPDATE)
    assert build_maintenance_tasks([suite], [], {}, {}) == ([], [])
