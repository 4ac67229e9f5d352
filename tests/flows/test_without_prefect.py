"""One repository is mined by hand without any server, and where Prefect is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.projects import pom, source, write

WITHOUT = """\
import sys
sys.modules['prefect'] = None  # an import of it is an ImportError
from coevo.command.main import main
raise SystemExit(main())
"""


def test_coevo_mine_works_without_prefect(tmp_path: Path) -> None:
    steps = [{'pom.xml': pom(), **source('Till', f'    // {number}\n')} for number in range(3)]
    repository = write(tmp_path / 'repository', steps)
    store = ('--store', tmp_path / 'store', '--profile', 'quick')
    done = subprocess.run(
        (sys.executable, '-c', WITHOUT, 'mine', repository, *store),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '2 pairs, 2 mined now' in done.stdout
