"""What a month waits for: the repositories that crawls and validations knew as due at its end."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.model.errors import Bug
from coevo.model.records import Commit, Pair
from coevo.model.words import Walk
from coevo.storage import months
from coevo.storage.months import (
    LeftRepository,
    MissingReason,
    MissingRepository,
    MonthCohort,
    MonthRecord,
)
from coevo.storage.store import Partition, Store
from flows.cohorts import PairBugs, find_cohort
from flows.validations import InvalidReason
from miners.discovery.candidates import CandidateReason
from tests import segments
from tests.flows.crawling import row, validated, withdraw, write_rows
from tests.segments import REPO

MONTH = '2024-01'
CRAWL = datetime(2024, 1, 31, 1, tzinfo=UTC)
LATER = datetime(2024, 2, 2, 1, tzinfo=UTC)
IN_TIME, TOO_EARLY = datetime(2024, 2, 1, 1, tzinfo=UTC), datetime(2024, 1, 31, 1, tzinfo=UTC)
PARTITION = segments.PARTITION


def reach(store: Path, until: datetime | None, partition: Partition = PARTITION) -> None:
    """Let a walk know all commits until then."""
    record = segments.walk(1, 2)
    repository = dataclasses.replace(record.repository, repo=partition.repo, walk=partition.walk)
    Store(store).merge_walk_into_stored(
        partition, dataclasses.replace(record, repository=repository, reached=until)
    )


def date_commit(repo: str, rev: str) -> datetime | None:
    """The second commit is of February."""
    return {segments.rev(1): segments.day(1), segments.rev(2): segments.day(40)}.get(rev)


def find(store: Path, stated: datetime | None = None) -> MonthCohort:
    cohort = find_cohort(Store(store), MONTH, date_commit, stated)
    assert cohort is not None
    return cohort


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """One repository, kept by a crawl at the month's end, valid and completely mined."""
    folder = tmp_path / 'store'
    write_rows(folder, CRAWL, row(REPO, 1, CRAWL))
    validated(folder, REPO)
    segments.fill(Store(folder), 1, 2)
    reach(folder, IN_TIME)
    return folder


def test_a_mined_repository_completes_its_month(store: Path) -> None:
    assert find(store) == MonthCohort(month=MONTH, members=(REPO,))
    assert find(store).is_complete


def test_a_store_without_a_crawl_has_no_cohort(tmp_path: Path) -> None:
    segments.fill(Store(tmp_path), 1)
    assert find_cohort(Store(tmp_path), MONTH, date_commit) is None


def test_a_candidate_that_was_not_validated_is_counted_and_not_waited_for(store: Path) -> None:
    write_rows(store, CRAWL.replace(hour=2), row(REPO, 1, CRAWL), row('ada/new', 2, CRAWL))
    cohort = find(store)
    assert (cohort.members, cohort.unvalidated, cohort.is_complete) == ((REPO,), 1, True)
    assert cohort.unvalidated_sentence == '1 candidate was not validated yet'
    assert cohort.notes == (
        '1 candidate was not validated yet, so that the month does not count them',
    )


def test_an_empty_cohort_is_not_complete(tmp_path: Path) -> None:
    write_rows(tmp_path, CRAWL)
    cohort = find(tmp_path)
    assert (cohort.members, cohort.missing, cohort.is_complete) == ((), (), False)
    assert (
        cohort.missing_sentence == 'no repository of the crawls until its end is eligible and valid'
    )


def test_a_month_whose_candidates_were_not_validated_says_so_once(tmp_path: Path) -> None:
    write_rows(tmp_path, CRAWL, row(REPO, 1, CRAWL), row('ada/new', 2, CRAWL))
    cohort = find(tmp_path)
    assert cohort.missing_sentence.endswith(
        'eligible and valid (2 candidates were not validated yet)'
    )
    assert cohort.notes == ()


def test_a_repository_that_was_never_mined_is_missing(store: Path) -> None:
    write_rows(store, CRAWL.replace(hour=2), row(REPO, 1, CRAWL), row('ada/late', 2, CRAWL))
    validated(store, 'ada/late')
    cohort = find(store)
    assert cohort.members == ('ada/late', REPO)
    assert cohort.missing == (MissingRepository(repo='ada/late', reason=MissingReason.NOT_MINED),)
    assert cohort.missing_sentence == '1 of 2 repositories are missing: ada/late (not mined yet)'


def test_a_repository_that_is_first_found_later_belongs_to_a_later_month(store: Path) -> None:
    write_rows(store, LATER, row(REPO, 1, LATER), row('ada/new', 2, LATER))
    validated(store, 'ada/new')
    assert find(store).members == (REPO,)
    february = find_cohort(Store(store), '2024-02', date_commit)
    assert february is not None
    assert february.members == ('ada/new', REPO)


def test_a_store_that_was_crawled_after_the_month_counts_by_its_first_crawl(
    tmp_path: Path,
) -> None:
    write_rows(tmp_path, LATER, row('ada/late', 2, LATER))
    validated(tmp_path, 'ada/late')
    assert find(tmp_path).members == ('ada/late',)


