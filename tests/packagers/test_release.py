from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.reasons import EXPLANATIONS
from coevo.model.records import Drop
from coevo.model.schema import TABLES, build_arrow_schema
from coevo.model.words import MethodChange, Stage, Track
from coevo.snapshots import snapshot
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from packagers import dictionary
from packagers.funnel import compute_funnel
from packagers.plan import BuiltTasks
from packagers.release import ReleaseReport
from packagers.row_files import write_table
from packagers.rows import Rows, gather_rows
from tests import segments, snapshots
from tests.segments import PARTITION, UPDATE, method_id, pair_id, segment


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two pairs, mined."""
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)
    return store


def content(folder: Path) -> dict[str, bytes]:
    """Every file but timings, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob('*'))
        if path.is_file() and 'timings' not in path.parts
    }


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / 'data' / table).to_pylist()
    return found


def manifest(folder: Path) -> dict[str, Any]:
    return snapshot.load_manifest(folder)


# -- the same segments, the same bytes -------------------------------------------------------------


def test_mining_order_does_not_change_the_snapshot(tmp_path: Path) -> None:
    for name, order in (('a', (1, 2, 3)), ('b', (3, 1, 2))):
        snapshots.make(tmp_path / name, *order)
    assert content(tmp_path / 'a' / 'snapshot') == content(tmp_path / 'b' / 'snapshot')


@pytest.mark.slow
def test_interrupted_and_resumed_run_does_not_change_the_snapshot(tmp_path: Path) -> None:
    halved = Store(tmp_path / 'halved')
    halved.merge_walk_into_stored(PARTITION, segments.walk(1, 2))
    halved.write_segment_unless_intact(
        PARTITION, segment(2, key='key-2')
    )  # killed here: neither complete nor compacted
    segments.fill(halved, 1, 2)
    snapshots.write(halved, tmp_path / 'a')
    whole = Store(tmp_path / 'whole')
    segments.fill(whole, 1, 2)
    snapshots.write(whole, tmp_path / 'b')
    assert content(tmp_path / 'a') == content(tmp_path / 'b')


@pytest.mark.slow
def test_measured_seconds_change_only_the_timings_table(tmp_path: Path) -> None:
    for name, seconds in (('a', 1.5), ('b', 2.5)):
        store = Store(tmp_path / name / 'store')
        store.merge_walk_into_stored(PARTITION, segments.walk(1))
        store.write_segment_unless_intact(PARTITION, segment(1, cpu_seconds=seconds))
        snapshots.write(store, tmp_path / name / 'snapshot')
    assert content(tmp_path / 'a' / 'snapshot') == content(tmp_path / 'b' / 'snapshot')
    timed = [rows(tmp_path / name / 'snapshot', 'timings')[0]['cpu_seconds'] for name in 'ab']
    assert timed == [1.5, 2.5]


