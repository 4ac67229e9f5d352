"""What a command does not import before it has anything to do."""

from __future__ import annotations

import subprocess
import sys

_HEAVY = ('duckdb', 'numpy', 'pandas', 'pyarrow', 'coevo.languages.table')


def loaded(code: str) -> set[str]:
    """Of the heavy modules those that a process has after it ran the code."""
    told = f'\nfinally:\n    import sys\n    print(*(n for n in {_HEAVY} if n in sys.modules), file=sys.stderr)'
    indented = 'try:\n    ' + code.replace('\n', '\n    ')
    ran = subprocess.run(
        [sys.executable, '-c', indented + told], capture_output=True, text=True, check=True
    )
    return set(ran.stderr.split())


def test_help_imports_no_heavy_module() -> None:
    verbs = ('mine', 'release', 'pipeline', 'query', 'evaluate', 'run')
    helped = f"""import contextlib, sys
from coevo.command.main import main
for verb in {verbs}:
    sys.argv[1:] = [verb, '--help']
    with contextlib.suppress(SystemExit):
        main()"""
    assert loaded(helped) == set()


def test_start_up_keeps_pyarrow_from_importing_pandas() -> None:
    array = 'import pyarrow\npyarrow.array([1])'
    left_out = 'from coevo.command.main import prevent_pandas_import\nprevent_pandas_import()\n'
    assert 'pandas' in loaded(array), 'pyarrow asks for it no more: prevent_pandas_import can go'
    assert loaded(left_out + array) == {'numpy', 'pyarrow'}
