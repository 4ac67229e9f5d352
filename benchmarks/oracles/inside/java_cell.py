"""One cell in the sandbox: Maven, then a fresh JVM for each method, each one timed.

Reads a request (`oracles.java_cell`) as JSON and writes an answer (`oracles.driver.Answer`) on
standard output, which no child gets. Runs with the system's Python and its standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import classfile, relay, reports, selection

TREE, LOG = Path('/w/tree'), Path('/tmp/log')
SETTINGS, CLASS_PATH, REPORTS = (
    Path('/tmp/settings.xml'),
    Path('/tmp/class_path'),
    Path('/w/reports'),
)

TEST_CPU_SECONDS, TEST_WALL_SECONDS, MAVEN_WALL_SECONDS = 60, 600, 1200

_SETTINGS_XML = """\
<settings><mirrors><mirror>
  <id>coevo</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:{port}/</url>
</mirror></mirrors></settings>
"""
_JUPITER = re.compile(r'/junit-jupiter-api-(\d+)\.(\d+)[^/:]*\.jar')


class Timed:
    """A command that ran to its end: status (negative for a signal), CPU seconds of its tree."""

    def __init__(self, argv: Sequence[str], folder: Path, wall_seconds: float) -> None:
        self.late = threading.Event()
        with LOG.open('wb') as log:
            child = subprocess.Popen(
                argv,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        timer = threading.Timer(wall_seconds, self._end, (child.pid,))
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.seconds = used.ru_utime + used.ru_stime

    def _end(self, pid: int) -> None:
        self.late.set()
        os.killpg(pid, signal.SIGKILL)


def main() -> None:
    request = json.load(sys.stdin)
    channel = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    shutil.copytree('/in/tree', TREE, symlinks=True)
    server = relay.start_relay('/run/coevo-artifacts')
    SETTINGS.write_text(_SETTINGS_XML.format(port=server.getsockname()[1]))
    json.dump(run_cell(request, server), channel)
    channel.close()


def run_cell(request: dict[str, Any], server: socket.socket) -> dict[str, Any]:
    """Compile, then run each method alone."""
    goals = ('test-compile', request['class_path_goal'], f'-Dmdep.outputFile={CLASS_PATH}')
    built = _run_maven(request, *goals)
    answer: dict[str, Any] = {'build_seconds': built.seconds, 'log': '', 'methods': []}
    if built.status:
        answer['log'] = read_log_end()
        outcome = _find_why_not_built(request)
        answer['methods'] = [_make_verdict(outcome) for _ in request['methods']]
        return answer
    server.shutdown(socket.SHUT_RDWR)  # tests get no network, as in the engine
    folder = TREE / request['module']
    classes = classfile.read_classes(folder / 'target/test-classes')
    for method in request['methods']:
        answer['methods'].append(_run_alone(request, folder, classes, method))
    return answer


def _run_alone(
    request: dict[str, Any],
    folder: Path,
    classes: dict[str, classfile.ClassFile],
    method: dict[str, Any],
) -> dict[str, Any]:
    libraries = CLASS_PATH.read_text().strip()
    own = [str(folder / name) for name in ('target/test-classes', 'target/classes')]
    class_path = ':'.join([*method['first'], *own, *filter(None, libraries.split(':'))])
    chosen = selection.list_selectors(
        classes, method['class'], method['name'], method['parameters']
    )
    shutil.rmtree(REPORTS, ignore_errors=True)
    done = Timed(
        [
            *('prlimit', f'--cpu={TEST_CPU_SECONDS}', '--'),
            *(request['java'], *request['jvm_options'], *method['options']),
            *('-jar', _choose_console(request['consoles'], libraries), 'execute'),
            *('--disable-banner', '--class-path', class_path, '--reports-dir', str(REPORTS)),
            *(f'--select-method={selector}' for selector in chosen),
        ],
        folder,
        TEST_WALL_SECONDS,
    )
    return _judge(done, REPORTS)


def _choose_console(consoles: dict[str, str], libraries: str) -> str:
    """Choose the console of the project's JUnit: 6, late 5, or what is good for all before."""
    match = _JUPITER.search(libraries)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    return consoles['6' if version >= (6, 0) else '5.13' if version >= (5, 12) else '5.11']


def _run_maven(request: dict[str, Any], *goals: str) -> Timed:
    return Timed(
        [
            *(
                request['maven'],
                '-B',
                '-q',
                '-s',
                str(SETTINGS),
                *_select_module(request['module']),
            ),
            *('-Dmaven.repo.local=/w/m2', '-Dmaven.repo.local.tail=/repo'),
            *(*request['properties'], *goals),
        ],
        TREE,
        MAVEN_WALL_SECONDS,
    )


def _select_module(module: str) -> Sequence[str]:
    """Select one module and what it needs, or the whole reactor where none is named."""
    return ('-pl', module, '-am') if module else ()


def _find_why_not_built(request: dict[str, Any]) -> str:
    """Find out whether it is the tests that do not compile, or the code itself. Not timed."""
    return 'unbuildable' if _run_maven(request, 'compile').status else 'compile_error'


def _judge(done: Timed, folder: Path) -> dict[str, Any]:
    outcome, exception = reports.find_worst_outcome(folder)
    if done.late.is_set() or done.status in (-signal.SIGXCPU, -signal.SIGKILL):
        outcome = 'timeout'
    elif outcome == 'missing' and done.status not in (0, 1, 2):
        outcome = 'error'  # its JVM ended before it could report
    log = '' if outcome == 'pass' else read_log_end()
    return {**_make_verdict(outcome), 'exception': exception, 'seconds': done.seconds, 'log': log}


def _make_verdict(outcome: str) -> dict[str, Any]:
    return {'outcome': outcome, 'exception': '', 'seconds': 0.0, 'log': ''}


def read_log_end() -> str:
    """Read the end of what the last command printed, for the person who explains a difference."""
    with LOG.open('rb') as log:
        log.seek(max(0, LOG.stat().st_size - 4000))
        return log.read().decode(errors='replace')


if __name__ == '__main__':
    main()
