"""Every rule is broken once, in a snapshot that is sealed again so that no checksum gives it away."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.model.errors import Fatal
from coevo.model.pair_rows import CellRow
from coevo.model.quality import IsolatedCells, SiblingState, SiblingTargets
from coevo.model.records import Drop, compute_short_hash
from coevo.model.schema import KEYS, TABLES
from coevo.model.task_rows import WithdrawnRow
from coevo.model.words import BreakageCause, Cell, Label, MethodChange, Outcome, Stage, Track
from coevo.snapshots.verification import Finding, verify_snapshot
from coevo.storage.store import Store
from packagers import release
from packagers.assembly import assemble_release_rows
from packagers.manifests import SnapshotDetails
from packagers.plan import ReleasePlan
from packagers.rows import Rows, gather_rows, sort_rows
from tests import segments, snapshots

Edit = Callable[[Rows], Rows]
# Each is a snapshot that is written, sealed and verified: a CPU second.
EVERY = 3
ABOUT = SnapshotDetails(month='2024-01', parameters={}, unmined={})


def some(names: Iterable[str]) -> list[object]:
    """One of three by place, where only what is not slow is run."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] if place % EVERY else [])
        for place, name in enumerate(names)
    ]


@pytest.fixture(scope='module')
def rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Those of a good snapshot of two pairs."""
    folder = tmp_path_factory.mktemp('store')
    store = Store(folder)
    segments.fill(store, 1, 2)
    plan = ReleasePlan(
        snapshot=folder,
        date=snapshots.date,
        build=snapshots.build_families,
        licence=snapshots.licence,
        size=snapshots.size,
        families=snapshots.families,
    )
    return assemble_release_rows(gather_rows(store), plan)


@pytest.fixture
def good(tmp_path: Path, rows: Rows) -> Path:
    return sealed(tmp_path, rows)


def sealed(folder: Path, rows: Rows) -> Path:
    """A snapshot of whatever rows, with a manifest that fits them."""
    release.write_snapshot(folder / 'snapshot', rows, ABOUT)
    return folder / 'snapshot'


def reseal(path: Path) -> None:
    """Make the manifest fit what the files say now."""
    manifest = json.loads((path / 'manifest.json').read_bytes())
    for name in manifest['files']:
        data = (path / name).read_bytes()
        manifest['files'][name] = {'sha256': hashlib.sha256(data).hexdigest(), 'size': len(data)}
    (path / 'manifest.json').write_text(json.dumps(manifest))


def rules(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    return {(finding.table, finding.rule) for finding in findings}


def changed(table: str, at: int, **values: Any) -> Edit:
    """An edit of one row."""

    def edit(rows: Rows) -> Rows:
        found: list[Any] = list(getattr(rows, table))
        found[at] = dataclasses.replace(found[at], **values)
        return dataclasses.replace(rows, **{table: tuple(found)})

    return edit


def without(table: str, at: int) -> Edit:
    def edit(rows: Rows) -> Rows:
        found = [row for place, row in enumerate(getattr(rows, table)) if place != at]
        return dataclasses.replace(rows, **{table: tuple(found)})

    return edit


def added(table: str, make: Callable[[Rows], Any]) -> Edit:
    def edit(rows: Rows) -> Rows:
        found = sort_rows(table, (*getattr(rows, table), make(rows)))
        return dataclasses.replace(rows, **{table: found})

    return edit


def of_label(rows: Rows, label: Label) -> int:
    return next(place for place, row in enumerate(rows.methods) if row.label is label)


def method(found: Label, **values: Any) -> Edit:
    """An edit of the first method with a label."""
    return lambda rows: changed('methods', of_label(rows, found), **values)(rows)


def test_a_sound_snapshot_passes_verification(good: Path) -> None:
    assert verify_snapshot(good) == []


def test_a_folder_without_a_snapshot_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='is no snapshot'):
        verify_snapshot(tmp_path)


# -- files -----------------------------------------------------------------------------------------


def test_a_changed_byte_is_found(good: Path) -> None:
    path = good / 'data' / 'pairs' / 'part-0.parquet'
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert rules(verify_snapshot(good)) == {('pairs', 'file_changed')}


@pytest.mark.parametrize('name', ['README.md', 'croissant.json'])
def test_a_changed_card_is_found(good: Path, name: str) -> None:
    with (good / name).open('a') as file:
        file.write('\n')
    assert rules(verify_snapshot(good)) == {(name, 'file_changed')}


def test_a_missing_file_is_found(good: Path) -> None:
    (good / 'data' / 'drops' / 'part-0.parquet').unlink()
    assert rules(verify_snapshot(good)) == {('drops', 'file_missing')}


def test_an_extra_file_is_found(good: Path) -> None:
    path = good / 'data' / 'tasks' / 'update.parquet'
    path.with_name('part-1.parquet').write_bytes(path.read_bytes())
    assert rules(verify_snapshot(good)) == {('tasks', 'file_not_in_manifest')}


def test_timings_may_change(good: Path) -> None:
    path = good / 'data' / 'timings' / 'part-0.parquet'
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    assert verify_snapshot(good) == []


@pytest.mark.parametrize('data', [b'', b'PAR1 but not really PAR1', None])
def test_unreadable_timings_are_found(good: Path, data: bytes | None) -> None:
    """No checksum covers them, so Parquet itself has to say so, in more than one kind of error."""
    path = good / 'data' / 'timings' / 'part-0.parquet'
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : -8] = b'\xff' * len(whole[len(whole) // 2 : -8])
    path.write_bytes(whole if data is None else data)
    assert rules(verify_snapshot(good)) == {('timings', 'unreadable')}


def test_a_column_name_that_is_not_utf_8_is_found(good: Path) -> None:
    path = good / 'data' / 'timings' / 'part-0.parquet'
    name = pq.read_schema(path).names[0].encode()
    path.write_bytes(path.read_bytes().replace(name, b'\xba' + name[1:]))
    assert rules(verify_snapshot(good)) == {('timings', 'unreadable')}


def test_an_extra_column_is_found(good: Path) -> None:
    path = good / 'data' / 'pairs' / 'part-0.parquet'
    table = pq.read_table(path)
    pq.write_table(table.append_column('more', table['repo']), path)
    reseal(good)
    assert rules(verify_snapshot(good)) == {('pairs', 'schema')}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ('told', 'table'),
    [
        ({'cutoff': '2023-01-01T00:00:00+00:00'}, 'repositories'),
        ({'head': '0' * 40}, 'repositories'),
        ({'repo': 'example/other'}, 'manifest.json'),
    ],
)
def test_a_manifest_that_describes_other_walks_is_found(
    good: Path, told: dict[str, str], table: str
) -> None:
    manifest = json.loads((good / 'manifest.json').read_bytes())
    manifest['walks'][0].update(told)
    (good / 'manifest.json').write_text(json.dumps(manifest))
    assert (table, 'manifest') in rules(verify_snapshot(good))


def test_a_missing_row_is_found(good: Path) -> None:
    path = good / 'data' / 'pairs' / 'part-0.parquet'
    pq.write_table(pq.read_table(path).slice(1), path)
    reseal(good)
    assert rules(verify_snapshot(good)) == {('pairs', 'row_count')}


# -- keys and ids ----------------------------------------------------------------------------------


# Of which the rows here have none, or which nobody checks.
WITHOUT_ROWS = ('single_revision', 'withdrawn', 'timings')


@pytest.mark.sampled(2)
@pytest.mark.parametrize('table', [name for name in TABLES if name not in WITHOUT_ROWS])
def test_a_duplicate_key_is_found(tmp_path: Path, rows: Rows, table: str) -> None:
    def again(rows: Rows) -> Any:
        return getattr(rows, table)[0]

    findings = verify_snapshot(sealed(tmp_path, added(table, again)(rows)))
    assert (table, 'key_not_unique') in rules(findings)
    row = getattr(rows, table)[0]
    found = next(item for item in findings if item.rule == 'key_not_unique')
    assert found.row == ' '.join(str(getattr(row, name)) for name in KEYS[table])


@pytest.mark.parametrize('end', ['old_rev', 'new_rev'])
def test_a_pair_id_must_match_its_revisions(tmp_path: Path, rows: Rows, end: str) -> None:
    assert ('pairs', 'id') in rules(
        verify_snapshot(sealed(tmp_path, changed('pairs', 0, **{end: '0' * 40})(rows)))
    )


@pytest.mark.parametrize('values', [{'test_method': 'x'}, {'parameters': ('int',)}])
def test_a_method_id_must_match_its_test(
    tmp_path: Path, rows: Rows, values: dict[str, Any]
) -> None:
    assert ('methods', 'id') in rules(
        verify_snapshot(sealed(tmp_path, method(Label.UPDATE, **values)(rows)))
    )


def test_a_task_id_made_from_a_path_that_is_not_utf_8_is_accepted(
    tmp_path: Path, rows: Rows
) -> None:
    """In the data escapes stand for such bytes, or for themselves; an id of neither is found."""
    path = 'src/test/java/\udc80\udcff.java'
    shown = path.encode('utf-8', 'backslashreplace').decode()
    task = rows.tasks[0]
    parts = (task.repo, task.language, task.old_rev, task.new_rev, task.track)
    ids = {
        'bytes': compute_short_hash(*parts, path),
        'text': compute_short_hash(*parts, shown),
        'none': '0' * 16,
    }
    for name, id_ in ids.items():
        made = changed('tasks', 0, task_id=id_, test_file=shown)(rows)
        found = rules(verify_snapshot(sealed(tmp_path / name, made)))
        assert (('tasks', 'id') in found) == (name == 'none')


@pytest.mark.parametrize('values', [{'test_file': 'x'}, {'track': Track.REPAIR}])
def test_a_task_id_must_match_its_file_and_track(
    tmp_path: Path, rows: Rows, values: dict[str, Any]
) -> None:
    assert ('tasks', 'id') in rules(
        verify_snapshot(sealed(tmp_path, changed('tasks', 0, **values)(rows)))
    )


# -- one row at a time -----------------------------------------------------------------------------

F, P = Outcome.FAIL, Outcome.PASS

WRONG_METHODS: dict[str, tuple[Label, dict[str, Any], str]] = {
    'label': (Label.REFINEMENT, {'label': Label.UPDATE}, 'label'),
    'label that the change has not': (Label.UPDATE, {'change': MethodChange.INSERTED}, 'label'),
    'label by module': (
        Label.UPDATE,
        {'label_by_module': Label.REFINEMENT, 'track_by_module': None},
        'label_by_module',
    ),
    'unit cell': (Label.UPDATE, {'t_old_c_new_unit': P}, 'label_by_module'),
    'no label at all': (Label.REFINEMENT, {'label': None, 'label_by_module': None}, 'unlabelled'),
    'track of no label': (Label.REFINEMENT, {'track': Track.UPDATE}, 'track'),
    'track of another label': (Label.UPDATE, {'track': Track.REPAIR}, 'track'),
    'track by module': (Label.UPDATE, {'track_by_module': None}, 'track_by_module'),
    'too few runs': (Label.UPDATE, {'t_old_c_old_runs': 2, 't_old_c_old_passes': 2}, 'evidence'),
    'no runs known': (Label.UPDATE, {'t_old_c_old_runs': None}, 'evidence'),
    'a pass that failed once': (Label.UPDATE, {'t_old_c_old_passes': 2}, 'flaky'),
    'a failure that passed once': (Label.UPDATE, {'t_old_c_new_passes': 1}, 'flaky'),
    'one time-out': (
        Label.UPDATE,
        {
            't_old_c_new': Outcome.TIMEOUT,
            't_old_c_new_unit': Outcome.TIMEOUT,
            't_old_c_new_runs': 1,
        },
        'evidence',
    ),
    'no sandbox': (Label.UPDATE, {'sandbox': 'none'}, 'sandbox'),
    'no pair': (Label.UPDATE, {'pair_id': '0' * 16}, 'pairs_missing'),
    'other revisions': (Label.UPDATE, {'old_rev': '0' * 40}, 'pairs_missing'),
    'no such task': (Label.UPDATE, {'task_id': '0' * 16}, 'tasks_missing'),
    'no such original': (Label.UPDATE, {'duplicate_of': '0' * 16}, 'original_missing'),
    'no track, no reason': (
        Label.UPDATE,
        {'track': None, 'cause': BreakageCause.BUILD, 'task_id': None},
        'funnel_track',
    ),
    'no task, no reason': (Label.UPDATE, {'task_id': None}, 'funnel_task'),
    'runs that no cell has': (
        Label.UPDATE,
        {'t_old_c_old_runs': 4, 't_old_c_old_passes': 4},
        'runs',
    ),
    'mutants that do not add up': (
        Label.UPDATE,
        {'mutation': dataclasses.replace(segments.MUTATION, emitted=6)},
        'mutants_emitted',
    ),
    'mutants that nobody sees': (Label.UPDATE, {'mutation': None}, 'mutants_counted'),
    'mutants that were run after all': (
        Label.UPDATE,
        {'mutation': dataclasses.replace(segments.MUTATION, not_run=1)},
        'mutants_counted',
    ),
    'mutants of equal byte code': (
        Label.UPDATE,
        {'mutation': dataclasses.replace(segments.MUTATION, equal_compiled=1)},
        'mutants_counted',
    ),
    'public after it was committed': (
        Label.UPDATE,
        {'contamination_date': segments.day(9)},
        'date_after_commit',
    ),
    'a date of a shallow clone': (
        Label.GENERATION,
        {'contamination_date': segments.day(0), 'contamination_basis': 'shallow'},
        'date_without_basis',
    ),
    'a date from nowhere': (
        Label.GENERATION,
        {'contamination_date': segments.day(0), 'contamination_basis': None},
        'date_without_basis',
    ),
}


@pytest.mark.parametrize(('engine', 'found'), [('4', set()), ('5', {('methods', 'label')})])
def test_a_method_is_checked_against_the_label_table_of_its_engine(
    tmp_path: Path, rows: Rows, engine: str, found: set[tuple[str, str]]
) -> None:
    """Engine 4 had no label for what passes everywhere though its fixture changed."""
    passing: dict[str, Any] = {
        'change': MethodChange.CONTEXT_CHANGED,
        'label': None,
        'track': None,
        'cause': None,
        'task_id': None,
        'label_by_module': Label.FIXTURE_UPDATE,
        'track_by_module': None,
        't_old_c_new': P,
        't_old_c_new_unit': Outcome.COMPILE_ERROR,
        't_old_c_new_passes': 3,
    }
    made = method(Label.UPDATE, **passing)(rows)
    for index in range(len(made.repositories)):
        made = changed('repositories', index, engine_version=engine)(made)
    about = rules(verify_snapshot(sealed(tmp_path, made)))
    assert {one for one in about if one[1] in ('label', 'label_by_module')} == found


@pytest.mark.sampled(3)
@pytest.mark.parametrize('name', some(WRONG_METHODS))
def test_a_wrong_method_row_is_found(tmp_path: Path, rows: Rows, name: str) -> None:
    label, values, rule = WRONG_METHODS[name]
    findings = verify_snapshot(sealed(tmp_path, method(label, **values)(rows)))
    assert ('methods', rule) in rules(findings)
    wrong = rows.methods[of_label(rows, label)].method_id
    assert any(item.rule == rule and wrong in item.row for item in findings)


@pytest.mark.slow
def test_the_rule_on_runs_checks_every_cell(tmp_path: Path, rows: Rows) -> None:
    for place, row in enumerate(rows.cells):
        if row.repeat == 0 and row.outcome is P:
            folder = tmp_path / str(place)
            folder.mkdir()
            findings = verify_snapshot(sealed(folder, changed('cells', place, outcome=F)(rows)))
            assert ('methods', 'runs') in rules(findings), row


def test_two_time_outs_are_enough_evidence_for_a_broken_outcome(tmp_path: Path, rows: Rows) -> None:
    """The second verdict of two time-outs adds nothing: two are enough."""
    at = of_label(rows, Label.UPDATE)
    row = rows.methods[at]
    timed_out = {'t_old_c_new': Outcome.TIMEOUT, 't_old_c_new_unit': Outcome.TIMEOUT}
    edited = changed('methods', at, **timed_out, t_old_c_new_runs=2)(rows)
    cells = tuple(
        dataclasses.replace(cell, outcome=Outcome.TIMEOUT)
        if (cell.method_id, cell.cell) == (row.method_id, Cell.T_OLD_C_NEW)
        else cell
        for cell in edited.cells
        if (cell.method_id, cell.cell, cell.repeat) != (row.method_id, Cell.T_OLD_C_NEW, 2)
    )
    assert verify_snapshot(sealed(tmp_path, dataclasses.replace(edited, cells=cells))) == []


# -- between tables --------------------------------------------------------------------------------


def stray_drop(rows: Rows) -> Drop:
    return dataclasses.replace(rows.drops[0], pair_id='0' * 16, stage=Stage.PAIR, key='0' * 16)


def stray_cell(rows: Rows) -> CellRow:
    return dataclasses.replace(rows.cells[0], method_id='0' * 16)


def survivor(rows: Rows) -> int:
    return next(place for place, row in enumerate(rows.mutants) if not row.killed)


def dropped(stage: Stage, reason: str) -> Callable[[Rows], Drop]:
    """A drop of the first method, which is labelled all the same."""

    def make(rows: Rows) -> Drop:
        row = rows.methods[0]
        return Drop(
            repo=row.repo,
            walk=row.walk,
            pair_id=row.pair_id,
            stage=stage,
            unit=stage.unit,
            key=row.method_id,
            reason=reason,
        )

    return make


def withdrawn_but_there(rows: Rows) -> WithdrawnRow:
    return WithdrawnRow(table='tasks', id=rows.tasks[0].task_id, reason='x', month='2024-01')


def task_of_pair(number: int, **values: Any) -> Edit:
    def edit(rows: Rows) -> Rows:
        wanted = segments.pair_id(number)
        at = next(place for place, row in enumerate(rows.tasks) if row.pair_id == wanted)
        return changed('tasks', at, **values)(rows)

    return edit


def undone(leak: float | None = 0.0, patch: str = '', **values: Any) -> Edit:
    """The first task lacks the target of the other one in its file; or what is said instead."""

    def edit(rows: Rows) -> Rows:
        task = rows.tasks[0]
        (other,) = (
            f'FareTest#{row.test_method}'
            for row in rows.methods
            if row.pair_id == task.pair_id and row.track not in (None, task.track)
        )
        sound = {
            'test_file': task.test_file,
            'test_methods': (other,),
            'undone': SiblingState.REMOVED,
        }
        sibling = SiblingTargets(**(sound | values))
        at_start = {'sibling_patch': patch, 'leak': leak, 'nearest': 0.0}
        edited = changed('tasks', 0, siblings=(sibling,), **at_start)(rows)
        methods = tuple(
            dataclasses.replace(row, leak=0.0) if row.task_id == task.task_id else row
            for row in edited.methods
        )
        return dataclasses.replace(edited, methods=methods)

    return edit


def make_tests_alone(rows: Rows) -> Rows:
    """Give the pair of an update no change of production."""
    update = next(row for row in rows.methods if row.label is Label.UPDATE)
    pairs = [(row.pair_id, row.walk) for row in rows.pairs]
    at = pairs.index((update.pair_id, update.walk))
    values = {'changed_kinds': (), 'source_changed': False, 'test_only': True}
    return changed('pairs', at, **values)(rows)


WRONG_TABLES: dict[str, tuple[Edit, str, str]] = {
    'a break by production that does not differ': (make_tests_alone, 'methods', 'test_only'),
    'kinds of no change': (
        changed('pairs', 0, changed_kinds=('kotlin',), source_changed=False),
        'pairs',
        'changed_kinds',
    ),
    'a pair without its repository': (without('repositories', 0), 'pairs', 'repositories_missing'),
    'a task of no repository': (without('repositories', 0), 'tasks', 'repositories_missing'),
    'a drop of no pair': (added('drops', stray_drop), 'drops', 'pairs_missing'),
    'a run of no method': (added('cells', stray_cell), 'cells', 'methods_missing'),
    'a mutant of no method': (
        changed('mutants', 0, method_id='0' * 16),
        'mutants',
        'methods_missing',
    ),
    'a parent that is no ancestor': (
        changed('pairs', 0, old_is_ancestor=False),
        'pairs',
        'ancestry',
    ),
    'a method that says otherwise': (
        changed('methods', 0, old_is_ancestor=False),
        'methods',
        'ancestry',
    ),
    'a method that says nothing': (
        changed('methods', 0, old_is_ancestor=None),
        'methods',
        'ancestry',
    ),
    'a task that says otherwise': (
        changed('tasks', 0, old_is_ancestor=False),
        'tasks',
        'ancestry',
    ),
    'a mutant of another pair': (
        changed('mutants', 0, pair_id='0' * 16),
        'mutants',
        'methods_missing',
    ),
    'a mutant that is lost': (without('mutants', 0), 'methods', 'mutants_counted'),
    'a kill that is not counted': (
        lambda rows: changed('mutants', survivor(rows), killed=True)(rows),
        'methods',
        'mutants_counted',
    ),
    'a kill by nothing': (changed('mutants', 0, outcome=None), 'mutants', 'mutant_not_run'),
    'a reversal of no method': (
        changed('reversals', 0, method_id='0' * 16),
        'reversals',
        'methods_missing',
    ),
    'a map of no method': (
        changed('dependency_map', 0, method_id='0' * 16),
        'dependency_map',
        'methods_missing',
    ),
    'a refactoring of no pair': (
        changed('refactorings', 0, pair_id='0' * 16),
        'refactorings',
        'pairs_missing',
    ),
    'a task of no method': (
        changed('tasks', 0, method_ids=('0' * 16,)),
        'tasks',
        'methods_missing',
    ),
    'a task of no pair': (without('pairs', 0), 'tasks', 'pairs_missing'),
    'a commit that is lost': (
        changed('repositories', 0, commits_visited=9),
        'repositories',
        'funnel_walk',
    ),
    'a method that is lost': (without('methods', 0), 'pairs', 'funnel_pair'),
    'a candidate that is lost': (changed('pairs', 0, candidates=9), 'pairs', 'funnel_pair'),
    'a gold test that is worth less': (
        changed('tasks', 0, mutation_score_gold=0.5),
        'tasks',
        'gold',
    ),
    'a coverage from nowhere': (changed('tasks', 0, coverage_gold_success=0.5), 'tasks', 'gold'),
    'a mutation score that is lost': (
        changed('tasks', 0, mutation_score_gold_success=None),
        'tasks',
        'gold',
    ),
    'a task without its start state': (
        lambda rows: method(
            Label.UPDATE,
            isolated=IsolatedCells(
                t_old_c_new=P,
                t_new_c_old=None,
                t_new_c_new=P,
                start='a_target_passes',
                agrees=False,
            ),
        )(rows),
        'tasks',
        'start_state',
    ),
    'published without a licence': (changed('pairs', 0, license=None), 'pairs', 'licence'),
    'published under any licence': (changed('pairs', 0, license='WTFPL'), 'pairs', 'licence'),
    'published and not published': (
        added('drops', dropped(Stage.PUBLISH, 'licence_unknown')),
        'methods',
        'unpublished',
    ),
    'a licence that is known after all': (
        added('drops', dropped(Stage.PUBLISH, 'licence_unknown')),
        'drops',
        'unpublished',
    ),
    'kept and dropped': (
        added('drops', dropped(Stage.LABEL, 'flaky')),
        'methods',
        'kept_and_dropped',
    ),
    'a reason of another stage': (
        changed('drops', 0, stage=Stage.TASK, reason='flaky'),
        'drops',
        'reason',
    ),
    'a reason that nobody explains': (changed('drops', 0, reason='whim'), 'drops', 'reason'),
    'a unit of another stage': (changed('drops', 0, unit='task'), 'drops', 'reason'),
    'a pair without a sandbox': (changed('pairs', 0, sandbox='none'), 'pairs', 'sandbox'),
    'a near duplicate of nothing': (
        changed('methods', 0, near_duplicate_of='0' * 16),
        'methods',
        'near_original_missing',
    ),
    'a task of no methods at all': (
        changed('tasks', 0, method_ids=(), test_methods=()),
        'tasks',
        'methods_missing',
    ),
    'a task that names a method twice': (
        lambda rows: changed('tasks', 0, test_methods=rows.tasks[0].test_methods * 2)(rows),
        'tasks',
        'methods_missing',
    ),
    'a task that names no method': (
        changed('tasks', 0, test_methods=()),
        'tasks',
        'methods_missing',
    ),
    'a task that forgot one of its methods': (
        lambda rows: changed('methods', of_label(rows, Label.UPDATE), method_id='0' * 16)(rows),
        'tasks',
        'methods_missing',
    ),
    'ends that are swapped': (
        changed('pairs', 1, old_committer_date=segments.day(9)),
        'pairs',
        'gap',
    ),
    'a gap of no length': (changed('pairs', 1, gap_hours=None), 'pairs', 'gap'),
    'a task that is dated otherwise than its pair': (
        changed('tasks', 0, old_author_date=segments.day(9)),
        'tasks',
        'dates_of_pair',
    ),
    'a task under another licence than its pair': (
        changed('tasks', 0, license='MIT'),
        'tasks',
        'licence_of_pair',
    ),
    'withdrawn and there': (added('withdrawn', withdrawn_but_there), 'withdrawn', 'not_withdrawn'),
    'a task that is newer than its parts': (
        task_of_pair(2, contamination_date=segments.day(9)),
        'tasks',
        'date_after_parts',
    ),
    'a date of a task whose parts have none': (
        task_of_pair(1, contamination_date=segments.day(0)),
        'tasks',
        'date_after_parts',
    ),
    'a sibling that is no method of the pair': (
        undone(test_methods=('FerryTest#nowhere',)),
        'tasks',
        'sibling_missing',
    ),
    'a sibling without a target': (undone(test_methods=()), 'tasks', 'sibling_empty'),
    'a sibling that stays for no reason': (
        undone(undone=SiblingState.STAYS),
        'tasks',
        'sibling_empty',
    ),
    'a sibling that is gone for a reason': (undone(why='x'), 'tasks', 'sibling_empty'),
    'a sibling elsewhere that is undone by no patch': (
        undone(test_file='src/test/java/ferry/RaftTest.java'),
        'tasks',
        'sibling_patch',
    ),
    'a patch that undoes no sibling': (undone(patch='x'), 'tasks', 'sibling_patch'),
    'siblings without their patch': (
        changed('tasks', 0, siblings=(), leak=0.0, nearest=0.0),
        'tasks',
        'sibling_patch',
    ),
    'a leak of more than all': (undone(leak=1.5), 'tasks', 'leak'),
    'a leak that nobody measured': (undone(leak=None), 'tasks', 'leak'),
    'a leak that the method has not': (undone(leak=0.25), 'methods', 'leak'),
}


def test_a_task_whose_sibling_is_removed_is_good(tmp_path: Path, rows: Rows) -> None:
    assert verify_snapshot(sealed(tmp_path, undone()(rows))) == []


def test_a_task_may_name_two_overloads_once(tmp_path: Path, rows: Rows) -> None:
    task = rows.tasks[0]
    row = next(row for row in rows.methods if row.method_id == task.method_ids[0])
    overload = dataclasses.replace(row, method_id='f' * 16, parameters=('int',))
    both = changed('tasks', 0, method_ids=(*task.method_ids, overload.method_id))(rows)
    added_row = added('methods', lambda rows: overload)(both)
    broken = rules(verify_snapshot(sealed(tmp_path, added_row)))
    assert ('methods', 'id') in broken
    assert ('tasks', 'methods_missing') not in broken


@pytest.mark.sampled(4)
@pytest.mark.parametrize('name', some(WRONG_TABLES))
def test_tables_that_disagree_are_found(tmp_path: Path, rows: Rows, name: str) -> None:
    edit, table, rule = WRONG_TABLES[name]
    assert (table, rule) in rules(verify_snapshot(sealed(tmp_path, edit(rows))))


# -- forks -----------------------------------------------------------------------------------------


def with_fork(folder: Path, family: str) -> Rows:
    """Rows of a repository and of its copy, of which every task is one of the first."""
    store = Store(folder / 'store')
    segments.fill(store, 1)
    segments.fill_elsewhere(store, 'fork/ferry', segments.segment(1, key='key-1'))
    families = {segments.REPO: segments.REPO, 'fork/ferry': family}
    plan = ReleasePlan(
        snapshot=folder,
        date=snapshots.date,
        build=snapshots.build_families,
        licence=snapshots.licence,
        size=snapshots.size,
        families=lambda repos: families,
    )
    rows = assemble_release_rows(gather_rows(store), plan)
    first = {task.track: task.task_id for task in rows.tasks if task.repo == segments.REPO}
    return dataclasses.replace(
        rows,
        tasks=tuple(task for task in rows.tasks if task.repo == segments.REPO),
        methods=tuple(
            dataclasses.replace(row, task_id=first[row.track], contamination_date=None)
            if row.track
            else row
            for row in rows.methods
        ),
    )


def test_a_method_of_a_fork_may_belong_to_a_task_of_the_original(tmp_path: Path) -> None:
    rows = with_fork(tmp_path, segments.REPO)
    assert sum(row.duplicate_of is not None for row in rows.methods) == 3
    assert verify_snapshot(sealed(tmp_path, rows)) == []


def test_a_method_cannot_belong_to_a_task_of_an_unrelated_repository(tmp_path: Path) -> None:
    rows = with_fork(tmp_path, 'fork/ferry')
    assert {row.duplicate_of for row in rows.methods} == {None}
    assert ('methods', 'tasks_missing') in rules(verify_snapshot(sealed(tmp_path, rows)))
