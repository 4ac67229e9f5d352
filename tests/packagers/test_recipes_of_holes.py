"""Recipes of texts of a pair that changes a file which a partial clone lacks."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository, save_absent_object_ids
from packagers.recipe_files import RecipeCollector, TextRow
from tests.repos import commit, git, init


def test_file_that_the_clone_lacks_is_no_source_of_texts(tmp_path: Path) -> None:
    repo = init(tmp_path / 'repository')
    large = [f'{letter}\n' * 400 for letter in 'ab']
    old = commit(repo, 'first', {'till.py': 'PRICE = 1\n', 'large.txt': large[0]})
    new = commit(repo, 'second', {'till.py': 'PRICE = 2\n', 'large.txt': large[1]})
    lacking = git(repo, 'rev-parse', f'{new}:large.txt').strip()
    (repo / '.git/objects' / lacking[:2] / lacking[2:]).unlink()
    save_absent_object_ids(repo / '.git', {lacking})
    row = TextRow(
        file='methods',
        row=0,
        column='new_source',
        element=0,
        text='PRICE = 2\n',
        paths=('till.py',),
    )
    collected = RecipeCollector()
    numbers = collected.add_recipes_of_texts(
        Repository(repo / '.git'), ('local/till', old, new), [row]
    )
    assert numbers == [0]
    assert [source.path for source in collected.sources] == ['till.py']
