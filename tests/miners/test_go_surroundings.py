"""What reaches a Go test from elsewhere in its binary, and what `//go:embed` makes part of code and tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.git.repository import Repository
from coevo.model.records import Commit, Pair
from coevo.model.words import Walk
from miners.diffs.changes import PairChange, diff_pair
from tests import repos

CODE = {
    'go.mod': 'module example.org/sum\n\ngo 1.21\n',
    'sum.go': 'package sum\n\nfunc Sum(n int) int { return n }\n',
}
CODE_2 = {'sum.go': 'package sum\n\nfunc Sum(n int) int { return n + 1 }\n'}
TEST = 'import "testing"\n\nfunc TestSums(t *testing.T) { if !good() { t.Fatal() } }\n'


def diffed(
    folder: Path,
    old: Mapping[str, str | bytes],
    new: Mapping[str, str | bytes | None],
    *,
    code: bool = True,
) -> PairChange:
    """The change between CODE with the files `old`, and `new` over it."""
    repo = repos.init(folder / 'repository')
    first = repos.commit(repo, 'old', {**CODE, **old})
    second = repos.commit(repo, 'new', {**(CODE_2 if code else {}), **new})
    ends = [
        Commit(rev=r, parents=(), author_date=None, committer_date=None) for r in (first, second)
    ]
    pair = Pair(
        repo='local/sum',
        language='go',
        walk=Walk.PARENTS,
        old=ends[0],
        new=ends[1],
        old_is_ancestor=True,
    )
    return diff_pair(Repository(repo / '.git'), pair)


def changes(change: PairChange) -> dict[str, str]:
    return {c.method.test_method: c.change.value for c in change.candidates}


def helper(package: str, value: int) -> str:
    imports = 'import "example.org/sum"\n' if package.endswith('_test') else ''
    call = 'sum.Sum' if imports else 'Sum'
    return f'package {package}\n\n{imports}\nfunc good() bool {{ return {call}(1) == {value} }}\n'


FIXTURES = {
    'main': 'package {package}\n\nimport "testing"\n\nfunc TestMain(m *testing.M) {{ m.Run(); note({value}) }}\n',
    'init': 'package {package}\n\nfunc init() {{ note({value}) }}\n',
    'variable': 'package {package}\n\nvar _ = note({value})\n',
}
NOTE = {
    f'note{where}_test.go': f'package sum{where}\n\nfunc note(n int) int {{ return n }}\n'
    for where in ('', '_test')
}


@pytest.mark.parametrize('package', ['sum', 'sum_test'])
def test_changed_helper_of_a_package_reaches_its_unchanged_tests(
    tmp_path: Path, package: str
) -> None:
    test = {'sums_test.go': f'package {package}\n\n{TEST}'}
    found = diffed(
        tmp_path,
        {**test, 'helper_test.go': helper(package, 1)},
        {'helper_test.go': helper(package, 2)},
    )
    assert changes(found) == {'TestSums': 'context_changed'}


@pytest.mark.parametrize('fixture', FIXTURES)
@pytest.mark.parametrize('package', ['sum', 'sum_test'])
@pytest.mark.parametrize('beside', ['sum', 'sum_test'])
def test_what_runs_by_itself_reaches_all_tests_of_the_binary(
    tmp_path: Path, package: str, beside: str, fixture: str
) -> None:
    test = f'package {package}\n\nimport "testing"\n\nfunc TestSums(t *testing.T) {{ t.Log() }}\n'
    was, now = (FIXTURES[fixture].format(package=beside, value=value) for value in (1, 2))
    found = diffed(
        tmp_path, {**NOTE, 'sums_test.go': test, 'own_test.go': was}, {'own_test.go': now}
    )
    assert changes(found) == {'TestSums': 'context_changed'}


def test_helper_of_the_same_name_in_the_other_package_of_a_binary_is_another(
    tmp_path: Path,
) -> None:
    files = {'sums_test.go': f'package sum\n\n{TEST}', 'in_test.go': helper('sum', 1)}
    found = diffed(
        tmp_path,
        {**files, 'out_test.go': helper('sum_test', 1)},
        {'out_test.go': helper('sum_test', 2)},
    )
    assert 'context_changed' not in changes(found).values()


def peeking(package: str, value: int) -> dict[str, str]:
    shop = 'sum.New()' if package.endswith('_test') else 'New()'
    imported = 'import "example.org/sum"\n' if package.endswith('_test') else ''
    body = f'func TestPeeks(t *testing.T) {{ if s := {shop}; s.Peek() != 1 {{ t.Fatal() }} }}\n'
    return {
        'export_test.go': f'package sum\n\nfunc (s *Shop) Peek() int {{ return s.n - {value} }}\n',
        'sums_test.go': f'package {package}\n\nimport "testing"\n{imported}\n{body}',
        'other/other_test.go': 'package other\n\nimport "testing"\n\nfunc TestOther(t *testing.T) { t.Log(New().Peek()) }\n',
    }


@pytest.mark.parametrize('package', ['sum', 'sum_test'])
def test_method_that_tests_add_to_a_type_of_the_code_reaches_the_tests_that_call_it(
    tmp_path: Path, package: str
) -> None:
    shop = 'package sum\n\ntype Shop struct{ n int }\n\nfunc New() *Shop { return &Shop{n: 1} }\n'
    found = diffed(tmp_path, {'shop.go': shop, **peeking(package, 0)}, peeking(package, 1))
    assert changes(found) == {'TestPeeks': 'context_changed'}


DATA = {
    'seed': ('testdata/fuzz/FuzzSums/one', 'func FuzzSums(f *testing.F) {}\n', 'FuzzSums'),
    'glob': (
        'testdata/in/a.txt',
        'func TestAll(t *testing.T) { filepath.Glob("testdata/in/*.txt") }\n',
        'TestAll',
    ),
    'folder': ('testdata/in/a.txt', 'func TestAll(t *testing.T) { read("testdata") }\n', 'TestAll'),
    'way': ('testdata/in/a.txt', 'func TestAll(t *testing.T) { read("./testdata") }\n', 'TestAll'),
    'verb': (
        'testdata/in/a.txt',
        'func TestAll(t *testing.T) { read(fmt.Sprintf("testdata/in/%s.txt", name)) }\n',
        'TestAll',
    ),
}


@pytest.mark.parametrize('kind', DATA)
def test_changed_data_reach_the_unchanged_tests_that_read_them(tmp_path: Path, kind: str) -> None:
    path, body, name = DATA[kind]
    other = 'func TestOther(t *testing.T) { t.Log() }\n'
    test = f'package sum_test\n\nimport "testing"\n\n{body}{other}'
    found = diffed(tmp_path, {'sums_test.go': test, path: '1\n'}, {path: '2\n'})
    assert changes(found) == {name: 'context_changed'}


EMBEDDING = """\
package {package}

