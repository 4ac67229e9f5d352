"""What is mined on schedule: repositories to which nothing was pushed are not even asked."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.storage.store import Store
from flows.batches.batch import Verb
from flows.candidates import advance_unchanged_walks, find_due_repositories, index_candidates
from flows.pipeline import mine
from tests.flows.crawling import crawled, github, many, validated
from tests.languages import toys
from tests.languages.table import known_toy
from tests.projects import options, write


def at(day: int) -> datetime:
    return datetime(2026, 2, day, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def test_repository_without_a_push_is_not_due_for_mining(tmp_path: Path, store: Path) -> None:
    repository = write(tmp_path / 'repository', [toys.BUILD, {**toys.BUILD, 'NOTES': 'none'}])
    with github(*many(2)) as server, known_toy():
        crawled(server, store, now=at(1))
        for name in ('ada/r1', 'ada/r2'):
            validated(store, name)
        asked = dataclasses.replace(
            options(repository, store),
            name='ada/r1',
            pushed=index_candidates(store)['ada/r1'].pushed_at,
            reached=at(2),
        )
        mine(asked)
        # The crawl was before the remote was asked: it says nothing of what came since.
        assert find_due_repositories(store, Verb.MINE).repositories == ('ada/r1', 'ada/r2')
        crawled(server, store, now=at(3))
        found = find_due_repositories(store, Verb.MINE)
        assert (found.repositories, found.unchanged) == (('ada/r2',), ('ada/r1',))
        assert find_due_repositories(store, Verb.MINE, 'another profile').unchanged == ()
        assert find_due_repositories(store, Verb.VALIDATE).repositories == ('ada/r1', 'ada/r2')

        advance_unchanged_walks(store, found.unchanged)
        (partition,) = Store(store).list_partitions()
        assert Store(store).load_walk(partition).reached == at(3)
        assert Store(store).load_states()[partition].reached == at(3)
        assert find_due_repositories(store, Verb.MINE) == found

        walk = Store(store).load_walk(partition)
        redone = dataclasses.replace(walk, keys=(*walk.keys, ('f' * 16, 'e' * 16)))
        redone = dataclasses.replace(redone, pairs=(*walk.pairs, ('f' * 40, 'f' * 16)))
        with_one_more = Store(tmp_path / 'other')
        with_one_more.merge_walk_into_stored(partition, redone)
        assert with_one_more.list_pairs_without_current_segment(partition) == ('f' * 16,)

        server.world[1].pushed_at = '2026-02-03T12:00:00Z'
        crawled(server, store, now=at(4))
        assert find_due_repositories(store, Verb.MINE).repositories == ('ada/r1', 'ada/r2')
        mine(
            dataclasses.replace(
                asked, pushed=index_candidates(store)['ada/r1'].pushed_at, until=at(1)
            )
        )
        # A walk that does not go to the end has not seen what was pushed.
        assert find_due_repositories(store, Verb.MINE).unchanged == ()


def test_validated_repository_is_due_again_only_after_a_push(store: Path) -> None:
    with github(*many(2)) as server, known_toy():
        crawled(server, store, now=at(1))
        pushed = index_candidates(store)['ada/r1'].pushed_at
        validated(store, 'ada/r1', pushed)
        validated(store, 'ada/r2')  # by hand: nobody had said when it was pushed to
        found = find_due_repositories(store, Verb.VALIDATE, sandbox='bubblewrap')
        assert (found.repositories, found.unchanged) == (('ada/r2',), ('ada/r1',))
        assert find_due_repositories(store, Verb.VALIDATE, sandbox='docker').unchanged == ()

        server.world[1].pushed_at = '2026-02-03T12:00:00Z'
        crawled(server, store, now=at(4))
        assert find_due_repositories(store, Verb.VALIDATE).unchanged == ()
    # Without the toy nobody knows by which engine it was proven.
    assert find_due_repositories(store, Verb.VALIDATE).unchanged == ()
