"""RefactoringMiner by contents of the files that differ against its own way, by whole commits.

    python -m benchmarks.whole_commits RESULTS.csv COMMITS.csv CLONE... [--pairs N]

Of the pairs that `benchmarks.refactorings time` wrote down, those whose old end is the one parent of the
new one. `detectAtCommit` reads both trees from the bare clone, without a checkout and without a limit
of time, in a JVM with the same options; its handler is a class, which is why it needs a program
(`commits/AtCommit.java`). Resumes; prints the summary.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.refactorings import Clones
from benchmarks.refactorings import clones
from benchmarks.tables import Row
from benchmarks.tables import append
from benchmarks.tables import read
from coevo.languages.java.refactorings.miner import RefactoringMiner
from coevo.languages.java.tools.jdks import choose_jdk
from coevo.languages.java.tools.jdks import find_jdks
from coevo.languages.java.tools.refactoring_miner import class_path
from coevo.languages.refactorings import Refactorings

SOURCE = Path(__file__).with_name('commits') / 'AtCommit.java'
OPTIONS = ('-XX:+UseSerialGC', '-Xmx1g', '-Dorg.slf4j.simpleLogger.defaultLogLevel=off')
ENDS = ('left', 'right')
PLACE = (
    *('file', 'start_line', 'end_line', 'start_column', 'end_column'),
    *('element_type', 'element', 'role'),
)

Answer = Mapping[str, Any]
Listed = Counter[str]
"""Refactorings as JSON: type, description and places at both ends."""


class AtCommit:
    """A JVM that answers for one commit after the other."""

    def __init__(self, stack: ExitStack) -> None:
        jdk = choose_jdk(find_jdks())
        jars = os.pathsep.join(map(str, class_path(jdk)))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        programs = jdk.home / 'bin'
        subprocess.run([programs / 'javac', '-cp', jars, '-d', folder, SOURCE], check=True)
        self._process = stack.enter_context(
            subprocess.Popen(
                [programs / 'java', *OPTIONS, '-cp', f'{folder}:{jars}', 'commits.AtCommit'],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )

    def ask(self, git_dir: Path, rev: str) -> Answer:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None, 'it reads requests'
        assert answers is not None, 'it writes answers'
        requests.write(f'{git_dir}\t{rev}\n')
        requests.flush()
        answer: Answer = json.loads(answers.readline())
        return answer


def commits(opened: Clones, rows: Sequence[Row]) -> Iterator[Row]:
    """Rows whose old end is the one parent of the new one."""
    for row in rows:
        if row['repo'] in opened:
            new = opened[row['repo']].commit(row['new'])
            if new.parents == (row['old'],):
                yield row


def listed(answer: Answer) -> Listed:
    return Counter(
        {
            _key(one['type'], one['description'], *(map(tuple, one[end]) for end in ENDS)): 1
            for one in answer['refactorings']
        }
    )


def listed_by_contents(found: Refactorings) -> Listed:
    return Counter(
        {
            _key(
                one.type,
                one.description,
                *(
                    (tuple(getattr(place, name) for name in PLACE) for place in getattr(one, end))
                    for end in ENDS
                ),
            ): 1
            for one in found.found
        }
    )


def _key(kind: str, description: str, *ends: Iterator[tuple[object, ...]]) -> str:
    return json.dumps([kind, description, *(sorted(set(end), key=repr) for end in ends)])


def compare(found: Refactorings, answer: Answer, row: Row) -> dict[str, object]:
    ours, theirs = listed_by_contents(found), listed(answer)
    return {
        'repo': row['repo'],
        'old': row['old'],
        'new': row['new'],
        'status': found.why or found.status,
        'error': answer.get('error') or '',
        'by_contents': ours.total(),
        'by_commit': theirs.total(),
        'only_by_contents': (ours - theirs).total(),
        'only_by_commit': (theirs - ours).total(),
        'types_only_by_contents': _types(ours - theirs),
        'types_only_by_commit': _types(theirs - ours),
        'cpu_seconds': f'{found.cpu_seconds:.3f}',
        'commit_cpu_seconds': f'{answer["cpu_seconds"]:.3f}',
    }


def _types(differing: Listed) -> str:
    return '; '.join(sorted(json.loads(one)[0] for one in differing.elements()))


def run(arguments: argparse.Namespace) -> None:
    opened = clones(arguments.clones)
    done = {(row['repo'], row['new']) for row in read(arguments.commits)}
    with ExitStack() as stack:
        at_commit = AtCommit(stack)
        miner = stack.enter_context(RefactoringMiner())
        chosen = commits(opened, read(arguments.results))
        for _, row in zip(range(arguments.pairs), chosen, strict=False):
            if (row['repo'], row['new']) in done:
                continue
            repository = opened[row['repo']]
            found = miner.find(repository, row['old'], row['new'])
            answer = at_commit.ask(repository.git_dir, row['new'])
            append(arguments.commits, [compare(found, answer, row)])


def summarise(rows: Sequence[Row]) -> None:
    equal = [row for row in rows if row['only_by_contents'] == row['only_by_commit'] == '0']
    with_some = [row for row in rows if row['by_commit'] != '0' or row['by_contents'] != '0']
    print(f'{len(equal)} of {len(rows)} lists equal, {len(with_some)} of them with refactorings')
    for name in ('by_contents', 'by_commit', 'only_by_contents', 'only_by_commit'):
        print(f'{name}: {sum(int(row[name]) for row in rows)}')
    for name in ('cpu_seconds', 'commit_cpu_seconds'):
        print(f'{name}: {sum(float(row[name]) for row in rows):.1f}')


def main() -> None:
    parser = argparse.ArgumentParser(prog='benchmarks.whole_commits')
    parser.add_argument('results', type=Path)
    parser.add_argument('commits', type=Path)
    parser.add_argument('clones', nargs='+', type=Path)
    parser.add_argument('--pairs', type=int, default=150)
    arguments = parser.parse_args()
    run(arguments)
    summarise(read(arguments.commits))


if __name__ == '__main__':
    main()
