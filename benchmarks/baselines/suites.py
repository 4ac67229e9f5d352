"""Baselines of families of suites, as predictions for `coevo evaluate`.

    python -m benchmarks.baselines.suites SNAPSHOT empty|unchanged|sibling|first --store STORE --out predictions.jsonl

empty      a file without anything in it
unchanged  the start as it is; an absent file stays absent
sibling    of a function that tests of other files execute, the one of these with most of them; of all else the test
           file of the same folder whose name begins most alike, with its own name put for the other; none where there is none
first      gold's file with its first test alone, the simplest suite that is known to pass; only where it can be cut
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.git.repository import Repository, load_content
from coevo.languages.reading import Side
from coevo.languages.surgery import StartStateInvalid, StartTarget
from coevo.languages.table import get_reading, get_surgery
from coevo.model.records import TestMethod
from miners.diffs.contexts import load_test_tree
from miners.diffs.siblings import count_shared_start


def answer_suite(
    repository: Repository, assignment: Assignment, kind: str
) -> Mapping[str, str] | None:
    """Answer a task; None where the baseline has no meaning."""
    if kind == 'empty':
        return {'file': ''}
    if kind == 'unchanged':
        return {'patch': ''}
    text = (
        _copy_sibling(repository, assignment)
        if kind == 'sibling'
        else _keep_first_test(repository, assignment)
    )
    return None if text is None else {'file': text.decode('utf-8', 'surrogateescape')}


def _copy_sibling(repository: Repository, assignment: Assignment) -> bytes | None:
    tests = (
        assignment.single_revision.executing_tests if assignment.single_revision else None
    ) or ()
    counts = Counter(t.test_file for t in tests if t.test_file != assignment.task.test_file)
    if counts:
        most = min(counts, key=lambda name: (-counts[name], name))
        return load_content(repository, assignment.task.new_rev, most)
    own = PurePosixPath(assignment.task.test_file)
    beside = _list_neighbours(repository, assignment, own)
    if not beside:
        return None
    path = min(beside, key=lambda file: (-count_shared_start(file.name, own.name), file.name))
    text = repository.blob(repository.tree(assignment.task.new_rev)[str(path)].oid)
    return re.sub(rb'\b%s\b' % re.escape(path.stem.encode()), own.stem.encode(), text)


def _list_neighbours(
    repository: Repository, assignment: Assignment, own: PurePosixPath
) -> Sequence[PurePosixPath]:
    """List other files of the folder that declare tests."""
    tests = load_test_tree(repository, assignment.task.new_rev, assignment.task.language)
    near = (path for path in map(PurePosixPath, tests.tree.list_paths(Side.TEST)) if path != own)
    return [path for path in near if path.parent == own.parent and tests.list_tests(str(path))]


def _keep_first_test(repository: Repository, assignment: Assignment) -> bytes | None:
    task = assignment.task
    text = load_content(repository, task.new_rev, task.test_file)
    if text is None:
        return None
    read, cut = get_reading(task.language), get_surgery(task.language)
    _, *others = read.find_tests(read.parse(text, task.test_file), lambda name: ())
    targets = [
        StartTarget(
            method=TestMethod(
                module=task.module,
                test_file=task.test_file,
                test_class=type_.name,
                test_method=member.name,
                parameters=member.parameters,
            )
        )
        for type_, member in others
    ]
    used = cut.list_names_in_related_files(repository, task.new_rev, task.test_file)
    try:
        return cut.make_start_file(text, text, targets, used_elsewhere=used) if targets else text
    except StartStateInvalid:
        return None


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(allow_abbrev=False, description=__doc__)
    parser.add_argument('snapshot')
    parser.add_argument('kind', choices=['empty', 'unchanged', 'sibling', 'first'])
    parser.add_argument('--store', type=Path, required=True)
    parser.add_argument('--out', type=Path, required=True)
    arguments = parser.parse_args(words)
    lines = []
    for assignment in load_assignments(arguments.snapshot):
        if not assignment.asks_for_suite:
            continue
        with open_task_repository([assignment.task], arguments.store) as repository:
            answer = answer_suite(repository, assignment, arguments.kind)
        if answer is not None:
            lines.append(json.dumps({'task_id': assignment.task_id, **answer}, sort_keys=True))
    arguments.out.write_text(''.join(f'{line}\n' for line in lines))
    print(f'{len(lines)} predictions in {arguments.out}')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
