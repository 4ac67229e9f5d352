"""What is drawn of a store to be asked again: quotas, what was asked before, one answer by seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.validity import Kind, draw_rows, holds
from coevo.model.words import Walk
from coevo.storage.store import Store
from tests import segments


def row(kind: Kind, name: str, label: str, track: str) -> dict[str, str]:
    return {'kind': kind, 'name': name, 'oracle_label': label, 'oracle_track': track}


def test_a_label_holds_if_it_is_the_same_and_a_drop_if_there_is_no_track() -> None:
    assert holds(row(Kind.LABEL, 'update', 'update', 'update'))
    assert not holds(row(Kind.LABEL, 'update', '', ''))
    assert holds(row(Kind.DROP, 'filter: not_sampled', 'unaffected', ''))
    assert not holds(row(Kind.DROP, 'filter: not_sampled', 'update', 'update'))


def test_each_repository_and_pair_has_its_quota_and_what_was_asked_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / 'store')
    segments.fill(store, *range(1, 13))
    drawn = [each for rows in draw_rows(store, Walk.PARENTS, 5, []) for each in rows]
    counts = Counter((each.kind, each.name) for each in drawn)
    # Twelve pairs of one repository have one of each: ten labels of a repository, 25 drops.
    assert counts == {
        (Kind.LABEL, 'update'): 10,
        (Kind.LABEL, 'refinement'): 10,
        (Kind.LABEL, 'generation'): 10,
        (Kind.DROP, 'filter: not_sampled'): 12,
        (Kind.DROP, 'label: flaky'): 12,
    }
    again = [each for rows in draw_rows(store, Walk.PARENTS, 5, []) for each in rows]
    assert drawn == again
    asked = [
        {
            'kind': str(each.kind),
            'name': each.name,
            'repo': each.pair.repo,
            'old': each.pair.old_rev[:12],
            'new': each.pair.new_rev[:12],
            'method_id': each.method_id,
        }
        for each in drawn
    ]
    assert list(draw_rows(store, Walk.PARENTS, 5, asked)) == []
    assert list(draw_rows(store, Walk.STATES, 5, [])) == []
