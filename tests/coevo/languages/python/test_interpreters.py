"""Which programs may be interpreters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from coevo.languages.python.interpreters import (
    Interpreter,
    ensure_readable_prefix,
    find_interpreters,
)


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


def test_copy_of_a_closed_installation_has_the_helpers_for_tests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Tests of projects import `test.support`; Python's own tests are left behind."""
    library = tmp_path / 'python/lib/python3.11'
    kept = ('os.py', 'test/__init__.py', 'test/support/os_helper.py')
    left = ('test/test_os.py', 'test/data/big', 'idlelib/run.py', 'config/libpython.a')
    for name in (*kept, *left, 'site-packages/six.py'):
        file = library / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('')
    program = tmp_path / 'python/bin/python3.11'
    program.parent.mkdir()
    program.write_text('')
    (tmp_path / 'python').chmod(0o700)
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    copy = ensure_readable_prefix(Interpreter(version='3.11.7', prefix=tmp_path / 'python'))
    copied = copy / 'lib/python3.11'
    assert sorted(map(str, (p.relative_to(copied) for p in copied.rglob('*') if p.is_file()))) == (
        sorted(kept)
    )
