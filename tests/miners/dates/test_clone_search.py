"""What a second search of a clone reads: nothing that the first has read, whatever became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import CorruptObject
from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.storage.dates import NoDateReason, SeenBodies
from miners.dates import clone_search
from miners.dates.clone_search import SearchListener
from tests.miners.dates.searches import search_again
from tests.repos import commit, damage, git, init

CRAWLED = datetime(2024, 1, 1, tzinfo=UTC)


def day(number: int) -> str:
    return f'2020-01-{number:02d}T00:00:00Z'


def java(*bodies: str) -> str:
    tests = ''.join(f'@Test void test{n}() {{ {body} }}\n' for n, body in enumerate(bodies))
    return f'class ATest {{\n{tests}}}\n'


def members(*bodies: str) -> Sequence[Member]:
    (type_,) = parse(java(*bodies).encode()).types
    return type_.members


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    path = init(tmp_path / 'repo')
    commit(path, 'root', {'README.md': ''}, date=day(1))
    for number in range(2, 12):
        commit(path, f'{number}', {f'A{number}.java': java(f'one({number});')}, date=day(number))
    return path


def days(found: SeenBodies) -> list[int]:
    return sorted({each.moment.day for each in found.seen if each.moment is not None})


def lose(repo: Path, path: str) -> None:
    """Damage a file of the history, so that nobody can read it."""
    damage(repo, git(repo, 'rev-parse', f'HEAD:{path}'))


def test_a_repeated_search_reads_no_file(repo: Path) -> None:
    wanted = members('one(5);', 'nowhere();')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    lose(repo, 'A3.java')
    assert search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=first) == first
    with pytest.raises(CorruptObject):
        search_again(repo, wanted, 'java', crawled_at=CRAWLED)


def test_known_bodies_are_searched_only_in_new_commits(repo: Path) -> None:
    wanted = members('one(5);', 'later();')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    assert days(first) == [5]
    lose(repo, 'A3.java')
    commit(repo, 'later', {'B.java': java('later();')}, date=day(20))
    found = search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=first)
    assert days(found) == [5, 20]
    assert found.absent == ()


def test_a_new_body_is_searched_in_the_whole_history(repo: Path) -> None:
    first = search_again(repo, members('one(5);'), 'java', crawled_at=CRAWLED)
    found = search_again(
        repo, members('one(5);', 'one(3);'), 'java', crawled_at=CRAWLED, known=first
    )
    assert days(found) == [3, 5]


def test_a_new_commit_with_an_earlier_date_moves_a_known_body_earlier(repo: Path) -> None:
    wanted = members('one(9);')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    base = git(repo, 'rev-list', '--max-parents=0', 'HEAD')
    side = commit(repo, 'side', {'S.java': java('one(9);')}, date=day(4), parents=[base])
    git(repo, 'update-ref', 'refs/pull/1/head', side)
    assert days(search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=first)) == [4]


def test_a_new_descendant_with_an_earlier_clock_corrects_a_known_date(repo: Path) -> None:
    wanted = members('one(9);', 'one(3);')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    commit(repo, 'clock behind', {'C.java': java('c();')}, date=day(6))
    found = search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=first)
    assert days(found) == [3, 6]


def test_a_date_found_on_a_deleted_branch_is_kept(repo: Path) -> None:
    base = git(repo, 'rev-list', '--max-parents=0', 'HEAD')
    head = git(repo, 'rev-parse', 'HEAD')
    side = commit(repo, 'side', {'S.java': java('one(9);')}, date=day(2), parents=[base])
    git(repo, 'reset', '-q', '--hard', head)
    git(repo, 'update-ref', 'refs/heads/side', side)
    wanted = members('one(9);')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    git(repo, 'update-ref', '-d', 'refs/heads/side')
    found = search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=first)
    assert (days(first), days(found)) == ([2], [2])


def test_a_future_date_becomes_valid_once_a_later_crawl_reaches_it(repo: Path) -> None:
    commit(repo, 'ahead', {'B.java': java('ahead();')}, date='2024-06-01T00:00:00Z')
    wanted = members('ahead();')
    first = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    assert {each.no_date for each in first.seen} == {NoDateReason.UNDATED}
    later = datetime(2024, 7, 1, tzinfo=UTC)
    found = search_again(repo, wanted, 'java', crawled_at=later, known=first)
    assert {each.date for each in found.seen} == {datetime(2024, 6, 1, tzinfo=UTC)}


class Killed(Exception):
    """What ends a search of a test."""


def test_a_killed_search_resumes_where_it_ended(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clone_search, '_SECONDS_AT_RISK', 0.0)
    kept: list[SeenBodies] = []

    def keep(seen: SeenBodies) -> None:
        kept.append(seen)
        if len(kept) == 6:
            raise Killed

    wanted = members('one(3);', 'one(11);')
    whole = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    with pytest.raises(Killed):
        search_again(repo, wanted, 'java', crawled_at=CRAWLED, listener=SearchListener(keep=keep))
    assert days(kept[-1]) == [3]
    steps: list[int] = []
    found = search_again(
        repo,
        wanted,
        'java',
        crawled_at=CRAWLED,
        known=kept[-1],
        listener=SearchListener(step=lambda done, total: steps.append(done)),
    )
    assert found == whole
    assert steps[0] == 7, 'the first six moments are not searched again'


def test_a_search_state_of_another_question_is_ignored(repo: Path) -> None:
    wanted = members('one(3);')
    whole = search_again(repo, wanted, 'java', crawled_at=CRAWLED)
    state = clone_search.SearchState(question='another', done=9)
    broken = replace(whole, state=state, seen=(), absent=tuple(each.body for each in whole.seen))
    assert search_again(repo, wanted, 'java', crawled_at=CRAWLED, known=broken) == whole


def test_a_merge_of_three_parents_dates_a_body_that_no_parent_has(repo: Path) -> None:
    base = git(repo, 'rev-parse', 'HEAD')
    heads = [
        commit(repo, name, {f'{name}.java': java(f'{name}();')}, date=day(12 + n), parents=[base])
        for n, name in enumerate('abc')
    ]
    files = {'b.java': java('b();'), 'evil.java': java('evil();')}
    commit(repo, 'octopus', files, date=day(20), parents=heads)
    found = search_again(repo, members('a();', 'b();', 'evil();'), 'java', crawled_at=CRAWLED)
    assert days(found) == [12, 13, 20]
