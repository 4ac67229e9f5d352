"""Ctrl-C in the middle of a query is an interruption, not a bug or a damaged snapshot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from coevo.snapshots.snapshot import translate_read_errors
from tests import snapshots

ENDLESS = 'SELECT count(*) FROM range(1000000) a, range(1000000) b, range(1000) c WHERE a.range > b.range + c.range'

# A shell that starts the tests in the background lets them ignore SIGINT.
PROGRAM = """
import signal, sys
from coevo.command.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def measure_cpu_seconds(pid: int) -> float:
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def test_interrupted_query_ends_with_one_sentence(tmp_path: Path) -> None:
    snapshot = snapshots.make(tmp_path / 'snapshot', 1)
    program = tmp_path / 'program.py'  # DuckDB shows a progress bar to programs without a file
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), 'query', str(snapshot), ENDLESS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            deadline = time.monotonic() + 60
            while measure_cpu_seconds(process.pid) < 3 and time.monotonic() < deadline:
                time.sleep(0.05)  # the start alone takes less
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, out) == (130, b'')
    assert err.decode().startswith('coevo: interrupted; ')
    assert err.count(b'\n') == 1


def test_interrupted_reading_is_no_damage() -> None:
    with pytest.raises(KeyboardInterrupt), translate_read_errors(['month']):
        raise RuntimeError('Query interrupted')
