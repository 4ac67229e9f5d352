from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.reasons import OWNERS, Reason
from coevo.model.words import Stage, Walk
from miners.walks.pairs import Route, Visit, visit_route
from tests.repos import commit, damage, git, init, write_object


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return init(tmp_path / 'repo')


def walk(repo: Path, walk: Walk = Walk.PARENTS, **bounds: Any) -> Visit:
    """Visit from HEAD; every visited commit must end pairs (one but in windows) or be dropped."""
    route = Route(
        repo='local/repo', language='java', walk=walk, ref=bounds.pop('ref', 'HEAD'), **bounds
    )
    found = visit_route(Repository(repo / '.git'), route)
    ended = [pair.new.rev for pair in found.pairs]
    if walk is Walk.WINDOW:
        ended = list(dict.fromkeys(ended))
    assert sorted([*ended, *(drop.key for drop in found.drops)]) == sorted(found.visited)
    for items in (ended, [drop.key for drop in found.drops]):
        assert items == [rev for rev in found.visited if rev in items]
    for drop in found.drops:
        assert (drop.stage, drop.unit, drop.pair_id) == (Stage.WALK, 'commit', None)
        assert OWNERS[drop.reason] is Stage.WALK
    return found


def edges(found: Visit) -> list[tuple[str, str]]:
    return [(pair.old.rev, pair.new.rev) for pair in found.pairs]


def reasons(found: Visit) -> dict[str, str]:
    return {drop.key: drop.reason for drop in found.drops}


def day(number: int) -> str:
    return f'2020-01-{number:02d}T00:00:00Z'


def hour(number: int) -> str:
    return f'2020-01-01T{number:02d}:00:00Z'


# -- parents ---------------------------------------------------------------------------------------


def test_a_commit_that_changes_java_pairs_with_its_parent(repo: Path) -> None:
    root = commit(repo, 'root', {'A.java': '1'}, date=day(1))
    prose = commit(repo, 'prose', {'README.md': '1', 'pom.xml': '<project/>'}, date=day(2))
    edit = commit(repo, 'edit', {'A.java': '2'}, date=day(3))
    found = walk(repo)
    assert found.head == edit
    assert found.visited == (edit, prose, root)
    assert edges(found) == [(prose, edit)]
    assert found.pairs[0].old_is_ancestor
    assert found.pairs[0].gap_hours == 24.0
    assert reasons(found) == {prose: Reason.NO_CODE_CHANGE, root: Reason.ROOT_COMMIT}


def test_changed_path_or_content_is_a_java_change_and_a_changed_mode_is_not(repo: Path) -> None:
    commit(repo, 'root', {'a/A.java': '1', 'b': '1'}, date=day(1))
    moved = commit(repo, 'moved', {'a/A.java': None, 'c/A.java': '1'}, date=day(2))
    (repo / 'c/A.java').chmod(0o755)
    mode = commit(repo, 'mode', {}, date=day(3))
    gone = commit(repo, 'gone', {'c/A.java': None}, date=day(4))
    folder = commit(repo, 'a folder of that name', {'D.java/readme': 'x'}, date=day(5))
    found = walk(repo)
    assert [new for _, new in edges(found)] == [gone, moved]
    assert reasons(found)[mode] == reasons(found)[folder] == Reason.NO_CODE_CHANGE


def test_submodule_with_a_java_name_is_no_code_change(repo: Path) -> None:
    root = commit(repo, 'root', {'A.java': '1'}, date=day(1))
    git(repo, 'update-index', '--add', '--cacheinfo', f'160000,{root},X.java')
    tree = git(repo, 'write-tree')
    linked = git(repo, 'commit-tree', tree, '-p', root, '-m', 'submodule')
    assert reasons(walk(repo, ref=linked))[linked] == Reason.NO_CODE_CHANGE


def branches(repo: Path) -> tuple[str, str]:
    """Two branches with a Java change each; the base has a third file."""
    base = commit(repo, 'base', {'A.java': '1\n', 'B.java': '1\n', 'C.java': '1\n'}, date=day(1))
    left = commit(repo, 'left', {'A.java': '2\n'}, date=day(2), parents=[base])
    right = commit(repo, 'right', {'B.java': '2\n'}, date=day(3), parents=[base])
    return left, right


def test_clean_merge_is_dropped_as_a_merge_without_change(repo: Path) -> None:
    left, right = branches(repo)
    merge = commit(repo, 'merge', {'B.java': '2\n'}, date=day(4), parents=[left, right])
    found = walk(repo)
    assert [new for _, new in edges(found)] == [right, left]
    assert reasons(found)[merge] == Reason.MERGE_WITHOUT_CHANGE


