"""Local clones that lack objects: what they have is copied, what they lack is noted."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.declarations import Member
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests
from coevo.model.errors import Fatal
from coevo.storage.dates import SeenBodies
from coevo.storage.store import Store
from flows.licence import find_spdx_expression
from flows.missing_pairs import MineReport
from flows.pipeline import mine
from miners.cloning.clones import obtain_clone
from miners.dates.clone_search import SearchListener
from tests.miners.dates.searches import search, search_again
from tests.projects import junit, options, write
from tests.repos import commit, git

LARGE = b'\0' * 5000
MIT = 'Permission is hereby granted, free of charge, to any person obtaining a copy'
MAIN = 'src/main/java/'
SMALL = {'A.java': 'class A {}\n', 'LICENSE': MIT}


def partial(source: Path, folder: Path, wanted: str) -> Path:
    """A bare partial clone that fetches nothing more: its source is moved away."""
    git(source, 'config', 'uploadpack.allowFilter', 'true')
    subprocess.run(
        ['git', 'clone', '-q', '--bare', f'--filter={wanted}', f'file://{source}', str(folder)],
        check=True,
    )
    git(folder, 'remote', 'remove', 'origin')
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Its second commit of three has a large file."""
    repo = write(tmp_path / 'demo', [SMALL, {'large.bin': LARGE}, {'large.bin': None}])
    git(repo, 'tag', '-a', '-m', 'one', 'v1')
    return repo


def test_clone_has_all_objects_that_its_partial_source_has(source: Path, tmp_path: Path) -> None:
    large = git(source, 'rev-parse', 'HEAD~1:large.bin')
    clone = obtain_clone(
        str(partial(source, tmp_path / 'some.git', 'blob:limit=1k')), store=tmp_path
    )
    found = Repository(clone.git_dir)
    assert found.object_ids_absent_at_source == {large}
    assert found.resolve('v1') == git(source, 'rev-parse', 'HEAD')
    assert found.load_text(git(source, 'rev-parse', 'HEAD~2'), 'A.java') == 'class A {}\n'
    with pytest.raises(CorruptObject, match=large):
        found.blob(large)
    assert not (clone.git_dir / 'objects/info/alternates').exists()


def test_clone_is_updated_and_completed_when_its_partial_source_is(
    source: Path, tmp_path: Path
) -> None:
    some = partial(source, tmp_path / 'some.git', 'blob:limit=1k')
    store = tmp_path / 'store'
    obtain_clone(str(some), store=store)
    other = commit(source, 'more', {'B.java': 'class B {}\n', 'b.bin': LARGE[1:]})
    git(some, 'fetch', '-q', '--filter=blob:limit=1k', f'file://{source}', '+refs/*:refs/*')
    clone = obtain_clone(str(some), store=store)
    found = Repository(clone.git_dir)
    assert found.resolve(clone.default_ref) == other
    assert found.object_ids_absent_at_source == {
        git(source, 'rev-parse', f'{rev}.bin') for rev in ('HEAD~2:large', 'HEAD:b')
    }
    git(some, 'fetch', '-q', '--refetch', '--no-filter', f'file://{source}', '+refs/*:refs/*')
    again = Repository(obtain_clone(str(some), store=store).git_dir)
    assert again.object_ids_absent_at_source == frozenset()
    assert again.blob(git(source, 'rev-parse', 'HEAD~2:large.bin')) == LARGE


def test_a_source_that_lacks_commits_is_refused(source: Path, tmp_path: Path) -> None:
    rev = git(source, 'rev-parse', 'HEAD~1')
    (source / '.git' / 'objects' / rev[:2] / rev[2:]).unlink()
    with pytest.raises(Fatal, match='repair it'):
        obtain_clone(str(source), store=tmp_path / 'store')
    assert not list((tmp_path / 'store' / 'clones').glob('*.git'))


def test_pairs_that_need_missing_files_are_dropped_until_the_objects_arrive(
    tmp_path: Path,
) -> None:
    large = 'src/test/java/LargeTest.java', f'class LargeTest {{ {2000 * " "} A a; }}\n'
    steps = [
        {'pom.xml': '<project/>', f'{MAIN}A.java': 'class A {}\n', **dict([large])},
        {f'{MAIN}A.java': 'class A { int a; }\n'},
        {f'{MAIN}A.java': 'class A { int a, b; }\n', 'large.bin': LARGE},
        {'src/test/java/LargeTest.java': None},
        {f'{MAIN}A.java': 'class A { int a, b, c; }\n'},
    ]
    source = write(tmp_path / 'demo', steps)
    some = partial(source, tmp_path / 'some.git', 'blob:limit=1k')
    run = options(some, tmp_path / 'store')
    report = mine(run)
    assert 'lacks 2 objects' in report.warnings[-1]
    assert dropped(run.store, report) == {'object_missing': 2, 'no_test_found': 1}
    assert Store(run.store).list_unmined_pairs(report.partitions[0]) == ()
    assert mine(run).reused == 3
    git(some, 'fetch', '-q', '--refetch', '--no-filter', f'file://{source}', '+refs/*:refs/*')
    report = mine(run)
    assert (report.reused, report.warnings) == (0, ())
    assert dropped(run.store, report) == {'no_test_found': 4}


