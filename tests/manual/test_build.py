"""The pages build without a warning: no link leads nowhere, nothing stands outside of the contents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.manual.pages import ROOT


def test_the_manual_builds_without_warnings(tmp_path: Path) -> None:
    """As `make docs` does, with all warnings at once."""
    words = ('-q', '-W', '--keep-going', '-b', 'html', '-d', str(tmp_path / 'read'))
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', *words, 'docs', str(tmp_path / 'manual')],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, '')
    assert 'Quick start' in (tmp_path / 'manual/index.html').read_text()