def test_an_evil_merge_pairs_with_its_first_parent(repo: Path) -> None:
    left, right = branches(repo)
    evil = {'B.java': '2\n', 'C.java': 'evil\n'}
    merge = commit(repo, 'merge', evil, date=day(4), parents=[left, right])
    assert edges(walk(repo))[0] == (left, merge)


def test_evil_merge_that_changes_only_prose_is_dropped(repo: Path) -> None:
    left, right = branches(repo)
    evil = {'B.java': '2\n', 'README.md': 'evil\n'}
    merge = commit(repo, 'merge', evil, date=day(4), parents=[left, right])
    assert reasons(walk(repo))[merge] == Reason.MERGE_WITHOUT_CHANGE


def test_merge_that_resolves_a_conflict_pairs_with_its_first_parent(repo: Path) -> None:
    left, _ = branches(repo)
    base = git(repo, 'rev-parse', f'{left}^')
    other = commit(repo, 'other', {'A.java': '3\n'}, date=day(3), parents=[base])
    merge = commit(repo, 'merge', {'A.java': '2 and 3\n'}, date=day(4), parents=[left, other])
    assert edges(walk(repo))[0] == (left, merge)


def test_merge_that_keeps_the_java_of_its_first_parent_is_no_code_change(repo: Path) -> None:
    left, right = branches(repo)
    merge = commit(repo, 'ours', {}, date=day(4), parents=[left, right])
    assert reasons(walk(repo))[merge] == Reason.NO_CODE_CHANGE


@pytest.mark.parametrize('evil', [False, True])
def test_octopus_merge_makes_a_pair_only_if_a_file_differs_from_all_parents(
    repo: Path, evil: bool
) -> None:
    left, right = branches(repo)
    base = git(repo, 'rev-parse', f'{left}^')
    third = commit(repo, 'third', {'C.java': '2\n'}, date=day(3), parents=[base])
    files: dict[str, str | bytes | None] = {'B.java': '2\n', 'C.java': 'evil\n' if evil else '2\n'}
    merge = commit(repo, 'octopus', files, date=day(4), parents=[left, right, third])
    found = walk(repo)
    if evil:
        assert edges(found)[0] == (left, merge)
    else:
        assert reasons(found)[merge] == Reason.MERGE_WITHOUT_CHANGE


def test_each_of_two_unrelated_roots_is_dropped(repo: Path) -> None:
    first = commit(repo, 'first', {'A.java': '1'}, date=day(1))
    second = commit(repo, 'second', {'B.java': '1'}, date=day(2), parents=[])
    merge = commit(repo, 'merge', {'B.java': '1'}, date=day(3), parents=[first, second])
    files = reasons(walk(repo))
    assert files[first] == files[second] == Reason.ROOT_COMMIT
    assert files[merge] == Reason.MERGE_WITHOUT_CHANGE


def test_rebased_and_cherry_picked_copies_are_separate_pairs(repo: Path) -> None:
    base = commit(repo, 'base', {'A.java': '1', 'B.java': '1'}, date=day(1))
    original = commit(repo, 'change', {'A.java': '2'}, date=day(2))
    other = commit(repo, 'other', {'B.java': '2'}, date=day(3), parents=[base])
    copy = commit(repo, 'change', {'A.java': '2'}, date=day(4), author_date=day(2), parents=[other])
    merge = commit(repo, 'merge', {}, date=day(5), parents=[copy, original])
    found = walk(repo)
    assert edges(found) == [(other, copy), (base, other), (base, original)]
    assert reasons(found)[merge] == Reason.NO_CODE_CHANGE


# -- first-parent ----------------------------------------------------------------------------------


def test_first_parent_walk_stays_on_the_main_line(repo: Path) -> None:
    left, right = branches(repo)
    base = git(repo, 'rev-parse', f'{left}^')
    merge = commit(repo, 'merge', {'B.java': '2\n'}, date=day(4), parents=[left, right])
    found = walk(repo, Walk.FIRST_PARENT)
    assert found.visited == (merge, left, base)
    assert edges(found) == [(left, merge), (base, left)]


# -- states ----------------------------------------------------------------------------------------


def test_states_walk_keeps_the_newest_commit_of_each_code_state(repo: Path) -> None:
    one = commit(repo, 'one', {'A.java': '1'}, date=day(1))
    prose = commit(repo, 'prose', {'README.md': '1'}, date=day(2))
    two = commit(repo, 'two', {'A.java': '2'}, date=day(3))
    pom = commit(repo, 'pom', {'pom.xml': '<project/>'}, date=day(4))
    back = commit(repo, 'back', {'A.java': '1'}, date=day(5))
    found = walk(repo, Walk.STATES)
    assert found.visited == (back, pom, two, prose, one)
    assert edges(found) == [(pom, back), (prose, pom)]
    assert reasons(found) == {
        two: Reason.SAME_CODE_STATE,
        prose: Reason.OLDEST_STATE,
        one: Reason.SAME_CODE_STATE,
    }


