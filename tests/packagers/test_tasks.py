"""Tasks made of method rows over repositories that the tests write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from coevo import prompts
from coevo.git.repository import Repository
from coevo.languages.java.reading.syntax import parse
from coevo.model.dependencies import Dependency, Revised
from coevo.model.errors import Fatal
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import Environment, LibraryEntry, PairRow
from coevo.model.quality import IsolatedCells
from coevo.model.records import Drop, compute_short_hash
from coevo.model.repository_rows import RepositoryRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import MethodChange, Track, Walk
from packagers.task_commands import merge_dependencies
from packagers.tasks import build_tasks, make_source_patch
from tests.repos import commit, git, init

TEST_FILE = 'src/test/java/p/ShopTest.java'
MAIN_FILE = 'src/main/java/p/Shop.java'
REPO = 'owner/shop'
ENVIRONMENT = Environment(
    runtime='17',
    build_tool='maven',
    libraries=(LibraryEntry(coordinates='g:a:1', sha256='0' * 64),),
)


def shop(body: str) -> str:
    return f'package p;\n\npublic class Shop {{\n    {body}\n}}\n'


def shop_test(*methods: str) -> str:
    body = '\n'.join(f'    @Test public void {method}\n' for method in methods)
    return f'package p;\n\nimport org.junit.Test;\n\npublic class ShopTest {{\n{body}}}\n'


OLD = {
    MAIN_FILE: shop('int sell() { return 1; }'),
    TEST_FILE: shop_test('a() { one(); }', 'z() { }'),
}
NEW = {
    MAIN_FILE: shop('int sell(int n) { return n; }'),
    TEST_FILE: shop_test('a() { one(1); }', 'b() { two(); }', 'z() { }'),
}


Row = TypeVar('Row', MethodRow, PairRow, RepositoryRow)


def filled(record: type[Row], values: Mapping[str, Any]) -> Row:
    """A record with None wherever a test says nothing."""
    return record(**({field.name: None for field in fields(record)} | dict(values)))


def dependency(name: str, rank: int, **values: Any) -> Dependency:
    return Dependency(
        **{  # type: ignore[arg-type]
            'declaration': f'int {name}()',
            'file': MAIN_FILE,
            'start_line': 4,
            'end_line': 4,
            'revised': Revised.MODIFIED,
            'rank': rank,
        }
        | values
    )


def row(
    old: str, new: str, name: str, track: Track | None, walk: Walk = Walk.PARENTS, **values: Any
) -> MethodRow:
    pair_id = compute_short_hash(REPO, 'java', old, new)
    inserted = track is Track.GENERATION
    return filled(
        MethodRow,
        {
            'method_id': compute_short_hash(pair_id, name),
            'repo': REPO,
            'walk': walk,
            'pair_id': pair_id,
            'language': 'java',
            'old_rev': old,
            'new_rev': new,
            'module': '.',
            'test_file': TEST_FILE,
            'test_class': 'p.ShopTest',
            'test_method': name,
            'parameters': (),
            'change': MethodChange.INSERTED if inserted else MethodChange.CHANGED,
            'track': track,
            'dependencies': (dependency('sell', 1),),
            'contamination_date': datetime(2020, 1, 2, tzinfo=UTC),
            'contamination_basis': 'with_pulls',
        }
        | values,
    )


def pair_row(repository: Repository, row: MethodRow) -> PairRow:
    old, new = repository.get_commit(row.old_rev), repository.get_commit(row.new_rev)
    return filled(
        PairRow,
        {
            'repo': row.repo,
            'walk': row.walk,
            'pair_id': row.pair_id,
            'old_rev': old.rev,
            'new_rev': new.rev,
            'old_committer_date': old.committer_date,
            'new_committer_date': new.committer_date,
            'old_is_ancestor': row.old_is_ancestor is not False,
            'license': 'MIT',
        },
    )


def build(
    repo: Path, rows: Iterable[MethodRow]
) -> tuple[tuple[TaskRow, ...], dict[tuple[str, Walk], str], tuple[Drop, ...]]:
    repository, rows = Repository(repo / '.git'), tuple(rows)
    built = build_tasks(
        rows,
        {(row.pair_id, row.walk): pair_row(repository, row) for row in rows},
        [filled(RepositoryRow, {'repo': REPO, 'url': 'https://example.org/shop'})],
        {REPO: repository},
        {(row.pair_id, '.'): ENVIRONMENT for row in rows},
    )
    return tuple(built.tasks), dict(built.ids), tuple(built.drops)


@pytest.fixture
def history(tmp_path: Path) -> tuple[Path, str, str]:
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', {**OLD, 'pom.xml': '<old/>'}, date='2020-01-01T00:00:00Z')
    new = commit(repo, 'new', {**NEW, 'pom.xml': '<new/>'}, date='2020-01-02T00:00:00Z')
    return repo, old, new


def patched(repo: Path, task: TaskRow, start: str | None) -> dict[str, str]:
    """The files of a revision, the start file in its place, with the gold patch applied."""
    git(repo, 'reset', '-q', '--hard', task.new_rev)
    place = repo / task.test_file
    if start is None:
        place.unlink()
    else:
        place.write_bytes(start.encode())
        assert hashlib.sha256(start.encode()).hexdigest() == task.start_file_sha256
    git(repo, 'apply', '-', stdin=task.test_patch.encode())
    return {path: (repo / path).read_text() for path in (TEST_FILE, MAIN_FILE)}


def test_each_track_of_a_test_file_is_one_task(history: tuple[Path, str, str]) -> None:
    repo, old, new = history
    rows = [row(old, new, 'a', Track.UPDATE), row(old, new, 'b', Track.GENERATION)]
    tasks, ids, drops = build(repo, [*rows, row(old, new, 'z', None)])
    by_track = {task.track: task for task in tasks}
    update, generation = by_track[Track.UPDATE], by_track[Track.GENERATION]
    assert drops == ()
    assert ids == {
        (rows[0].method_id, Walk.PARENTS): update.task_id,
        (rows[1].method_id, Walk.PARENTS): generation.task_id,
    }
    assert update.task_id == compute_short_hash(REPO, 'java', old, new, 'update', TEST_FILE)
    assert update.test_methods == ('ShopTest#a',)
    reverted = shop_test('a() { one(); }', 'b() { two(); }', 'z() { }')
    removed = shop_test('a() { one(1); }', 'z() { }')
    assert patched(repo, update, reverted) == NEW
    assert patched(repo, generation, removed) == NEW


def test_source_patch_turns_old_source_into_new_without_poms(
    history: tuple[Path, str, str],
) -> None:
    repo, old, new = history
    (task,), _, _ = build(repo, [row(old, new, 'a', Track.UPDATE)])
    git(repo, 'reset', '-q', '--hard', old)
    git(repo, 'apply', '-', stdin=task.source_patch.encode())
    assert git(repo, 'diff', '--name-only').split() == [MAIN_FILE]
    assert (repo / MAIN_FILE).read_text() == NEW[MAIN_FILE]


def test_project_in_the_test_resources_is_not_in_the_source_patch(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    inner = f'src/test/resources/demo/{MAIN_FILE}'
    old = commit(repo, 'old', {**OLD, inner: 'old', 'src/main/resources/a.txt': 'old\n'})
    new = commit(repo, 'new', {**NEW, inner: 'new', 'src/main/resources/a.txt': 'new\n'})
    (task,), _, _ = build(repo, [row(old, new, 'a', Track.UPDATE)])
    git(repo, 'reset', '-q', '--hard', old)
    git(repo, 'apply', '-', stdin=task.source_patch.encode())
    assert git(repo, 'diff', '--name-only').split() == [MAIN_FILE, 'src/main/resources/a.txt']


def test_source_patch_follows_the_source_layout_of_the_language(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    main = ('shop/till.py', 'shop/prices.json')
    others = ('pyproject.toml', 'README.md', 'tests/test_till.py')
    old = commit(repo, 'old', dict.fromkeys((*main, *others), 'a = 1\n'))
    new = commit(repo, 'new', dict.fromkeys((*main, *others), 'a = 2\n'))
    rows = [replace(row(old, new, 'a', Track.UPDATE), language='python', dependencies=())]
    git(repo, 'reset', '-q', '--hard', old)
    git(repo, 'apply', '-', stdin=make_source_patch(Repository(repo / '.git'), rows).encode())
    assert git(repo, 'diff', '--name-only').split() == sorted(main)


def test_source_patch_lacks_tests_that_only_settings_name(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    settings = '[pytest]\npython_files = check_*.py\ntestpaths = checks\n'
    files = ('shop/till.py', 'checks/check_till.py', 'checks/prices.json')
    old = commit(repo, 'old', {**dict.fromkeys(files, 'a = 1\n'), 'pytest.ini': settings})
    new = commit(repo, 'new', dict.fromkeys(files, 'a = 2\n'))
    rows = [replace(row(old, new, 'a', Track.UPDATE), language='python', dependencies=())]
    git(repo, 'reset', '-q', '--hard', old)
    git(repo, 'apply', '-', stdin=make_source_patch(Repository(repo / '.git'), rows).encode())
    assert git(repo, 'diff', '--name-only').split() == ['shop/till.py']


def test_task_columns_are_filled_from_its_method_rows(history: tuple[Path, str, str]) -> None:
    repo, old, new = history
    dates = [datetime(2020, 1, day, tzinfo=UTC) for day in (5, 3)]
    rows = [
        row(
            old,
            new,
            name,
            Track.UPDATE,
            contamination_date=date,
            contamination_basis=basis,
            focal_method=focal,
            dependencies=dependencies,
        )
        for name, date, basis, focal, dependencies in (
            ('a', dates[0], 'with_pulls', 'other', (dependency('other', 2),)),
            ('z', dates[1], 'branches_only', 'sell', (dependency('sell', 1),)),
        )
    ]
    (task,), _, _ = build(repo, rows)
    assert task.contamination_date == dates[1]
    assert task.contamination_basis == 'branches_only'
    assert task.code_first_seen is None
    assert task.focal_method == 'sell'
    assert task.environment is not None
    assert task.environment.libraries == ENVIRONMENT.libraries
    assert task.environment.compile_command.startswith('mvn -B ')
    assert "'-Dtest=p.ShopTest#a+a[*+z+z[*'" in task.environment.test_command
    assert (task.url, task.license) == ('https://example.org/shop', 'MIT')
    assert task.new_committer_date == datetime(2020, 1, 2, tzinfo=UTC)
    assert task.method_ids == tuple(row.method_id for row in rows)
    assert task.prompt_version == prompts.VERSION
    assert task.prompt is not None
    assert "--select-method 'p.ShopTest#a' --select-method 'p.ShopTest#z'" in task.prompt
    (undated,), _, _ = build(repo, [rows[0], replace(rows[1], contamination_date=None)])
    assert undated.contamination_date is None


def test_task_of_several_walks_is_listed_under_parents(history: tuple[Path, str, str]) -> None:
    repo, old, new = history
    rows = [row(old, new, 'a', Track.UPDATE, walk) for walk in (Walk.STATES, Walk.PARENTS)]
    (task,), ids, _ = build(repo, rows)
    assert task.walk is Walk.PARENTS
    assert set(ids) == {(row.method_id, row.walk) for row in rows}
    (alone,), _, _ = build(repo, rows[:1])
    assert (alone.task_id, alone.walk) == (task.task_id, Walk.STATES)


def test_pair_with_its_ancestor_is_preferred_to_an_earlier_interleaved_copy(
    tmp_path: Path,
) -> None:
    repo = init(tmp_path / 'repo')
    base = commit(repo, 'base', OLD, date='2020-01-01T00:00:00Z')
    made = commit(repo, 'change', NEW, date='2020-03-01T00:00:00Z')
    other = commit(repo, 'other', {'README': 'x'}, date='2020-02-01T00:00:00Z', parents=[base])
    earlier = commit(repo, 'change', NEW, date='2020-02-02T00:00:00Z', parents=[base])
    rows = [
        row(base, made, 'b', Track.GENERATION, old_is_ancestor=True),
        row(other, earlier, 'b', Track.GENERATION, old_is_ancestor=False),
    ]
    (task,), _, _ = build(repo, rows)
    assert (task.new_rev, task.also_at) == (made, (rows[1].pair_id,))
    assert task.old_is_ancestor is True
    (alone,), _, _ = build(repo, rows[1:])
    assert (alone.new_rev, alone.old_is_ancestor) == (earlier, False)


def test_a_rebased_copy_is_the_same_task(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    base = commit(repo, 'base', OLD, date='2020-01-01T00:00:00Z')
    later = commit(repo, 'change', NEW, date='2020-03-01T00:00:00Z')
    moved = commit(repo, 'base', {'README': 'x'}, date='2020-02-01T00:00:00Z', parents=[base])
    earlier = commit(repo, 'change', NEW, date='2020-02-02T00:00:00Z')
    rows = [row(base, later, 'b', Track.GENERATION), row(moved, earlier, 'b', Track.GENERATION)]
    (task,), ids, drops = build(repo, rows)
    assert (task.new_rev, task.also_at, drops) == (earlier, (rows[0].pair_id,), ())
    assert set(ids.values()) == {task.task_id}
    assert len(ids) == 2


def test_new_test_file_is_absent_in_the_start_state(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', {MAIN_FILE: OLD[MAIN_FILE]})
    new = commit(repo, 'new', NEW)
    rows = [row(old, new, name, Track.GENERATION) for name in 'abz']
    (task,), _, _ = build(repo, rows)
    assert task.start_file_sha256 is None
    assert patched(repo, task, None) == NEW


def test_executable_test_file_stays_executable(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', OLD)
    (repo / TEST_FILE).chmod(0o755)
    new = commit(repo, 'new', NEW)
    (task,), _, _ = build(repo, [row(old, new, 'b', Track.GENERATION)])
    assert task.test_patch.splitlines()[1].endswith(' 100755')


def test_moved_method_is_reverted_to_its_text_in_the_old_file(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    path = 'src/test/java/q/OldTest.java'
    before = 'package q;\n\nclass OldTest {\n    @Test void was() { Shop.old(); }\n}\n'
    old = commit(repo, 'old', {MAIN_FILE: OLD[MAIN_FILE], path: before})
    new = commit(repo, 'new', {**NEW, path: None})
    moved = row(
        old,
        new,
        'a',
        Track.UPDATE,
        old_test_file=path,
        old_test_class='q.OldTest',
        old_test_method='was',
        old_module='.',
        old_source='@Test void was() { Shop.old(); }',
    )
    (task,), _, _ = build(repo, [moved])
    start = NEW[TEST_FILE].replace(
        '@Test public void a() { one(1); }', '@Test void was() { Shop.old(); }'
    )
    assert patched(repo, task, start) == NEW


def test_method_is_reverted_to_the_overload_with_the_old_source_of_its_row(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', {TEST_FILE: shop_test('a(int n) { x(); }', 'a(long n) { y(); }')})
    new = commit(repo, 'new', {TEST_FILE: shop_test('a(int n) { x(); }', 'a(char n) { z(); }')})
    source = '@Test public void a(long n) { y(); }'
    changed = row(old, new, 'a', Track.UPDATE, parameters=('char',), old_source=source)
    (task,), _, _ = build(repo, [changed])
    assert '-    @Test public void a(long n) { y(); }' in task.test_patch


@pytest.mark.parametrize(
    ('other', 'stays'),
    [
        ('class OtherTest extends ShopTest { void x() { help(); } }', True),
        ('class OtherTest { void x() { ShopTest.help(); } }', True),
        ('class Base { void x() { help(); } void help() { } }', True),
        ('class OtherTest { void x() { help(); } void help() { } }', False),
        ('class OtherTest extends ShopTest { void x() { sell(); } }', False),
    ],
)
def test_new_helper_stays_in_the_start_state_if_another_file_may_use_it(
    tmp_path: Path, other: str, stays: bool
) -> None:
    repo = init(tmp_path / 'repo')
    old_test = shop_test('z() { }').replace('ShopTest {', 'ShopTest extends Base {')
    new_test = old_test.removesuffix('}\n') + (
        '    @Test public void a() { help(); }\n    static void help() { }\n}\n'
    )
    old = commit(repo, 'old', {TEST_FILE: old_test})
    name = other.split()[1]
    files = {TEST_FILE: new_test, f'src/test/java/p/{name}.java': f'package p;\n\n{other}\n'}
    new = commit(repo, 'new', files)
    (task,), _, _ = build(repo, [row(old, new, 'a', Track.GENERATION)])
    assert ('+    static void help() { }' not in task.test_patch) is stays


def test_task_without_a_start_file_is_dropped_with_the_reason(
    history: tuple[Path, str, str],
) -> None:
    repo, old, new = history
    tasks, ids, (drop,) = build(repo, [row(old, new, 'gone', Track.UPDATE)])
    assert (tasks, ids) == ((), {})
    assert drop.key == compute_short_hash(REPO, 'java', old, new, 'update', TEST_FILE)
    assert (drop.reason, drop.unit) == ('start_state_invalid', 'task')
    assert drop.detail == 'p.ShopTest#gone is not in the file at old'


@pytest.mark.parametrize('start', ['valid', 'a_target_passes'])
def test_task_whose_isolated_start_state_was_invalid_is_dropped(
    history: tuple[Path, str, str], start: str
) -> None:
    repo, old, new = history
    isolated = IsolatedCells(
        t_old_c_new=None, t_new_c_old=None, t_new_c_new=None, start=start, agrees=True, detail=''
    )
    rows = [
        row(old, new, 'a', Track.UPDATE),
        row(old, new, 'z', Track.UPDATE, isolated=isolated),
    ]
    tasks, ids, drops = build(repo, rows)
    if start == 'valid':
        assert (len(tasks), len(ids), drops) == (1, 2, ())
    else:
        assert (tasks, ids) == ((), {})
        assert [(drop.reason, drop.detail) for drop in drops] == [('start_state_invalid', start)]


def test_repository_without_its_clone_is_reported(history: tuple[Path, str, str]) -> None:
    _, old, new = history
    with pytest.raises(Fatal, match='no clone of owner/shop'):
        build_tasks([row(old, new, 'a', Track.UPDATE)], {}, [], {}, {})


def test_dependencies_are_merged_and_ranked_anew() -> None:
    shared = dependency('shared', 2, coupling=0.1, executed_new=False)
    rows = [
        row('o', 'n', 'a', Track.UPDATE, dependencies=(dependency('first', 1), shared)),
        row(
            'o',
            'n',
            'b',
            Track.UPDATE,
            dependencies=(
                dependency('rare', 2),
                replace(shared, rank=2, coupling=0.4, executed_new=True),
            ),
        ),
    ]
    merged = merge_dependencies(rows)
    assert [(d.declaration, d.rank) for d in merged] == [
        ('int first()', 1),
        ('int shared()', 2),
        ('int rare()', 3),
    ]
    assert (merged[1].coupling, merged[1].executed_new, merged[1].executed_old) == (0.4, True, None)


def test_row_order_does_not_change_the_tasks(history: tuple[Path, str, str]) -> None:
    repo, old, new = history
    rows = [
        row(old, new, 'a', Track.UPDATE),
        row(old, new, 'z', Track.UPDATE),
        row(old, new, 'b', Track.GENERATION),
        row(old, new, 'b', Track.GENERATION, Walk.STATES),
    ]
    assert build(repo, rows) == build(repo, rows[::-1])


def test_start_state_has_the_target_in_its_old_form(history: tuple[Path, str, str]) -> None:
    repo, old, new = history
    (task,), _, _ = build(repo, [row(old, new, 'a', Track.UPDATE)])
    git(repo, 'reset', '-q', '--hard', new)
    git(repo, 'apply', '--reverse', '-', stdin=task.test_patch.encode())
    start = parse((repo / TEST_FILE).read_bytes())
    assert not start.has_error
    assert next(m.source for t in start.types for m in t.members) == (
        '@Test public void a() { one(); }'
    )


def test_task_without_a_change_that_its_prompt_could_name_is_dropped(
    history: tuple[Path, str, str],
) -> None:
    repo, old, new = history
    nameless = row(old, new, 'a', Track.UPDATE, dependencies=())
    tasks, ids, (drop,) = build(repo, [nameless])
    assert (tasks, ids) == ((), {})
    assert (drop.stage, drop.reason, drop.unit) == ('task', 'nothing_to_name', 'task')

    (repair,), _, drops = build(repo, [replace(nameless, track=Track.REPAIR)])
    assert drops == ()
    assert prompts.NONE_CHANGED in (repair.prompt or '')


def test_prompt_accepts_both_names_of_a_renamed_target(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', OLD, date='2020-01-01T00:00:00Z')
    renamed = {**NEW, TEST_FILE: shop_test('c() { one(1); }', 'z() { }')}
    new = commit(repo, 'new', renamed, date='2020-01-02T00:00:00Z')
    (task,), _, _ = build(
        repo, [row(old, new, 'c', Track.UPDATE, old_test_method='a', old_test_class='p.ShopTest')]
    )
    assert task.test_methods == ('ShopTest#c',)
    assert task.prompt is not None
    assert '- ShopTest#a (renamed to ShopTest#c; either name will do)\n' in task.prompt
    assert "--select-method 'p.ShopTest#a'" in task.prompt
