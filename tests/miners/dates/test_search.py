from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.java.reading.syntax import parse
from coevo.storage.dates import SearchBasis
from packagers.dating import find_earliest_if_all_known
from tests.miners.dates.searches import FirstSeen, naive_dates, search
from tests.repos import commit, git, init, write_object

CRAWLED = datetime(2024, 1, 1, tzinfo=UTC)
BODY = 'assertEquals(4, Sum.of(2, 2));'


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose first commits are no import."""
    path = init(tmp_path / 'repo')
    commit(path, 'root', {'README.md': ''}, date=day(1))
    return path


def day(number: int) -> str:
    return f'2020-01-{number:02d}T00:00:00Z'


def at(number: int) -> datetime:
    return datetime(2020, 1, number, tzinfo=UTC)


def java(*bodies: str, name: str = 'SumTest', method: str = 'sums') -> str:
    methods = [f'@Test void {method}{n}() {{ {body} }}' for n, body in enumerate(bodies)]
    return f'package p;\nclass {name} {{\n' + '\n'.join(methods) + '\n}\n'


def body_hash(body: str = BODY) -> str:
    (type_,) = parse(java(body).encode()).types
    return type_.members[0].bare_hash


def seen(repo: Path, *bodies: str, crawled_at: datetime = CRAWLED) -> FirstSeen:
    member = {
        body_hash(body): parse(java(body).encode()).types[0].members[0]
        for body in bodies or (BODY,)
    }
    return search(repo, member.values(), 'java', crawled_at=crawled_at)


def date_of(repo: Path, body: str = BODY, crawled_at: datetime = CRAWLED) -> datetime | None:
    return seen(repo, body, crawled_at=crawled_at).dates[body_hash(body)]


# -- the minimum -----------------------------------------------------------------------------------


def test_a_body_is_dated_by_the_commit_that_adds_it(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(3))
    commit(repo, 'later', {'b': ''}, date=day(4))
    assert date_of(repo) == at(3)


def test_the_author_date_counts_if_it_is_earlier_than_the_committer_date(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(5), author_date=day(3))
    assert date_of(repo) == at(3)


def test_the_author_date_of_a_later_commit_does_not_date_a_body(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(5))
    commit(repo, 'rebased', {'b': ''}, date=day(6), author_date=day(2))
    changed = java(BODY, 'other();')
    commit(repo, 'rebased, same file', {'SumTest.java': changed}, date=day(7), author_date=day(1))
    assert date_of(repo) == at(5)


def test_a_descendant_corrects_a_clock_that_was_ahead(repo: Path) -> None:
    commit(repo, 'clock ahead', {'SumTest.java': java(BODY)}, date='2023-01-01T00:00:00Z')
    commit(repo, 'gone', {'SumTest.java': None}, date=day(4), author_date=day(2))
    assert date_of(repo) == at(4)  # the descendant's author date says nothing of the body


def test_the_date_of_an_ancestor_does_not_count(repo: Path) -> None:
    commit(repo, 'before', {'b': ''}, date=day(2))
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(6))
    assert date_of(repo) == at(6)


def test_names_white_space_comments_and_file_do_not_affect_the_date(repo: Path) -> None:
    other = java(f'/* so */\n   {BODY}', name='OtherTest', method='adds')
    commit(repo, 'elsewhere', {'old/OtherTest.java': other}, date=day(2))
    commit(repo, 'gone', {'old/OtherTest.java': None}, date=day(3))
    commit(repo, 'again', {'new/SumTest.java': java(BODY)}, date=day(9))
    assert date_of(repo) == at(2)


def test_a_reverted_and_reapplied_body_keeps_its_first_date(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(2))
    commit(repo, 'revert', {'SumTest.java': None}, date=day(3))
    commit(repo, 'reapply', {'SumTest.java': java(BODY)}, date=day(7))
    assert date_of(repo) == at(2)


def test_a_pull_request_head_dates_a_body_before_its_squashed_commit(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    pull = commit(repo, 'pull', {'SumTest.java': java(BODY)}, date=day(2))
    git(repo, 'update-ref', 'refs/pull/1/head', pull)
    commit(repo, 'squashed', {'SumTest.java': java(BODY)}, date=day(8), parents=[base])
    found = seen(repo)
    assert found.basis is SearchBasis.WITH_PULLS
    assert found.dates == {body_hash(): at(2)}
    git(repo, 'update-ref', '-d', 'refs/pull/1/head')
    found = seen(repo)
    assert found.basis is SearchBasis.BRANCHES_ONLY
    assert found.dates == {body_hash(): at(8)}


@pytest.mark.parametrize('ref', ['refs/tags/v0', 'refs/coevo/kept/x', 'refs/remotes/o/b'])
def test_commits_of_every_ref_count_wherever_head_is(repo: Path, ref: str) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    side = commit(repo, 'side', {'SumTest.java': java(BODY)}, date=day(2))
    git(repo, 'update-ref', ref, side)
    commit(repo, 'main', {'SumTest.java': java(BODY)}, date=day(8), parents=[base])
    assert date_of(repo) == at(2)


def test_a_cherry_picked_body_has_the_date_of_the_original(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    original = commit(repo, 'original', {'SumTest.java': java(BODY)}, date=day(5))
    copy = commit(repo, 'copy', {'SumTest.java': java(BODY)}, date=day(9), parents=[base])
    commit(repo, 'merge', {}, date=day(10), parents=[copy, original])
    assert date_of(repo) == at(5)


def test_a_body_that_only_a_merge_adds_is_dated_by_the_merge(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    left = commit(repo, 'left', {'l': ''}, date=day(2))
    right = commit(repo, 'right', {'r': ''}, date=day(3), parents=[base])
    evil = {'SumTest.java': java(BODY)}
    commit(repo, 'evil', evil, date=day(6), parents=[left, right])
    assert date_of(repo) == at(6)


def test_source_methods_are_dated_like_tests(repo: Path) -> None:
    source = 'class Sum { static int of(int a, int b) { return a + b; } }'
    commit(repo, 'source', {'Sum.java': source}, date=day(2))
    (type_,) = parse(source.encode()).types
    found = search(repo, type_.members, 'java', crawled_at=CRAWLED)
    assert found.dates == {type_.members[0].bare_hash: at(2)}


def test_only_java_files_are_searched(repo: Path) -> None:
    commit(repo, 'draft', {'SumTest.java.txt': java(BODY)}, date=day(2))
    assert body_hash() not in seen(repo).dates


def test_only_the_requested_bodies_are_dated(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY, 'fail();')}, date=day(2))
    assert set(seen(repo, BODY, 'nowhere();').dates) == {body_hash()}
    assert search(repo, [], 'java', crawled_at=CRAWLED).dates == {}


def test_dates_on_a_long_branched_history_match_the_definition(repo: Path) -> None:
    """Twenty commits on two lines, with clocks that jump; against every commit's own tree."""
    heads, revs = [git(repo, 'rev-parse', 'HEAD')], []
    texts = [f'check({n});' for n in range(5)]
    for n in range(20):
        parents = [heads[n % len(heads)], *(heads[-1:] if n % 7 == 6 else [])]
        chosen = [text for m, text in enumerate(texts) if (n * 3 + m) % 4]
        files: dict[str, str | bytes | None] = {'SumTest.java': java(*chosen)}
        date, author = day(2 + n * 11 % 27), day(2 + n * 17 % 27)
        revs.append(commit(repo, f'{n}', files, date=date, author_date=author, parents=parents))
        git(repo, 'update-ref', f'refs/heads/b{n}', revs[-1])
        heads = [*heads, revs[-1]][-3:]
    expected = naive_dates(repo, 'java', [body_hash(text) for text in texts])
    assert len(expected) == len(texts)
    assert seen(repo, *texts).dates == expected


