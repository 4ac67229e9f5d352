"""Which programs may be interpreters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coevo.languages.python.interpreters import find_interpreters


def test_unreadable_folder_on_the_path_is_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As that of another user; root may look into any, so this one has a name that no system takes."""
    here = f'python3.{sys.version_info.minor}'
    folder = Path(sys.base_prefix, 'bin')
    assert (folder / here).exists()
    monkeypatch.delenv('COEVO_PYTHONS', raising=False)
    monkeypatch.setenv('PATH', f'/{"a" * 300}:{folder}')
    assert sys.version_info[:2] in {one.feature for one in find_interpreters()}
