"""Whether the commands that a task holds do what they say, run as they stand, without coevo.

    python -m benchmarks.plain_commands SNAPSHOT OUT.csv --store STORE [--tasks N] [--output DIR]

Of each task the start state is written, `environment.compile_command` and `environment.test_command` are run in it by
`sh`, the gold patch is applied, and the tests are run again. The test command has to fail at the start (but for
suites that start with tests that pass) and to pass with gold. JDKs are those that `coevo jdks` lists, by
`JAVA_HOME`. Tasks that OUT.csv has are not asked again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import coevo
from benchmarks.tables import append, read
from coevo.evaluation.checkout import check_out
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.python import uv
from coevo.languages.python.interpreters import find_interpreters

_SECONDS = 900
_TASKS = """
SELECT task_id, repo, language, test_patch, environment.runtime AS runtime, environment.compile_command AS compile,
    environment.test_command AS test
FROM tasks ORDER BY md5(task_id)"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('snapshot')
    parser.add_argument('out', type=Path)
    parser.add_argument('--store', type=Path, required=True)
    parser.add_argument('--tasks', type=int)
    parser.add_argument('--output', type=Path, help='where what the commands print is kept')
    arguments = parser.parse_args()
    known = {row['task_id'] for row in read(arguments.out)}
    found = coevo.open(arguments.snapshot).sql(_TASKS).fetchall()
    for task in found[: arguments.tasks]:
        if task[0] not in known:
            append(arguments.out, [_asked(arguments, *task)])
    rows = read(arguments.out)
    for said, count in sorted(Counter((row['language'], row['said']) for row in rows).items()):
        print(*said, count)


def _asked(
    arguments: argparse.Namespace,
    task_id: str,
    repo: str,
    language: str,
    patch: str,
    runtime: str,
    build: str,
    test: str,
) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix='plain-') as scratch:
        place = Path(scratch) / 'work'
        check_out(arguments.snapshot, task_id, place, arguments.store)
        environment = _environment(runtime if language == 'java' else '')
        steps = {}
        for name, line in (('build', build), ('start', test), ('gold', test)):
            if name == 'gold':
                subprocess.run(['git', 'apply', '-'], cwd=place, input=patch.encode(), check=True)
            steps[name], said = _run(line, place, environment)
            if arguments.output:
                arguments.output.mkdir(exist_ok=True)
                (arguments.output / f'{task_id}.{name}').write_text(f'{line}\n{said}')
    good = steps['start'] != 0 and steps['gold'] == 0
    said = (
        'as it should' if good else ' '.join(f'{name} {status}' for name, status in steps.items())
    )
    return {'task_id': task_id, 'repo': repo, 'language': language, 'said': said}


def _run(line: str, place: Path, environment: dict[str, str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            ['sh', '-c', line],
            cwd=place,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, 'timeout'
    return done.returncode, done.stdout


def _environment(java: str) -> dict[str, str]:
    """This process's, with the JDK of that version, and the uv and interpreters that are here."""
    known = [str(one.program.parent) for one in find_interpreters()]
    path = os.pathsep.join((str(Path(uv.find_program()).parent), os.environ['PATH'], *known))
    homes = [jdk.home for jdk in find_jdks() if jdk.version == java]
    return {**os.environ, 'PATH': path, **({'JAVA_HOME': str(homes[0])} if homes else {})}


if __name__ == '__main__':
    main()
