"""A release of a month: what was committed until its end, whatever is mined later."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import IncompleteMonth
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.archive import decode_archive
from coevo.storage.months import load_month
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish_or_explain_wait
from tests.flows.crawling import row, validated, withdraw, write_rows
from tests.flows.mining_runs import different
from tests.flows.shops import Shop, opened
from tests.projects import NAME, QUICKLY
from tests.repos import git, init


@pytest.mark.parametrize(
    ('month', 'more', 'sentence'),
    [
        ('2001-01', (), 'holds nothing of 2001-01 or of a month before it: name a later month'),
        ('2024-02', (), 'knows its repositories until 2024-02-03: mine them again once it is'),
        ('2024-02', ('--reached', '2024-02-28'), 'until 2024-02-28'),
        ('2024-13', (), "'2024-13' is no month: write it as 2024-06"),
        ('../up', (), "'../up' is no month: write it as 2024-06"),
    ],
)
def test_a_release_of_a_month_the_store_cannot_make_is_refused(
    shop: Shop,
    month: str,
    more: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shop.release('snapshot', month, *more) == 2
    assert sentence in capsys.readouterr().err
    assert {path.name for path in shop.folder.iterdir()} == {'repository', 'store'}
    assert not (shop.folder / 'store' / 'months').exists()


def test_a_month_release_holds_only_commits_until_the_end_of_the_month(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shop.release('first', '2024-01') == 0
    assert f'{NAME}' in (told := capsys.readouterr().out)
    assert '1 tasks are new' in told
    assert shop.tasks('first') == [('2024-01', '01-20')]
    (walk,) = shop.manifest('first')['walks']
    january = git(shop.repository, 'rev-parse', 'main~1')
    assert (walk['head'], walk['commits_visited'], walk['commits_kept']) == (january, 2, 1)
    assert walk['cutoff'] == '2024-01-31T23:59:59.999999+00:00'
    assert verify_snapshot(shop.folder / 'first') == []

    previous = ('--previous', str(shop.folder / 'first'))
    assert shop.release('second', '2024-02', '--reached', '2024-02-29', *previous) == 0
    assert shop.tasks('second') == [('2024-01', '01-20'), ('2024-02', '02-03')]
    news = [{'repository': NAME, 'new': 1, 'changed': 0, 'withdrawn': 0}]
    assert shop.manifest('second')['news'] == news


@pytest.mark.slow
def test_pairs_mined_after_a_month_release_enter_the_next_month(
    toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Though it was committed before, on a branch that was merged late."""
    shop = opened(tmp_path)
    assert shop.release('first', '2024-01') == 0
    git(shop.repository, 'checkout', '-q', '-b', 'side', 'main~1')
    shop.commit(1, '2024-01-10', 'Scale')
    shop.commit(2, '2024-01-11', 'Scale')
    git(shop.repository, 'checkout', '-q', 'main')
    git(shop.repository, 'merge', '-q', '--no-edit', 'side', environment=at('2024-02-10'))
    shop.commit(9, '2024-03-01')
    assert shop.mine('--reached', '2024-03-02') == 0
    capsys.readouterr()

    assert shop.release('again', '2024-01') == 0
    assert '2024-01 was released before: what was mined since is left' in capsys.readouterr().out
    assert different(shop.folder / 'first', shop.folder / 'again') == []
    previous = ('--previous', str(shop.folder / 'first'))
    assert shop.release('second', '2024-02', *previous) == 0
    assert shop.tasks('second') == [
        ('2024-01', '01-20'),
        ('2024-02', '01-10'),
        ('2024-02', '01-11'),
        ('2024-02', '02-03'),
    ]


def at(day: str) -> dict[str, str]:
    return {'GIT_AUTHOR_DATE': f'{day}T00:00:00Z', 'GIT_COMMITTER_DATE': f'{day}T00:00:00Z'}


def test_a_refused_release_does_not_fix_the_content_of_its_month(shop: Shop) -> None:
    """Another snapshot has the name: the month can still be made of what is mined by then."""
    assert shop.release('taken', '2024-01') == 0
    shutil.rmtree(shop.folder / 'store' / 'months')
    assert shop.release('taken', '2024-02', '--reached', '2024-02-29') == 2
    assert list((shop.folder / 'store').glob('months/*')) == []


def test_the_record_of_a_month_holds_families_and_no_refs_of_clones(shop: Shop) -> None:
    for number in range(50):
        git(shop.repository, 'tag', f'v{number}', 'main~1')
    assert shop.mine('--reached', '2024-02-29') == 0
    assert shop.release('first', '2024-01') == 0
    record = load_month(Store(shop.folder / 'store').storage, '2024-01')
    assert record is not None
    assert record.families == ((NAME, NAME),)
    contents = decode_archive((shop.folder / 'store' / 'months' / '2024-01.coevo').read_bytes())
    assert not any(b'refs/tags' in piece.unpack() for piece in contents.pieces.values())


