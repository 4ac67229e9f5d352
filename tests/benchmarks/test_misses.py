"""Every published method that is missed gets its one cause."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.explain_misses import Cause, Mined, key_of, misses
from benchmarks.predictions import COLUMNS, predictions
from benchmarks.published import Published, open_clone, published
from coevo.model.words import Walk
from coevo.storage.store import Store
from tests.projects import NAME, junit, mined, pom, source, write

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

PRICE = '    public static int price() {{ return {}; }}\n'
FILE = 'src/test/java/shop/TillTest.java'
ONE, TWO = 'assertEquals(1, Till.price());', 'assertEquals(2, Till.price());'


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('misses')
    steps = [
        {
            'pom.xml': pom(),
            **source('Till', PRICE.format(1)),
            **junit('TillTest', f'sells: {ONE}', 'named: Till.price();', f'wrong: {ONE} int a;'),
        },
        {
            **source('Till', PRICE.format(2)),
            **junit('TillTest', f'sells: {TWO}', 'renamed: Till.price();', f'wrong: {ONE} int b;'),
        },
        source('Till', PRICE.format('2 +')),
    ]
    repository = write(folder / 'repository', steps)
    mined(repository, folder / 'store', walk=Walk.STATES)
    shutil.copytree(repository / '.git', folder / 'clones' / NAME.replace('/', '+'))
    return folder


def explained(folder: Path, track: str, *methods: str, ends: tuple[int, int] = (0, 1)) -> list[str]:
    """The cause and detail of each published method, empty where it is found."""
    repository = open_clone(folder / 'clones', NAME)
    revs = [rev for rev, _ in repository.iterate_log('main')][::-1]
    row = {
        'repo': NAME,
        'track': f'test_{track}',
        'rev1': revs[ends[0]],
        'rev2': revs[ends[1]],
        'test_file': FILE,
        'test_methods': [f'TillTest#{name}' for name in methods],
        'java_state_steps': ends[1] - ends[0],
        'first_parent_edge_same_java': None,
        'test_file_renamed_from': None,
    }
    gold = folder / 'gold.jsonl'
    gold.write_text(f'{json.dumps(row)}\n')
    store = Store(folder / 'store')
    found: list[Published] = list(published(gold))
    rows = misses(Mined([store], NAME, [Walk.STATES], repository), found, {})
    causes = {key_of(miss.method): f'{miss.cause}: {miss.detail}' for miss in rows}
    return [causes.get(key_of(method), '') for method in found]


def test_method_mined_with_the_published_track_is_no_miss(folder: Path) -> None:
    assert explained(folder, 'update', 'sells') == ['']
    (row,) = predictions([Store(folder / 'store')], [Walk.STATES], COLUMNS[0])
    assert (row['track'], row['test_file'], row['test_method']) == ('update', FILE, 'sells')


def test_miss_with_another_label_names_the_outcomes_of_its_cells(folder: Path) -> None:
    (why,) = explained(folder, 'generation', 'sells')
    assert why.startswith(Cause.PUBLISHED_LIST)
    (why,) = explained(folder, 'repair', 'sells')
    assert why == (
        f'{Cause.LABELS_DIFFER}: changed, update: '
        't_old_c_old=pass/pass t_new_c_new=pass/pass t_old_c_new=fail/fail'
    )


def test_method_with_an_equal_body_at_the_old_revision_is_no_new_test(folder: Path) -> None:
    (why,) = explained(folder, 'generation', 'renamed')
    assert why == f'{Cause.PUBLISHED_LIST}: no new test: at old {FILE}#named, with an equal body'


def test_miss_by_a_drop_names_its_stage_and_reason(folder: Path) -> None:
    (why,) = explained(folder, 'update', 'wrong')
    assert why.startswith(f'{Cause.DROPPED}: label: t_new_c_new_fail')


def test_miss_without_a_candidate_or_an_adjacent_pair_is_named_as_such(folder: Path) -> None:
    assert explained(folder, 'update', 'nothing') == [
        f'{Cause.NOT_FOUND}: no candidate of that name'
    ]
    assert explained(folder, 'update', 'sells', ends=(0, 2)) == [f'{Cause.NOT_ADJACENT}: steps 2']


def test_miss_names_the_revision_that_does_not_build(folder: Path) -> None:
    (why,) = explained(folder, 'update', 'sells', ends=(1, 2))
    assert why.startswith(f'{Cause.DOES_NOT_BUILD}: new: ')
