"""Columns that the texts of a test give, where its language offers none of them."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.quality import Coverage
from coevo.model.records import Candidate, Pair, TestMethod
from coevo.model.words import Label, MethodChange, Walk
from flows.study.texts import add_text_measures, find_refinement_kinds
from tests import segments
from tests.languages.table import known_toy
from tests.repos import commit, init

TEST = TestMethod(
    module='.', test_file='test_till.toy', test_class='shop.TillTest', test_method='prices'
)


def test_smells_of_a_language_without_detection_are_not_offered_rather_than_empty(
    tmp_path: Path,
) -> None:
    root = init(tmp_path)
    rev = commit(root, 'all', {'toy.build': '', 'test_till.toy': '[shop.TillTest]\nprices: pass\n'})
    repository = Repository(root / '.git')
    pair = Pair(
        repo='local/shop',
        language='toy',
        walk=Walk.PARENTS,
        old=repository.get_commit(rev),
        new=repository.get_commit(rev),
        old_is_ancestor=True,
    )
    inserted = Candidate(
        change=MethodChange.INSERTED, old=None, new=TEST, old_source=None, new_source='prices: pass'
    )

    with known_toy():
        found = add_text_measures(segments.segment(1).methods[0], repository, pair, inserted)

    assert (found.smells_old, found.smells_new) == ((), (NOT_OFFERED,))
    assert (found.assertions_lost, found.assertions_gained) == (None, None)


def test_a_refinement_without_known_assertions_is_classified_by_its_coverage() -> None:
    refined = Candidate(
        change=MethodChange.CHANGED,
        old=TEST,
        new=TEST,
        old_source='prices: pass',
        new_source='prices: is Till.price 2',
    )

    with known_toy():
        kinds = find_refinement_kinds(Label.REFINEMENT, refined, covered(1), covered(5))

    assert kinds == ('coverage_gained',)


def covered(lines: int) -> Coverage:
    return Coverage(
        lines=10,
        covered_lines=lines,
        known_lines=10,
        branches=0,
        covered_branches=0,
        methods=1,
        covered_methods=1,
    )
