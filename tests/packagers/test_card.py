from __future__ import annotations

from coevo.model.repository_rows import RepositoryRow
from coevo.model.words import Track
from packagers import card
from packagers.manifests import About
from packagers.rows import Rows
from tests.languages.table import known_toy
from tests.segments import repository


def of(*repositories: RepositoryRow) -> str:
    rows = Rows(
        repositories=repositories,
        pairs=(),
        methods=(),
        cells=(),
        drops=(),
        timings=(),
        environments=(),
    )
    return card.text(rows, About(month='2026-01', parameters={}, unmined={}))


def test_a_card_says_what_is_not_offered_for_a_language_and_nothing_of_one_that_has_all() -> None:
    with known_toy():
        java, both = of(repository()), of(repository(), repository(language='toy'))

    assert 'Not offered for' not in java
    (told,) = [line for line in both.splitlines() if line.startswith('- Not offered for toy')]
    assert told.startswith('- Not offered for toy: assertions, ')


def test_a_card_calls_nobody_elses_code_its_own_and_has_every_track() -> None:
    head = of(repository()).split('---')[1].splitlines()
    assert 'license: other' in head
    for track in Track:
        assert f'- config_name: test_{track}' in head
    assert '  - split: test' in head
    assert '  - split: train' not in head
