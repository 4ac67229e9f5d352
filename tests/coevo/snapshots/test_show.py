from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.model.errors import Fatal
from coevo.model.records import compute_short_hash
from coevo.model.words import Track
from coevo.snapshots.show import render_by_id
from coevo.storage.store import Store
from packagers.rows import Rows
from tests import segments, snapshots
from tests.segments import REPO, method_id

EDITION = Path(__file__).parents[3] / 'snapshots/2026-07/code-free'
UPDATED = method_id(2, 'growsWithZones')


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('show'), 1, 2)


def task_id(number: int) -> str:
    return compute_short_hash(
        segments.REPO,
        'java',
        segments.rev(number - 1),
        segments.rev(number),
        Track.UPDATE,
        'src/test/java/ferry/FareTest.java',
    )


def test_a_task_shows_cells_dependencies_and_both_patches(snapshot: Path) -> None:
    shown = render_by_id(snapshot, task_id(2))
    lines = shown.splitlines()
    assert lines[0] == f'task          {task_id(2)}: update'
    assert 'public since  2024-01-03T12:00:00Z, branches_only' in lines
    assert f'ferry.FareTest#growsWithZones() [{UPDATED}] changed: update, production' in lines
    assert 't_old_c_new  fail     fail       3 of 3           fail: here' in lines
    assert '1  modified  src/main/java/ferry/Fare.java:3-5  public int of(int zones)' in lines
    assert '+++ b/src/test/java/ferry/FareTest.java' in lines
    assert '+++ b/F.java' in lines


