"""Start states in which the targets of all tasks of a pair are undone; mined and released for real."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import coevo
from benchmarks.baselines.copying import copy_sibling
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.judging.start_states import StartStateLost, StartStates
from coevo.git.repository import Repository
from coevo.model.quality import SiblingState, SiblingTargets
from coevo.model.words import Track
from coevo.snapshots.cutoffs import LEAST_LEAK
from coevo.snapshots.verification import verify_snapshot
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.once import mined_once
from tests.projects import Mined, junit, pom, source, write
from tests.repos import git

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(1800)]

TESTS = 'src/test/java/shop'
LOOKS = 'Class.forName("shop.HelpedTest").getDeclaredMethod("seven");'
STAYS = 'stays: assertEquals(3, Left.three());'


def side(name: str, factor: int, more: str = '') -> dict[str, str]:
    body = f'    public static int of() {{ return {factor}; }}\n{more}'
    return source(name, f'{body}    public static int three() {{ return 3; }}\n')


def twice(name: str) -> str:
    return (
        f'int[] made = new int[] {{{name}.twice(4), {name}.twice(5), {name}.twice(6)}}; '
        'assertArrayEquals(new int[] {8, 10, 12}, made);'
    )


def helping(name: str) -> dict[str, str]:
    """A class with two new tests, of which one needs what no other test does."""
    files = junit(name, STAYS, 'uses: assertEquals(Arrays.asList(4), Arrays.asList(four()));')
    ((path, text),) = files.items()
    text = text.replace('import org', 'import java.util.Arrays;\nimport org', 1)
    return with_helper({path: text}, 'four() { return Left.twice(2); }')


def seven(name: str, *methods: str) -> dict[str, str]:
    return with_helper(junit(name, *methods), 'seven() { return 7; }')


def with_helper(files: Mapping[str, str], helper: str) -> dict[str, str]:
    ((path, text),) = files.items()
    return {path: text.removesuffix('}\n') + f'    private static int {helper}\n}}\n'}


OLD = {
    'pom.xml': pom(),
    **side('Left', 1),
    **side('Right', 1),
    **junit('LeftTest', STAYS, 'counts: assertEquals(1, Left.of());'),
    **junit('RightTest', STAYS),
    **junit('HelpingTest', STAYS),
    **junit('CalledTest', STAYS),
    **junit('LooksTest', 'looks: assertEquals(1, Left.of());'),
    **seven('HelpedTest', STAYS, 'keeps: assertEquals(7, seven() * Right.of());'),
}
TWICE = '    public static int twice(int n) { return n * of(); }\n'
NEW = {
    **side('Left', 2, TWICE),
    **side('Right', 2, TWICE),
    **junit('LeftTest', STAYS, 'counts: assertEquals(2, Left.of());', f'twice: {twice("Left")}'),
    **junit('RightTest', STAYS, f'twice: {twice("Right")}'),
    **helping('HelpingTest'),
    **junit('FreshTest', 'fresh: assertEquals(14, Left.twice(7));'),
    **junit('ListedTest', 'listed: assertEquals(18, Right.twice(9));'),
    f'{TESTS}/Listing.java': (
        'package shop;\n\npublic class Listing {\n'
        '    static final Class<?>[] ALL = {ListedTest.class};\n}\n'
    ),
    **junit('CalledTest', STAYS, 'called: assertEquals(22, Left.twice(11));'),
    **junit('LooksTest', f'looks: {LOOKS} assertEquals(2, Left.of());'),
    **seven('HelpedTest', STAYS, 'keeps: assertEquals(14, seven() * Right.of());'),
    f'{TESTS}/Caller.java': (
        'package shop;\n\npublic class Caller {\n'
        '    void call() throws Exception { new CalledTest().called(); }\n}\n'
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Twins:
    repository: Path
    mined: Mined
    snapshot: Path
    tasks: Mapping[tuple[str, Track], Assignment]

    def task(self, name: str, track: Track = Track.GENERATION) -> Assignment:
        return self.tasks[name, track]

    def siblings(
        self, name: str, track: Track = Track.GENERATION
    ) -> dict[str, list[SiblingTargets]]:
        found: dict[str, list[SiblingTargets]] = {}
        for one in self.task(name, track).task.siblings or ():
            found.setdefault(Path(one.test_file).stem, []).append(one)
        return found


@pytest.fixture(scope='module')
def twins(tmp_path_factory: pytest.TempPathFactory) -> Twins:
    folder = tmp_path_factory.mktemp('twins')
    repository = write(folder / 'repository', [OLD, NEW])
    found = mined_once(repository, folder / 'store')
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    tasks = load_assignments(folder / 'snapshot', leaking=True)
    return Twins(
        repository=repository,
        mined=found,
        snapshot=folder / 'snapshot',
        tasks={(Path(one.task.test_file).stem, one.task.track): one for one in tasks},
    )


def started(twins: Twins, folder: Path, one: Assignment) -> Path:
    """The start state as the README tells a stranger to make it."""
    git(twins.repository, 'worktree', 'add', '--detach', str(folder), one.task.new_rev)
    for patch, options in ((one.task.sibling_patch, ()), (one.task.test_patch, ('--reverse',))):
        if patch:
            subprocess.run(
                ['git', 'apply', *options, '-'], input=patch.encode(), cwd=folder, check=True
            )
    return folder


def test_each_file_and_track_makes_a_task_in_a_good_snapshot(twins: Twins) -> None:
    generation = {name for name, track in twins.tasks if track is Track.GENERATION}
    assert generation == {
        *('LeftTest', 'RightTest', 'HelpingTest', 'FreshTest', 'ListedTest', 'CalledTest')
    }
    assert ('LeftTest', Track.UPDATE) in twins.tasks
    assert verify_snapshot(twins.snapshot) == []


def test_siblings_are_removed_with_the_code_that_only_they_use(
    twins: Twins, tmp_path: Path
) -> None:
    folder = started(twins, tmp_path / 'start', twins.task('LeftTest'))
    assert (folder / TESTS / 'HelpingTest.java').read_text() == OLD[f'{TESTS}/HelpingTest.java']
    assert (folder / TESTS / 'RightTest.java').read_text() == OLD[f'{TESTS}/RightTest.java']


def test_a_new_sibling_file_is_removed_whole_unless_other_code_names_it(
    twins: Twins, tmp_path: Path
) -> None:
    folder = started(twins, tmp_path / 'start', twins.task('LeftTest'))
    assert not (folder / TESTS / 'FreshTest.java').exists()
    listed = (folder / TESTS / 'ListedTest.java').read_text()
    assert 'public class ListedTest {' in listed
    assert '@Test' not in listed
    siblings = twins.siblings('LeftTest')
    assert [one.undone for one in siblings['FreshTest']] == [SiblingState.ABSENT]
    assert [one.undone for one in siblings['ListedTest']] == [SiblingState.REMOVED]


def test_a_sibling_that_other_code_needs_to_compile_stays_and_is_named(twins: Twins) -> None:
    (called,) = twins.siblings('LeftTest')['CalledTest']
    assert (called.undone, called.test_methods) == (SiblingState.STAYS, ('CalledTest#called',))
    assert called.why


def test_targets_of_another_track_in_the_same_file_are_removed(
    twins: Twins, tmp_path: Path
) -> None:
    update = (twins.task('LeftTest', Track.UPDATE), tmp_path / 'update')
    text = (started(twins, update[1], update[0]) / TESTS / 'LeftTest.java').read_text()
    assert 'assertEquals(1, Left.of());' in text
    assert 'twice' not in text
    other = started(twins, tmp_path / 'generation', twins.task('LeftTest'))
    text = (other / TESTS / 'LeftTest.java').read_text()
    assert 'stays' in text
    assert 'counts' not in text


def test_the_patch_of_a_task_changes_its_own_file_alone(twins: Twins) -> None:
    for (name, _), one in twins.tasks.items():
        assert one.task.test_patch.count('diff --git') == 1
        assert f'{name}.java' not in (one.task.sibling_patch or '')


def test_evaluation_and_attempts_use_the_start_state_of_the_readme(
    twins: Twins, tmp_path: Path
) -> None:
    from coevo.evaluation.judging.start_states import restore_start_file

    clone = Repository(twins.repository / '.git')
    states = StartStates(clone, tmp_path / 'states')
    for number, one in enumerate(twins.tasks.values()):
        folder = started(twins, tmp_path / str(number), one)
        rev = states.commit(one.task, restore_start_file(clone, one.task))
        theirs = {
            path: states.repository.blob(entry.oid)
            for path, entry in states.repository.tree(rev).items()
        }
        ours = {
            str(file.relative_to(folder)): file.read_bytes()
            for file in folder.rglob('*')
            if file.is_file() and file.name != '.git'
        }
        assert theirs == ours


def test_a_sibling_patch_that_changes_other_files_is_refused(twins: Twins, tmp_path: Path) -> None:
    clone = Repository(twins.repository / '.git')
    task = twins.task('LeftTest').task
    other = task.sibling_patch.replace('RightTest.java', '../../main/java/shop/Right.java')
    for changed in (
        replace(task, sibling_patch=other),
        replace(task, sibling_patch=f'{task.sibling_patch}{task.source_patch}'),
        replace(task, siblings=()),
    ):
        with pytest.raises(StartStateLost, match='siblings cannot be undone'):
            StartStates(clone, tmp_path / 'states').commit(changed, None)
        subprocess.run(['rm', '-r', tmp_path / 'states'], check=True)


def test_an_older_task_without_siblings_keeps_its_former_start_state(
    twins: Twins, tmp_path: Path
) -> None:
    clone = Repository(twins.repository / '.git')
    states = StartStates(clone, tmp_path / 'states')
    task = replace(twins.task('LeftTest').task, siblings=None, sibling_patch=None)
    tree = states.repository.tree(states.commit(task, b'class LeftTest {}'))
    right = states.repository.blob(tree[f'{TESTS}/RightTest.java'].oid).decode()
    assert right == NEW[f'{TESTS}/RightTest.java']


def test_a_remaining_sibling_counts_as_a_leak_and_a_removed_one_does_not(twins: Twins) -> None:
    leaks = {name: one.task.leak for (name, _), one in twins.tasks.items()}
    assert leaks['FreshTest'] == 1  # CalledTest#called asserts the same of another number
    assert leaks['RightTest'] is not None
    assert leaks['RightTest'] < LEAST_LEAK  # its twin is gone
    rows = coevo.open(twins.snapshot).execute(
        'SELECT count(*) FROM methods JOIN tasks USING (task_id) WHERE methods.leak <> tasks.leak'
    )
    assert rows.fetchone() == (0,)


def test_leaking_tasks_are_left_out_unless_requested(twins: Twins) -> None:
    leaking = {one.task_id for key, one in twins.tasks.items() if key[0] == 'FreshTest'}
    assert leaking.isdisjoint(one.task_id for one in load_assignments(twins.snapshot))
    assert {one.task_id for one in load_assignments(twins.snapshot, leaking)} == leaking
    connection = coevo.open(twins.snapshot)
    for sql in (
        'SELECT task_id FROM standard WHERE task_id IS NOT NULL',
        'SELECT task_id FROM standard_tasks',
        "SELECT task_id FROM clean('2023-12') WHERE task_id IS NOT NULL",
    ):
        found = {task_id for (task_id,) in connection.execute(sql).fetchall()}
        assert found
        assert leaking.isdisjoint(found)


def test_copying_a_similar_test_gives_the_gold_only_if_siblings_are_kept(twins: Twins) -> None:
    clone = Repository(twins.repository / '.git')
    left = twins.task('LeftTest')
    gold = 'Left.twice(4), Left.twice(5), Left.twice(6)'
    assert gold in copy_sibling(clone, left, with_siblings=True)
    assert gold not in copy_sibling(clone, left)


def test_a_task_whose_gold_fails_without_its_siblings_is_dropped(twins: Twins) -> None:
    rows = coevo.open(twins.snapshot).execute(
        "SELECT stage, reason, detail FROM drops WHERE detail LIKE '%without its siblings%'"
    )
    ((stage, reason, detail),) = rows.fetchall()
    assert (stage, reason) == ('task', 'start_state_invalid')
    assert detail.startswith('gold does not pass without its siblings: looks is error')
    manifest = json.loads((twins.snapshot / 'manifest.json').read_text())
    assert manifest['siblings']['tasks_lost'] == 1


def test_labels_do_not_depend_on_siblings(twins: Twins) -> None:
    labels = {row.test_method: row.label for row in twins.mined.methods if row.track is not None}
    assert labels['called'] == labels['fresh'] == labels['listed'] == 'generation'
    assert labels['counts'] == labels['looks'] == 'update'
    assert all(
        row.isolated.start == 'valid'
        for row in twins.mined.methods
        if row.isolated is not None and row.test_method != 'looks'
    )
