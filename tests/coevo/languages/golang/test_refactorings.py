"""What was renamed or moved in Go and is the same otherwise, word by word."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.languages.golang.refactorings import GoRefactoringFinder
from coevo.languages.refactorings import RefactoringStatus
from miners.diffs.only_refactored import is_source_only_refactored, is_test_only_refactored
from tests import repos
from tests.miners.test_go_surroundings import diffed

GO_MOD = {'go.mod': 'module example.org/sum\n\ngo 1.21\n'}


def listed(
    folder: Path, old: Mapping[str, str | bytes], new: Mapping[str, str | bytes | None]
) -> set[tuple[str, str, str]]:
    """Type, old and new element of each refactoring."""
    repo = repos.init(folder / 'repository')
    first = repos.commit(repo, 'old', {**GO_MOD, **old})
    second = repos.commit(repo, 'new', new)
    found = GoRefactoringFinder().find(Repository(repo / '.git'), first, second)
    assert found.status is RefactoringStatus.FOUND
    return {(one.type, one.left[0].element, one.right[0].element) for one in found.refactorings}


ONE = """\
package sum

type Till struct{ coins int }

func (t *Till) Add(n int) { t.coins += n }

func Sum(a, b int) int {
	all := a + twice(b)
	return all
}

func twice(n int) int { return 2 * n }
"""


@pytest.mark.parametrize(
    ('changes', 'expected'),
    [
        ({'twice': 'double'}, {('Rename Method', 'twice()', 'double()')}),
        ({'Sum(': 'Total('}, {('Rename Method', 'Sum()', 'Total()')}),
        ({'all': 'whole'}, {('Rename Variable', 'all', 'whole')}),
        (
            {'twice': 'double', 'Sum': 'Total'},
            {('Rename Method', 'twice()', 'double()'), ('Rename Method', 'Sum()', 'Total()')},
        ),
        ({'Till': 'Box'}, {('Rename Class', 'Till', 'Box'), ('Move Method', 'Add()', 'Add()')}),
        ({'twice(n int) int { return 2': 'double(n int) int { return 3'}, set()),
        ({'+ twice': '- twice'}, set()),
        ({'a + twice(b)': 'b + twice(a)'}, set()),
        ({'all := a': 'a := a', 'return all': 'return a'}, set()),
    ],
)
def test_renamed_declaration_is_listed_if_it_is_the_same_otherwise(
    tmp_path: Path, changes: dict[str, str], expected: set[tuple[str, str, str]]
) -> None:
    after = ONE
    for was, now in changes.items():
        after = after.replace(was, now)
    assert listed(tmp_path, {'sum.go': ONE}, {'sum.go': after}) == expected


def test_declaration_that_moved_to_another_package_is_listed(tmp_path: Path) -> None:
    function = 'func Twice(n int) int { return 2 * n }\n'
    old = {'sum.go': f'package sum\n\n{function}', 'more/more.go': 'package more\n'}
    new = {'sum.go': 'package sum\n', 'more/more.go': f'package more\n\n{function}'}
    assert listed(tmp_path, old, new) == {('Move Method', 'Twice()', 'Twice()')}


def test_declaration_that_moved_within_its_package_is_the_same(tmp_path: Path) -> None:
    function = 'func Twice(n int) int { return 2 * n }\n'
    new = {'sum.go': 'package sum\n', 'more.go': f'package sum\n\n{function}'}
    assert listed(tmp_path, {'sum.go': f'package sum\n\n{function}'}, new) == set()


def test_name_is_not_listed_where_two_declarations_would_fit(tmp_path: Path) -> None:
    old = 'package sum\n\nfunc one() int { return 1 }\n'
    new = 'package sum\n\nfunc uno() int { return 1 }\n\nfunc un() int { return 1 }\n'
    assert listed(tmp_path, {'sum.go': old}, {'sum.go': new}) == set()


TEST = 'package sum\n\nimport "testing"\n\nfunc TestSums(t *testing.T) {{ if {name}(1) != {value} {{ t.Fatal() }} }}\n'
CODE = 'package sum\n\nfunc {name}(n int) int {{ return n + {value} }}\n'


@pytest.mark.parametrize(('value', 'only'), [(1, True), (2, False)])
def test_change_that_only_renames_is_refactored_only(
    tmp_path: Path, value: int, only: bool
) -> None:
    change = diffed(
        tmp_path,
        {'sum.go': CODE.format(name='Sum', value=1), 's_test.go': TEST.format(name='Sum', value=2)},
        {
            'sum.go': CODE.format(name='Total', value=value),
            's_test.go': TEST.format(name='Total', value=value + 1),
        },
        code=False,
    )
    repository = Repository(tmp_path / 'repository' / '.git')
    pair = change.pair
    found = GoRefactoringFinder().find(repository, pair.old.rev, pair.new.rev)
    (candidate,) = change.candidates
    ends = candidate.old, candidate.new
    assert is_test_only_refactored(repository, pair, found, ends) is only
    assert is_source_only_refactored(repository, pair, found, change.sources) is only


def test_changed_embedded_file_is_no_refactoring(tmp_path: Path) -> None:
    card = 'package sum\n\nimport _ "embed"\n\n//go:embed a.txt\nvar Card string\n'
    test = 'package sum\n\nimport "testing"\n\nfunc TestCard(t *testing.T) { t.Log(Card) }\n'
    change = diffed(
        tmp_path,
        {'card.go': card, 'card_test.go': test, 'a.txt': 'Dear'},
        {'a.txt': 'Hello'},
        code=False,
    )
    repository = Repository(tmp_path / 'repository' / '.git')
    found = GoRefactoringFinder().find(repository, change.pair.old.rev, change.pair.new.rev)
    assert change.sources
    assert is_source_only_refactored(repository, change.pair, found, change.sources) is False