def test_a_task_says_which_tests_of_other_tasks_its_start_lacks(
    snapshot: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(snapshot, tmp_path / 'copy')
    (file,) = (copy / 'data' / 'tasks').glob('update*.parquet')
    table = pq.read_table(file)
    rows = table.to_pylist()
    for row, state in zip(rows, ('removed', 'stays'), strict=False):
        row['siblings'] = [
            {'test_file': 'a/B.java', 'test_methods': ['B#c', 'B#d'], 'undone': state, 'why': None}
        ]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    shown = [render_by_id(copy, row['task_id']).splitlines() for row in rows[:2]]
    assert 'start lacks   B#c, B#d of a/B.java, which another task asks for' in shown[0]
    assert 'start has     B#c, B#d of a/B.java, which another task asks for' in shown[1]


def test_only_cells_that_were_run_are_shown(snapshot: Path) -> None:
    assert 't_new_c_old' not in render_by_id(snapshot, UPDATED)


def test_a_method_shows_its_own_diff_and_that_of_its_task(snapshot: Path) -> None:
    lines = render_by_id(snapshot, UPDATED).splitlines()
    assert f'task          {task_id(2)}' in lines
    assert '-void growsWithZones() { old(2); }' in lines
    assert '+void growsWithZones() { now(2); }' in lines
    assert '+int b;' in lines


def test_a_method_without_a_task_is_shown(snapshot: Path) -> None:
    shown = render_by_id(snapshot, method_id(1, 'isNeverNegative'))
    assert 'changed: refinement' in shown
    assert 'public since  unknown' in shown
    assert '+int b;' not in shown


@pytest.mark.parametrize('id', ['', 'nothing', "' OR true --"])
def test_an_unknown_id_is_refused(snapshot: Path, id: str) -> None:
    with pytest.raises(Fatal, match='no task, method, drop, pair or repository') as told:
        render_by_id(snapshot, id)
    assert f'coevo query {snapshot} "SELECT' in str(told.value)


def test_the_command_that_fills_in_withheld_texts_names_the_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv('COEVO_SNAPSHOTS', str(EDITION.parents[1]))
    for place in (EDITION, '2026-07', 'latest'):
        lines = render_by_id(place, '55b7bb1af08ea173').splitlines()
        assert f'`coevo get {place} --only-tasks 55b7bb1af08ea173`' in lines[-1]


def test_a_repository_lists_tasks_of_other_families_under_their_family() -> None:
    lines = render_by_id(EDITION, 'jd/tenacity').splitlines()
    kinds = {words[0]: words[1] for line in lines if len(words := line.split()) > 3}
    assert kinds['task'] == 'kind'
    assert kinds['11734fd59f21de6c'] == 'generation'
    assert kinds['817eb6e05c42b524'] == 'implement'


def test_a_withdrawn_task_is_reported_as_withdrawn(snapshot: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    snapshots.write(store, tmp_path / 'next', previous=snapshot, month='2024-02')
    with pytest.raises(Fatal, match='was withdrawn in 2024-02: no_longer_reproduced'):
        render_by_id(tmp_path / 'next', task_id(2))


def test_unknown_repository_is_answered_with_repositories_of_a_like_name(snapshot: Path) -> None:
    with pytest.raises(Fatal, match=f"no repository 'example/fery'; it has, for example, {REPO}"):
        render_by_id(snapshot, 'example/fery')


def test_escape_sequences_in_mined_code_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Escape sequences in the source of a test could retitle or clear the terminal."""

    def date(rows: Rows) -> list[object]:
        return [
            dataclasses.replace(row, new_source='\x1b]0;title\x07 \u202e') for row in rows.methods
        ]

    store = Store(tmp_path / 'store')
    segments.fill(store, 2)
    snapshots.write(store, tmp_path / 'snapshot', date=date)
    shown = render_by_id(tmp_path / 'snapshot', UPDATED)
    assert '+\\x1b]0;title\\x07 \\u202e' in shown
    assert '\x1b' not in shown


def test_a_drop_shows_a_sentence_and_the_name_of_its_reason(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    target = tmp_path / 'snapshot'
    snapshots.write(store, target)
    lines = render_by_id(target, segments.rev(0)).splitlines()
    assert lines[0].endswith(f'{segments.rev(0)}: left at stage walk, commits that end no pair')
    assert lines[-1].endswith(
        'No file of the language differs from the first parent. (no_code_change)'
    )


def test_a_dropped_method_shows_its_test_and_change(snapshot: Path) -> None:
    lines = render_by_id(snapshot, method_id(2, 'flickers')).splitlines()
    assert 'left at stage label' in lines[0]
    told = {name: value for name, _, value in (line.partition('  ') for line in lines)}
    assert told['test'].strip() == 'ferry.FareTest#flickers()'
    assert told['test file'].strip() == 'src/test/java/ferry/FareTest.java'
    assert told['change'].strip() == 'changed'
    assert told['because'].strip().endswith('(flaky)')


def test_a_pair_shows_its_labelled_methods_and_its_drops(snapshot: Path) -> None:
    shown = render_by_id(snapshot, segments.pair_id(2))
    lines = shown.splitlines()
    assert lines[0] == f'pair        {segments.pair_id(2)} (parents)'
    assert 'methods     3 labelled, 5 looked at' in lines
    (line,) = [line for line in lines if line.startswith(UPDATED)]
    assert line.split()[1:] == ['changed', 'update', task_id(2), 'ferry.FareTest#growsWithZones()']
    assert '    1  Runs in the same order disagree in outcome or failure. (flaky)' in lines
    key = method_id(2, 'flickers')
    assert f'       {key}, changed, ferry.FareTest#flickers()' in lines


def test_details_of_drops_are_shown_with_a_pair_and_counted_with_a_repository(
    tmp_path: Path,
) -> None:
    store, one, repo = Store(tmp_path / 'store'), segments.segment(1), 'example/pier'
    detail = 'ModuleNotFoundError@acme'
    drops = tuple(dataclasses.replace(drop, detail=detail) for drop in one.drops)
    segments.fill_elsewhere(store, repo, dataclasses.replace(one, drops=drops))
    snapshots.write(store, tmp_path / 'snapshot')
    shown = render_by_id(tmp_path / 'snapshot', repo).splitlines()
    reason = next(at for at, line in enumerate(shown) if '(flaky)' in line)
    assert shown[reason + 1].split() == ['1', detail]
    pair = compute_short_hash(repo, 'java', segments.rev(0), segments.rev(1))
    shown = render_by_id(tmp_path / 'snapshot', pair).splitlines()
    assert any(line.endswith(f'ferry.FareTest#flickers(), {detail}') for line in shown)


def test_a_repository_shows_its_walks_tasks_and_drop_reasons(snapshot: Path) -> None:
    lines = render_by_id(snapshot, segments.REPO).splitlines()
    assert lines[0] == f'repository  {segments.REPO}'
    assert any(line.startswith('walk     parents from ') for line in lines)
    assert any(line.startswith(f'{task_id(2)}  update') for line in lines)
    sentence = 'Runs in the same order disagree in outcome or failure. (flaky)'
    assert f'    2  methods at label: {sentence}' in lines