def test_states_walk_pairs_across_branches_and_marks_non_ancestors(repo: Path) -> None:
    left, right = branches(repo)
    base = git(repo, 'rev-parse', f'{left}^')
    merge = commit(repo, 'merge', {'B.java': '2\n'}, date=day(4), parents=[left, right])
    found = walk(repo, Walk.STATES)
    assert edges(found) == [(right, merge), (left, right), (base, left)]
    assert [pair.old_is_ancestor for pair in found.pairs] == [True, False, True]


def test_ancestor_is_recognised_in_a_history_with_a_wrong_clock(repo: Path) -> None:
    old = commit(repo, 'old', {'A.java': '1'}, date=day(5))
    slow = commit(repo, 'clock behind', {'A.java': '2'}, date='2001-01-01T00:00:00Z')
    merge = commit(repo, 'merge', {'A.java': '3'}, date=day(9), parents=[slow, old])
    new = commit(repo, 'new', {'A.java': '4'}, date=day(10), parents=[slow])
    head = commit(repo, 'head', {'A.java': '5'}, date=day(11), parents=[new, merge])
    found = walk(repo, Walk.STATES)
    assert edges(found) == [(new, head), (merge, new), (old, merge), (slow, old)]
    related = {(pair.old.rev, pair.new.rev): pair.old_is_ancestor for pair in found.pairs}
    assert list(related.values()) == [True, False, True, False]
    assert [pair.gap_hours is not None and pair.gap_hours > 0 for pair in found.pairs] == [True] * 4


def test_code_state_includes_java_in_any_folder_and_symbolic_links(repo: Path) -> None:
    one = commit(repo, 'one', {'src/A.java': '1', 'x/y/z/B.java': '1'}, date=day(1))
    deep = commit(repo, 'deep', {'x/y/z/B.java': '2'}, date=day(2))
    (repo / 'C.java').symlink_to('src/A.java')
    link = commit(repo, 'link', {}, date=day(3))
    assert edges(walk(repo, Walk.STATES)) == [(deep, link), (one, deep)]


def test_repository_without_java_has_a_single_code_state(repo: Path) -> None:
    commit(repo, 'one', {'a': '1'}, date=day(1))
    head = commit(repo, 'two', {'a': '2'}, date=day(2))
    found = walk(repo, Walk.STATES)
    assert not found.pairs
    assert reasons(found)[head] == Reason.OLDEST_STATE


# -- bounds ----------------------------------------------------------------------------------------


def history(repo: Path) -> list[str]:
    return [commit(repo, f'{n}', {'A.java': f'{n}'}, date=day(n)) for n in range(1, 7)]


@pytest.mark.parametrize('kind', [kind for kind in Walk if kind is not Walk.SINGLE_REVISION])
def test_commit_limit_counts_every_commit_from_the_newest(repo: Path, kind: Walk) -> None:
    revs = history(repo)
    assert walk(repo, kind, commits=3).visited == tuple(reversed(revs[-3:]))
    assert walk(repo, kind, commits=99).visited == tuple(reversed(revs))


def test_parent_of_the_last_visited_commit_may_lie_beyond_the_limit(repo: Path) -> None:
    revs = history(repo)
    assert edges(walk(repo, commits=2)) == [(revs[4], revs[5]), (revs[3], revs[4])]
    assert edges(walk(repo, Walk.STATES, commits=2)) == [(revs[4], revs[5])]


def test_date_bounds_are_inclusive_and_newer_commits_do_not_use_up_the_limit(repo: Path) -> None:
    revs = history(repo)
    until, since = datetime(2020, 1, 4, tzinfo=UTC), datetime(2020, 1, 3, tzinfo=UTC)
    assert walk(repo, until=until, commits=3).visited == (revs[3], revs[2], revs[1])
    found = walk(repo, until=until, since=since)
    assert found.visited == (revs[3], revs[2])
    assert found.head == revs[5]


def test_cutoff_uses_the_committer_date(repo: Path) -> None:
    first = commit(repo, 'first', {'A.java': '1'}, date=day(1))
    commit(repo, 'late', {'A.java': '2'}, date=day(9), author_date=day(2))
    early = commit(repo, 'early', {'A.java': '3'}, date=day(3), author_date=day(9))
    until = datetime(2020, 1, 5, tzinfo=UTC)
    assert walk(repo, until=until).visited == (early, first)


def test_commit_with_a_too_old_date_does_not_hide_its_ancestors(repo: Path) -> None:
    commit(repo, 'first', {'A.java': '1'}, date=day(1))
    kept = commit(repo, 'kept', {'A.java': '2'}, date=day(8))
    commit(repo, 'clock behind', {'A.java': '3'}, date='2001-01-01T00:00:00Z')
    head = commit(repo, 'head', {'A.java': '4'}, date=day(9))
    assert walk(repo, since=datetime(2020, 1, 5, tzinfo=UTC)).visited == (head, kept)


