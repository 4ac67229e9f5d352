"""Runs that begin at once leave each other's folders alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coevo.sandboxes.workspace import workspace


def test_nobody_sweeps_what_is_being_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('COEVO_WORK', str(tmp_path))

    def begin(number: int) -> None:
        with workspace() as folder:
            (folder / 'tools').mkdir()

    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(begin, range(400)))
    assert not list(tmp_path.iterdir())