import "embed"

//go:embed {pattern}
var files embed.FS

func Card() string {{ return files.Name() }}
"""


def embedding(package: str, pattern: str) -> str:
    return EMBEDDING.format(package=package, pattern=pattern)


CARD = 'package sum\n\nimport "testing"\n\nfunc TestCard(t *testing.T) { files.Open("a") }\n'


@pytest.mark.parametrize(
    ('pattern', 'path', 'is_embedded'),
    [
        ('templates', 'templates/a/card.tmpl', True),
        ('templates', 'templates/a/.card.tmpl', False),
        ('templates/.card.tmpl', 'templates/.card.tmpl', True),
        ('all:templates', 'templates/_a/card.tmpl', True),
        ('templates/*.tmpl other', 'templates/card.tmpl', True),
        ('templates/*.tmpl', 'templates/a/card.tmpl', False),
        ('"a b/card.tmpl" `c`', 'a b/card.tmpl', True),
        ('words.txt', 'words.txt', True),
        ('words.txt', 'sub/words.txt', False),
    ],
)
def test_change_of_an_embedded_file_is_one_of_the_code(
    tmp_path: Path, pattern: str, path: str, is_embedded: bool
) -> None:
    old = {'card.go': embedding('sum', pattern), 'card_test.go': CARD, path: 'Dear\n'}
    found = diffed(
        tmp_path, {**old, 'testdata/a': '1'}, {path: 'Hello\n', 'testdata/a': '2'}, code=False
    )
    assert found.source_changed is is_embedded
    assert [change.located.path for change in found.sources] == ['card.go'] * is_embedded


@pytest.mark.parametrize('after', [b'\xff\0', None], ids=['bytes', 'removed'])
def test_embedded_file_of_any_content_counts(tmp_path: Path, after: bytes | None) -> None:
    old = {
        'card.go': embedding('sum', '*.tmpl'),
        'card_test.go': CARD,
        'a.tmpl': 'Dear\n',
        'b.tmpl': '',
    }
    assert diffed(tmp_path, old, {'a.tmpl': after}, code=False).source_changed


@pytest.mark.parametrize(
    ('path', 'is_code'),
    [
        ('sum_amd64.s', True),
        ('sum.h', True),
        ('_old.s', False),
        ('testdata/sum.s', False),
        ('notes/sum.s', False),
        ('sum.md', False),
    ],
)
def test_changed_assembly_of_a_package_is_a_change_of_the_code(
    tmp_path: Path, path: str, is_code: bool
) -> None:
    test = 'package sum\n\nimport "testing"\n\nfunc TestNew(t *testing.T) { t.Log(Sum(1)) }\n'
    found = diffed(tmp_path, {path: '1\n'}, {path: '2\n', 'new_test.go': test}, code=False)
    assert (found.source_changed, found.kinds) == (is_code, ('other',) if is_code else ())
    assert changes(found)['TestNew'] == 'inserted'


def test_file_of_a_nested_module_is_not_embedded(tmp_path: Path) -> None:
    nested = {'in/go.mod': 'module example.org/in\n', 'in/a.tmpl': 'Dear\n'}
    old = {'card.go': embedding('sum', 'in'), 'card_test.go': CARD, **nested}
    assert not diffed(tmp_path, old, {'in/a.tmpl': 'Hello\n'}, code=False).source_changed


def test_file_that_tests_alone_embed_belongs_to_the_tests(tmp_path: Path) -> None:
    old = {
        'card_test.go': embedding('sum_test', 'want/*.txt').replace('Card()', 'load()'),
        'sums_test.go': 'package sum_test\n\nimport "testing"\n\nfunc TestCard(t *testing.T) { load() }\n',
        'other_test.go': 'package sum_test\n\nimport "testing"\n\nfunc TestOther(t *testing.T) {}\n',
        'want/a.txt': 'Dear\n',
    }
    found = diffed(tmp_path, old, {'want/a.txt': 'Hello\n'})
    assert (found.source_changed, found.tests_changed) == (True, True)
    assert changes(found) == {'TestCard': 'context_changed'}
