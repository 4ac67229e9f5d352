"""Ways in which an answer was public before its commit says so. None may be called clean.

Each history ends with a test that seems to be of 20 January 2020 and was to be had on 2 January, or
of which nobody can tell. A filter by the date of its commit would call it clean after 10 January.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from coevo.model.dependencies import RESOURCE, Dependency, Revised
from coevo.model.words import MethodChange
from coevo.snapshots import cutoffs
from coevo.storage.store import Store
from packagers.dating import find_earliest_if_all_known
from tests import segments
from tests.miners.dates.searches import date_rows
from tests.repos import commit, git, init, write_object

CRAWLED = datetime(2024, 1, 1, tzinfo=UTC)
BODY = 'assertEquals(4, Sum.of(2, 2));'
FILE = 'src/test/java/p/SumTest.java'
# Strictly between the day on which it was public and the day of its commit.
CUTOFF = '2020-01-10'

History = Callable[[Path], list[Path] | None]
LEAKS: dict[str, History] = {}


def leak(history: History) -> History:
    LEAKS[history.__name__] = history
    return history


def day(number: int) -> str:
    return f'2020-01-{number:02d}T12:00:00Z'


def java(body: str = BODY, name: str = 'SumTest', method: str = 'sums', more: str = '') -> str:
    return f'package p;\nclass {name} {{\n  @Test void {method}() {{ {body} }}\n{more}}}\n'


def crowd(count: int) -> str:
    return '\n'.join(f'@Test void other{n}() {{ check({n}); }}' for n in range(count))


def head(repo: Path) -> str:
    return git(repo, 'rev-parse', 'HEAD')


def bring(repo: Path, number: int = 20, **more: str) -> str:
    """The commit that a task would have for its new revision."""
    return commit(repo, 'test', {FILE: java()}, date=day(number), **more)  # type: ignore[arg-type]


def raw(repo: Path, author: str, committer: str) -> None:
    """A commit of the test whose dates are as given, good or bad."""
    blob = write_object(repo, 'blob', java().encode())
    listing = f'100644 blob {blob}\tSumTest.java\n'.encode()
    tree = git(repo, 'mktree', stdin=listing)
    text = f'tree {tree}\nparent {head(repo)}\nauthor A <a> {author}\ncommitter A <a> {committer}\n\nx\n'
    git(repo, 'reset', '-q', '--hard', write_object(repo, 'commit', text.encode()))


# -- dates -----------------------------------------------------------------------------------------


@leak
def a_zone_ahead_of_utc_shows_the_next_day(repo: Path) -> None:
    commit(repo, 'test', {FILE: java()}, date='2020-01-11T01:00:00+14:00')


@leak
def the_author_wrote_it_before_the_committer_took_it(repo: Path) -> None:
    bring(repo, author_date=day(2))


@leak
def a_clock_that_ran_ahead_is_corrected_by_a_later_commit(repo: Path) -> None:
    bring(repo)
    commit(repo, 'later', {'b': ''}, date=day(2))


@leak
def a_clock_ahead_of_the_crawl(repo: Path) -> None:
    commit(repo, 'test', {FILE: java()}, date='2024-01-01T00:00:01Z')


@leak
def a_date_before_1970(repo: Path) -> None:
    raw(repo, '-86400 +0000', '1579521600 +0000')


@leak
def a_date_of_the_year_9999(repo: Path) -> None:
    raw(repo, '253402300799 +0000', '253402300799 +0000')


@leak
def a_date_beyond_9999(repo: Path) -> None:
    raw(repo, '1579521600 +0000', '99999999999999 +0000')


@leak
def a_date_that_is_a_word(repo: Path) -> None:
    raw(repo, 'yesterday +0000', 'yesterday +0000')


# -- history that was written anew -----------------------------------------------------------------


@leak
def rebased_with_a_new_author_date_and_the_old_branch_still_there(repo: Path) -> None:
    base = head(repo)
    git(repo, 'branch', 'old', bring(repo, 2))
    commit(repo, 'main', {'b': ''}, date=day(19), parents=[base])
    bring(repo)


@leak
def force_pushed_away_but_kept(repo: Path) -> None:
    base = head(repo)
    git(repo, 'update-ref', 'refs/coevo/kept/x', bring(repo, 2))
    commit(repo, 'test', {FILE: java()}, date=day(20), parents=[base])


@leak
def cherry_picked_from_another_branch(repo: Path) -> None:
    base = head(repo)
    git(repo, 'branch', 'release', bring(repo, 2))
    commit(repo, 'pick', {FILE: java()}, date=day(20), parents=[base])


@leak
def squashed_from_a_pull_request(repo: Path) -> None:
    base = head(repo)
    git(repo, 'update-ref', 'refs/pull/1/head', bring(repo, 2))
    commit(repo, 'squash', {FILE: java()}, date=day(20), parents=[base])


@leak
def a_pull_request_that_was_closed(repo: Path) -> None:
    base = head(repo)
    git(repo, 'update-ref', 'refs/pull/7/head', bring(repo, 2))
    commit(repo, 'done otherwise', {'b': ''}, date=day(3), parents=[base])
    bring(repo)


@leak
def a_pull_request_older_than_its_merge(repo: Path) -> None:
    base = head(repo)
    pull = bring(repo, 2)
    main = commit(repo, 'main', {'b': ''}, date=day(19), parents=[base])
    commit(repo, 'merge', {FILE: java()}, date=day(20), parents=[main, pull])


@leak
def on_a_tag_that_no_branch_has(repo: Path) -> None:
    base = head(repo)
    git(repo, 'tag', 'v0', bring(repo, 2))
    commit(repo, 'test', {FILE: java()}, date=day(20), parents=[base])


@leak
def reverted_and_applied_again(repo: Path) -> None:
    bring(repo, 2)
    commit(repo, 'revert', {FILE: None}, date=day(3))
    bring(repo)


# -- the same body elsewhere -----------------------------------------------------------------------


@leak
def copied_from_another_test(repo: Path) -> None:
    commit(repo, 'first', {'src/test/java/p/A.java': java(name='A')}, date=day(2))
    bring(repo)


@leak
def vendored(repo: Path) -> None:
    commit(repo, 'vendor', {'third_party/sum/SumTest.java': java()}, date=day(2))
    bring(repo)


@leak
def it_was_no_test_at_first(repo: Path) -> None:
    text = java(name='Demo', method='main').replace('@Test ', '')
    commit(repo, 'demo', {'src/main/java/p/Demo.java': text}, date=day(2))
    bring(repo)


@leak
def its_annotations_and_modifiers_were_others(repo: Path) -> None:
    text = java().replace('@Test void', '@org.junit.Test(timeout = 5) public final void')
    commit(repo, 'first', {FILE: text}, date=day(2))
    bring(repo)


@leak
def the_test_was_renamed(repo: Path) -> None:
    commit(repo, 'first', {FILE: java(method='adds')}, date=day(2))
    bring(repo)


@leak
def the_file_was_renamed(repo: Path) -> None:
    commit(repo, 'first', {'src/test/java/p/OldTest.java': java()}, date=day(2))
    commit(repo, 'move', {'src/test/java/p/OldTest.java': None, FILE: java()}, date=day(20))


@leak
def the_class_was_renamed(repo: Path) -> None:
    commit(repo, 'first', {FILE: java(name='OldTest')}, date=day(2))
    bring(repo)


@leak
def the_class_moved_to_another_module(repo: Path) -> None:
    commit(repo, 'first', {f'core/{FILE}': java()}, date=day(2))
    commit(repo, 'move', {f'core/{FILE}': None, FILE: java()}, date=day(20))


@leak
def it_moved_into_a_nested_class(repo: Path) -> None:
    nested = f'package p; class A {{ class SumTest {{ @Test void sums() {{ {BODY} }} }} }}'
    commit(repo, 'first', {'src/test/java/p/A.java': nested}, date=day(2))
    bring(repo)


@leak
def only_comments_and_white_space_differ(repo: Path) -> None:
    commit(repo, 'first', {FILE: java(f'/* four */\r\n\t{BODY} // so')}, date=day(2))
    bring(repo)


@leak
def in_a_file_that_does_not_parse_as_a_whole(repo: Path) -> None:
    commit(repo, 'broken', {FILE: java(more='  int x = ;\n')}, date=day(2))
    bring(repo)


@leak
def in_another_repository(repo: Path) -> list[Path]:
    other = init(repo.parent / 'other')
    commit(other, 'root', {'README.md': ''}, date=day(1))
    commit(other, 'test', {'SumTest.java': java()}, date=day(2))
    bring(repo)
    return [other]


@leak
def in_a_fork(repo: Path) -> list[Path]:
    fork = repo.parent / 'fork'
    git(repo.parent, 'clone', '-q', str(repo), str(fork))
    commit(fork, 'test', {FILE: java()}, date=day(2))
    bring(repo)
    return [fork]


# -- a past that is elsewhere ----------------------------------------------------------------------


@leak
def imported_with_two_hundred_others(repo: Path) -> None:
    commit(repo, 'import', {FILE: java(more=crowd(200))}, date=day(20))


@leak
def in_a_root_commit_with_twenty_others(repo: Path) -> None:
    commit(repo, 'import', {FILE: java(more=crowd(20))}, date=day(20), parents=[])


@leak
def in_another_root_that_was_merged_in(repo: Path) -> None:
    base = head(repo)
    root = commit(repo, 'root', {FILE: java(more=crowd(20))}, date=day(19), parents=[])
    commit(repo, 'merge', {FILE: java()}, date=day(20), parents=[base, root])


@leak
def seen_in_a_shallow_clone(repo: Path) -> None:
    bring(repo, 2)
    commit(repo, 'later', {'b': ''}, date=day(20))
    git(repo.parent, 'clone', '-q', '--depth=1', f'file://{repo}', str(repo.parent / 'cut'))
    repo.rename(repo.parent / 'whole')
    (repo.parent / 'cut').rename(repo)


@pytest.mark.sampled(11)
@pytest.mark.parametrize('name', LEAKS)
def test_leaked_test_is_never_called_clean(tmp_path: Path, name: str) -> None:
    repo = init(tmp_path / 'repo')
    commit(repo, 'root', {'README.md': ''}, date='2020-01-01T00:00:00Z')
    others = LEAKS[name](repo) or []
    date = dated(repo, others)
    assert date is None or f'{date:%F}' <= CUTOFF
    assert is_clean(date, CUTOFF) is False


def dated(
    repo: Path, others: list[Path], dependencies: tuple[Dependency, ...] = ()
) -> datetime | None:
    """The contamination date of the test at HEAD, as a release would fill it."""
    listing = git(repo, 'ls-tree', '-r', '--name-only', 'HEAD').splitlines()
    row = dataclasses.replace(
        segments.method(1, 'sums', MethodChange.INSERTED, segments.GENERATION),
        repo='a/repo',
        new_rev=head(repo),
        test_file=next(path for path in listing if path.endswith('SumTest.java')),
        test_class='p.SumTest',
        dependencies=dependencies,
    )
    clones = {f'a/{path.name}': path / '.git' for path in (repo, *others)}
    store = Store(repo.parent / 'store')
    (found,) = date_rows(store, 'java', [row], clones, crawled_at=CRAWLED)
    return found.contamination_date


def test_a_test_that_depends_on_a_resource_is_dated(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    commit(repo, 'root', {'README.md': ''}, date='2020-01-01T00:00:00Z')
    logging = 'src/main/resources/logging.properties'
    commit(repo, 'test', {FILE: java(), logging: 'level=INFO\n'}, date='2020-01-03T00:00:00Z')
    resource = Dependency(
        declaration=RESOURCE,
        file=logging,
        start_line=1,
        end_line=1,
        revised=Revised.INSERTED,
        rank=1,
    )
    assert dated(repo, [], (resource,)) == datetime(2020, 1, 3, tzinfo=UTC)


def is_clean(date: datetime | None, cutoff: str | None) -> object:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute('CREATE TABLE methods (contamination_date TIMESTAMPTZ)')
    for macro in cutoffs.MACROS:
        connection.execute(macro)
    (answer,) = connection.execute('SELECT clean(?::TIMESTAMPTZ, ?)', [date, cutoff]).fetchall()[0]
    return answer


def test_test_that_was_not_public_earlier_is_clean(tmp_path: Path) -> None:
    """Or all of the above would hold for a filter that lets nothing through."""
    repo = init(tmp_path / 'repo')
    commit(repo, 'root', {'README.md': ''}, date=day(1))
    bring(repo)
    assert is_clean(dated(repo, []), CUTOFF) is True


@pytest.mark.parametrize(
    ('date', 'cutoff'),
    [
        (datetime(2020, 1, 31, 23, 59, 59, 999999, tzinfo=UTC), '2020-01'),
        (datetime(2020, 1, 10, 0, 0, tzinfo=UTC), '2020-01-10'),
        (datetime(2020, 1, 10, 23, 59, 59, 999999, tzinfo=UTC), '2020-01-10'),
        (datetime(2020, 2, 29, 12, 0, tzinfo=UTC), '2020-02'),
        (None, '2020-01'),
        (None, None),
        (datetime(2020, 1, 10, tzinfo=UTC), None),
    ],
)
def test_date_within_the_cutoff_period_or_missing_is_not_clean(
    date: datetime | None, cutoff: str | None
) -> None:
    assert is_clean(date, cutoff) is False


def test_a_task_is_as_old_as_its_oldest_method() -> None:
    old, new = datetime(2020, 1, 2, tzinfo=UTC), datetime(2020, 1, 20, tzinfo=UTC)
    assert find_earliest_if_all_known([new, old]) == old
    assert find_earliest_if_all_known([new, None]) is None
