"""One cell in the sandbox: `go test -run ^NAME$` in the folder of its package for each method, each timed.

Reads a request (`oracles.go_cell`) as JSON and writes an answer (`oracles.driver.Answer`) on standard output, which
no child gets. What came of a test is read from what `go test -v` prints, as people read it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from .java_cell import LOG, TEST_WALL_SECONDS, Timed, read_log_end

CACHE = Path('/w/cache')
_WORDS = ('go', 'test', '-mod=mod', '-vet=off', '-count=1', '-timeout=0', '-v')

Verdict = dict[str, Any]


def main() -> None:
    request = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    root = Path('/w/src', request['path'])
    root.parent.mkdir(parents=True)
    shutil.copytree('/in/tree', root, symlinks=True)
    _borrow_cache()
    os.environ['GOCACHE'] = str(CACHE)
    folder = root / request['module']
    folder.mkdir(parents=True, exist_ok=True)
    built = Timed([*_WORDS, '-run', '^$', '.'], folder, 3600)
    methods = [_run_alone(folder, name) for name in request['names']]
    json.dump({'build_seconds': built.seconds, 'methods': methods}, channel)
    channel.close()


def _borrow_cache() -> None:
    """Compiled packages of the standard library, which would take most of the time."""
    for file in Path('/in/cache').glob('*/*'):
        place = CACHE / file.parent.name / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(file)


def _run_alone(folder: Path, name: str) -> Verdict:
    words = [*_WORDS, '-run', f'^{re.escape(name)}$', '.']
    done = Timed(words, folder, TEST_WALL_SECONDS)
    log = read_log_end()
    # A test stands before its subtests, of which there may be hundreds.
    said = LOG.read_text(errors='replace')
    outcome = 'timeout' if done.late.is_set() else _read_outcome(name, done.status, said)
    return {
        'outcome': outcome,
        'exception': _read_exception(log),
        'seconds': done.seconds,
        'log': '' if outcome == 'pass' else log,
    }


def _read_outcome(name: str, status: int, log: str) -> str:
    if re.search(r'\[(build|setup) failed\]', log) or 'no Go files in' in log:
        return 'compile_error'
    if 'no tests to run' in log or 'no test files' in log:
        return 'missing'
    told = re.search(rf'(?m)^--- (PASS|FAIL|SKIP): {re.escape(name)} ', log)
    if re.search(r'(?m)^(panic|fatal error): |^\tpanic: ', log) or told is None:
        return 'error'
    if told[1] == 'FAIL':
        return 'fail'
    if status:
        return 'error'
    return 'skipped' if told[1] == 'SKIP' else 'pass'


def _read_exception(log: str) -> str:
    match = re.search(r'(?m)^(?:panic|fatal error): (\w[\w .]{0,40})', log)
    return match[1] if match else ''