def test_date_beyond_year_9999_has_no_gap_and_is_after_every_cutoff(repo: Path) -> None:
    first = commit(repo, 'first', {'A.java': '1'}, date=day(1))
    tree = git(repo, 'mktree', stdin=f'100644 blob {_blob(repo)}\tA.java\n'.encode())
    lines = f'tree {tree}\nparent {first}\nauthor A <a> 1 +0000\ncommitter A <a> 300000000000 +0000'
    far = write_object(repo, 'commit', f'{lines}\n\nfar\n'.encode())
    (pair,) = walk(repo, ref=far).pairs
    assert pair.gap_hours is None
    assert walk(repo, ref=far, until=datetime(9999, 1, 1, tzinfo=UTC)).visited == (first,)


def _blob(repo: Path) -> str:
    return write_object(repo, 'blob', b'2')


def test_unknown_ref_is_refused(repo: Path) -> None:
    commit(repo, 'first', {'A.java': '1'})
    with pytest.raises(Fatal, match='name another ref'):
        walk(repo, ref='v9')


# -- damage ----------------------------------------------------------------------------------------

# -- windows ---------------------------------------------------------------------------------------


def test_window_pairs_a_state_with_every_older_state_within_twelve_hours(repo: Path) -> None:
    first = commit(repo, 'first', {'A.java': '1'}, date=hour(0))
    second = commit(repo, 'second', {'A.java': '2'}, date=hour(6))
    same = commit(repo, 'same', {'README': 'x'}, date=hour(7))
    third = commit(repo, 'third', {'A.java': '3'}, date=hour(12))
    fourth = commit(repo, 'fourth', {'A.java': '4'}, date=hour(13))
    found = walk(repo, Walk.WINDOW)
    assert [(pair.old.rev, pair.new.rev, pair.between) for pair in found.pairs] == [
        (third, fourth, ()),
        (same, fourth, (third,)),
        (same, third, ()),
        (first, third, (same,)),
        (first, same, ()),
    ]
    assert reasons(found) == {second: Reason.SAME_CODE_STATE, first: Reason.OLDEST_STATE}


def test_window_gives_no_pair_for_a_lone_state_or_a_clock_that_runs_back(repo: Path) -> None:
    first = commit(repo, 'first', {'A.java': '1'}, date=day(1))
    late = commit(repo, 'late', {'A.java': '2'}, date=day(3))
    early = commit(repo, 'early', {'A.java': '3'}, date=day(2))
    found = walk(repo, Walk.WINDOW)
    assert found.pairs == ()
    assert reasons(found) == {
        early: Reason.EMPTY_WINDOW,
        late: Reason.EMPTY_WINDOW,
        first: Reason.OLDEST_STATE,
    }


@pytest.mark.parametrize('part', ['', ':', ':src', ':src/A.java'])
@pytest.mark.parametrize('kind', [kind for kind in Walk if kind is not Walk.SINGLE_REVISION])
def test_damaged_commit_is_dropped_and_the_walk_continues(
    repo: Path, kind: Walk, part: str
) -> None:
    when = hour if kind is Walk.WINDOW else day
    base = commit(repo, 'base', {'src/A.java': '1' * 99, 'src/B.java': '1'}, date=when(1))
    bad = commit(repo, 'bad', {'src/A.java': '2' * 99}, date=when(2))
    good = commit(repo, 'good', {'src/B.java': '3', 'src/A.java': '1' * 99}, date=when(3))
    head = commit(repo, 'head', {'src/B.java': '4'}, date=when(4))
    oid = git(repo, 'rev-parse', f'{bad}{part}')
    damage(repo, oid)
    found = walk(repo, kind)
    assert reasons(found)[bad] == Reason.UNREADABLE_COMMIT
    assert edges(found)[0] == (good, head)
    if part:
        assert found.visited == (head, good, bad, base)
    if part and kind is Walk.STATES:
        assert edges(found)[1:] == [(base, good)]
        assert oid in found.drops[0].detail


def test_merge_with_a_damaged_parent_is_dropped(repo: Path) -> None:
    left, right = branches(repo)
    merge = commit(repo, 'merge', {'B.java': '2\n'}, date=day(4), parents=[left, right])
    head = commit(repo, 'head', {'C.java': '9\n'}, date=day(5))
    damage(repo, git(repo, 'rev-parse', f'{right}:'))
    found = walk(repo)
    assert edges(found)[0] == (merge, head)
    assert reasons(found)[merge] == Reason.UNREADABLE_COMMIT
    assert reasons(found)[right] == Reason.UNREADABLE_COMMIT