def test_release_of_pairs_by_two_versions_of_the_code_says_so(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    store.merge_walk_into_stored(PARTITION, segments.walk(1, 2))
    younger = segment(2)
    pair = dataclasses.replace(younger.pair, engine_version='ba9876543210')
    store.write_segment_unless_intact(PARTITION, segment(1))
    store.write_segment_unless_intact(PARTITION, dataclasses.replace(younger, pair=pair))
    report = snapshots.write(store, tmp_path / 'snapshot')
    told = (
        'pairs of java were mined by 2 versions of the code (1 by 0123456789ab, 1 by ba9876543210)'
    )
    assert told in report.sentence
    assert told in (tmp_path / 'snapshot/README.md').read_text()
    assert manifest(tmp_path / 'snapshot')['tools']['engine'] == ['0123456789ab', 'ba9876543210']


def test_snapshot_contains_no_path_or_name_of_the_machine(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    for name, data in content(tmp_path / 'snapshot').items():
        assert str(tmp_path).encode() not in data, name
        assert os.uname().nodename.encode() not in data, name
        if name.endswith('.parquet'):
            assert b'pandas' not in data, name


# -- where it is written ---------------------------------------------------------------------------


def test_repeated_release_leaves_the_same_snapshot_untouched(store: Store, tmp_path: Path) -> None:
    target = tmp_path / 'deep' / 'snapshot'
    first = snapshots.write(store, target)
    before = {path: path.stat().st_mtime_ns for path in target.rglob('*')}
    again = snapshots.write(store, target)
    assert (first.written, again.written) == (True, False)
    assert 'already there' in again.sentence
    assert {path: path.stat().st_mtime_ns for path in target.rglob('*')} == before
    assert [path.name for path in target.parent.iterdir()] == ['snapshot']


def test_another_snapshot_is_never_overwritten(store: Store, tmp_path: Path) -> None:
    target = snapshots.make(tmp_path, 1, 2, store=store)
    before = content(target)
    segments.fill(store, 3)
    with pytest.raises(Fatal, match='snapshots do not change'):
        snapshots.write(store, target)
    assert content(target) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ['snapshot', 'store']


def test_foreign_folder_or_file_is_left_alone(store: Store, tmp_path: Path) -> None:
    photo = tmp_path / 'photos' / 'photo.png'
    photo.parent.mkdir()
    photo.touch()
    for target in (photo.parent, photo):
        with pytest.raises(Fatal, match='is no snapshot'):
            snapshots.write(store, target)
    assert photo.exists()


@pytest.mark.slow
def test_release_into_an_empty_folder_is_allowed(store: Store, tmp_path: Path) -> None:
    (tmp_path / 'empty').mkdir()
    assert snapshots.write(store, tmp_path / 'empty').written


def test_an_empty_store_is_not_released(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='mine a repository first'):
        snapshots.write(Store(tmp_path / 'store'), tmp_path / 'snapshot')
    assert not (tmp_path / 'snapshot').exists()


def test_pairs_mined_without_a_sandbox_are_not_released(store: Store, tmp_path: Path) -> None:
    unsafe = segments.pair(3, sandbox='none')
    store.merge_walk_into_stored(PARTITION, segments.walk(3))
    store.write_segment_unless_intact(
        PARTITION, dataclasses.replace(segment(3, key='key-3'), pair=unsafe)
    )
    with pytest.raises(Fatal, match='--sandbox none'):
        snapshots.write(store, tmp_path / 'snapshot')
    assert not (tmp_path / 'snapshot').exists()


# -- the tables ------------------------------------------------------------------------------------


def test_snapshot_has_every_table_with_its_columns(store: Store, tmp_path: Path) -> None:
    report = snapshots.write(store, tmp_path / 'snapshot')
    for name, record in TABLES.items():
        files = sorted((tmp_path / 'snapshot' / 'data' / name).iterdir())
        assert all(pq.read_schema(file).equals(build_arrow_schema(record)) for file in files), name
        assert sum(pq.read_metadata(file).num_rows for file in files) == report.rows[name]
    assert report.rows['pairs'] == 2
    assert report.rows['methods'] == 6
    assert report.rows['tasks'] == 4


@pytest.mark.slow
def test_columns_are_compressed_and_have_statistics(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    file = pq.ParquetFile(tmp_path / 'snapshot' / 'data' / 'methods' / 'part-0.parquet')
    column = file.metadata.row_group(0).column(0)
    assert column.compression == 'ZSTD'
    assert column.statistics.min is not None


def test_rows_are_grouped_by_track_date_and_repository(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, *range(1, 6))
    rows = gather_rows(store)
    found = [
        dataclasses.replace(row, repo=repo, contamination_date=segments.day(day))
        for row in rows.methods
        for repo in ('a/a', 'b/b')
        for day in (0, 200, 400)
    ]
    (path,) = write_table(tmp_path / 'out', 'methods', found)
    table = pq.read_table(path, columns=['track', 'repo', 'contamination_date']).to_pylist()
    blocks = [
        (row['track'], row['contamination_date'].year, row['contamination_date'].month, row['repo'])
        for row in table
    ]
    changes = [one for one, other in zip(blocks, [None, *blocks], strict=False) if one != other]
    assert len(changes) == len(set(blocks)) == 3 * 3 * 2
    assert (
        write_table(tmp_path / 'again', 'methods', found[::-1])[0].read_bytes() == path.read_bytes()
    )


def test_method_rows_have_their_dates_and_task_ids(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    found = {row['method_id']: row for row in rows(tmp_path / 'snapshot', 'methods')}
    updated = found[method_id(2, 'growsWithZones')]
    assert updated['contamination_date'] == segments.day(2)
    assert updated['contamination_basis'] == 'branches_only'
    tasks = {row['task_id']: row for row in rows(tmp_path / 'snapshot', 'tasks')}
    assert tasks[updated['task_id']]['method_ids'] == [updated['method_id']]
    assert found[method_id(2, 'isNeverNegative')]['task_id'] is None


def test_same_edit_in_a_later_pair_is_a_duplicate_of_the_first(
    store: Store, tmp_path: Path
) -> None:
    """Branches and cherry-picks bring an edit into several pairs; counting must not."""
    original = segments.method(1, 'growsWithZones', MethodChange.CHANGED, UPDATE)
    copy = dataclasses.replace(
        segments.method(3, 'growsWithZones', MethodChange.CHANGED, UPDATE),
        old_source=original.old_source,
        new_source=original.new_source,
    )
    store.merge_walk_into_stored(PARTITION, segments.walk(3))
    mined = segment(3, key='key-3')
    copied = dataclasses.replace(mined, methods=(copy, *mined.methods[1:]))
    store.write_segment_unless_intact(PARTITION, copied)
    snapshots.write(store, tmp_path / 'snapshot')
    pointing = {
        row['method_id']: row['duplicate_of']
        for row in rows(tmp_path / 'snapshot', 'methods')
        if row['duplicate_of'] is not None
    }
    assert pointing == {copy.method_id: original.method_id}


def test_drops_of_the_task_stage_join_the_other_drops(store: Store, tmp_path: Path) -> None:
    late = Drop(
        repo=segments.REPO,
        walk=PARTITION.walk,
        pair_id=pair_id(1),
        stage=Stage.TASK,
        unit=Stage.TASK.unit,
        key='0' * 16,
        reason='start_state_invalid',
        detail='why',
    )

    def build(_: Rows) -> BuiltTasks:
        other = dataclasses.replace(late, pair_id=pair_id(2), key='1' * 16)
        return BuiltTasks(tasks=(), ids={}, drops=(late, other))

    snapshots.write(store, tmp_path / 'snapshot', build=build)
    reasons = [row['reason'] for row in rows(tmp_path / 'snapshot', 'drops')]
    assert sorted(reasons) == [
        *['flaky'] * 2,
        'no_code_change',
        *['not_sampled'] * 2,
        *['start_state_invalid'] * 2,
    ]


# -- dates of the snapshot -------------------------------------------------------------------------


@pytest.mark.slow
def test_missing_cutoff_defaults_to_the_newest_commit(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    found = manifest(tmp_path / 'snapshot')
    assert found['month'] == '2024-01'
    assert [walk['cutoff'] for walk in found['walks']] == ['2024-01-03T12:00:00+00:00']
    assert rows(tmp_path / 'snapshot', 'repositories')[0]['cutoff'] == segments.day(2)


@pytest.mark.slow
def test_cutoff_of_another_time_zone_is_written_in_utc(store: Store, tmp_path: Path) -> None:
    east = datetime(2024, 1, 3, 13, tzinfo=timezone(timedelta(hours=1)))
    walk = store.load_walk(PARTITION)
    told = dataclasses.replace(walk.repository, cutoff=east)
    store.merge_walk_into_stored(PARTITION, dataclasses.replace(walk, repository=told))
    snapshots.write(store, tmp_path / 'snapshot')
    (shown,) = manifest(tmp_path / 'snapshot')['walks']
    assert shown['cutoff'] == '2024-01-03T12:00:00+00:00'
    assert verify_snapshot(tmp_path / 'snapshot') == []


@pytest.mark.parametrize('month', ['2024', '2024-13', '2024-1', 'January'])
def test_month_in_another_format_is_refused(store: Store, tmp_path: Path, month: str) -> None:
    with pytest.raises(Fatal, match='is no month'):
        snapshots.write(store, tmp_path / 'snapshot', month=month)


# -- what is withdrawn -----------------------------------------------------------------------------


def test_task_missing_from_the_next_snapshot_is_withdrawn(tmp_path: Path) -> None:
    before = snapshots.make(tmp_path / 'before', 1, 2)
    store = Store(tmp_path / 'store')
    segments.fill(store, 1)
    snapshots.write(store, tmp_path / 'after', previous=before, month='2024-02')
    withdrawn = rows(tmp_path / 'after', 'withdrawn')
    gone = {row['task_id'] for row in rows(before, 'tasks') if row['pair_id'] == pair_id(2)}
    assert {row['id'] for row in withdrawn} == gone
    assert {(row['table'], row['month']) for row in withdrawn} == {('tasks', '2024-02')}


@pytest.mark.slow
def test_withdrawn_task_stays_withdrawn_until_it_is_reissued(tmp_path: Path) -> None:
    first = snapshots.make(tmp_path / 'first', 1, 2)
    half, whole = Store(tmp_path / 'half'), Store(tmp_path / 'whole')
    segments.fill(half, 1)
    segments.fill(whole, 1, 2)
    snapshots.write(half, tmp_path / 'second', previous=first, month='2024-02')
    snapshots.write(half, tmp_path / 'third', previous=tmp_path / 'second', month='2024-03')
    assert rows(tmp_path / 'third', 'withdrawn') == rows(tmp_path / 'second', 'withdrawn')
    snapshots.write(whole, tmp_path / 'fourth', previous=tmp_path / 'third', month='2024-04')
    back = rows(tmp_path / 'fourth', 'withdrawn')
    assert [row['month'] for row in back if row['reissued']] == ['2024-02'] * len(back) != []
    assert {row['released'] for row in rows(tmp_path / 'fourth', 'tasks')} == {'2024-01', '2024-02'}


@pytest.mark.slow
def test_task_keeps_the_month_of_its_first_release(tmp_path: Path) -> None:
    first = snapshots.make(tmp_path / 'first', 1)
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2)
    report = snapshots.write(store, tmp_path / 'second', previous=first, month='2024-02')
    months = {row['pair_id']: row['released'] for row in rows(tmp_path / 'second', 'tasks')}
    assert months == {pair_id(1): '2024-01', pair_id(2): '2024-02'}
    assert '2 tasks are new, 0 withdrawn, 0 issued anew' in report.sentence


@pytest.mark.slow
def test_task_with_an_earlier_contamination_date_than_before_is_reissued(tmp_path: Path) -> None:
    def earlier(found: Rows) -> Sequence[MethodRow]:
        day = timedelta(days=1)
        return [
            dataclasses.replace(row, contamination_date=row.contamination_date - day)
            if row.contamination_date and row.pair_id == pair_id(2)
            else row
            for row in snapshots.date(found)
        ]

    first = snapshots.make(tmp_path / 'first', 1, 2, 3)
    store = Store(tmp_path / 'store')
    segments.fill(store, 1, 2, 3)
    snapshots.write(store, tmp_path / 'second', previous=first, month='2024-02', date=earlier)
    tasks = {row['task_id']: row['pair_id'] for row in rows(tmp_path / 'second', 'tasks')}
    again = rows(tmp_path / 'second', 'withdrawn')
    assert {tasks[row['id']] for row in again} == {pair_id(2)}
    assert {row['reason'] for row in again} == {'dated_earlier: 2024-01-02, not 2024-01-03'}
    assert verify_snapshot(tmp_path / 'second') == []
    snapshots.write(
        store, tmp_path / 'third', previous=tmp_path / 'second', month='2024-03', date=earlier
    )
    assert rows(tmp_path / 'third', 'withdrawn') == again


@pytest.mark.slow
def test_previous_snapshot_of_the_same_month_is_refused(store: Store, tmp_path: Path) -> None:
    first = snapshots.make(tmp_path / 'first', 1)
    with pytest.raises(Fatal, match='no earlier month'):
        snapshots.write(store, tmp_path / 'second', previous=first)


def test_previous_folder_that_is_no_snapshot_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='is no snapshot'):
        snapshots.write(store, tmp_path / 'snapshot', previous=tmp_path / 'nowhere')


# -- manifest, card, Croissant ---------------------------------------------------------------------


def test_manifest_has_the_checksum_of_every_other_file(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    files = content(tmp_path / 'snapshot')
    text = files.pop('manifest.json')
    found = json.loads(text)
    assert found['files'] == {
        name: {'sha256': hashlib.sha256(data).hexdigest(), 'size': len(data)}
        for name, data in files.items()
    }
    assert text == json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False).encode() + b'\n'
    assert found['rows']['methods'] == 6
    assert found['tools']['engine'] == [segments.repository().engine_version]


def test_manifest_lists_the_tools_that_the_mining_used(store: Store, tmp_path: Path) -> None:
    """Not those of the machine that releases; a store may hold what several versions made."""
    store.merge_walk_into_stored(PARTITION, segments.walk(3))
    newer = segments.pair(3, candidates=5, tools=('jacoco 0.9', 'refactoring-miner 3.0'))
    store.write_segment_unless_intact(
        PARTITION, dataclasses.replace(segment(3, key='key-3'), pair=newer)
    )
    snapshots.write(store, tmp_path / 'snapshot')
    tools = manifest(tmp_path / 'snapshot')['tools']
    assert (tools['jacoco'], tools['refactoring-miner']) == (['0.8', '0.9'], ['3.0'])
    assert 'universalmutator' not in tools


def test_unmined_pairs_are_reported(store: Store, tmp_path: Path) -> None:
    store.merge_walk_into_stored(PARTITION, segments.walk(3))
    report = snapshots.write(store, tmp_path / 'snapshot')
    assert 'missing in it: 1 pair of example/ferry (parents)' in report.sentence
    assert manifest(tmp_path / 'snapshot')['walks'][0]['pairs_unmined'] == 1
    assert '1 pairs of example/ferry (parents) entered the walk but are not' in card(tmp_path)


def card(tmp_path: Path) -> str:
    return (tmp_path / 'snapshot' / 'README.md').read_text()


def test_the_manual_explains_every_reason() -> None:
    page = dictionary.render_page()
    for reason, meaning in EXPLANATIONS.items():
        assert f'| `{reason}` | {meaning.replace("|", chr(92) + "|")} |' in page


def test_card_lists_every_table_with_its_rows(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    for name in TABLES:
        there = bool(rows(tmp_path / 'snapshot', name))
        assert (f'    path: data/{name}/*.parquet\n' in card(tmp_path)) is there
        count = len(rows(tmp_path / 'snapshot', name))
        assert (f'`{name}` {count}' if name != 'timings' else '`timings`') in card(tmp_path)


def test_card_is_forty_lines_with_a_loader_and_one_task(store: Store, tmp_path: Path) -> None:
    """The head that dataset viewers read is not counted."""
    snapshots.write(store, tmp_path / 'snapshot')
    body = card(tmp_path).split('---\n', 2)[2]
    assert len([line for line in body.splitlines() if line]) <= 45
    assert 'load_dataset(SNAPSHOT' in body
    example = body.partition('## One task\n')[2].partition('\n## ')[0]
    (task,) = [
        row for row in rows(tmp_path / 'snapshot', 'tasks') if f'`{row["task_id"]}`' in example
    ]
    assert f'{task["track"]}: commit `{task["new_rev"]}`' in example
    (method,) = [
        row
        for row in rows(tmp_path / 'snapshot', 'methods')
        if row['method_id'] == task['method_ids'][0]
    ]
    for cell in ('t_old_c_old', 't_new_c_new', 't_old_c_new', 't_new_c_old'):
        line = f'| `{cell}` | {method[cell]} | {method[f"{cell}_passes"]} of {method[f"{cell}_runs"]} |'
        assert (line in example) is (method[cell] is not None)


def test_every_stage_of_the_funnel_accounts_for_all_that_entered_it(
    store: Store, tmp_path: Path
) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    steps = {step.stage: step for step in compute_funnel(gather_rows(store))}
    for step in steps.values():
        assert step.entered == step.kept_count + sum(count for _, count in step.dropped)
    counted = [(steps[stage].entered, steps[stage].kept_count) for stage in list(Stage)[:6]]
    assert counted == [(3, 2), (2, 2), (10, 8), (8, 6), (6, 6), (4, 4)]
    assert 'filter 10 → 8 methods' in card(tmp_path)


def test_croissant_points_to_files_and_columns_that_exist(store: Store, tmp_path: Path) -> None:
    target = tmp_path / 'snapshot'
    snapshots.write(store, target)
    found = json.loads((target / 'croissant.json').read_bytes())
    assert found['conformsTo'] == 'http://mlcommons.org/croissant/1.0'
    (tasks,) = (file for file in found['distribution'] if file['@type'] == 'cr:FileSet')
    assert len([*target.glob(tasks['includes'])]) == len(Track)
    for file in found['distribution']:
        if file is not tasks:
            data = (target / file['contentUrl']).read_bytes()
            assert file['sha256'] == hashlib.sha256(data).hexdigest()
    ids = {file['@id'] for file in found['distribution']}
    for record in found['recordSet']:
        table = 'tasks' if record['name'].startswith('test_') else record['name']
        columns = build_arrow_schema(TABLES[table]).names
        for field in record['field']:
            (origin,) = field['source'].keys() - {'extract', 'transform'}
            assert field['source'][origin]['@id'] in ids
            assert (origin == 'fileSet') is (record['name'] == 'tasks')
            assert field['source']['extract']['column'] in columns


@pytest.mark.slow
def test_release_onto_a_copy_of_the_snapshot_writes_nothing(store: Store, tmp_path: Path) -> None:
    snapshots.write(store, tmp_path / 'snapshot')
    shutil.copytree(tmp_path / 'snapshot', tmp_path / 'copy')
    assert not snapshots.write(store, tmp_path / 'copy').written


def test_report_names_only_some_of_many_repositories_without_a_url() -> None:
    report = ReleaseReport(
        snapshot=Path('there'),
        written=True,
        rows=dict.fromkeys(('tasks', 'methods', 'pairs'), 1),
        new=1,
        withdrawn=0,
        reissued=0,
        unmined=(),
        month='',
        fixed=True,
        reached={},
        news=(),
        without_url=tuple(f'some/{number}' for number in range(5)),
    )
    assert 'no URL is known of some/0, some/1, some/2 and 2 more, so nobody' in report.sentence
    few = replace(report, without_url=('some/0', 'some/1'))
    assert 'no URL is known of some/0, some/1, so nobody' in few.sentence
