from __future__ import annotations

from coevo.model.repository_rows import RepositoryRow
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
    assert both.splitlines()[-1].startswith('- Not offered for toy: assertions, ')