def test_a_released_month_whose_segments_are_gone_is_refused(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shop.release('first', '2024-01') == 0
    for merged in (shop.folder / 'store').rglob('segments.coevo'):
        merged.unlink()
    assert shop.release('again', '2024-01') == 2
    told = capsys.readouterr().err
    assert f'the store no longer holds all that 2024-01 was made of (of {NAME})' in told
    assert not (shop.folder / 'again').exists()


LATE = 'ada/late'


@pytest.fixture
def cohort(shop: Shop) -> Shop:
    """Crawls knew two repositories at the end of January, and one of them is not mined."""
    store, crawl = shop.folder / 'store', datetime(2024, 1, 31, 1, tzinfo=UTC)
    write_rows(store, crawl, row(NAME, 1, crawl), row(LATE, 2, crawl))
    for repo in (NAME, LATE):
        validated(store, repo)
    assert shop.mine('--reached', '2024-02-29') == 0
    return shop


def mine_late_repository(shop: Shop) -> None:
    other = Shop(folder=shop.folder / 'late')
    init(other.repository)
    other.commit(1, '2024-01-05', 'Scale')
    other.commit(2, '2024-01-15', 'Scale')
    words = ('--store', str(shop.folder / 'store'), '--name', LATE, *QUICKLY, '--jobs', '1')
    assert main(['mine', str(other.repository), *words, '--reached', '2024-02-29']) == 0


def test_a_month_without_one_of_its_repositories_is_refused(
    cohort: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert cohort.release('first', '2024-01') == 2
    told = capsys.readouterr().err
    assert f'1 of 2 repositories are missing: {LATE} (not mined yet); mine them, withdraw' in told
    assert 'by --incomplete' in told
    assert len(told.splitlines()) == 1
    assert not (cohort.folder / 'first').exists()
    assert not (cohort.folder / 'store' / 'months').exists()


def test_a_scheduled_release_waits_for_its_repositories_until_a_time(cohort: Shop) -> None:
    """Even if the month is to be released without them then."""
    until = datetime(2024, 2, 8, tzinfo=UTC)
    options = ReleaseOptions(
        store=cohort.folder / 'store', snapshot=cohort.folder / 'first', month='2024-01'
    )
    for asked in (options, replace(options, incomplete=True)):
        sentence = publish_or_explain_wait(asked, until=until, now=until - timedelta(seconds=1))
        assert sentence == (
            f'2024-01 waits until 2024-02-08 00:00: 1 of 2 repositories are missing: {LATE} '
            '(not mined yet)'
        )
    with pytest.raises(IncompleteMonth):
        publish_or_explain_wait(options, until=until, now=until)
    # What the crawls found is validated first, if there is time for it.
    withdraw(options.store, LATE)
    crawl = datetime(2024, 1, 31, 2, tzinfo=UTC)
    write_rows(options.store, crawl, row(NAME, 1, crawl), row('ada/new', 3, crawl))
    sentence = publish_or_explain_wait(options, until=until, now=until - timedelta(seconds=1))
    assert sentence == '2024-01 waits until 2024-02-08 00:00: 1 candidate was not validated yet'
    assert not (cohort.folder / 'first').exists()


def test_an_incomplete_month_names_what_it_lacks_and_the_next_has_it_as_new(
    cohort: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert cohort.release('first', '2024-01', '--incomplete') == 1
    sentence = f'1 of 2 repositories are missing: {LATE} (not mined yet)'
    assert f'\nincomplete: {sentence}\n' in capsys.readouterr().out
    assert cohort.manifest('first')['cohort'] == {
        'repositories': 2,
        'complete': False,
        'missing': [{'repo': LATE, 'reason': 'not_mined', 'detail': ''}],
        'unvalidated': 0,
        'left': [],
    }
    card = (cohort.folder / 'first' / 'README.md').read_text()
    assert f'**Incomplete:** {sentence}.' in card
    assert verify_snapshot(cohort.folder / 'first') == []

    mine_late_repository(cohort)
    # A month that is released twice stays what it was, and stays incomplete.
    assert cohort.release('again', '2024-01') == 1
    assert different(cohort.folder / 'first', cohort.folder / 'again') == []

    previous = ('--previous', str(cohort.folder / 'first'))
    capsys.readouterr()
    assert cohort.release('second', '2024-02', *previous) == 0
    assert '\nall 2 repositories of the month are in it\n' in capsys.readouterr().out
    assert cohort.tasks('second') == [
        ('2024-01', '01-20'),
        ('2024-02', '01-15'),
        ('2024-02', '02-03'),
    ]
    assert cohort.manifest('second')['cohort']['complete'] is True
    assert 'Incomplete' not in (cohort.folder / 'second' / 'README.md').read_text()


def test_a_withdrawn_repository_does_not_hold_up_its_month(
    cohort: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ('--store', str(cohort.folder / 'store'), '--reason', 'its owner asked for it')
    assert main(['pipeline', 'withdraw', '--repository', LATE, *words]) == 0
    assert cohort.release('first', '2024-01') == 0
    assert main(['pipeline', 'withdraw', '--repository', NAME, *words]) == 0
    capsys.readouterr()
    assert cohort.release('second', '2024-02') == 2
    assert 'no repository of the crawls until its end is eligible' in capsys.readouterr().err
    assert cohort.release('second', '2024-02', '--incomplete') == 1
    assert f'\n{NAME} is no longer worked on: withdrawn\n' in capsys.readouterr().out
    assert cohort.tasks('second') == []
