"""The canary of a month, by which text of a release is found in what a model was trained on."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

from coevo.prompts import add_canary, compute_canary
from coevo.snapshots.snapshot import open_snapshots
from coevo.storage.store import Store
from packagers.plan import BuiltTasks
from packagers.rows import Rows
from tests import segments, snapshots


def test_canary_is_of_the_month_alone() -> None:
    assert compute_canary('2026-05') == compute_canary('2026-05')
    assert compute_canary('2026-05') != compute_canary('2026-06')
    assert re.fullmatch('coevo canary [0-9a-f-]{36}', compute_canary('2026-05'))


def test_prompt_ends_with_one_canary() -> None:
    marked = add_canary('Write a test.\n', '2026-05')
    assert marked.startswith('Write a test.\n\ncoevo canary ')
    assert add_canary(marked, '2026-05') == marked


def build(rows: Rows) -> BuiltTasks:
    """The tasks of the tests, with a prompt."""
    built = snapshots.build_family(rows)
    return replace(built, tasks=[replace(task, prompt='Write a test.\n') for task in built.tasks])


def test_manifest_card_and_prompts_keep_the_canary_of_the_first_month(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)
    sql = 'SELECT DISTINCT prompt, released FROM tasks'
    for month, previous in (('2024-01', None), ('2024-02', tmp_path / '2024-01')):
        place = tmp_path / month
        snapshots.write(store, place, month=month, previous=previous, build=build)
        canary = compute_canary(month)
        assert json.loads((place / 'manifest.json').read_text())['canary'] == canary
        assert canary in (place / 'README.md').read_text()
        marked = add_canary('Write a test.\n', '2024-01')
        assert open_snapshots(place).sql(sql).fetchall() == [(marked, '2024-01')]