@pytest.mark.parametrize(
    ('reached', 'stated', 'detail'),
    [
        (TOO_EARLY, None, '2024-01-31'),
        (None, None, 'an unknown day'),
        (None, TOO_EARLY, '2024-01-31'),
        (None, IN_TIME, None),
    ],
)
def test_a_repository_is_missing_until_its_walk_reaches_the_end(
    store: Path, reached: datetime | None, stated: datetime | None, detail: str | None
) -> None:
    (path,) = store.rglob('walk.coevo')
    path.unlink()
    reach(store, reached)
    missing = MissingRepository(repo=REPO, reason=MissingReason.NOT_REACHED, detail=detail or '')
    assert find(store, stated).missing == (() if detail is None else (missing,))


def test_a_walk_that_nobody_continues_does_not_hold_up_a_month(store: Path) -> None:
    reach(store, TOO_EARLY, dataclasses.replace(PARTITION, walk=Walk.STATES))
    assert find(store).is_complete


def test_only_unmined_pairs_of_the_month_are_waited_for(store: Path) -> None:
    (merged,) = store.rglob('segments.coevo')
    merged.unlink()
    for number in (2, 1):
        with Store(store).lock_partition(PARTITION):
            assert find(store).missing == (
                MissingRepository(repo=REPO, reason=MissingReason.PAIRS_UNMINED, detail='1'),
            )
            Store(store).write_segment_unless_intact(
                PARTITION, segments.segment(number, key=f'key-{number}')
            )
    assert find(store).is_complete


def test_a_pair_that_this_build_cannot_mine_is_not_waited_for(store: Path) -> None:
    (merged,) = store.rglob('segments.coevo')
    merged.unlink()
    commits = (
        Commit(rev=segments.rev(number), author_date=None, committer_date=None, parents=())
        for number in (0, 1)
    )
    old, new = commits
    pair = Pair(
        repo=REPO, language='java', walk=Walk.PARENTS, old=old, new=new, old_is_ancestor=True
    )
    assert pair.pair_id == segments.pair_id(1)
    bugs = PairBugs(Store(store).storage, PARTITION)
    bugs.write_bug_and_get_address(pair, 'key-1', Bug(sentence='a bug', traceback='a bug'))
    assert find(store).is_complete


def delete(store: Path) -> None:
    write_rows(store, LATER, row(REPO, 1, CRAWL, reason=CandidateReason.DELETED))


def empty(store: Path) -> None:
    write_rows(store, LATER, row(REPO, 1, CRAWL, reason=CandidateReason.EMPTY))


def take_back(store: Path) -> None:
    withdraw(store, REPO)


def break_build(store: Path) -> None:
    validated(store, REPO, reason=InvalidReason.DOES_NOT_BUILD)


@pytest.mark.parametrize(
    ('happens', 'reason'),
    [
        (delete, 'gone'),
        (empty, 'not_a_candidate'),
        (take_back, 'withdrawn'),
        (break_build, 'invalid'),
    ],
)
def test_a_repository_that_is_no_longer_worked_on_is_named_and_not_waited_for(
    store: Path, happens: Callable[[Path], None], reason: str
) -> None:
    reach(store, TOO_EARLY)
    happens(store)
    assert find(store) == MonthCohort(
        month=MONTH, members=(), left=(LeftRepository(repo=REPO, reason=reason),)
    )


def test_a_renamed_repository_keeps_its_place(store: Path) -> None:
    write_rows(store, LATER, row(REPO, 1, LATER, full_name='grace/elsewhere'))
    assert find(store).is_complete


def test_a_repository_of_which_github_says_nothing_is_still_waited_for(store: Path) -> None:
    write_rows(store, LATER, row(REPO, 1, CRAWL, reason=CandidateReason.UNKNOWN))
    assert find(store).members == (REPO,)
    write_rows(store, CRAWL.replace(hour=2), row(REPO, 1, CRAWL, reason=CandidateReason.UNKNOWN))
    assert find(store).members == (REPO,)


def test_the_cohort_stays_with_the_record_of_its_month(tmp_path: Path) -> None:
    place = Store(tmp_path).storage
    cohort = MonthCohort(
        month=MONTH,
        members=('a/b', 'c/d'),
        missing=(MissingRepository(repo='a/b', reason=MissingReason.NOT_MINED),),
        left=(LeftRepository(repo='e/f', reason='gone'),),
    )
    for known in (cohort, None):
        record = MonthRecord(month=MONTH, parts=(), cohort=known)
        assert months.write_month_once_or_compare(place, record)
        loaded = months.load_month(place, MONTH)
        assert loaded is not None
        assert loaded.cohort == known
        months.forget_month(place, MONTH)


def test_a_sentence_names_ten_repositories_at_most() -> None:
    repos = tuple(f'a/{number:02}' for number in range(12))
    missing = tuple(MissingRepository(repo=r, reason=MissingReason.NOT_MINED) for r in repos)
    sentence = MonthCohort(month=MONTH, members=repos, missing=missing).missing_sentence
    assert sentence.startswith('12 of 12 repositories are missing: a/00 (not mined yet), ')
    assert sentence.endswith('a/09 (not mined yet) and 2 more')
