"""Changed declarations of Go files that have methods of a type which another file declares."""

from __future__ import annotations

from pathlib import Path

from coevo.git.repository import Repository
from coevo.languages.golang.reading.trees import GoTree
from miners.diffs.sources import find_source_changes
from tests import repos

TYPE = 'package sum\n\ntype Data []int\n'
METHOD = 'package sum\n\nfunc (d Data) Rank() int { return len(d) }\n'


def list_changes(folder: Path, *commits: dict[str, str]) -> list[tuple[str, str, str]]:
    """The changes of all files between two commits: file, declaration and how it was revised."""
    repo = repos.init(folder / 'repository')
    revs = [repos.commit(repo, str(number), files) for number, files in enumerate(commits)]
    old, new = (GoTree(Repository(repo / '.git'), rev) for rev in revs)
    old_paths, new_paths = (
        [path for path in tree.entries if path.endswith('.go')] for tree in (old, new)
    )
    changes = find_source_changes(old, new, old_paths, new_paths)
    return [(each.located.path, each.qualified_name, str(each.revised)) for each in changes]


def test_method_in_a_new_file_inserts_no_type(tmp_path: Path) -> None:
    first = {'go.mod': 'module sum\n\ngo 1.21\n', 'sum.go': TYPE}
    assert list_changes(tmp_path, first, {'rank.go': METHOD}) == [
        ('rank.go', 'sum', 'inserted'),
        ('rank.go', 'sum$Data#Rank()', 'inserted'),
    ]


def test_type_that_gets_its_declaration_is_modified(tmp_path: Path) -> None:
    first = {'go.mod': 'module sum\n\ngo 1.21\n', 'rank.go': METHOD}
    declared = METHOD.replace('func', 'type Data []int\n\nfunc')
    assert list_changes(tmp_path, first, {'rank.go': declared}) == [
        ('rank.go', 'sum$Data', 'modified'),
    ]
