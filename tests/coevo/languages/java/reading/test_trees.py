"""Trees of neighbouring revisions share the files that are equal."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.java.reading import syntax
from coevo.languages.java.reading.trees import open_tree
from tests.projects import write

SHOP, TILL = 'src/main/java/Shop.java', 'src/main/java/Till.java'


def test_a_file_that_is_equal_in_two_open_revisions_is_parsed_once(tmp_path: Path) -> None:
    """Though other files have taken its place in the cache of the latest ones meanwhile."""
    steps = [{SHOP: 'class Shop {}\n', TILL: 'class Till {}\n'}, {TILL: 'class Till { int a; }\n'}]
    repository = Repository(write(tmp_path / 'demo', steps) / '.git')
    old, new = (open_tree(repository, repository.resolve(rev)) for rev in ('HEAD~1', 'HEAD'))
    before = {path: old.parse_file(path) for path in (SHOP, TILL)}
    syntax._parse_cached.cache_clear()
    assert new.parse_file(SHOP) is before[SHOP]
    assert new.parse_file(TILL) != before[TILL]
