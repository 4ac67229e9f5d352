from __future__ import annotations

from datetime import UTC, datetime

from coevo.model.repository_rows import RepositoryRow
from coevo.model.words import Track, Walk
from coevo.storage.store import Partition
from packagers import card
from packagers.manifests import SnapshotDetails
from packagers.rows import Rows
from tests.languages.table import known_toy
from tests.segments import repository


def make_rows(*repositories: RepositoryRow) -> Rows:
    return Rows(
        repositories=repositories,
        pairs=(),
        methods=(),
        cells=(),
        drops=(),
        timings=(),
        environments=(),
    )


def of(*repositories: RepositoryRow) -> str:
    rows = make_rows(*repositories)
    return card.render_card(rows, SnapshotDetails(month='2026-01', parameters={}, unmined={}))


def test_card_lists_what_each_language_lacks() -> None:
    with known_toy():
        java, both = of(repository()), of(repository(), repository(language='toy'))

    assert '- Not offered for' not in java
    (told,) = [line for line in both.splitlines() if line.startswith('- Not offered for toy')]
    assert told.startswith('- Not offered for toy: assertions, ')


def test_card_states_other_licence_and_has_a_configuration_for_every_track() -> None:
    head = of(repository()).split('---')[1].splitlines()
    assert 'license: other' in head
    for track in Track:
        assert f'- config_name: test_{track}' in head
    assert '  - split: test' in head
    assert '  - split: train' not in head


def test_card_names_walks_that_do_not_reach_the_end_of_the_month() -> None:
    reached = {
        Partition(repo='example/behind', walk=Walk.PARENTS, language='java'): datetime(
            2026, 1, 12, tzinfo=UTC
        ),
        Partition(repo='example/unknown', walk=Walk.PARENTS, language='java'): None,
        Partition(repo='example/whole', walk=Walk.PARENTS, language='java'): datetime(
            2026, 2, 1, tzinfo=UTC
        ),
    }
    about = SnapshotDetails(month='2026-01', parameters={}, unmined={}, reached=reached)
    rendered = card.render_card(make_rows(repository()), about)
    assert (
        'named here: example/behind (parents) 2026-01-12, example/unknown (parents) unknown.'
        in rendered
    )
    assert 'example/whole' not in rendered
