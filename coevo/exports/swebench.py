"""`--format swebench`: tasks as instances of SWE-bench, one JSON line each, in `instances.jsonl`.

In SWE-bench code is written and hidden tests judge it. In coevo the test is written, after a change
of the code that everyone may see. A program that reads SWE-bench checks out `base_commit`, applies
patches and runs tests; so the fields keep what that program does with them:

base_commit               the old revision: public, and older than the answer
test_patch                from `base_commit` to the start state of the task: the change of the code
                          (build files, too) without its tests. **Apply it before the agent starts.**
                          SWE-bench applies it after the agent, to hide tests; here nothing in it is
                          secret, and the agent has to see it
patch                     gold: from the start state to the developers' test file, which is the only
                          file that an answer may change
problem_statement         the prompt of the task
FAIL_TO_PASS              the targets, as `Container#method`: broken, or for generation missing,
                          with `test_patch` alone, and passing with `patch`
PASS_TO_PASS              other tests of the file for which the snapshot says that they pass at the
                          new revision; targets of other tasks are in neither list
created_at                the contamination date, since readers compare it with training cutoffs; null
                          if it is not known, and null is never clean
version                   language and runtime, such as `python 3.12.1`: one environment each
environment_setup_commit  the new revision, whose build files say what has to be installed

Tasks of `implement` are what SWE-bench is made for: `patch` is the developers' change of the code,
`test_patch` the new tests of one file (and build files), which the agent sees here, too, and
PASS_TO_PASS names the tests of the file that pass with the old code and with gold. Targets of other
test files, which coevo runs without showing them, are in neither list.

Further fields: `hints_text` (empty), `task_id`, `language`, `test_file`, `compile_command`,
`test_command` (lines for `sh`, to run at the start state with the network) and `metadata`.

What the form cannot say: a generated test must also fail on the old code, which no reader of
SWE-bench asks. Extensions (their targets pass at the start) and suites (they have no targets) are
left out. `coevo evaluate` asks all of it.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.start_states import StartStates
from coevo.exports.selection import (
    LeftOut,
    Omissions,
    Selection,
    TaskTexts,
    commit_start,
    describe_task,
    encode_json_lines,
    format_date,
    load_task_texts,
    open_repositories_with_tasks,
    refuse_empty_export,
    select_tasks,
)
from coevo.git.repository import Repository
from coevo.model.families import Family
from coevo.model.words import Label, Track
from coevo.snapshots import snapshot
from coevo.storage import durable

FILE = 'instances.jsonl'

_NOT_IN_IDS = re.compile(r'[^A-Za-z0-9._-]+')
_DIFF = ('diff-tree', '-p', '--binary', '--full-index', '--no-renames', '--no-color')

# A family, a pair, its walk and a test file, with the other tests of the file that pass.
PassingKey = tuple[Family | None, str, str, str]
PassingTests = Mapping[PassingKey, list[str]]


def write_instances(
    folder: Path, selection: Selection, release: Mapping[str, str | None], omissions: Omissions
) -> Iterator[str]:
    """Write the instances into a folder, and yield a sentence about them.

    Raises: Fatal if no task is left.
    """
    wanted = [
        assignment
        for assignment in select_tasks(selection)
        if _can_be_instance(assignment, omissions)
    ]
    passing = load_pass_to_pass_tests(selection.snapshot)
    instances: list[dict[str, object]] = []
    for repository, of_repository in open_repositories_with_tasks(
        wanted, selection.clones, omissions
    ):
        with tempfile.TemporaryDirectory(prefix='coevo-export-') as scratch:
            states = StartStates(repository, Path(scratch))
            for assignment in of_repository:
                texts = load_task_texts(repository, assignment, omissions)
                code = None if texts is None else diff_old_to_start(states, texts, omissions)
                if texts is not None and code is not None:
                    instances.append(_make_instance(texts, code, passing, release))
    refuse_empty_export(len(instances), omissions)
    durable.write_durably(folder / FILE, [encode_json_lines(instances)])
    yield f'{FILE}: {len(instances):,} instances'


def _can_be_instance(assignment: Assignment, omissions: Omissions) -> bool:
    reason = None
    if assignment.asks_for_suite:
        reason = LeftOut.SUITE
    elif assignment.task.track is Track.EXTENSION and not assignment.asks_for_code:
        reason = LeftOut.EXTENSION
    if reason is not None:
        omissions.add(reason)
    return reason is None


def diff_old_to_start(states: StartStates, texts: TaskTexts, omissions: Omissions) -> str | None:
    """Return the patch from the old revision to the start state.

    None, counted, if there is no start state, or if the patch is not UTF-8.
    """
    start = commit_start(states, texts, omissions)
    if start is None:
        return None
    repository: Repository = states.repository
    patch = repository.run_command(*_DIFF, texts.task.old_rev, start)
    try:
        return patch.decode()
    except UnicodeDecodeError:
        omissions.add(LeftOut.NOT_TEXT)
        return None


def load_pass_to_pass_tests(place: Path | str) -> PassingTests:
    """Return the tests that have to pass still, by family, pair, walk and file.

    They pass at the new revision and are no targets; of code, they pass at the start as well.
    """
    opened = snapshot.attach_snapshots((place,))
    by_file: dict[PassingKey, list[str]] = defaultdict(list)
    with snapshot.translate_read_errors((place,)):
        rows = opened.connection.execute(
            'SELECT DISTINCT pair_id, walk, test_file, test_class, test_method, task_id IS NULL, '
            f"t_new_c_old = 'pass' OR label = '{Label.UNAFFECTED}' "
            f"FROM {opened.rows['methods']} WHERE t_new_c_new = 'pass' ORDER BY ALL"
        ).fetchall()
    for pair_id, walk, test_file, test_class, test_method, is_no_target, passed_before in rows:
        name = f'{test_class.rpartition(".")[2]}#{test_method}'
        if is_no_target:
            by_file[Family.COEVOLUTION, pair_id, str(walk), test_file].append(name)
        if passed_before:
            by_file[Family.IMPLEMENT, pair_id, str(walk), test_file].append(name)
    return by_file


def _make_instance(
    texts: TaskTexts, code: str, passing: PassingTests, release: Mapping[str, str | None]
) -> dict[str, object]:
    task, environment = texts.task, texts.task.environment
    targets = [*task.shown_target_names] or [target.name for target in texts.assignment.targets]
    family = texts.assignment.family
    others = passing.get((family, task.pair_id, str(task.walk), task.test_file), [])
    runtime = f' {environment.runtime}' if environment else ''
    return {
        'instance_id': _NOT_IN_IDS.sub('_', task.repo.replace('/', '__')) + f'-{task.task_id}',
        'repo': task.repo,
        'base_commit': task.old_rev,
        'environment_setup_commit': task.new_rev,
        'patch': task.gold_patch,
        'test_patch': code,
        'problem_statement': task.prompt,
        'hints_text': '',
        'FAIL_TO_PASS': json.dumps(targets),
        'PASS_TO_PASS': json.dumps([name for name in others if name not in targets]),
        'created_at': format_date(task.contamination_date),
        'version': f'{task.language}{runtime}',
        'task_id': task.task_id,
        'language': task.language,
        'test_file': task.test_file,
        'compile_command': environment.compile_command if environment else '',
        'test_command': environment.test_command if environment else '',
        'metadata': describe_task(task, release),
    }
