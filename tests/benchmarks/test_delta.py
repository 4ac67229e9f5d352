from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.delta import Diffs
from benchmarks.delta import compare
from benchmarks.delta import summary
from benchmarks.delta import tasks
from benchmarks.delta_causes import plain
from coevo.git.repository import Repository
from tests import repos

MAIN = 'src/main/java/p/'
TEST = 'src/test/java/p/CartTest.java'
CART = """package p;
public class Cart {
  %s int rate;
  public Cart() { a(%s); }
  public int total() { return %s; }
  public int total(int x) { return %s; }
  public int idle() { return %s; }
  public int same() { return 0; }
  %s
}"""
BAG = 'package p; public class Bag { public int size() { return %s; } }'


def written(folder: Path) -> tuple[Repository, str, str]:
    """A repository of two revisions between which Cart, Bag and the test of both change."""
    repo = repos.init(folder / 'repository')
    test = (
        'package p; class CartTest { @Test void m() { new Cart().total(); new Bag().size(); %s } }'
    )
    old = {
        'pom.xml': '<project/>',
        f'{MAIN}Cart.java': CART % ('', 1, 1, 1, 1, 'public int gone() { return 1; }'),
        f'{MAIN}Bag.java': BAG % 1,
        TEST: test % 'new Cart().gone();',
    }
    new = {
        f'{MAIN}Cart.java': CART % ('static', 2, 2, 2, 2, ''),
        f'{MAIN}Bag.java': BAG % 2,
        TEST: test % '',
    }
    first, second = repos.commit(repo, 'old', old), repos.commit(repo, 'new', new)
    return Repository(repo / '.git'), first, second


def gold(folder: Path, first: str, second: str, dependencies: list[str]) -> Path:
    row = {
        'repo': 'local/repository',
        'track': 'test_update',
        'task_id': 't',
        'rev1': first,
        'rev2': second,
        'test_file': TEST,
        'test_file_renamed_from': None,
        'test_methods': ['CartTest#m'],
        'dependency_methods': dependencies,
    }
    path = folder / 'gold.jsonl'
    path.write_text(
        '\n'.join(json.dumps({**row, **more}) for more in ({}, {'test_file_renamed_from': 'x'}))
    )
    return path


def test_lists_are_compared_by_plain_names_and_each_difference_has_a_cause(tmp_path: Path) -> None:
    repository, first, second = written(tmp_path)
    published = ['Cart#total', 'Cart#idle', 'Cart#same', 'Cart#never', 'Box#size']
    (task,) = tasks(gold(tmp_path, first, second, published))
    compared = compare(repository, task, Diffs(repository)(task))
    assert compared is not None
    score, found = compared
    assert {(d.only, d.method, d.cause) for d in found} == {
        ('ours', 'Bag#size', 'other_type'),
        ('ours', 'Cart#Cart', 'constructor'),
        ('ours', 'Cart#gone', 'removed_method'),
        ('published', 'Box#size', 'other_type'),
        ('published', 'Cart#idle', 'changed_but_neither_executed_nor_referred_to'),
        ('published', 'Cart#never', 'at_neither_end'),
        ('published', 'Cart#same', 'type_level_change'),
    }
    assert (score.found, score.ours, score.both, score.types) == (1, 4, 1, 1)
    total = summary([score])
    assert (total.precision, total.recall, total.jaccard) == (1 / 4, 1 / 5, 1 / 8)


def test_a_task_of_which_no_method_is_ours_is_not_compared(tmp_path: Path) -> None:
    repository, first, second = written(tmp_path)
    (task,) = tasks(gold(tmp_path, first, second, ['Cart#total']))
    assert compare(repository, task, {'other': ()}) is None


@pytest.mark.parametrize(
    ('name', 'expected'),
    [
        ('a.b.Outer$Inner#m(int,String[])', 'Outer$Inner#m'),
        ('Foo#m()', 'Foo#m'),
        ('a.Foo', 'Foo'),
    ],
)
def test_plain_names(name: str, expected: str) -> None:
    assert plain(name) == expected
