"""One cell in the sandbox: a virtual environment, then `python -m pytest ID` for each method, each timed.

Reads a request (`oracles.python_cell`) as JSON and writes an answer (`oracles.driver.Answer`) on
standard output, which no child gets. Runs with the system's Python and its standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .java_cell import TEST_CPU_SECONDS, TEST_WALL_SECONDS, TREE, Timed, read_log_end
from .reports import WORST_FIRST

HOME, REPORT = Path('/w/venv'), Path('/w/report.xml')

# What pytest ends with (`pytest.ExitCode`).
TESTS_RAN, NO_TESTS = (0, 1), 5

# An assertion, as pytest prints it, or what is raised to fail a test.
_FAILED = re.compile(r'assert |([\w.]*\.)?(AssertionError|Failed)\b')

Verdict = dict[str, Any]


def main() -> None:
    request = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    shutil.copytree('/in/tree', TREE, symlinks=True)
    if request['libraries']:
        os.environ['LD_LIBRARY_PATH'] = request['libraries']
    built = Timed([request['python'], '-m', 'venv', '--without-pip', str(HOME)], TREE, 600)
    (site,) = HOME.glob('lib/python*/site-packages')
    for package in Path('/in/packages').iterdir():
        (site / package.name).symlink_to(package)
    folder = TREE / request['module']
    os.environ['PYTHONPATH'] = ':'.join(map(str, _list_roots(folder)))
    methods = [_run_alone(folder, name) for name in request['ids']]
    json.dump({'build_seconds': built.seconds, 'methods': methods}, channel)
    channel.close()


def _list_roots(folder: Path) -> Iterator[Path]:
    """List where an installation of the project would lead to."""
    for name in ('src', 'lib', 'source'):
        if (folder / name).is_dir() and not (folder / name / '__init__.py').exists():
            yield folder / name
    yield folder


def _run_alone(folder: Path, name: str) -> Verdict:
    done = _run_pytest(folder, name)
    if done.status == 4 and 'unrecognized arguments' in read_log_end():
        done = _run_pytest(folder, '-o', 'addopts=', name)  # of plugins that tests do not need
    outcome, exception = _find_worst()
    if done.late.is_set() or done.status in (-signal.SIGXCPU, -signal.SIGKILL):
        outcome = 'timeout'
    elif done.status not in TESTS_RAN and outcome != 'skipped':
        outcome = _find_why_not_run(folder, name, done.status)
    log = '' if outcome == 'pass' else read_log_end()
    return {'outcome': outcome, 'exception': exception, 'seconds': done.seconds, 'log': log}


def _find_why_not_run(folder: Path, name: str, status: int) -> str:
    if status not in (2, 3, 4, NO_TESTS):
        return 'error'  # the process ended before it could report
    collected = _run_pytest(folder, '-o', 'addopts=', '--collect-only', name.partition('::')[0])
    return 'missing' if collected.status in (0, NO_TESTS) else 'compile_error'


def _run_pytest(folder: Path, *words: str) -> Timed:
    REPORT.unlink(missing_ok=True)
    limited: Sequence[str] = ('prlimit', f'--cpu={TEST_CPU_SECONDS}', '--')
    python = (str(HOME / 'bin/python'), '-m', 'pytest', f'--junitxml={REPORT}')
    return Timed([*limited, *python, *words], folder, TEST_WALL_SECONDS)


def _find_worst() -> tuple[str, str]:
    """Find the worst over all test cases and what it says; `missing` where there is none."""
    if not REPORT.is_file():
        return 'missing', ''
    cases = ElementTree.parse(REPORT).iter('testcase')
    outcomes = [outcome for case in cases for outcome in _list_outcomes(case)]
    return min(outcomes, key=lambda pair: WORST_FIRST.index(pair[0]), default=('missing', ''))


def _list_outcomes(case: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Of a failure JUnit's words do not say whether it was an assertion; its message does."""
    plain = True
    for child in case:
        said = (child.get('message') or '').partition('\n')[0][:200]
        if child.tag in ('error', 'failure', 'skipped'):
            plain = False
        if child.tag == 'failure':
            yield ('fail' if _FAILED.match(said) or 'XPASS(strict)' in said else 'error'), said
        elif child.tag in ('error', 'skipped'):
            yield child.tag, said
    if plain:
        yield 'pass', ''
