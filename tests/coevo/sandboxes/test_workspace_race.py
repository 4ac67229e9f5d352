"""Runs that begin at once leave each other's folders alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coevo.sandboxes.workspace import open_workspace


def test_a_workspace_being_made_is_not_swept_by_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_WORK', str(tmp_path))

    def begin(number: int) -> None:
        with open_workspace() as folder:
            (folder / 'tools').mkdir()

    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(begin, range(400)))
    assert not list(tmp_path.iterdir())
