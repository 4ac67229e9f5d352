"""The format `swebench`: an instance for each task, with the fields that SWE-bench has.

The test is what is asked for, as in SWT-Bench: `patch` is the gold change of the test file, and a
model writes such a patch. The start state is `base_commit` with `start_patch` applied: the new code,
with the tests as they were, and without the tests that the task asks for. `test_patch` is empty,
since no further tests are laid over the answer.

FAIL_TO_PASS has the targets that fail at the start, or are missing there, and pass with gold.
PASS_TO_PASS has the targets that pass in both, which only tasks of the track `extension` have.
A test that asserts nothing passes, too: `coevo evaluate` knows whether an answer notices the change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coevo.evaluation.assignments import Assignment
from coevo.exports.task_facts import describe_task
from coevo.exports.training import encode_lines
from coevo.model.words import Track
from coevo.storage import durable

NAME = 'instances.jsonl'

_HUNK = re.compile(r'@@ -(\S+) \+(\S+) @@(.*)', re.DOTALL)


def write_instances(
    folder: Path, assignments: Sequence[Assignment], snapshot_sha256: str
) -> dict[str, int]:
    """Write an instance for each task; return the number of lines of each file, by its name."""
    instances = [_make_instance(each, snapshot_sha256) for each in assignments]
    durable.write_durably(folder / NAME, encode_lines(instances))
    return {NAME: len(instances)}


def _make_instance(assignment: Assignment, snapshot_sha256: str) -> Mapping[str, Any]:
    task = assignment.task
    passes_at_start = task.track is Track.EXTENSION
    environment = task.environment
    return {
        'instance_id': f'{task.repo.replace("/", "__")}-{task.task_id}',
        'repo': task.repo,
        'base_commit': task.new_rev,
        'start_patch': reverse_patch(task.test_patch) + (task.sibling_patch or ''),
        'patch': task.test_patch,
        'test_patch': '',
        'problem_statement': task.prompt,
        'hints_text': '',
        'created_at': task.new_committer_date.isoformat() if task.new_committer_date else None,
        'version': task.released,
        'FAIL_TO_PASS': json.dumps([] if passes_at_start else list(task.test_methods)),
        'PASS_TO_PASS': json.dumps(list(task.test_methods) if passes_at_start else []),
        'environment_setup_commit': task.new_rev,
        'image': None,
        'install_command': environment.compile_command if environment else None,
        'test_command': environment.test_command if environment else None,
        'metadata': describe_task(assignment, snapshot_sha256),
    }


def reverse_patch(patch: str) -> str:
    """Return a unified diff that undoes another one, of files that are neither renamed nor copied."""
    return ''.join(_reverse_lines(patch.splitlines(keepends=True)))


def _reverse_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the reversed lines of a patch, its two name lines in their usual order."""
    old_left = new_left = 0
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if old_left > 0 or new_left > 0 or line.startswith('\\'):
            old_left -= line[:1] in ' -\n'
            new_left -= line[:1] in ' +\n'
            yield {'-': '+', '+': '-'}.get(line[:1], line[:1]) + line[1:]
        elif (hunk := _HUNK.fullmatch(line)) is not None:
            old_left, new_left = _count_lines(hunk[1]), _count_lines(hunk[2])
            yield f'@@ -{hunk[2]} +{hunk[1]} @@{hunk[3]}'
        elif line.startswith('--- ') and index < len(lines) and lines[index].startswith('+++ '):
            yield _name_side('--- a/', lines[index][4:])
            yield _name_side('+++ b/', line[4:])
            index += 1
        elif line.startswith('new file mode'):
            yield line.replace('new', 'deleted', 1)
        elif line.startswith('deleted file mode'):
            yield line.replace('deleted', 'new', 1)
        elif line.startswith('index '):
            yield re.sub(r'index (\w+)\.\.(\w+)', r'index \2..\1', line)
        else:
            yield line


def _name_side(start: str, name: str) -> str:
    """Return a name line of a patch, with `a/` or `b/` as its side has it."""
    if name.startswith('/dev/null'):
        return f'{start[:4]}{name}'
    quoted = '"' if name.startswith('"') else ''
    return f'{start[:4]}{quoted}{start[4:]}{name.removeprefix(quoted)[2:]}'


def _count_lines(span: str) -> int:
    _, comma, count = span.partition(',')
    return int(count) if comma else 1