# -- no telling ------------------------------------------------------------------------------------


def many(count: int) -> list[str]:
    return [f'check({n});' for n in range(count)]


@pytest.mark.parametrize(('count', 'known'), [(200, True), (201, False)])
def test_a_commit_that_adds_more_than_200_tests_is_an_import(
    repo: Path, count: int, known: bool
) -> None:
    commit(repo, 'import', {'SumTest.java': java(*many(count))}, date=day(2))
    assert date_of(repo, 'check(0);') == (at(2) if known else None)
    commit(repo, 'own', {'OwnTest.java': java(BODY)}, date=day(3))
    assert date_of(repo) == at(3)


@pytest.mark.parametrize(('count', 'known'), [(20, True), (21, False)])
def test_a_root_commit_with_more_than_20_tests_is_an_import(
    tmp_path: Path, count: int, known: bool
) -> None:
    repo = init(tmp_path / 'repo')
    commit(repo, 'root', {'SumTest.java': java(*many(count))}, date=day(2))
    assert date_of(repo, 'check(0);') == (at(2) if known else None)


def test_many_source_methods_do_not_make_a_commit_an_import(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repo')
    plain = java(*many(300)).replace('@Test', '')
    commit(repo, 'root', {'Sum.java': plain, 'SumTest.java': java(BODY)}, date=day(2))
    assert date_of(repo) == at(2)


def test_moved_and_renamed_tests_do_not_count_as_added(repo: Path) -> None:
    for n in range(3):
        files: dict[str, str | bytes | None] = {f'T{n}.java': java(*many(300)[n::3])}
        commit(repo, f'{n}', files, date=day(2 + n))
    everything = java(*many(300), name='Moved', method='renamed')
    moved = {'T0.java': None, 'T1.java': None, 'T2.java': None, 'x/Moved.java': everything}
    commit(repo, 'move', moved, date=day(8))
    assert date_of(repo, 'check(1);') == at(3)


def test_tests_copied_from_kept_files_do_not_count_as_added(repo: Path) -> None:
    for n in range(3):
        files: dict[str, str | bytes | None] = {f'T{n}.java': java(*many(300)[n::3])}
        commit(repo, f'{n}', files, date=day(2 + n))
    copy = java(*many(300), BODY, name='Copy')
    commit(repo, 'copy', {'Copy.java': copy}, date=day(8))
    assert date_of(repo, 'check(1);') == at(3)
    assert date_of(repo) == at(8)


@pytest.mark.parametrize(('own', 'known'), [(200, True), (201, False)])
def test_edited_tests_do_not_count_as_added(repo: Path, own: int, known: bool) -> None:
    for n in range(2):
        files: dict[str, str | bytes | None] = {f'T{n}.java': java(*many(300)[n::2])}
        commit(repo, f'{n}', files, date=day(2 + n))
    edited = [f'{body} also();' for body in many(300)]
    added = [f'other({n});' for n in range(own)]
    files = {'T0.java': java(*edited[::2], *added), 'T1.java': java(*edited[1::2])}
    commit(repo, 'edit', files, date=day(8))
    assert date_of(repo, 'check(0); also();') == (at(8) if known else None)
    assert date_of(repo, 'check(0);') == at(2)


def test_tests_that_replace_deleted_files_count_as_added(repo: Path) -> None:
    for n in range(2):
        files: dict[str, str | bytes | None] = {f'T{n}.java': java(*many(300)[n::2])}
        commit(repo, f'{n}', files, date=day(2 + n))
    imported = java(*[f'other({n});' for n in range(300)])
    replaced = {'T0.java': None, 'T1.java': None, 'New.java': imported}
    commit(repo, 'replace', replaced, date=day(8))
    assert date_of(repo, 'other(0);') is None


def test_an_import_keeps_the_date_of_a_body_that_an_earlier_commit_adds(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    one = commit(repo, 'one', {'OneTest.java': java('check(0);')}, date=day(2))
    git(repo, 'branch', 'one', one)
    commit(repo, 'all', {'T.java': java(*many(300))}, date=day(3), parents=[base])
    assert [date_of(repo, f'check({n});') for n in range(2)] == [at(2), None]


def test_a_merge_counts_only_tests_that_no_parent_has_as_added(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    left, right = base, base
    for n in range(2):
        left_file: dict[str, str | bytes | None] = {f'L{n}.java': java(*many(300)[n::4])}
        left = commit(repo, f'left {n}', left_file, date=day(2 + n), parents=[left])
    for n in range(2, 4):
        right_file: dict[str, str | bytes | None] = {f'R{n}.java': java(*many(300)[n::4])}
        right = commit(repo, f'right {n}', right_file, date=day(2 + n), parents=[right])
    both = {f'R{n}.java': java(*many(300)[n::4]) for n in range(2, 4)}
    commit(repo, 'merge', both, date=day(8), parents=[left, right])
    assert [date_of(repo, f'check({n});') for n in range(4)] == [at(n) for n in range(2, 6)]


def dated(repo: Path, author: str, committer: str) -> str:
    """A commit of the test on HEAD with the dates as given, good or bad."""
    blob = write_object(repo, 'blob', java(BODY).encode())
    tree = git(repo, 'mktree', stdin=f'100644 blob {blob}\tSumTest.java\n'.encode())
    parent = git(repo, 'rev-parse', 'HEAD')
    text = (
        f'tree {tree}\nparent {parent}\nauthor A <a> {author}\ncommitter A <a> {committer}\n\nx\n'
    )
    rev = write_object(repo, 'commit', text.encode())
    git(repo, 'update-ref', 'refs/heads/main', rev)
    return rev


GOOD = f'{int(at(5).timestamp())} +0000'


@pytest.mark.parametrize(
    'bad',
    ['', 'yesterday +0000', '-5 +0000', '99999999999999 +0000', '1704067201 +0000'],
    ids=['empty', 'word', 'before 1970', 'beyond 9999', 'a second after the crawl'],
)
@pytest.mark.parametrize('which', ['author', 'committer', 'both'])
def test_an_impossible_commit_date_gives_no_date(repo: Path, bad: str, which: str) -> None:
    dated(repo, GOOD if which == 'committer' else bad, GOOD if which == 'author' else bad)
    assert date_of(repo) is None
    commit(repo, 'later', {'b': ''}, date=day(9))
    assert date_of(repo) is None


def test_a_date_equal_to_the_crawl_time_is_valid(repo: Path) -> None:
    dated(repo, '1704067200 +0000', '1704067200 +0000')
    assert date_of(repo) == CRAWLED
    assert date_of(repo, crawled_at=datetime(2023, 1, 1, tzinfo=UTC)) is None


def test_an_invalid_date_of_another_commit_does_not_affect_a_body(repo: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(3))
    dated(repo, 'never', 'never')
    assert date_of(repo) == at(3)
    git(repo, 'reset', '-q', '--hard')
    commit(repo, 'new', {'NewTest.java': java('check(1);')}, date=day(6))
    assert date_of(repo, 'check(1);') == at(6)


def test_a_shallow_clone_gives_no_date(repo: Path, tmp_path: Path) -> None:
    commit(repo, 'test', {'SumTest.java': java(BODY)}, date=day(3))
    cut = tmp_path / 'cut'
    git(repo, 'clone', '-q', '--depth=1', f'file://{repo}', str(cut))
    assert seen(cut) == FirstSeen(basis=SearchBasis.SHALLOW, dates={body_hash(): None})


@pytest.mark.parametrize(
    ('dates', 'expected'),
    [([at(3), at(2)], at(2)), ([at(3), None], None), ([None, at(3)], None), ([], None)],
)
def test_the_earliest_date_is_none_if_any_date_is_none(
    dates: list[datetime | None], expected: datetime | None
) -> None:
    assert find_earliest_if_all_known(dates) == expected
