"""The same change on branches, in merges, in rebased copies and in forks is one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from coevo.git.repository import Repository
from coevo.model.dependencies import Dependency, Revised
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.records import compute_short_hash
from coevo.model.repository_rows import RepositoryRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Label, MethodChange, Track, Walk
from flows.clones import find_repository_families
from packagers.assembly import mark_duplicates
from packagers.drafts import list_edited_lines
from packagers.rows import Rows
from packagers.tasks import build_tasks
from tests.repos import commit, git, init

TEST = 'src/test/java/p/ShopTest.java'
MAIN = 'src/main/java/p/Shop.java'
MERGED = 'src/main/java/p/Till.java'


def shop_test(*methods: str) -> str:
    body = '\n'.join(f'    @Test public void {method}\n' for method in methods)
    return f'package p;\n\nimport org.junit.Test;\n\npublic class ShopTest {{\n{body}}}\n'


BEFORE, AFTER = 'a() { one(); }', 'a() { one(1); }'
SHOP = {MAIN: 'package p;\n\nclass Shop { }\n'}
OLD = {**SHOP, TEST: shop_test(BEFORE)}
NEW = {MAIN: 'package p;\n\nclass Shop { int n; }\n', TEST: shop_test(AFTER)}


@dataclass(frozen=True)
class Seen:
    """Where an edit was seen: a repository, the two ends, and the module of the test."""

    repo: str
    path: Path
    old: str
    new: str
    module: str = '.'
    before: str | None = BEFORE
    after: str = AFTER

    @property
    def pair_id(self) -> str:
        return compute_short_hash(self.repo, 'java', self.old, self.new)

    @property
    def prefix(self) -> str:
        return '' if self.module == '.' else f'{self.module}/'

    def method(self) -> MethodRow:
        generated = self.before is None
        return filled(
            MethodRow,
            method_id=compute_short_hash(self.pair_id, self.module, 'a'),
            repo=self.repo,
            walk=Walk.PARENTS,
            pair_id=self.pair_id,
            language='java',
            old_rev=self.old,
            new_rev=self.new,
            module=self.module,
            test_file=f'{self.prefix}{TEST}',
            test_class='p.ShopTest',
            test_method='a',
            parameters=(),
            change=MethodChange.INSERTED if generated else MethodChange.CHANGED,
            label=Label.GENERATION if generated else Label.UPDATE,
            track=Track.GENERATION if generated else Track.UPDATE,
            old_source=None if generated else f'@Test public void {self.before}',
            new_source=f'@Test public void {self.after}',
            dependencies=(CHANGED,),
        )

    def pair(self) -> PairRow:
        found = Repository(self.path / '.git').get_commit(self.new)
        return filled(
            PairRow,
            repo=self.repo,
            walk=Walk.PARENTS,
            pair_id=self.pair_id,
            old_rev=self.old,
            new_rev=self.new,
            new_committer_date=found.committer_date,
        )


CHANGED = Dependency(
    name='p.Shop#sell()',
    declaration='int sell()',
    file='src/main/java/p/Shop.java',
    start_line=1,
    end_line=1,
    revised=Revised.MODIFIED,
    rank=1,
)


def filled(record: Any, **values: Any) -> Any:
    """A record with None wherever a test says nothing."""
    return record(**({field.name: None for field in fields(record)} | values))


def clones(seen: Sequence[Seen]) -> dict[str, Repository]:
    return {one.repo: Repository(one.path / '.git') for one in seen}


def repositories(seen: Sequence[Seen]) -> tuple[RepositoryRow, ...]:
    found = find_repository_families(clones(seen))
    return tuple(
        filled(RepositoryRow, repo=repo, language='java', walk=Walk.PARENTS, family=family)
        for repo, family in found.items()
    )


def tasks(*seen: Seen) -> tuple[TaskRow, ...]:
    built = build_tasks(
        [one.method() for one in seen],
        {(one.pair_id, Walk.PARENTS): one.pair() for one in seen},
        repositories(seen),
        clones(seen),
        {},
    )
    assert built.drops == ()
    assert len(built.ids) == len({one.method().method_id for one in seen})
    assert tuple(built.tasks) == build_again(seen)
    return tuple(built.tasks)


def build_again(seen: Sequence[Seen]) -> tuple[TaskRow, ...]:
    """In another order."""
    built = build_tasks(
        [one.method() for one in reversed(seen)],
        {(one.pair_id, Walk.PARENTS): one.pair() for one in seen},
        repositories(seen),
        clones(seen),
        {},
    )
    return tuple(built.tasks)


def originals(*seen: Seen) -> Mapping[str, str | None]:
    """`duplicate_of` by method, as a release fills it."""
    empty: dict[str, Any] = {field.name: () for field in fields(Rows) if field.name != 'space'}
    rows = Rows(
        **empty
        | {
            'repositories': repositories(seen),
            'pairs': tuple(one.pair() for one in seen),
            'methods': tuple(one.method() for one in seen),
        }
    )
    found: dict[str, str | None] = dict.fromkeys(row.method_id for row in rows.methods)
    return found | {mark.method_id: mark.duplicate_of for mark in mark_duplicates(rows)}


def one_task(first: Seen, *copies: Seen) -> None:
    """Both ways of telling agree, and the first is the one that counts."""
    (task,) = tasks(first, *copies)
    assert (task.repo, task.pair_id) == (first.repo, first.pair_id)
    assert task.also_at == tuple(sorted(copy.pair_id for copy in copies))
    original = first.method().method_id
    assert originals(first, *copies) == {
        original: None,
        **{copy.method().method_id: original for copy in copies},
    }


def apart(*seen: Seen) -> None:
    assert len(tasks(*seen)) == len(seen)
    assert set(originals(*seen).values()) == {None}


def day(number: int) -> str:
    return f'2020-01-{number:02}T00:00:00Z'


def upstream(folder: Path) -> tuple[Path, str, str]:
    repo = init(folder / 'upstream')
    old = commit(repo, 'old', OLD, date=day(1))
    return repo, old, commit(repo, 'new', NEW, date=day(2))


def fork(repo: Path, folder: Path) -> Path:
    """A copy of all that a repository has."""
    init(folder)
    git(folder, 'fetch', '-q', str(repo), 'main')
    git(folder, 'reset', '-q', '--hard', 'FETCH_HEAD')
    return folder


def test_edit_on_a_branch_and_in_its_merge_is_one_task(tmp_path: Path) -> None:
    repo, old, new = upstream(tmp_path)
    beside = commit(repo, 'beside', {MERGED: 'class Till { }'}, date=day(3), parents=[old])
    other = commit(repo, 'again', NEW, date=day(4))
    # A merge whose first parent lacks the edit repeats it against that parent.
    merged = commit(repo, 'merge', NEW, date=day(5), parents=[beside, new])
    one_task(
        Seen('o/shop', repo, old, new),
        Seen('o/shop', repo, beside, other),
        Seen('o/shop', repo, beside, merged),
    )


def test_rebased_copies_are_one_task_at_the_earliest_date(tmp_path: Path) -> None:
    repo, old, new = upstream(tmp_path)
    base = commit(repo, 'base', {'README': 'x'}, date='2019-12-01T00:00:00Z', parents=[old])
    rebased = commit(repo, 'new', NEW, date='2019-12-02T00:00:00Z')
    one_task(Seen('o/shop', repo, base, rebased), Seen('o/shop', repo, old, new))


def test_cherry_pick_to_a_file_that_differs_elsewhere_is_the_same_task(tmp_path: Path) -> None:
    repo, old, new = upstream(tmp_path)
    more = 'z() { zero(); }'
    release = commit(repo, 'release', {TEST: shop_test(more, BEFORE)}, date=day(3), parents=[old])
    picked = commit(repo, 'picked', {**NEW, TEST: shop_test(more, AFTER)}, date=day(4))
    one_task(Seen('o/shop', repo, old, new), Seen('o/shop', repo, release, picked))


def test_same_commits_in_a_fork_are_one_task(tmp_path: Path) -> None:
    repo, old, new = upstream(tmp_path)
    copy = fork(repo, tmp_path / 'fork')
    one_task(Seen('o/shop', repo, old, new), Seen('p/shop', copy, old, new))


def test_change_repeated_in_a_fork_is_one_task_at_the_earliest_date(tmp_path: Path) -> None:
    """The earliest counts, whichever of the two it stands in."""
    repo, old, new = upstream(tmp_path)
    copy = fork(repo, tmp_path / 'fork')
    base = commit(copy, 'ours', {'README': 'x'}, date='2019-01-01T00:00:00Z', parents=[old])
    again = commit(copy, 'new', NEW, date='2019-01-02T00:00:00Z')
    one_task(Seen('p/shop', copy, base, again), Seen('o/shop', repo, old, new))


def in_module(files: Mapping[str, str], module: str) -> dict[str, str | bytes | None]:
    return {f'{module}/{path}': text for path, text in files.items()}


def test_change_in_a_fork_that_renamed_the_module_is_the_same_task(tmp_path: Path) -> None:
    repo = init(tmp_path / 'upstream')
    old = commit(repo, 'old', in_module(OLD, 'core'), date=day(1))
    new = commit(repo, 'new', in_module(NEW, 'core'), date=day(2))
    copy = fork(repo, tmp_path / 'fork')
    gone = dict.fromkeys(in_module(OLD, 'core'))
    base = commit(copy, 'mv', {**gone, **in_module(OLD, 'engine')}, date=day(3), parents=[old])
    again = commit(copy, 'new', in_module(NEW, 'engine'), date=day(4))
    one_task(Seen('o/shop', repo, old, new, 'core'), Seen('p/shop', copy, base, again, 'engine'))


def test_copied_modules_give_separate_tasks(tmp_path: Path) -> None:
    """One commit changes both: two tasks; which of them a fork renamed nobody can say."""
    repo = init(tmp_path / 'upstream')
    both_old = {**in_module(OLD, 'java8'), **in_module(OLD, 'java11')}
    both_new = {**in_module(NEW, 'java8'), **in_module(NEW, 'java11')}
    old = commit(repo, 'old', both_old, date=day(1))
    new = commit(repo, 'new', both_new, date=day(2))
    copy = fork(repo, tmp_path / 'fork')
    base = commit(copy, 'mv', in_module(OLD, 'java17'), date=day(3), parents=[old])
    again = commit(copy, 'new', in_module(NEW, 'java17'), date=day(4))
    apart(
        Seen('o/shop', repo, old, new, 'java8'),
        Seen('o/shop', repo, old, new, 'java11'),
        Seen('p/shop', copy, base, again, 'java17'),
    )


def test_equal_tests_of_unrelated_repositories_are_separate_tasks(tmp_path: Path) -> None:
    """Two projects that never met, with the same trivial test in the same place."""
    trivial = 'a() { }'
    seen = []
    for name in ('left', 'right'):
        repo = init(tmp_path / name)
        old = commit(repo, name, SHOP, date=day(1))
        new = commit(repo, 'test', {TEST: shop_test(trivial)}, date=day(2))
        seen.append(Seen(f'{name}/shop', repo, old, new, before=None, after=trivial))
    apart(*seen)
    assert len(set(find_repository_families(clones(seen)).values())) == 2


def test_different_edits_of_one_test_are_separate_tasks(tmp_path: Path) -> None:
    repo, old, new = upstream(tmp_path)
    after = 'a() { one(2); }'
    other = commit(repo, 'other', {TEST: shop_test(after)}, date=day(3), parents=[old])
    apart(Seen('o/shop', repo, old, new), Seen('o/shop', repo, old, other, after=after))


def test_changed_helper_beside_an_equal_test_makes_a_separate_task(tmp_path: Path) -> None:
    """The method is the same, what it takes to write it is not: two tasks."""
    repo = init(tmp_path / 'repo')
    old = commit(repo, 'old', SHOP, date=day(1))
    new = commit(repo, 'new', {TEST: shop_test(AFTER)}, date=day(2))
    with_helper = shop_test(AFTER).replace('ShopTest {\n', 'ShopTest {\n    int one;\n\n')
    other = commit(repo, 'other', {TEST: with_helper}, date=day(3), parents=[old])
    first = Seen('o/shop', repo, old, new, before=None)
    assert len(tasks(first, replace(first, new=other))) == 2


def test_repository_with_two_roots_joins_both_families(tmp_path: Path) -> None:
    left, right = init(tmp_path / 'left'), init(tmp_path / 'right')
    roots = [commit(repo, repo.name, OLD, date=day(1)) for repo in (left, right)]
    both = fork(left, tmp_path / 'both')
    git(both, 'fetch', '-q', str(right), 'main')
    commit(both, 'merge', {}, date=day(2), parents=roots)
    alone = init(tmp_path / 'alone')
    commit(alone, 'alone', OLD, date=day(1))
    paths = {'b/left': left, 'a/right': right, 'c/both': both, 'd/alone': alone}
    assert find_repository_families(
        {name: Repository(path / '.git') for name, path in paths.items()}
    ) == {
        'a/right': 'a/right',
        'b/left': 'a/right',
        'c/both': 'a/right',
        'd/alone': 'd/alone',
    }


def test_pull_request_ref_does_not_join_two_families(tmp_path: Path) -> None:
    left, right = init(tmp_path / 'left'), init(tmp_path / 'right')
    for repo in (left, right):
        commit(repo, repo.name, OLD, date=day(1))
    git(left, 'fetch', '-q', str(right), 'main:refs/pull/1/head')
    paths = {'a/left': left, 'a/right': right}
    assert find_repository_families(
        {name: Repository(path / '.git') for name, path in paths.items()}
    ) == {
        'a/left': 'a/left',
        'a/right': 'a/right',
    }


def test_edited_lines_of_a_patch_omit_headers_and_positions() -> None:
    patch = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ class X\n k\n-a\n+b\n@@ -9 +9 @@\n--- c\n+d\n'
    assert list_edited_lines(patch) == ('-a', '+b', '--- c', '+d')
    binary = 'diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZ\n'
    assert list_edited_lines(binary) == tuple(binary.split('\n'))