def dropped(store: Path, report: MineReport) -> Counter[str]:
    segments = Store(store).load_current_segments(report.partitions[0])
    return Counter(str(drop.reason) for one in segments for drop in one.drops)


def test_body_has_no_date_if_a_missing_file_may_have_contained_it(tmp_path: Path) -> None:
    long = f'// {"x" * 2000}\n'
    (one,) = junit('OneTest', 'one: assertEquals(1, 1);').items()
    (two,) = junit('TwoTest', 'two: assertEquals(2, 2);').items()
    source = write(
        tmp_path / 'demo', [dict([one]), {'Lost.java': long}, {'Lost.java': None}, dict([two])]
    )
    members = {name: method for path, text in (one, two) for name, method in methods(text)}
    whole = dates(source / '.git', members)
    assert [str(date)[:13] for date in whole] == ['2024-01-01 00', '2024-01-01 03']
    clone = obtain_clone(
        str(partial(source, tmp_path / 'some.git', 'blob:limit=1k')), store=tmp_path / 'store'
    )
    assert dates(clone.git_dir, members) == [whole[0], None]


def test_history_with_holes_is_searched_again_only_for_what_is_new(tmp_path: Path) -> None:
    long = f'// {"x" * 2000}\n'
    (one,) = junit('OneTest', 'one: assertEquals(1, 1);').items()
    (two,) = junit('TwoTest', 'two: assertEquals(2, 2);').items()
    source = write(tmp_path / 'demo', [dict([one]), {'Lost.java': long}, dict([two])])
    some = partial(source, tmp_path / 'some.git', 'blob:limit=1k')
    members = [member for _, text in (one, two) for _, member in methods(text)]
    steps: list[int] = []

    def search_counting(wanted: list[Member], day: int, known: SeenBodies | None) -> SeenBodies:
        """Search the clone as it is by now, as crawled on a day; count the moments searched."""
        steps.clear()
        return search_again(
            obtain_clone(str(some), store=tmp_path / 'store').git_dir,
            wanted,
            'java',
            crawled_at=datetime(2026, 1, day, tzinfo=UTC),
            known=known,
            listener=SearchListener(step=lambda done, total: steps.append(done)),
        )

    first = search_counting(members[:1], 1, None)
    assert steps
    assert search_counting(members[:1], 2, first).seen == first.seen
    assert not steps
    both = search_counting(members, 3, first)
    assert both == search_counting(members, 3, None)
    commit(source, 'more', {'B.java': 'class B {}\n'})
    git(some, 'fetch', '-q', '--filter=blob:limit=1k', f'file://{source}', '+refs/*:refs/*')
    assert search_counting(members, 4, both) == search_counting(members, 4, None)


def test_history_is_searched_again_once_the_clone_has_a_missing_file(tmp_path: Path) -> None:
    """The refs and the crawl are the same then, as when a release completes a clone."""
    (path, text), *_ = junit('OneTest', f'one: assertEquals({"1" * 2000}, 1);').items()
    source = write(tmp_path / 'demo', [SMALL, {path: text}])
    some = partial(source, tmp_path / 'some.git', 'blob:limit=1k')
    members = [member for _, member in methods(text)]

    def search_clone(known: SeenBodies | None) -> SeenBodies:
        """Search the clone as it is by now, as crawled on the same day."""
        git_dir = obtain_clone(str(some), store=tmp_path / 'store').git_dir
        crawled_at = datetime(2026, 1, 1, tzinfo=UTC)
        return search_again(git_dir, members, 'java', crawled_at=crawled_at, known=known)

    first = search_clone(None)
    assert not first.seen
    git(some, 'fetch', '-q', '--refetch', '--no-filter', f'file://{source}', '+refs/*:refs/*')
    second = search_clone(first)
    assert {each.body for each in second.seen} == set(first.absent)


def methods(text: str) -> Iterator[tuple[str, Member]]:
    for _, member in find_tests(parse(text.encode()), lambda name: ()):
        yield member.name, member


def dates(git_dir: Path, members: dict[str, Member]) -> list[datetime | None]:
    crawled_at = datetime(2025, 1, 1, tzinfo=UTC)
    found = search(git_dir, members.values(), 'java', crawled_at=crawled_at)
    return [found.dates[members[name].bare_hash] for name in ('one', 'two')]


def test_missing_licence_file_is_not_replaced_by_the_licence_of_the_pom(
    source: Path, tmp_path: Path
) -> None:
    licence = '<licenses><license><name>MIT License</name></license></licenses>'
    commit(source, 'two', {'pom.xml': f'<project>{licence}</project>', 'COPYING': 'c' * 2000})
    store = tmp_path / 'store'
    clone = obtain_clone(str(partial(source, tmp_path / 'some.git', 'blob:limit=1k')), store=store)
    repository = Repository(clone.git_dir)
    assert find_spdx_expression(repository, repository.resolve(clone.default_ref)) is None
